//! A checksum database whose key is known: what is signed and in its tree is believed, and nothing else.

use http::{StatusCode, header::HeaderValue};

use super::{super::sumdb::testing::Sums, *};

const ZIP: &str = "@v/v1.0.0.zip";
const N_RECORDS: usize = 300;

/// Which record is that of the version.
const ID: usize = 123;

fn lookup() -> String {
    format!("/sumdb/{DATABASE}/lookup/{ESCAPED}@v1.0.0")
}

/// A database that has this to say of the version.
fn sums(sum: &str) -> Sums {
    let mut sums = Sums::holding(DATABASE, N_RECORDS);
    sums.records[ID] = format!("{MODULE} v1.0.0 {sum}\n{MODULE} v1.0.0/go.mod h1:x\n");
    sums
}

/// One that knows the key of a database, and whose proxy passes the database on.
async fn knowing(sums: &Sums) -> Weir {
    let named = sums.public().parse().unwrap();
    let weir = Weir::open_with(&["v1.0.0"], |config| config.checksum_database = Some(named)).await;
    passing_on(&weir, sums, sums.answer(ID, N_RECORDS));
    weir
}

/// The proxy passes this on: the answer about the version, and the tiles of a database.
fn passing_on(weir: &Weir, sums: &Sums, answer: String) {
    weir.upstream.put(&format!("/proxy{}", lookup()), Canned::new(answer));
    for (path, tile) in sums.tiles(N_RECORDS) {
        weir.upstream.put(&format!("/proxy/sumdb/{DATABASE}/tile/{path}"), Canned::new(tile));
    }
}

#[tokio::test]
async fn what_is_signed_and_in_the_tree_is_believed_and_verified_once() {
    let sums = sums(&sum("v1.0.0"));
    let weir = knowing(&sums).await;
    assert_eq!(body(weir.get(&at(ZIP)).await).await.unwrap(), zip("v1.0.0"));
    weir.keeps().await;
    let answer = weir.get(&lookup()).await;
    assert_eq!((answer.status, text(answer).await), (StatusCode::OK, sums.answer(ID, N_RECORDS)));
    // Tiles are no text, and passed on as they are.
    let tile = weir.get(&format!("/sumdb/{DATABASE}/tile/8/0/000")).await;
    assert_eq!(
        (tile.status, body(tile).await.unwrap().to_vec()),
        (StatusCode::OK, sums.tile(0, 0, 256))
    );
    // The tiles are not asked for again, for they are not looked at again.
    let tiles = || weir.upstream.asked().iter().filter(|path| path.contains("/tile/")).count();
    assert_eq!(tiles(), 2, "{:?}", weir.upstream.asked());
    body(weir.get(&at(ZIP)).await).await.unwrap();
    assert_eq!((tiles(), weir.upstream.n_asked(&format!("/proxy{}", lookup()))), (2, 1));
}

#[tokio::test]
async fn a_tree_of_one_tile_that_has_filled_up_since_is_looked_up_in_the_whole_one() {
    let sums = sums(&sum("v1.0.0"));
    let weir = knowing(&sums).await;
    let then = ID + 7;
    weir.upstream.put(&format!("/proxy{}", lookup()), Canned::new(sums.answer(ID, then)));
    assert_eq!(weir.get(&lookup()).await.status, StatusCode::OK);
    let asked = weir.upstream.asked();
    let tiles: Vec<_> = asked.iter().filter_map(|path| path.split_once("/tile/")).collect();
    let tiles: Vec<_> = tiles.into_iter().map(|(_, tile)| tile).collect();
    assert_eq!(tiles, [&*format!("8/0/000.p/{then}"), "8/0/000"]);
}

#[tokio::test]
async fn what_does_not_verify_is_refused_on_record_and_neither_it_nor_the_zip_is_kept() {
    let (good, evil) = (sums(&sum("v1.0.0")), sums(&sum("v1.1.0")));
    let mut other = Sums::new(DATABASE, 8);
    other.records.clone_from(&good.records);
    let answer = good.answer(ID, N_RECORDS);
    let signed = good.signed(N_RECORDS);
    let with = |record: String| format!("{ID}\n{record}\n{signed}");
    let renamed = good.records[ID].replace(MODULE, "example.com/other");
    for (what, lie, why) in [
        ("another sum", with(evil.records[ID].clone()), "not in the tree that is signed"),
        (
            "another tree",
            evil.answer(ID, N_RECORDS).replace(&evil.signed(N_RECORDS), &signed),
            "not in the tree",
        ),
        ("another key", other.answer(ID, N_RECORDS), "is not signed by sums.example+"),
        ("a forged size", answer.replacen("\n300\n", "\n299\n", 1), "does not fit"),
        ("another place", answer.replacen("123\n", "124\n", 1), "not in the tree"),
        ("no place", answer.replacen("123\n", "300\n", 1), "record 300, in a tree of 300"),
        ("another module's", with(renamed), "says nothing of example.com/Mod@v1.0.0"),
        ("another module's, proven", good.answer(7, N_RECORDS), "says nothing of"),
        ("no record", "not a record".to_owned(), "it is no record"),
        ("no signature", answer.replace("\u{2014}", "-"), "its signed end is no note"),
        ("no tree", good.sign("something else\n"), "it is no record"),
        (
            "no tree behind it",
            format!("{ID}\n{}\n{}", good.records[ID], good.sign("x\n")),
            "it is no tree",
        ),
    ] {
        let weir = knowing(&good).await;
        passing_on(&weir, &good, lie);
        let refused = weir.get(&lookup()).await;
        assert_eq!(refused.status, StatusCode::BAD_GATEWAY, "{what}");
        let told = text(refused).await;
        assert!(told.contains("does not verify") && told.contains(why), "{what}: {told}");
        let refused = weir.get(&at(ZIP)).await;
        assert_eq!(refused.status, StatusCode::BAD_GATEWAY, "{what}");
        assert_eq!(weir.recorded(), ["rejected", "rejected"], "{what}");
        // Nothing of it was kept, so the truth is believed when it comes.
        passing_on(&weir, &good, good.answer(ID, N_RECORDS));
        assert_eq!(weir.get(&lookup()).await.status, StatusCode::OK, "{what}");
        assert_eq!(body(weir.get(&at(ZIP)).await).await.unwrap(), zip("v1.0.0"), "{what}");
    }
}

#[tokio::test]
async fn wrong_tiles_are_forgotten_and_missing_ones_prove_nothing() {
    let (good, mut evil) = (sums(&sum("v1.0.0")), sums(&sum("v1.0.0")));
    evil.records[ID - 1].push_str("another line\n");
    let weir = knowing(&good).await;
    passing_on(&weir, &evil, good.answer(ID, N_RECORDS));
    assert_eq!(weir.get(&lookup()).await.status, StatusCode::BAD_GATEWAY);
    passing_on(&weir, &good, good.answer(ID, N_RECORDS));
    assert_eq!(weir.get(&lookup()).await.status, StatusCode::OK);

    let weir = knowing(&good).await;
    weir.upstream.remove(&format!("/proxy/sumdb/{DATABASE}/tile/8/0/000"));
    let told = text(weir.get(&lookup()).await).await;
    assert!(told.contains("does not have `tile/8/0/000` of its tree"), "{told}");
    // An upstream that is ill for a moment is told as that, and is no lie.
    let ill = Canned::status(StatusCode::SERVICE_UNAVAILABLE);
    let weir = knowing(&good).await;
    weir.upstream.put(&format!("/proxy/sumdb/{DATABASE}/tile/8/0/000"), ill);
    let answer = weir.get(&lookup()).await;
    assert_eq!((answer.status, weir.recorded().len()), (StatusCode::BAD_GATEWAY, 0));
    assert!(text(answer).await.contains("answers 503"));
}

#[tokio::test]
async fn a_zip_that_is_another_than_a_proven_record_says_is_refused_also_when_it_is_here() {
    let evil = sums(&sum("v1.1.0"));
    let weir = knowing(&evil).await;
    let answer = weir.get(&at(ZIP)).await;
    assert!(answer.status != StatusCode::OK || body(answer).await.is_err());
    weir.until("rejected", || weir.recorded().contains(&"rejected")).await;
    assert!(!weir.recorded().contains(&"stored"));

    // Pinned as one thing, and proven to be another now: the database itself has changed its mind.
    let good = sums(&sum("v1.0.0"));
    let weir = Weir::open_with(&["v1.0.0"], |config| {
        config.checksum_database = Some(good.public().parse().unwrap());
        config.keeping.negative_ttl = std::time::Duration::ZERO;
    });
    let weir = weir.await;
    passing_on(&weir, &good, good.answer(ID, N_RECORDS));
    body(weir.get(&at(ZIP)).await).await.unwrap();
    weir.until("pinned", || weir.pinned().len() == 1).await;
    passing_on(&weir, &evil, evil.answer(ID, N_RECORDS));
    weir.forget_lists();
    let refused = weir.get(&at(ZIP)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let told = text(refused).await;
    assert!(told.contains("h1"), "{told}");
}

#[tokio::test]
async fn the_newest_state_is_passed_on_where_it_is_signed() {
    let good = sums(&sum("v1.0.0"));
    let weir = knowing(&good).await;
    let path = format!("/sumdb/{DATABASE}/latest");
    weir.upstream
        .put(&format!("/proxy{path}"), Canned::new(good.sign("go.sum database tree\n3\nx\n")));
    let refused = weir.get(&path).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    assert_eq!(refused.headers["cache-control"], HeaderValue::from_static("no-store"));
    assert!(text(refused).await.contains("of latest does not verify: it is no tree"));
    weir.upstream.put(&format!("/proxy{path}"), Canned::new(good.signed(N_RECORDS)));
    assert_eq!(text(weir.get(&path).await).await, good.signed(N_RECORDS));
}
