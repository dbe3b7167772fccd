//! A registry of a test's own: npm packages and Python projects of which it tells what it is given.

use std::{
    collections::HashMap,
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Router, extract::Request, response::IntoResponse as _};
use flate2::{Compression, write::GzEncoder};
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use weir_tests::site;
use zip::{ZipWriter, write::SimpleFileOptions};

const JSON: &str = "application/json";
const SIMPLE: &str = "application/vnd.pypi.simple.v1+json";

type Pages = HashMap<String, (&'static str, Vec<u8>)>;

/// Serves until the test ends.
#[derive(Debug)]
pub(super) struct Home {
    url: String,
    pages: Arc<Mutex<Pages>>,
}

impl Home {
    pub(super) async fn start() -> Self {
        let pages = Arc::new(Mutex::new(Pages::new()));
        let known = Arc::clone(&pages);
        let answer = move |request: Request| {
            let pages = known.lock().unwrap_or_else(PoisonError::into_inner);
            let page = pages.get(request.uri().path()).cloned();
            async move {
                match page {
                    Some((kind, body)) => ([(CONTENT_TYPE, kind)], body).into_response(),
                    None => (StatusCode::NOT_FOUND, "not found").into_response(),
                }
            }
        };
        let url = site::start(Router::new().fallback(answer)).await;
        Self { url, pages }
    }

    /// The configuration that has it as the upstream.
    pub(super) fn setting(&self) -> String {
        let Self { url, .. } = self;
        format!(
            "registries:\n  npm:\n    upstream: {url}/npm/\n  pypi:\n    upstream: {url}/simple/\n"
        )
    }

    fn put(&self, path: String, kind: &'static str, body: Vec<u8>) {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path, (kind, body));
    }

    /// A package of these versions, one a day, the last of which is `latest`; of each there is told more.
    pub(super) fn npm(&self, name: &str, versions: &[(&str, Value)]) {
        let mut package = json!({"name": name, "versions": {}, "time": {}, "dist-tags": {}});
        for (day, (version, more)) in versions.iter().enumerate() {
            let body = tarball(&json!({"name": name, "version": version}));
            let path = format!("/npm/{name}/-/{name}-{version}.tgz");
            let digest = base64(&Sha512::digest(&body));
            let mut release = more.clone();
            release["name"] = json!(name);
            release["version"] = json!(version);
            release["dist"]["tarball"] = json!(format!("{}{path}", self.url));
            release["dist"]["integrity"] = json!(format!("sha512-{digest}"));
            package["versions"][version] = release;
            package["time"][version] = json!(format!("2026-01-{:02}T00:00:00.000Z", day + 1));
            package["dist-tags"]["latest"] = json!(version);
            self.put(path, "application/octet-stream", body);
        }
        self.put(format!("/npm/{name}"), JSON, package.to_string().into());
    }

    /// A project of one wheel a version and day; of each there is told more, and lies more in its
    /// metadata.
    pub(super) fn pypi(&self, project: &str, versions: &[(&str, Value, &str)]) {
        let mut files = Vec::new();
        for (day, (version, more, metadata)) in versions.iter().enumerate() {
            let metadata =
                format!("Metadata-Version: 2.4\nName: {project}\nVersion: {version}\n{metadata}\n");
            let body = wheel(project, version, &metadata);
            let name = format!("{project}-{version}-py3-none-any.whl");
            let path = format!("/files/{name}");
            let mut file = more.clone();
            file["filename"] = json!(name);
            file["url"] = json!(format!("{}{path}", self.url));
            file["hashes"] = json!({"sha256": hex::encode(Sha256::digest(&body))});
            file["upload-time"] = json!(format!("2026-01-{:02}T00:00:00.000000Z", day + 1));
            if file["core-metadata"] == json!(true) {
                let digest = hex::encode(Sha256::digest(&metadata));
                file["core-metadata"] = json!({"sha256": digest});
                self.put(format!("{path}.metadata"), "text/plain", metadata.into());
            }
            files.push(file);
            self.put(path, "application/octet-stream", body);
        }
        let page = json!({"meta": {"api-version": "1.3"}, "name": project, "files": files,
            "versions": versions.iter().map(|(version, _, _)| version).collect::<Vec<_>>()});
        self.put(format!("/simple/{project}/"), SIMPLE, page.to_string().into());
    }
}

/// A tarball with a `package.json`.
fn tarball(package: &Value) -> Vec<u8> {
    let body = package.to_string();
    let mut header = [0_u8; 512];
    let mut field =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    field(0, "package/package.json");
    field(100, "0000644\0");
    field(108, "0000000\0");
    field(116, "0000000\0");
    field(124, &format!("{:011o}\0", body.len()));
    field(136, "00000000000\0");
    field(148, "        ");
    field(156, "0");
    field(257, "ustar\x0000");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut tar = GzEncoder::new(Vec::new(), Compression::fast());
    let padding = vec![0; 512 - body.len() % 512 + 1_024];
    for part in [&header[..], body.as_bytes(), &padding] {
        tar.write_all(part).expect("a part of a tarball");
    }
    tar.finish().expect("a tarball")
}

/// A wheel with one module.
fn wheel(project: &str, version: &str, metadata: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let info = format!("{project}-{version}.dist-info");
    let module = format!("__version__ = \"{version}\"\n");
    let kind = "Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let record = format!("{project}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n");
    for (name, text) in [
        (format!("{project}.py"), &*module),
        (format!("{info}/METADATA"), metadata),
        (format!("{info}/WHEEL"), kind),
        (format!("{info}/RECORD"), &record),
    ] {
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(name, options).expect("a file of a wheel");
        zip.write_all(text.as_bytes()).expect("its text");
    }
    zip.finish().expect("a wheel").into_inner()
}

/// Base 64, with its padding.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let sign = |at: usize| {
            if at > chunk.len() {
                return '=';
            }
            char::from(SIGNS[(bits >> (18 - 6 * at)) as usize & 63])
        };
        [sign(0), sign(1), sign(2), sign(3)]
    };
    bytes.chunks(3).flat_map(group).collect()
}
