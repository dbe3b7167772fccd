//! Files: judged when served, verified by the index before they are kept.

use http::{
    StatusCode,
    header::{CONTENT_LENGTH, ETAG, IF_NONE_MATCH, RANGE},
};
use weir_events::registry::Mask;

use super::{
    super::testing::{line, rule},
    *,
};
use crate::registry::cache::CachePlugin as _;

const FILE: &str = "/crates/serde/1.0.0/download";

async fn serde() -> Weir {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0", "1.1.0"]);
    weir
}

#[tokio::test]
async fn a_file_is_recorded_verified_kept_and_then_served_without_the_upstream() {
    let weir = serde().await;
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(body(answer).await.unwrap(), content("serde", "1.0.0"));
    weir.keeps().await;
    let allowed = weir.events().into_iter().find_map(|event| match event {
        Event::PackageAllowed(allowed) => Some((allowed.package, allowed.version, allowed.file)),
        _ => None,
    });
    let wanted = ("serde".to_owned(), Some("1.0.0".to_owned()), "serde-1.0.0.crate".to_owned());
    assert_eq!(allowed, Some(wanted));

    weir.upstream.remove(&file_at("serde", "1.0.0"));
    // The default form of an address is the same file.
    let again = weir.get("/serde/1.0.0/download").await;
    let etag = again.headers[ETAG].to_str().unwrap().to_owned();
    assert_eq!(body(again).await.unwrap(), content("serde", "1.0.0"));
    let known = weir.ask(Method::GET, FILE, &[(IF_NONE_MATCH, &etag)]).await;
    assert_eq!(known.status, StatusCode::NOT_MODIFIED);
    let part = weir.ask(Method::GET, FILE, &[(RANGE, "bytes=4-10")]).await;
    assert_eq!((part.status, text(part).await.as_str()), (StatusCode::PARTIAL_CONTENT, "content"));
    let head = weir.head(FILE).await;
    let length = content("serde", "1.0.0").len().to_string();
    assert_eq!(
        (head.status, head.headers[CONTENT_LENGTH].to_str().unwrap()),
        (StatusCode::OK, &*length)
    );
    assert_eq!(weir.upstream.n_asked(&file_at("serde", "1.0.0")), 1);
}

#[tokio::test]
async fn a_forbidden_file_is_refused_with_the_reason_under_every_mask_even_when_it_is_here() {
    let weir = serde().await;
    let path = "/crates/serde/1.1.0/download";
    body(weir.get(path).await).await.unwrap();
    weir.keeps().await;
    for (revision, mask) in [(1, Mask::Mark), (2, Mask::Hide), (3, Mask::DenyOnly)] {
        weir.rules(revision, &[rule(1, "Serde", ">=1.1", mask)]);
        let refused = weir.get(path).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert!(refused.reason.as_deref().unwrap().contains("too young"));
        let told = text(refused).await;
        for words in ["too young", "version 1.1.0 of `serde`", "1.0.0 is allowed", "event"] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
    }
    assert_eq!(weir.recorded().iter().filter(|name| **name == "blocked").count(), 3);
}

#[tokio::test]
async fn bytes_that_do_not_fit_the_index_are_not_passed_on_and_not_kept() {
    let weir = serde().await;
    weir.upstream.put(&file_at("serde", "1.0.0"), Canned::new("something else"));
    let answer = weir.get(FILE).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert!(text(answer).await.contains("do not fit its index"));
    assert_eq!(weir.recorded(), ["rejected"]);
    assert_eq!(weir.plugin.cache().stats().entries, 0);
}

#[tokio::test]
async fn only_what_the_index_lists_exists_in_the_spelling_it_has_there() {
    let weir = serde().await;
    weir.publish("Inflector", &["0.11.4"]);
    for path in [
        "/crates/serde/9.9.9/download",
        "/crates/Serde/1.0.0/download",
        "/crates/inflector/0.11.4/download",
        "/crates/other/1.0.0/download",
    ] {
        assert_eq!(weir.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(weir.get("/crates/Inflector/0.11.4/download").await.status, StatusCode::OK);
}

#[tokio::test]
async fn build_metadata_makes_no_other_version() {
    let weir = Weir::open().await;
    weir.publish("libz", &["1.1.0+zlib.2"]);
    for path in ["/crates/libz/1.1.0+zlib.2/download", "/crates/libz/1.1.0%2Bzlib.2/download"] {
        let answer = weir.get(path).await;
        assert_eq!(body(answer).await.unwrap(), content("libz", "1.1.0+zlib.2"), "{path}");
    }
    weir.rules(1, &[rule(1, "libz", "=1.1.0", Mask::DenyOnly)]);
    for path in ["/crates/libz/1.1.0+zlib.2/download", "/crates/libz/1.1.0+other/download"] {
        assert_eq!(weir.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn a_yanked_version_stays_to_be_had_by_who_has_locked_it() {
    let weir = Weir::open().await;
    weir.publish("serde", &["1.0.0"]);
    weir.put_list("serde", &line("serde", "1.0.0", true));
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_version_newer_than_the_list_is_found_by_asking_again() {
    let weir = Weir::open_with(|config| config.keeping.recent = std::time::Duration::ZERO).await;
    weir.publish("serde", &["1.0.0"]);
    assert_eq!(weir.get(FILE).await.status, StatusCode::OK);
    weir.publish("serde", &["1.0.0", "1.1.0"]);
    assert_eq!(weir.get("/crates/serde/1.1.0/download").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_crate_whose_checksum_changes_is_refused() {
    let weir = Weir::open_with(|config| config.keeping.ttl = std::time::Duration::ZERO).await;
    weir.publish("serde", &["1.0.0"]);
    let path = "/crates/serde/1.0.0/download";
    assert_eq!(weir.get(path).await.status, http::StatusCode::OK);
    let list = super::super::testing::list("serde", &["1.0.0"]);
    let at = list.find("\"cksum\":\"").unwrap() + "\"cksum\":\"".len();
    weir.put_list("serde", &format!("{}{}{}", &list[..at], "07".repeat(32), &list[at + 64..]));
    let refused = weir.get(path).await;
    assert_eq!(refused.status, http::StatusCode::FORBIDDEN);
    assert!(text(refused).await.contains("its digest changed"));
}
