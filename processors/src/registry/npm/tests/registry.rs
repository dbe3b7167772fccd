//! An npm registry in the upstream of a test.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};

use crate::registry::testing::{Canned, Fake};

/// What an upstream of npm packages has.
pub(super) trait Registry {
    /// Puts a packument of these versions, the last of which is `latest`, and their tarballs.
    fn package(&self, name: &str, versions: &[&str]);

    /// Puts a packument with one version, 1.0.0, of this distribution, beside its `tarball`.
    fn promise(&self, dist: Value);

    /// Puts a packument.
    fn packument(&self, path: &str, packument: &Value);
}

impl Registry for Fake {
    fn package(&self, name: &str, versions: &[&str]) {
        let unscoped = name.rsplit('/').next().unwrap();
        let listed = versions.iter().map(|version| {
            let file = format!("{unscoped}-{version}.tgz");
            let path = format!("/tarballs/{name}/-/{file}");
            let body = content(&file);
            let dist = json!({"integrity": integrity(&body), "tarball": self.url(&path).as_str()});
            self.put(&path, Canned::new(body));
            let release = json!({"name": name, "version": version, "readme": "long", "dist": dist});
            ((*version).to_owned(), release)
        });
        let times = versions.iter().map(|version| ((*version).to_owned(), json!("2021-05-05")));
        let mut time: serde_json::Map<_, _> = times.collect();
        time.insert("modified".to_owned(), json!("2022-02-02"));
        let packument = json!({
            "_id": name, "name": name, "dist-tags": {"latest": versions.last()},
            "versions": listed.collect::<serde_json::Map<_, _>>(), "time": time, "readme": "long",
        });
        self.packument(&name.replace('/', "%2f"), &packument);
    }

    fn promise(&self, mut dist: Value) {
        dist["tarball"] = json!("/tarballs/pad-1.0.0.tgz");
        self.packument("pad", &json!({"name": "pad", "versions": {"1.0.0": {"dist": dist}}}));
    }

    fn packument(&self, path: &str, packument: &Value) {
        let canned = Canned::new(packument.to_string()).with(CONTENT_TYPE, "application/json");
        self.put(&format!("/registry/{path}"), canned);
    }
}

/// What a tarball of this name holds.
pub(super) fn content(file: &str) -> Vec<u8> {
    format!("the content of {file}").into_bytes()
}

/// What a packument promises of bytes.
pub(super) fn integrity(bytes: &[u8]) -> String {
    format!("sha512-{}", STANDARD.encode(Sha512::digest(bytes)))
}
