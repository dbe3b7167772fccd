//! The lists of the canary, by its name, which no upstream is asked for. Its files are nowhere: they are
//! refused before anybody looks for them.

use serde_json::json;
use weir_aggregates::registry::canary::VERSION;
pub use weir_aggregates::registry::canary::is;

use super::documents::Own;

/// No file has this digest.
const NO_SHA256: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const NO_SHA1: &str = "0000000000000000000000000000000000000000";

/// Its page in the simple index.
#[must_use]
pub fn page(name: &str) -> Own {
    let file = format!("{}-{VERSION}-py3-none-any.whl", name.replace('-', "_"));
    let page = json!({
        "meta": { "api-version": "1.1" },
        "name": name,
        "versions": [VERSION],
        "files": [{ "filename": file, "url": file, "hashes": { "sha256": NO_SHA256 }, "size": 1 }],
    });
    Own { content_type: "application/vnd.pypi.simple.v1+json", body: page.to_string() }
}

/// Its packument.
#[must_use]
pub fn packument(name: &str) -> Own {
    let release = json!({ "name": name, "version": VERSION, "dist": { "shasum": NO_SHA1 } });
    let packument = json!({
        "name": name,
        "dist-tags": { "latest": VERSION },
        "versions": { VERSION: release },
    });
    Own { content_type: "application/json", body: packument.to_string() }
}

/// Its list in a sparse index.
#[must_use]
pub fn list(name: &str) -> Own {
    let line = json!({
        "name": name,
        "vers": VERSION,
        "deps": [],
        "cksum": NO_SHA256,
        "features": {},
        "yanked": false,
    });
    Own { content_type: "text/plain", body: format!("{line}\n") }
}

/// The versions of the module.
#[must_use]
pub fn versions() -> Own {
    Own { content_type: "text/plain", body: format!("v{VERSION}\n") }
}

/// What its one version is.
#[must_use]
pub fn info() -> Own {
    let info = json!({ "Version": format!("v{VERSION}") });
    Own { content_type: "application/json", body: info.to_string() }
}

/// Its `go.mod`.
#[must_use]
pub fn go_mod(name: &str) -> Own {
    Own { content_type: "text/plain", body: format!("module {name}\n") }
}

/// Its tags.
#[must_use]
pub fn tags(name: &str) -> Own {
    let tags = json!({ "name": name, "tags": [VERSION] });
    Own { content_type: "application/json", body: tags.to_string() }
}

#[cfg(test)]
mod tests {
    use weir_aggregates::registry::canary::REASON;

    use super::*;
    use crate::registry::{
        cache::FileCache,
        cargo::Cargo,
        docker::Docker,
        go::Go,
        npm::Npm,
        pypi::Pypi,
        testing::{Tested, World, text},
    };

    /// Asks for its list and its file where no upstream has anything.
    async fn refused<P: Tested>(list: &str, file: &str) {
        let weir = World::<P>::start().await;
        let listed = weir.get(list).await;
        let (status, listed) = (listed.status, text(listed).await);
        assert!(status == 200 && listed.contains(VERSION), "{list}: {status} {listed}");
        let answer = weir.get(file).await;
        let status = answer.status;
        let told = text(answer).await;
        assert!(status == 403 && told.contains(REASON), "{file}: {status} {told}");
        assert_eq!(weir.recorded(), ["blocked"], "{file}");
        assert_eq!(weir.upstream.asked(), [""; 0], "{file}: the upstream was asked");
    }

    #[tokio::test]
    async fn it_is_listed_and_refused_on_record_and_no_upstream_hears_of_it() {
        refused::<Pypi<FileCache>>(
            "/simple/weir-canary/",
            "/files/weir-canary/weir_canary-1.0.0-py3-none-any.whl",
        )
        .await;
        refused::<Npm<FileCache>>("/weir-canary", "/weir-canary/-/weir-canary-1.0.0.tgz").await;
        refused::<Cargo<FileCache>>("/we/ir/weir-canary", "/weir-canary/1.0.0/download").await;
        refused::<Npm<FileCache>>(
            "/weir-canary-0a1b",
            "/weir-canary-0a1b/-/weir-canary-0a1b-1.0.0.tgz",
        )
        .await;
        refused::<Pypi<FileCache>>(
            "/simple/weir-canary-0a1b/",
            "/files/weir-canary-0a1b/weir_canary_0a1b-1.0.0-py3-none-any.whl",
        )
        .await;
        let go = "/weir.invalid/canary-0a1b/@v/";
        refused::<Go<FileCache>>(&format!("{go}list"), &format!("{go}v1.0.0.zip")).await;
        let go = "/weir.invalid/canary/@v/";
        refused::<Go<FileCache>>(&format!("{go}list"), &format!("{go}v1.0.0.info")).await;
        refused::<Go<FileCache>>(&format!("{go}list"), &format!("{go}v1.0.0.zip")).await;
        let images = "/library/weir-canary/";
        let (tags, tag) = (format!("{images}tags/list"), format!("{images}manifests/1.0.0"));
        refused::<Docker<FileCache>>(&tags, &tag).await;
    }
}
