//! What is told of versions.

use std::time::Duration;

use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
};

use super::*;

const VERSIONS: [&str; 3] = ["v1.0.0", "v1.1.0", "v1.2.0"];

#[tokio::test]
async fn versions_that_are_marked_or_hidden_are_not_listed_and_the_latest_steps_down() {
    let weir = Weir::open(&VERSIONS).await;
    assert_eq!(text(weir.get(&at("@v/list")).await).await, "v1.0.0\nv1.1.0\nv1.2.0\n");
    for (revision, mask) in [(1, Mask::Mark), (2, Mask::Hide)] {
        weir.rules(revision, &[rule(1, ">=v1.2.0", mask)]);
        let list = weir.get(&at("@v/list")).await;
        assert_eq!(list.headers[CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(text(list).await, "v1.0.0\nv1.1.0\n", "{mask}");
        assert_eq!(text(weir.get(&at("@latest")).await).await, info("v1.1.0", 2), "{mask}");
    }
    assert_eq!(weir.recorded(), ["filtered", "filtered"]);
    weir.rules(3, &[rule(1, ">=v1.2.0", Mask::DenyOnly)]);
    assert_eq!(text(weir.get(&at("@v/list")).await).await, "v1.0.0\nv1.1.0\nv1.2.0\n");
    assert_eq!(text(weir.get(&at("@latest")).await).await, info("v1.1.0", 2));
    weir.rules(4, &[rule(1, "*", Mask::Mark)]);
    let none = weir.get(&at("@latest")).await;
    assert_eq!(none.status, StatusCode::FORBIDDEN);
    assert!(text(none).await.contains("no version of it is allowed"));
}

#[tokio::test]
async fn a_forbidden_version_is_refused_by_whatever_it_is_asked_for_and_its_go_mod_can_be_read() {
    let weir = Weir::open(&VERSIONS).await;
    let branch = format!("/proxy{}", at("@v/main.info"));
    weir.upstream.put(&branch, Canned::new(info("v1.2.0", 3)));
    assert_eq!(text(weir.get(&at("@v/v1.2.0.info")).await).await, info("v1.2.0", 3));
    for (revision, mask) in [(1, Mask::Mark), (2, Mask::Hide), (3, Mask::DenyOnly)] {
        weir.rules(revision, &[rule(1, "v1.2.0", mask)]);
        for what in ["@v/v1.2.0.info", "@v/main.info", "@v/v1.2.0.zip"] {
            let refused = weir.get(&at(what)).await;
            // Anything but 403 would let the go command ask somebody else.
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{what} {mask}");
            assert!(refused.reason.as_deref().unwrap().contains("too young"));
            let told = text(refused).await;
            for words in ["too young", "version v1.2.0", "v1.1.0 is allowed", "event"] {
                assert!(told.contains(words), "{words}: {told}");
            }
        }
        assert_eq!(weir.get(&at("@v/v1.2.0.mod")).await.status, StatusCode::OK);
        assert_eq!(weir.get(&at("@v/v1.1.0.info")).await.status, StatusCode::OK);
    }
    assert_eq!(weir.recorded(), ["blocked"; 9]);
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_a_failing_upstream_is_no_way_around() {
    let weir = Weir::open(&VERSIONS).await;
    for what in ["@v/v9.0.0.info", "@v/v9.0.0.mod", "@v/v9.0.0.zip"] {
        assert_eq!(weir.get(&at(what)).await.status, StatusCode::NOT_FOUND, "{what}");
    }
    // The go command looks above the module that it wants.
    assert_eq!(weir.get("/example.com/@v/list").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.get("/example.com/@v/list").await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.upstream.n_asked("/proxy/example.com/@v/list"), 1, "remembered for a while");
    for status in [500, 403, 429] {
        let path = format!("/proxy{}", at(&format!("@v/v8.0.{status}.info")));
        let status_code = StatusCode::from_u16(status).unwrap();
        weir.upstream.put(&path, Canned::status(status_code));
        let answer = weir.get(&at(&format!("@v/v8.0.{status}.info"))).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{status}");
    }
    for (n, garbage) in ["<html>", "{}", r#"{"Version":"v1.0.0"}"#].into_iter().enumerate() {
        let what = format!("@v/v7.0.{n}.info");
        weir.upstream.put(&format!("/proxy{}", at(&what)), Canned::new(garbage));
        assert_eq!(weir.get(&at(&what)).await.status, StatusCode::BAD_GATEWAY, "{garbage}");
    }
}

#[tokio::test]
async fn a_list_is_revalidated() {
    let weir = Weir::open(&VERSIONS).await;
    for what in ["@v/list", "@v/v1.0.0.info", "@v/v1.0.0.mod"] {
        let first = weir.get(&at(what)).await;
        let etag = first.headers[ETAG].to_str().unwrap().to_owned();
        let again = weir.get_with(&at(what), IF_NONE_MATCH, &etag).await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{what}");
        let head = weir.head(&at(what)).await;
        assert_eq!((head.status, &head.headers), (StatusCode::OK, &first.headers), "{what}");
    }
}

#[tokio::test]
async fn a_module_is_as_old_as_our_first_sight_of_it_whatever_its_author_says() {
    let forgetful = |config: &mut Config| config.keeping.negative_ttl = Duration::ZERO;
    let weir = Weir::open_with(&VERSIONS[..2], forgetful).await;
    weir.set_hour(0);
    (weir.set_facts)(aged(Ecosystem::Go, 72));
    assert_eq!(text(weir.get(&at("@v/list")).await).await, "");
    let refused = weir.get(&at("@v/v1.1.0.zip")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let told = text(refused).await;
    assert!(told.contains("first seen here at 2026-01-01"), "{told}");
    // A version that is in no list is seen when it is asked for.
    weir.set_hour(24);
    let put = |what: &str, body: String| {
        weir.upstream.put(&format!("/proxy{}", at(what)), Canned::new(body));
    };
    put("@v/v1.2.0.info", info("v1.2.0", 1));
    assert_eq!(weir.get(&at("@v/v1.2.0.info")).await.status, StatusCode::FORBIDDEN);
    // What is not there cannot be seen early.
    assert_eq!(weir.get(&at("@v/v1.3.0.info")).await.status, StatusCode::NOT_FOUND);
    weir.set_hour(72);
    assert_eq!(text(weir.get(&at("@v/list")).await).await, "v1.0.0\nv1.1.0\n");
    assert_eq!(weir.get(&at("@v/v1.1.0.zip")).await.status, StatusCode::OK);
    assert_eq!(weir.get(&at("@v/v1.2.0.info")).await.status, StatusCode::FORBIDDEN);
    put("@v/v1.3.0.info", info("v1.3.0", 1));
    weir.set_hour(96);
    assert_eq!(weir.get(&at("@v/v1.2.0.info")).await.status, StatusCode::OK);
    let late = text(weir.get(&at("@v/v1.3.0.info")).await).await;
    assert!(late.contains("first seen here at 2026-01-05"), "{late}");
}

#[tokio::test]
async fn a_list_as_of_a_day_loses_no_version_because_the_upstream_fails_for_a_moment() {
    let weir = Weir::open(&VERSIONS).await;
    let (info_of, day) = (format!("/proxy{}", at("@v/v1.1.0.info")), "1970-01-02T12:00:00Z");
    weir.upstream.put(&info_of, Canned::status(StatusCode::BAD_GATEWAY));
    let failed = weir.get_as_of(&at("@v/list"), day).await;
    assert_eq!(failed.status, StatusCode::BAD_GATEWAY);
    assert_eq!(
        (failed.headers.get(ETAG), &failed.headers[CACHE_CONTROL]),
        (None, &HeaderValue::from_static("no-store"))
    );
    assert!(weir.recorded().is_empty(), "nothing was judged");
    weir.upstream.put(&info_of, Canned::new(info("v1.1.0", 2)));
    for _ in 0..2 {
        let list = weir.get_as_of(&at("@v/list"), day).await;
        assert_eq!(text(list).await, "v1.0.0\nv1.1.0\n");
    }
    assert_eq!(weir.recorded(), ["filtered"]);
    assert_eq!(weir.upstream.n_asked(&info_of), 2);
    assert_eq!(weir.upstream.n_asked(&format!("/proxy{}", at("@v/v1.0.0.info"))), 1);
}

#[tokio::test]
async fn many_who_look_at_a_list_as_of_a_day_ask_for_each_time_once() {
    let weir = Weir::open(&VERSIONS).await;
    let days = ["1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z", "1970-01-03T00:00:00Z"];
    let path = at("@v/list");
    let asking = days.iter().cycle().take(30).map(|day| weir.get_as_of(&path, day));
    for (day, list) in days.iter().cycle().zip(futures_util::future::join_all(asking).await) {
        let n_there = days.iter().filter(|at| *at <= day).count();
        assert_eq!(text(list).await.lines().count(), n_there, "{day}");
    }
    for version in VERSIONS {
        assert_eq!(
            weir.upstream.n_asked(&format!("/proxy{}", at(&format!("@v/{version}.info")))),
            1
        );
    }
}

#[test]
fn a_version_of_which_nobody_told_the_time_is_in_no_list_as_of_one() {
    use std::collections::BTreeMap;

    use super::super::{document::List, filter::filter, module::Module};

    let list = List::read(&Module::new(MODULE).unwrap(), b"v1.0.0\nv1.1.0\n").unwrap();
    let dossier = crate::registry::testing::dossier(Ecosystem::Go, MODULE, 1, &[]);
    let as_of = weir_aggregates::registry::dossier::Dossier::clone(&dossier)
        .as_of("1970-01-02T00:00:00Z".parse().unwrap());
    let ages =
        BTreeMap::from([("v1.1.0".to_owned(), Some("1970-01-01T00:00:00Z".parse().unwrap()))]);
    let filtered = filter(&list, &as_of, Some(&ages));
    assert_eq!((filtered.stays, filtered.hidden), (vec![false, true], vec!["v1.0.0".to_owned()]));
    assert_eq!(filter(&list, &dossier, None).stays, [true, true]);
}

#[tokio::test]
async fn the_checksum_database_is_passed_on_but_for_private_modules() {
    let weir = Weir::with_database(&VERSIONS).await;
    let base = format!("/proxy/sumdb/{DATABASE}");
    for (what, words) in [("supported", ""), ("latest", "signed"), ("tile/8/0/000", "\u{1}\u{2}")] {
        weir.upstream.put(&format!("{base}/{what}"), Canned::new(words));
        let answer = weir.get(&format!("/sumdb/{DATABASE}/{what}")).await;
        assert_eq!((answer.status, text(answer).await.as_str()), (StatusCode::OK, words));
    }
    let lookup = weir.get(&format!("/sumdb/{DATABASE}/lookup/{ESCAPED}@v1.0.0")).await;
    assert!(text(lookup).await.contains(&sum("v1.0.0")));
    let private = format!("/sumdb/{DATABASE}/lookup/example.com/private/x@v1.0.0");
    assert_eq!(weir.get(&private).await.status, StatusCode::FORBIDDEN);
    assert_eq!(weir.upstream.n_asked(&format!("/proxy{private}")), 0);
    assert_eq!(weir.get("/sumdb/other.example/supported").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_reserved_is_refused_and_nobody_outside_hears_of_it() {
    let weir = Weir::with_database(&VERSIONS).await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Go, "git.acme.example"));
    weir.keeps_to_itself(&[
        "/git.acme.example/x/@v/list",
        "/git.acme.example/x/@latest",
        "/git.acme.example/x/@v/v1.0.0.info",
        "/git.acme.example/x/@v/v1.0.0.mod",
        "/git.acme.example/x/@v/v1.0.0.zip",
        "/sumdb/sums.example/lookup/git.acme.example/x@v1.0.0",
    ])
    .await;
}
