//! A simple index in the upstream of a test.

use sha2::{Digest as _, Sha256};

use crate::registry::testing::{Canned, Fake};

/// What an upstream of Python packages has.
pub(in crate::registry::pypi) trait Index {
    /// Puts a page in JSON with one source distribution a version, and the files.
    fn project(&self, name: &str, versions: &[&str]);

    /// Puts a page in JSON.
    fn page(&self, name: &str, page: &serde_json::Value);
}

impl Index for Fake {
    fn project(&self, name: &str, versions: &[&str]) {
        let files = versions.iter().map(|version| {
            let file = format!("{name}-{version}.tar.gz");
            let body = content(&file);
            let hash = hex::encode(Sha256::digest(&body));
            let path = format!("/packages/{file}");
            let entry = serde_json::json!({
                "filename": file, "url": format!("../..{path}"), "hashes": {"sha256": hash},
                "size": body.len(), "upload-time": "2021-05-05T14:18:18.379Z",
            });
            self.put(&path, Canned::new(body));
            entry
        });
        let page = serde_json::json!({
            "meta": {"api-version": "1.1"}, "name": name, "versions": versions,
            "files": files.collect::<Vec<_>>(),
        });
        self.page(name, &page);
    }

    fn page(&self, name: &str, page: &serde_json::Value) {
        let canned = Canned::new(page.to_string())
            .with(http::header::CONTENT_TYPE, "application/vnd.pypi.simple.v1+json");
        self.put(&format!("/simple/{name}/"), canned);
    }
}

/// What a file of this name holds.
pub(in crate::registry::pypi) fn content(file: &str) -> Vec<u8> {
    format!("the content of {file}").into_bytes()
}
