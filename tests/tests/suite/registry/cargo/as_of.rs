//! Behind a day, cargo resolves to what it resolved to on that day. The index is one of this test's own,
//! in the shape that cargo asks for, with the time of each version.

use std::{collections::HashMap, sync::Arc};

use axum::{Router, extract::Request, response::IntoResponse as _};
use http::StatusCode;
use weir_tests::site;

use super::*;

const DAY: &str = "2026-03-31";
/// Name, version, what of `leaf` it asks for, and since when it is there.
const THEN: [(&str, &str, &str, &str); 3] = [
    ("leaf", "1.0.0", "", "2026-01-02T03:04:05Z"),
    ("leaf", "1.1.0", "", "2026-03-31T23:59:59Z"),
    ("middle", "0.3.1", "^1.0", "2026-02-02T03:04:05Z"),
];
const LATER: [(&str, &str, &str, &str); 2] = [
    ("leaf", "1.2.0", "", "2026-04-01T00:00:01Z"),
    ("middle", "0.3.2", "^1.2", "2026-05-02T03:04:05Z"),
];

/// Serves an index until the test ends, and answers its address.
async fn index<'a>(of: impl Iterator<Item = &'a (&'a str, &'a str, &'a str, &'a str)>) -> String {
    let (listener, address) = site::listen().await;
    let mut files: HashMap<String, String> = HashMap::new();
    files.insert("/config.json".to_owned(), json!({"dl": format!("{address}/dl")}).to_string());
    for (name, version, needs, time) in of {
        let dependency = json!({"name": "leaf", "req": needs, "features": [], "optional": false,
            "default_features": true, "target": null, "kind": "normal"});
        let dependencies = if needs.is_empty() { vec![] } else { vec![dependency] };
        let line = json!({"name": name, "vers": version, "deps": dependencies, "features": {},
            "cksum": "7".repeat(64), "yanked": false, "pubtime": time});
        let list = files.entry(format!("/{}/{}/{name}", &name[..2], &name[2..4])).or_default();
        list.push_str(&line.to_string());
        list.push('\n');
    }
    let files = Arc::new(files);
    let answer = move |request: Request| {
        let file = files.get(request.uri().path()).cloned();
        async move {
            match file {
                Some(file) => file.into_response(),
                None => (StatusCode::NOT_FOUND, "not found").into_response(),
            }
        }
    };
    site::serve(listener, Router::new().fallback(answer));
    address
}

/// What a project is locked to that asks for the newest there is.
fn newest(place: &Place, name: &str, index: &str) -> String {
    let source = format!(
        "[source.crates-io]\nreplace-with = \"there\"\n\n\
         [source.there]\nregistry = \"sparse+{index}/\"\n"
    );
    let project = Project::configured(place, name, &source);
    let manifest = "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                    [dependencies]\nmiddle = \"0.3\"\n";
    fs::write(project.folder.join("Cargo.toml"), manifest).expect("its manifest");
    project.does(&["generate-lockfile"]);
    project.lock()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_day_a_project_is_locked_to_what_it_was_locked_to_then() {
    let place = Place::on_a_test_database().await;
    let wanted = newest(&place, "then", &index(THEN.iter()).await);
    assert!(wanted.contains("\"leaf\"\nversion = \"1.1.0\""), "{wanted}");
    let now = index(THEN.iter().chain(&LATER)).await;
    let place = place.setting(&format!("registries:\n  cargo:\n    upstream: {now}/\n"));
    let weir = place.start(Part::Up).await;
    let today = newest(&place, "today", &format!("{}/cargo", weir.url));
    assert!(today.contains("\"leaf\"\nversion = \"1.2.0\""), "{today}");
    for name in ["cold", "warm"] {
        let again = newest(&place, name, &format!("{}/@{DAY}/cargo", weir.url));
        assert_eq!(again, wanted, "{name}");
    }
}
