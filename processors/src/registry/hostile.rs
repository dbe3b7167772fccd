//! Upstreams that are dead, slow or cut short, that lie, or send garbage: in every ecosystem they are
//! told as what they are, nothing wrong is kept, and what was kept before is still given.

use std::{
    io::{Cursor, Write as _},
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use http::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER},
};
use serde_json::json;
use sha2::{Digest as _, Sha256, Sha512};
use tokio::sync::Semaphore;
use weir_events::registry::{Ecosystem, Event};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{
    answer::Answer,
    cache::FileCache,
    cargo::{Cargo, testing as crates},
    docker::Docker,
    go::Go,
    npm::Npm,
    pypi::Pypi,
    testing::{Canned, Fake, Tested, World, body, text},
};
use crate::outbound::Url;

const MAX_PAGE_BYTES: u64 = 1 << 20;
/// For what comes, and for what never does.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(100);

/// A package of an ecosystem: where clients ask for it, and where an upstream has it.
struct Package {
    list: String,
    list_at: String,
    list_type: &'static str,
    listed: Vec<u8>,
    file: String,
    file_at: String,
    content: Vec<u8>,
    /// What else an upstream has.
    beside: Vec<(String, Vec<u8>)>,
}

impl Package {
    fn good_list(&self) -> Canned {
        Canned::new(self.listed.clone()).with(CONTENT_TYPE, self.list_type)
    }

    fn good_file(&self) -> Canned {
        Canned::new(self.content.clone())
    }

    fn put(&self, upstream: &Fake) {
        upstream.put(&self.list_at, self.good_list());
        upstream.put(&self.file_at, self.good_file());
        for (path, bytes) in &self.beside {
            upstream.put(path, Canned::new(bytes.clone()));
        }
    }
}

fn pypi(_: &Fake) -> Package {
    let content = b"a source distribution".to_vec();
    let listed = json!({"files": [{"filename": "six-1.0.tar.gz", "url": "/kept/six-1.0.tar.gz",
        "hashes": {"sha256": hex::encode(Sha256::digest(&content))}}]});
    Package {
        list: "/simple/six/".to_owned(),
        list_at: "/simple/six/".to_owned(),
        list_type: "application/vnd.pypi.simple.v1+json",
        listed: listed.to_string().into_bytes(),
        file: "/files/six/six-1.0.tar.gz".to_owned(),
        file_at: "/kept/six-1.0.tar.gz".to_owned(),
        content,
        beside: Vec::new(),
    }
}

fn npm(_: &Fake) -> Package {
    let content = b"a tarball".to_vec();
    let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&content)));
    let dist = json!({"tarball": "pad/-/pad-1.0.0.tgz", "integrity": integrity});
    let listed = json!({"name": "pad", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {"name": "pad", "version": "1.0.0", "dist": dist}}});
    Package {
        list: "/pad".to_owned(),
        list_at: "/registry/pad".to_owned(),
        list_type: "application/json",
        listed: listed.to_string().into_bytes(),
        file: "/pad/-/pad-1.0.0.tgz".to_owned(),
        file_at: "/registry/pad/-/pad-1.0.0.tgz".to_owned(),
        content,
        beside: Vec::new(),
    }
}

fn cargo(upstream: &Fake) -> Package {
    let settings = json!({"dl": upstream.url("/kept").as_str()}).to_string();
    Package {
        list: "/se/rd/serde".to_owned(),
        list_at: "/index/se/rd/serde".to_owned(),
        list_type: "text/plain",
        listed: crates::list("serde", &["1.0.0"]).into_bytes(),
        file: "/serde/1.0.0/download".to_owned(),
        file_at: "/kept/serde/1.0.0/download".to_owned(),
        content: crates::content("serde", "1.0.0"),
        beside: vec![("/index/config.json".to_owned(), settings.into_bytes())],
    }
}

fn go(_: &Fake) -> Package {
    let at = |what: &str| format!("/example.com/m/@v/{what}");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("example.com/m@v1.0.0/go.mod", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"module example.com/m\n").unwrap();
    let info = br#"{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}"#.to_vec();
    Package {
        list: at("list"),
        list_at: format!("/proxy{}", at("list")),
        list_type: "text/plain",
        listed: b"v1.0.0\n".to_vec(),
        file: at("v1.0.0.zip"),
        file_at: format!("/proxy{}", at("v1.0.0.zip")),
        content: zip.finish().unwrap().into_inner(),
        beside: vec![(format!("/proxy{}", at("v1.0.0.info")), info)],
    }
}

fn docker(_: &Fake) -> Package {
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest = json!({"schemaVersion": 2, "mediaType": kind, "layers": []}).to_string();
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(&manifest)));
    let tags = json!({"name": "library/app", "tags": ["1.0"]}).to_string();
    Package {
        list: "/library/app/tags/list".to_owned(),
        list_at: "/v2/library/app/tags/list".to_owned(),
        list_type: "application/json",
        listed: tags.into_bytes(),
        file: format!("/library/app/manifests/{digest}"),
        file_at: format!("/v2/library/app/manifests/{digest}"),
        content: manifest.into_bytes(),
        beside: Vec::new(),
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Everything at once, but more is announced.
fn announcing_more(bytes: &[u8]) -> Canned {
    // One permit each time that it is asked.
    let gate = Arc::new(Semaphore::new(16));
    Canned::gated(&[bytes], &gate).announcing(bytes.len() + 10)
}

/// What an upstream says that is no answer to a question for a list, or for a file.
fn no_answers(at: &str, right: &[u8]) -> Vec<(&'static str, Canned)> {
    let half = right[..right.len() / 2].to_vec();
    vec![
        ("it fails", Canned::status(StatusCode::INTERNAL_SERVER_ERROR)),
        ("it is busy", Canned::status(StatusCode::TOO_MANY_REQUESTS)),
        ("it is cut short", Canned::new(half).breaking_off()),
        ("it announces more", announcing_more(right)),
        ("it sends garbage", Canned::new(&b"\xff\x00<html>no</html>"[..])),
        ("it leads in a circle", Canned::status(StatusCode::FOUND).with(LOCATION, at)),
    ]
}

/// Lists are never fresh, and none may take long or be large.
fn hasty<P: Tested>(bound: Duration) -> impl Future<Output = World<P>> {
    World::start_with(move |config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.recent = Duration::ZERO;
        config.keeping.retry_after = Duration::ZERO;
        config.keeping.bound = bound;
        config.keeping.max_page_bytes = MAX_PAGE_BYTES;
    })
}

/// Whether a client is told that the upstream is to blame. That it has had enough is the one thing
/// that is passed on, where clients wait then.
fn is_told<P: Tested>(answer: &Answer) -> bool {
    let enough = P::ECOSYSTEM == Ecosystem::Docker && answer.headers.contains_key(RETRY_AFTER);
    answer.status.is_server_error() || enough
}

async fn lists<P: Tested>(package: fn(&Fake) -> Package) {
    let told = async |weir: &World<P>, list: &str, what: &str| {
        let answer = weir.get(list).await;
        assert!(is_told::<P>(&answer), "{list}, {what}: {}", answer.status);
        assert_eq!(answer.headers[CACHE_CONTROL], "no-store", "{list}, {what}");
        assert!(text(answer).await.contains("upstream"), "{list}, {what}");
    };
    let n_bytes = usize::try_from(8 * MAX_PAGE_BYTES).unwrap();
    let weir = hasty::<P>(LONG).await;
    let package = package(&weir.upstream);
    let mut all = no_answers(&package.list_at, &package.listed);
    let bomb = Canned::new(gzipped(&vec![b' '; n_bytes])).with(CONTENT_ENCODING, "gzip");
    all.push(("it unpacks without an end", bomb));
    for (what, canned) in all {
        let canned = canned.with(CONTENT_TYPE, package.list_type);
        let weir = hasty::<P>(LONG).await;
        package.put(&weir.upstream);
        weir.upstream.put(&package.list_at, canned.clone());
        told(&weir, &package.list, what).await;
        // It is not remembered.
        weir.upstream.put(&package.list_at, package.good_list());
        let answer = weir.get(&package.list).await;
        assert_eq!(answer.status, StatusCode::OK, "{what}");
        let good = body(answer).await.unwrap();
        // What was right before goes on being given.
        weir.upstream.put(&package.list_at, canned);
        let answer = weir.get(&package.list).await;
        assert_eq!(answer.status, StatusCode::OK, "{}, {what}", package.list);
        assert_eq!(body(answer).await.unwrap(), good, "{}, {what}", package.list);
    }
    let slow = Canned::gated(&[&package.listed], &Arc::new(Semaphore::new(0)));
    let weir = hasty::<P>(SHORT).await;
    weir.upstream.put(&package.list_at, slow.with(CONTENT_TYPE, package.list_type));
    told(&weir, &package.list, "it is slow").await;
    // One that is dead, and one that says that there is nothing until there is.
    let dead = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap()
    };
    let dead = Url::parse(&format!("http://{dead}/")).unwrap();
    let weir = World::<P>::start_with(|config| config.upstream = Some(dead)).await;
    told(&weir, &package.list, "it is dead").await;
    let weir = World::<P>::start_with(|config| config.keeping.negative_ttl = Duration::ZERO).await;
    assert_eq!(weir.get(&package.list).await.status, StatusCode::NOT_FOUND);
    package.put(&weir.upstream);
    assert_eq!(weir.get(&package.list).await.status, StatusCode::OK, "{}", package.list);
}

async fn files<P: Tested>(package: fn(&Fake) -> Package) {
    let weir = World::<P>::start().await;
    let example = package(&weir.upstream);
    let content = &example.content;
    let mut others = content.clone();
    others[0] ^= 1;
    let mut all = no_answers(&example.file_at, content);
    all.push(("it sends others", Canned::new(others)));
    // A zip may have something behind its end, and is none the other for it.
    if P::ECOSYSTEM != Ecosystem::Go {
        all.push(("it sends more", Canned::new([content.as_slice(), b"more"].concat())));
    }
    all.push(("it sends nothing", Canned::new("")));
    let packed = Canned::new(gzipped(content)).with(CONTENT_ENCODING, "gzip");
    all.push(("it packs what is not to be packed", packed));
    for (what, canned) in all {
        let weir = World::<P>::start().await;
        let package = package(&weir.upstream);
        let file = &package.file;
        package.put(&weir.upstream);
        weir.upstream.put(&package.file_at, canned.clone());
        let answer = weir.get(file).await;
        let (told, status) = (is_told::<P>(&answer), answer.status);
        let broken = body(answer).await.is_err();
        assert!(told || broken, "{file}, {what}: {status}");
        assert!(!weir.recorded().contains(&"stored"), "{file}, {what}");
        // The right one is had when it is there, and from then on whatever the upstream does.
        weir.upstream.put(&package.file_at, package.good_file());
        let answer = weir.get(file).await;
        assert_eq!(answer.status, StatusCode::OK, "{file}, {what}");
        assert_eq!(body(answer).await.unwrap(), package.content, "{file}, {what}");
        weir.until(what, || weir.recorded().contains(&"stored")).await;
        weir.upstream.put(&package.file_at, canned);
        let answer = weir.get(file).await;
        assert_eq!(body(answer).await.unwrap(), package.content, "{file}, {what}");
    }
}

#[tokio::test]
async fn a_list_that_is_none_is_told_not_kept_and_does_not_displace_the_last_good_one() {
    lists::<Pypi<FileCache>>(pypi).await;
    lists::<Npm<FileCache>>(npm).await;
    lists::<Cargo<FileCache>>(cargo).await;
    lists::<Go<FileCache>>(go).await;
    lists::<Docker<FileCache>>(docker).await;
}

#[tokio::test]
async fn a_file_that_is_none_never_ends_well_is_not_kept_and_does_not_displace_the_right_one() {
    files::<Pypi<FileCache>>(pypi).await;
    files::<Npm<FileCache>>(npm).await;
    files::<Cargo<FileCache>>(cargo).await;
    files::<Go<FileCache>>(go).await;
    files::<Docker<FileCache>>(docker).await;
}

/// What a list promises of a file, as it is spelt there and as clients are told.
type Promised = fn(&[u8]) -> (String, String);

/// Another file under a name that was let through already: neither the one that is kept, for the list
/// says that it is another, nor that, for nobody publishes a file twice.
async fn published_again<P: Tested>(package: fn(&Fake) -> Package, promised: Promised) {
    let weir = hasty::<P>(LONG).await;
    let mut package = package(&weir.upstream);
    package.put(&weir.upstream);
    assert_eq!(body(weir.get(&package.file).await).await.unwrap(), package.content);
    weir.until("kept and pinned", || {
        weir.recorded().contains(&"stored") && !weir.pinned().is_empty()
    })
    .await;
    let listed = String::from_utf8(package.listed).unwrap();
    let again = b"the same name again".to_vec();
    let ((listed_before, before), (listed_now, now)) =
        (promised(&package.content), promised(&again));
    package.listed = listed.replace(&listed_before, &listed_now).into_bytes();
    package.content = again;
    package.put(&weir.upstream);
    let answer = weir.get(&package.file).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", package.file);
    let said = String::from_utf8(body(answer).await.unwrap().to_vec()).unwrap();
    for words in [before, now, "(integrity)".to_owned()] {
        assert!(said.contains(&words), "{}: {said}", package.file);
    }
    assert_eq!(weir.upstream.n_asked(&package.file_at), 1, "{}", package.file);
}

#[tokio::test]
async fn a_file_that_was_published_again_is_given_neither_as_it_was_nor_as_it_is() {
    let sha256 = |content: &[u8]| {
        let digest = hex::encode(Sha256::digest(content));
        (digest.clone(), digest)
    };
    let sha512 = |content: &[u8]| {
        let digest: [u8; 64] = Sha512::digest(content).into();
        (STANDARD.encode(digest), hex::encode(digest))
    };
    published_again::<Pypi<FileCache>>(pypi, sha256).await;
    published_again::<Npm<FileCache>>(npm, sha512).await;
    published_again::<Cargo<FileCache>>(cargo, sha256).await;
}

/// What an upstream said cannot be taken back: each decision names the very document it was made by.
async fn named<P: Tested>(package: fn(&Fake) -> Package, of: fn(&Package) -> Option<&[u8]>) {
    let weir = World::<P>::start().await;
    let package = package(&weir.upstream);
    package.put(&weir.upstream);
    body(weir.get(&package.file).await).await.unwrap();
    let told: Vec<_> = weir
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::PackageAllowed(allowed) => Some(allowed.document),
            _ => None,
        })
        .collect();
    let digest = of(&package).map(|bytes| blake3::hash(bytes).to_hex().to_string());
    assert_eq!(told, [digest], "{}", P::ECOSYSTEM);
}

#[tokio::test]
async fn a_decision_names_the_document_it_was_made_by() {
    named::<Pypi<FileCache>>(pypi, |package| Some(&package.listed)).await;
    named::<Npm<FileCache>>(npm, |package| Some(&package.listed)).await;
    named::<Cargo<FileCache>>(cargo, |package| Some(&package.listed)).await;
    // What is told of a version of a module stands beside the list.
    named::<Go<FileCache>>(go, |package| Some(&package.beside[0].1)).await;
    // An image is asked for by its own digest.
    named::<Docker<FileCache>>(docker, |_| None).await;
}
