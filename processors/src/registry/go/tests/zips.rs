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

/// The end of a zip for more than four gigabytes, which says this of itself.
fn wide_end(zip: &[u8], n_entries: u64) -> Vec<u8> {
    let at = zip.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").unwrap();
    let number = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap());
    let (size, offset) = (u64::from(number(at + 12)), u64::from(number(at + 16)));
    let mut wide = zip[..at].to_vec();
    wide.extend(b"PK\x06\x06");
    wide.extend(44_u64.to_le_bytes());
    wide.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [n_entries, n_entries, size, offset] {
        wide.extend(number.to_le_bytes());
    }
    wide.extend(b"PK\x06\x07\0\0\0\0");
    wide.extend((at as u64).to_le_bytes());
    wide.extend([1, 0, 0, 0]);
    wide.extend(b"PK\x05\x06\0\0\0\0");
    wide.extend([0xff; 12]);
    wide.extend([0, 0]);
    wide
}

#[test]
fn a_zip_that_says_more_of_itself_than_it_has_is_not_opened() {
    let hash = |bytes: &[u8]| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        crate::registry::go::zip::hash(&file, &format!("{MODULE}@v1.0.0/"))
    };
    let plain = zip("v1.0.0");
    let sum = hash(&plain).unwrap();
    assert_eq!(hash(&wide_end(&plain, 2)).unwrap(), sum);
    let end = plain.len() - 22;
    let said = |at: usize, bytes: &[u8]| {
        let mut zip = plain.clone();
        zip[end + at..end + at + bytes.len()].copy_from_slice(bytes);
        zip
    };
    let mut commented = said(20, &[26, 0]);
    commented.extend(b"what");
    commented.extend(&plain[end..]);
    let mut ambiguous = said(20, &[4, 0]);
    ambiguous.extend(b"PK\x05\x06");
    let mut prefixed = b"#!/bin/sh\n".to_vec();
    prefixed.extend(&plain);
    // Its directory would be the end before it, which is then believed to say how much there is.
    let mut shadowed = wide_end(&plain, 2);
    let size = u32::try_from(shadowed.len() - end).unwrap();
    shadowed.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    shadowed.extend(size.to_le_bytes());
    shadowed.extend(u32::try_from(end).unwrap().to_le_bytes());
    shadowed.extend([0, 0]);
    for (what, bytes, words) in [
        (
            "eighty million files",
            wide_end(&plain, 80_000_000),
            "it says that it holds 80000000 files",
        ),
        ("more files than fit", wide_end(&plain, 90_000), "does not have 90000 entries"),
        ("more files than fit, in short", said(8, &[200, 0, 200, 0]), "does not have 200 entries"),
        ("a directory elsewhere", said(12, &[0xff, 0xff, 0, 0]), "does not end where"),
        ("a directory beyond all bounds", said(12, &[0, 0, 0, 0x7f]), "are read at most"),
        ("two ends", commented, "it has several"),
        ("a comment that could be an end", ambiguous, "it has several"),
        ("something before it", prefixed, "does not end where"),
        ("another end for a directory", shadowed, "does not begin where"),
        ("several disks", said(4, &[1, 0]), "does not end where"),
    ] {
        let fault = hash(&bytes).unwrap_err().to_string();
        assert!(fault.contains("it is not opened") && fault.contains(words), "{what}: {fault}");
    }
}

#[tokio::test]
async fn a_zip_larger_than_the_go_command_takes_is_not_fetched_to_its_end() {
    let weir = Weir::open(&["v1.0.0"]).await;
    let (larger, never) = ((500 << 20) + 1, Arc::new(Semaphore::new(0)));
    weir.upstream.put(&proxied(), Canned::gated(&[b"PK"], &never).announcing(larger));
    let refused = weir.get(&at(ZIP)).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    let told = text(refused).await;
    assert!(told.contains("more than 524288000 bytes"), "{told}");
}
