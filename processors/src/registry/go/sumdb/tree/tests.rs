use super::*;
use crate::registry::go::sumdb::testing::Sums;

fn tree(sums: &Sums, n_records: usize) -> Tree {
    Tree::read(&sums.signed(n_records)).unwrap()
}

/// The tiles of a tree that a record needs, as they are there.
fn fetched(sums: &Sums, tree: &Tree, id: u64) -> Vec<(Tile, Vec<u8>)> {
    let there = sums.tiles(usize::try_from(tree.n_records).unwrap());
    let find = |tile: Tile| {
        let found = there.iter().find(|(path, _)| *path == tile.path());
        let (_, bytes) = found.unwrap_or_else(|| panic!("no tile {}", tile.path()));
        (tile, bytes.clone())
    };
    tree.tiles(id).into_iter().map(find).collect()
}

fn borrowed(tiles: &[(Tile, Vec<u8>)]) -> Tiles<'_> {
    tiles.iter().map(|(tile, bytes)| (*tile, &**bytes)).collect()
}

#[test]
fn every_record_is_in_its_tree_and_no_other_text_is() {
    let sums = Sums::holding("sums.example", 600);
    for n_records in [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 600] {
        let tree = tree(&sums, n_records);
        let step = (n_records / 7).max(1);
        for id in (0..n_records).step_by(step).chain([n_records - 1]) {
            let (record, id) = (&sums.records[id], id as u64);
            let tiles = fetched(&sums, &tree, id);
            assert!(tree.has(id, record, &borrowed(&tiles)), "{id} of {n_records}");
            assert!(!tree.has(id, "another\n", &borrowed(&tiles)), "{id} of {n_records}");
            // Each hash that is needed counts.
            for (at, (tile, bytes)) in tiles.iter().enumerate() {
                let mut without = tiles.clone();
                without.remove(at);
                assert!(!tree.has(id, record, &borrowed(&without)), "without {tile:?}");
                let mut cut = tiles.clone();
                cut[at].1 = Vec::new();
                assert!(!tree.has(id, record, &borrowed(&cut)), "an empty {tile:?}");
                let mut odd = tiles.clone();
                odd[at].1 = bytes.iter().map(|b| b ^ 1).collect();
                assert!(!tree.has(id, record, &borrowed(&odd)), "another {tile:?}");
            }
        }
        let beyond = n_records as u64;
        assert!(!tree.has(beyond, &sums.records[0], &Tiles::new()), "{n_records}");
    }
}

#[test]
fn a_record_in_a_tree_of_millions_needs_a_few_tiles_of_known_names() {
    let tree = Tree { n_records: 34_567_890, root: [0; 32] };
    let paths: Vec<_> = tree.tiles(12_345_678).iter().map(Tile::path).collect();
    let wanted = [
        "8/0/x048/225",
        "8/0/x135/030.p/210",
        "8/1/188",
        "8/1/527.p/118",
        "8/2/000",
        "8/2/002.p/15",
        "8/3/000.p/2",
    ];
    assert_eq!(paths, wanted);
    let deep = Tile { level: 0, n: 1_234_567, width: 256 };
    assert_eq!((deep.path().as_str(), deep.whole()), ("8/0/x001/x234/567", None));
    let largest = Tree { n_records: (1 << 62) - 1, root: [0; 32] };
    assert!(largest.tiles(1 << 61).len() < 20);
}

#[test]
fn what_is_no_record_or_no_tree_is_not_read() {
    let sums = Sums::holding("sums.example", 3);
    let answer = sums.answer(2, 3);
    let record = Record::read(&answer).unwrap();
    assert_eq!((record.id, record.text, record.note), (2, &*sums.records[2], &*sums.signed(3)));
    let bad =
        ["", "2\n", "2\nx", "2\n\n\n", "02\nx\n\ny", "+2\nx\n\ny", "-1\nx\n\ny", "2\n\u{1}\n\ny"];
    for bad in bad {
        assert_eq!(Record::read(bad), None, "{bad:?}");
    }
    let root = STANDARD.encode([7; 32]);
    let good = format!("{TREE}\n3\n{root}\nmore may follow\n");
    assert_eq!(Tree::read(&good), Some(Tree { n_records: 3, root: [7; 32] }));
    for bad in [
        format!("another tree\n3\n{root}\n"),
        format!("{TREE}\n03\n{root}\n"),
        format!("{TREE}\n{}\n{root}\n", u64::MAX),
        format!("{TREE}\n3\n{}\n", STANDARD.encode([7; 31])),
        format!("{TREE}\n3\n"),
    ] {
        assert_eq!(Tree::read(&bad), None, "{bad:?}");
    }
}
