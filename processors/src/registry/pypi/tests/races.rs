//! Many who ask at once for what they may have already, while the upstream confirms and changes it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::{
    HeaderValue, StatusCode,
    header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH},
};
use serde_json::json;
use tokio::sync::Semaphore;
use weir_events::registry::Mask;

use super::*;
use crate::registry::testing::rule_of;

const PAGE: &str = "/simple/six/";
const JSON: &str = "application/vnd.pypi.simple.v1+json";
const N: usize = 64;

/// The upstream's list of these versions.
fn listing(versions: &[&str]) -> String {
    let file = |version: &&str| {
        let file = format!("six-{version}.tar.gz");
        json!({"filename": file, "url": file, "hashes": {"sha256": "0f".repeat(32)}})
    };
    let files: Vec<_> = versions.iter().map(file).collect();
    json!({"meta": {"api-version": "1.1"}, "name": "six", "files": files}).to_string()
}

/// What a client has: a list, and the validator it came with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Had {
    etag: String,
    list: String,
}

#[tokio::test]
async fn many_who_ask_at_once_hear_unchanged_of_what_they_have_only_and_the_upstream_hears_of_it_once()
 {
    let weir = Weir::start_with(|config| config.keeping.ttl = Duration::ZERO).await;
    let gate = Arc::new(Semaphore::new(0));
    let old = ["1.16.0"];
    let new = ["1.16.0", "1.17.0"];
    let rounds: [(&str, &str, &[&str], bool); 7] = [
        ("the first time", "v1", &old, false),
        ("nothing has changed", "v1", &old, false),
        ("it has changed", "v2", &new, false),
        ("nothing has changed since", "v2", &new, false),
        ("it is what it was before", "v3", &old, false),
        ("it has changed again", "v4", &new, false),
        ("nothing has changed there, and something here", "v4", &new, true),
    ];
    // The lists that there ever were, the newest last.
    let mut known: Vec<Had> = Vec::new();
    for (n, (what, tag, versions, ruled)) in (1..).zip(rounds) {
        let canned = Canned::new(listing(versions)).with(CONTENT_TYPE, JSON);
        let canned = canned.with(ETAG, &format!("\"{tag}\"")).held(&gate);
        weir.upstream.put(PAGE, canned);
        if ruled {
            weir.rules(1, &[rule_of(Ecosystem::Pypi, 1, "six", ">=1.17", Mask::Hide)]);
        }
        // One client has nothing, one the newest list, one the oldest, one all of them.
        let clients = (0..N).map(|client| match client % 4 {
            0 => Vec::new(),
            1 => known.last().cloned().into_iter().collect(),
            2 => known.first().cloned().into_iter().collect(),
            _ => known.clone(),
        });
        let clients: Vec<Vec<Had>> = clients.collect();
        let asking = clients.iter().map(|has| async {
            let tags: Vec<&str> = has.iter().map(|had| &*had.etag).collect();
            let tags = tags.join(", ");
            let headers = [(IF_NONE_MATCH, &*tags)];
            let headers = if has.is_empty() { &[][..] } else { &headers[..] };
            weir.ask(Method::GET, PAGE, headers).await
        });
        // Nobody is answered before all have asked.
        let opening = async {
            let all = u64::try_from(n * N).unwrap();
            weir.until("all have asked", || weir.plugin.stats().misses == all).await;
            gate.add_permits(1);
        };
        let (answers, ()) = tokio::join!(join_all(asking), opening);
        assert_eq!(weir.upstream.n_asked(PAGE), n, "{what}: one question a round");

        // What each has in hand now: what it was sent, or what it had.
        let mut lists: HashMap<String, Had> = HashMap::new();
        let mut n_unchanged = 0;
        for (answer, has) in answers.into_iter().zip(&clients) {
            let etag = answer.headers.get(ETAG).map(HeaderValue::to_str).unwrap().unwrap();
            let etag = etag.to_owned();
            let list = match answer.status {
                StatusCode::OK => text(answer).await,
                StatusCode::NOT_MODIFIED => {
                    n_unchanged += 1;
                    let had = has.iter().find(|had| had.etag == etag);
                    had.unwrap_or_else(|| panic!("{what}: {etag} is none of {has:?}")).list.clone()
                }
                status => panic!("{what}: {status}"),
            };
            lists.insert(list.clone(), Had { etag, list });
        }
        assert_eq!(lists.len(), 1, "{what}: all have the same in hand");
        let now = lists.into_values().next().unwrap();
        let listed = now.list.contains("six-1.17.0");
        assert_eq!(listed, versions.len() == 2 && !ruled, "{what}: {}", now.list);
        assert!(now.list.contains("six-1.16.0"), "{what}");
        // Who has it is not sent it again.
        let holders = clients.iter().filter(|has| has.contains(&now)).count();
        assert_eq!(n_unchanged, holders, "{what}");
        known.retain(|had| *had != now);
        known.push(now);
    }
    assert_eq!(known.len(), 3, "the old list, the new one, and the new one as the rule leaves it");
}
