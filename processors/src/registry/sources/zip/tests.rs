use std::io::Write as _;

use proptest::prelude::*;

use super::*;
use crate::registry::sources::testing::{Packed, zip};

const BOUNDS: Bounds =
    Bounds { entries: 10, entry_bytes: 1 << 20, total_bytes: 512 << 20, ratio: 200 };

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn read(bytes: &[u8], bounds: Bounds) -> Result<Vec<(Entry, Vec<u8>)>, ZipFault> {
    let file = file(bytes);
    let mut zip = Zip::open(&file, bounds)?;
    let (mut entries, mut body) = (Vec::new(), Vec::new());
    while let Some(entry) = zip.next(&mut body)? {
        entries.push((entry, body.clone()));
    }
    Ok(entries)
}

fn refused(bytes: &[u8], bounds: Bounds) -> String {
    read(bytes, bounds).unwrap_err().to_string()
}

#[test]
fn entries_come_one_by_one_and_no_name_leads_anywhere() {
    let archive = zip(&[
        Packed::new("a.json", b"{}"),
        Packed::new("folder/", b""),
        Packed::new("../../etc/passwd", b"x"),
        Packed::new("/abs/b.json", &[7; 5_000]),
        Packed::stored("c.json", b"as it is"),
        Packed::new("empty", b""),
    ]);
    let entries = read(&archive, BOUNDS).unwrap();
    let names: Vec<&str> = entries.iter().map(|(entry, _)| entry.name.as_str()).collect();
    assert_eq!(names, ["a.json", "passwd", "b.json", "c.json", "empty"]);
    assert!(entries.iter().all(|(entry, _)| entry.fault.is_none()), "{entries:?}");
    assert_eq!(entries[2].1, [7; 5_000]);
    assert_eq!(entries[3].1, b"as it is");
    assert_eq!(read(&zip(&[]), BOUNDS).unwrap().len(), 0);
}

#[test]
fn what_is_cut_short_or_no_archive_is_refused() {
    let archive = zip(&[Packed::new("a.json", b"{}"), Packed::new("b.json", b"{}")]);
    for n in 0..archive.len() {
        assert!(read(&archive[..n], BOUNDS).is_err(), "{n} bytes of {}", archive.len());
    }
    assert!(refused(b"<html>not here</html>", BOUNDS).contains("no end"));
}

#[test]
fn bombs_are_refused_before_they_are_unpacked() {
    let many: Vec<_> = (0..11).map(|n| Packed::new(&n.to_string(), b"")).collect();
    assert!(refused(&zip(&many), BOUNDS).contains("11 entries"));
    let large = [Packed::new("a", &vec![0; 80 << 20])];
    assert!(refused(&zip(&large), BOUNDS).contains("more than 200 bytes come of one"));
    let tight = Bounds { total_bytes: 10, ..BOUNDS };
    assert!(refused(&zip(&[Packed::new("a", &[0; 11])]), tight).contains("more than 10 bytes"));
    let noise: Vec<u8> =
        (0..4_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let once = [Packed::stored("a", &noise)];
    assert!(
        refused(&crate::registry::sources::testing::overlapping(&once, 3), BOUNDS)
            .contains("lie over each other")
    );
}

#[test]
fn an_entry_that_is_not_what_the_directory_says_is_named_and_the_others_are_read() {
    let archive = zip(&[
        Packed::new("huge", &vec![0; (1 << 20) + 1]),
        Packed { claimed: Some(10), ..Packed::new("lies", &[0; 100]) },
        Packed { crc: Some(1), ..Packed::new("damaged", b"{}") },
        Packed { flags: 1, ..Packed::new("encrypted", b"{}") },
        Packed { method: 12, ..Packed::stored("strange", b"{}") },
        Packed::new("good", b"{}"),
    ]);
    let entries = read(&archive, BOUNDS).unwrap();
    let faults: Vec<_> = entries.iter().map(|(entry, _)| entry.fault).collect();
    assert_eq!(
        faults,
        [
            Some("it is too large"),
            Some("it cannot be unpacked to what the directory says"),
            Some("it is damaged"),
            Some("it is encrypted"),
            Some("it is packed in a way that is not known here"),
            None,
        ]
    );
    assert_eq!(entries[5].1, b"{}");
}

#[test]
fn an_entry_that_is_packed_to_more_than_it_may_hold_is_named_and_not_read() {
    let noise = vec![7; (2 << 20) + 1];
    let archive = zip(&[
        Packed { claimed: Some(1), ..Packed::stored("packed", &noise) },
        Packed::new("good", b"{}"),
    ]);
    let file = file(&archive);
    let (mut zip, mut body) = (Zip::open(&file, BOUNDS).unwrap(), Vec::new());
    let first = zip.next(&mut body).unwrap().unwrap();
    assert_eq!(first.fault, Some("it is packed to more than it may hold"));
    assert_eq!(zip.packed.capacity(), 0, "nothing was read");
    assert_eq!(zip.next(&mut body).unwrap().unwrap().fault, None);
}

#[test]
fn wide_archives_are_read_too() {
    let narrow = zip(&[Packed::new("a.json", b"{}"), Packed::new("b.json", b"[]")]);
    let wide = crate::registry::sources::testing::wide(&[
        Packed::new("a.json", b"{}"),
        Packed::new("b.json", b"[]"),
    ]);
    assert_eq!(read(&narrow, BOUNDS).unwrap(), read(&wide, BOUNDS).unwrap());
    assert!(wide.len() > narrow.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn no_bytes_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut archive = zip(&[Packed::new("a.json", b"{}"), Packed::stored("b.json", b"[]")]);
        for (at, byte) in flips {
            let at = at.index(archive.len());
            archive[at] = byte;
        }
        let end = archive.len() - cut.index(archive.len() / 4);
        drop(read(&archive[..end], BOUNDS));
    }
}
