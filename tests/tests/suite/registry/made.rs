//! An npm registry of a test's own: it tells the times of all versions, and has a tarball for each.

use std::{collections::HashMap, sync::Arc};

use axum::{Router, extract::Request, response::IntoResponse as _};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};
use weir_tests::site;

/// A package, one of its versions, and since when that is there.
pub(super) type Published<'a> = (&'a str, &'a str, &'a str);

/// A registry. Ends with the test's runtime.
pub(super) struct Registry {
    /// Its address, with a slash at its end.
    pub(super) url: String,
    lying: Arc<HashMap<String, Bytes>>,
}

/// What a tarball is called.
pub(super) fn tarball(package: &str, version: &str) -> String {
    let name = package.rsplit('/').next().unwrap_or_default();
    format!("{name}-{version}.tgz")
}

/// What a tarball of this name holds.
pub(super) fn content(file: &str) -> String {
    format!("the content of {file}")
}

impl Registry {
    /// Starts one. The version of a package that comes last is its latest.
    pub(super) async fn start(all: &[Published<'_>]) -> Self {
        let (listener, url) = site::listen().await;
        let url = url + "/";
        let (mut lying, mut packuments) = (HashMap::new(), HashMap::<&str, Value>::new());
        for (package, version, time) in all {
            let file = tarball(package, version);
            let path = format!("{package}/-/{file}");
            let body = content(&file);
            let packument = packuments.entry(package).or_insert_with(
                || json!({"name": package, "versions": {}, "time": {"created": time}}),
            );
            let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&body)));
            packument["versions"][version] = json!({"name": package, "version": version,
                "dist": {"tarball": format!("{url}{path}"), "integrity": integrity}});
            packument["time"][version] = json!(time);
            packument["dist-tags"] = json!({"latest": version});
            lying.insert(format!("/{path}"), Bytes::from(body));
        }
        for (package, packument) in packuments {
            lying.insert(path_of(package), Bytes::from(packument.to_string()));
        }
        let lying = Arc::new(lying);
        let all = Arc::clone(&lying);
        let answer = move |request: Request| {
            let body = all.get(&request.uri().path().replace("%2F", "%2f")).cloned();
            async move {
                match body {
                    Some(body) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
                    None => (StatusCode::NOT_FOUND, "not found").into_response(),
                }
            }
        };
        site::serve(listener, Router::new().fallback(answer));
        Self { url, lying }
    }

    /// The packument of a package, as it is sent.
    pub(super) fn packument(&self, package: &str) -> &[u8] {
        self.lying.get(&path_of(package)).expect("a package")
    }
}

fn path_of(package: &str) -> String {
    format!("/{}", package.replace('/', "%2f"))
}
