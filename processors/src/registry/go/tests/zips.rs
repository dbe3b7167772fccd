//! Zips: judged when served, verified by what the checksum database says.

use std::sync::Arc;

use http::{
    StatusCode,
    header::{CONTENT_LENGTH, ETAG, IF_NONE_MATCH, LOCATION, RANGE, WARNING},
};

use tokio::sync::Semaphore;

use super::*;

const ZIP: &str = "@v/v1.0.0.zip";

fn lookup() -> String {
    format!("/proxy/sumdb/{DATABASE}/lookup/{ESCAPED}@v1.0.0")
}

fn proxied() -> String {
    format!("/proxy{}", at(ZIP))
}

#[tokio::test]
async fn a_zip_is_verified_kept_byte_for_byte_and_served_without_the_upstream() {
    let weir = Weir::with_database(&["v1.0.0", "v1.1.0"]).await;
    let answer = weir.get(&at(ZIP)).await;
    assert_eq!(answer.status, StatusCode::OK);
    let etag = answer.headers[ETAG].to_str().unwrap().to_owned();
    assert_eq!(body(answer).await.unwrap(), zip("v1.0.0"));
    weir.keeps().await;
    weir.upstream.remove(&proxied());
    assert_eq!(body(weir.get(&at(ZIP)).await).await.unwrap(), zip("v1.0.0"));
    let known = weir.get_with(&at(ZIP), IF_NONE_MATCH, &etag).await;
    assert_eq!(known.status, StatusCode::NOT_MODIFIED);
    let part = weir.get_with(&at(ZIP), RANGE, "bytes=0-1").await;
    assert_eq!((part.status, text(part).await.as_str()), (StatusCode::PARTIAL_CONTENT, "PK"));
    let head = weir.head(&at(ZIP)).await;
    assert_eq!(head.headers[CONTENT_LENGTH], zip("v1.0.0").len().to_string().as_str());
    let allowed = weir.events().into_iter().find_map(|event| match event {
        Event::PackageAllowed(allowed) => Some((allowed.package, allowed.version, allowed.file)),
        _ => None,
    });
    let wanted = (MODULE.to_owned(), Some("v1.0.0".to_owned()), "v1.0.0.zip".to_owned());
    assert_eq!(allowed, Some(wanted));
    weir.rules(1, &[rule(1, "v1.0.0", Mask::DenyOnly)]);
    assert_eq!(weir.get(&at(ZIP)).await.status, StatusCode::FORBIDDEN, "although it is here");
}

#[tokio::test]
async fn a_zip_that_is_another_than_the_database_knows_never_ends_well_and_is_not_kept() {
    let weir = Weir::with_database(&["v1.0.0"]).await;
    weir.says("v1.0.0", &sum("v1.1.0"));
    let answer = weir.get(&at(ZIP)).await;
    assert!(answer.status != StatusCode::OK || body(answer).await.is_err());
    weir.until("rejected", || weir.recorded().contains(&"rejected")).await;
    assert!(!weir.recorded().contains(&"stored"));
}

#[tokio::test]
async fn what_is_no_zip_of_this_version_is_refused_also_without_a_database() {
    let good = files("v1.0.0");
    let good: Vec<_> = good.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let with = |name: &'static str| {
        let mut files = good.clone();
        files.push((name, "x"));
        zip_of(&files)
    };
    for (what, bytes) in [
        ("garbage", b"no zip at all".to_vec()),
        ("cut off", zip("v1.0.0")[..100].to_vec()),
        ("another version's", zip("v1.1.0")),
        ("with a way out", with("example.com/Mod@v1.0.0/../../x")),
        ("with a file elsewhere", with("other.example/x@v1.0.0/x.go")),
        ("with a root", with("/etc/passwd")),
    ] {
        let weir = Weir::open(&["v1.0.0"]).await;
        weir.upstream.put(&proxied(), Canned::new(bytes));
        let answer = weir.get(&at(ZIP)).await;
        assert!(answer.status != StatusCode::OK || body(answer).await.is_err(), "{what}");
        weir.until(what, || weir.recorded().contains(&"rejected")).await;
        assert!(!weir.recorded().contains(&"stored"), "{what}");
    }
}

#[tokio::test]
async fn what_the_database_says_nothing_of_passes_through_and_is_not_kept() {
    for canned in [Some(Canned::new("7\nexample.com/other v1.0.0 h1:x\n\ntree\n")), None] {
        let weir = Weir::with_database(&["v1.0.0"]).await;
        weir.upstream.remove(&lookup());
        if let Some(canned) = canned {
            weir.upstream.put(&lookup(), canned);
        }
        for _ in 0..2 {
            let answer = weir.get(&at(ZIP)).await;
            assert_eq!(answer.status, StatusCode::OK);
            assert!(answer.headers[WARNING].to_str().unwrap().contains("not kept"));
            assert_eq!(body(answer).await.unwrap(), zip("v1.0.0"));
        }
        assert!(!weir.recorded().contains(&"stored"));
        assert_eq!(weir.upstream.n_asked(&proxied()), 2);
    }
}

#[tokio::test]
async fn who_knows_the_sum_of_a_zip_does_not_join_a_download_that_nobody_compares() {
    let weir = Weir::open_with(&["v1.0.0"], |config| {
        config.checksum_database = Some(DATABASE.parse().unwrap());
        config.keeping.negative_ttl = std::time::Duration::ZERO;
    });
    let (weir, gate) = (weir.await, Arc::new(Semaphore::new(0)));
    let other = zip_of(&[(&format!("{MODULE}@v1.0.0/go.mod"), "module other\n")]);
    weir.upstream.put(&proxied(), Canned::gated(&[&other[..9], &other[9..]], &gate));
    let path = at(ZIP);
    let second = async {
        weir.until("asked", || weir.upstream.n_asked(&proxied()) == 1).await;
        weir.says("v1.0.0", &sum("v1.0.0"));
        weir.upstream.put(&proxied(), Canned::new(zip("v1.0.0")));
        let answer = weir.get(&path).await;
        gate.add_permits(2);
        body(answer).await.unwrap()
    };
    let (lax, strict) = tokio::join!(weir.get(&path), second);
    assert_eq!(body(lax).await.unwrap(), other);
    assert_eq!(strict, zip("v1.0.0"));
}

#[tokio::test]
async fn without_a_database_what_comes_first_is_kept() {
    let weir = Weir::open(&["v1.0.0"]).await;
    body(weir.get(&at(ZIP)).await).await.unwrap();
    weir.keeps().await;
    weir.upstream.put(&proxied(), Canned::new(zip("v1.1.0")));
    assert_eq!(body(weir.get(&at(ZIP)).await).await.unwrap(), zip("v1.0.0"));
    assert_eq!(weir.upstream.n_asked(&proxied()), 1);
}

#[tokio::test]
async fn an_upstream_that_lies_or_leads_in_circles_is_told_apart_from_one_that_has_nothing() {
    let weir = Weir::open(&["v1.0.0"]).await;
    let circle = Canned::status(StatusCode::FOUND).with(LOCATION, &proxied());
    let announced = zip("v1.0.0").len() + 7;
    for canned in [
        circle,
        Canned::status(StatusCode::FORBIDDEN),
        Canned::new(zip("v1.0.0")).announcing(announced).breaking_off(),
    ] {
        weir.upstream.put(&proxied(), canned);
        let answer = weir.get(&at(ZIP)).await;
        let bad = answer.status == StatusCode::BAD_GATEWAY || body(answer).await.is_err();
        assert!(bad);
    }
    assert!(!weir.recorded().contains(&"stored"));
    weir.upstream.remove(&proxied());
    assert_eq!(weir.get(&at(ZIP)).await.status, StatusCode::NOT_FOUND);
}
