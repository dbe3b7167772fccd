//! Container images end to end, against an upstream in this process.

mod behind;
mod blobs;
mod deep;
mod narrow;

use std::time::Duration;

use http::{
    HeaderName, HeaderValue, Method, StatusCode,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LINK, LOCATION, RANGE, RETRY_AFTER,
        VARY, WWW_AUTHENTICATE,
    },
};
use serde_json::json;
use weir_events::registry::{Ecosystem, Event, Mask, Rule};

use super::{Docker, name::Digest};
use crate::{
    outbound::ReachFault,
    registry::{
        answer::Answer,
        cache::FileCache,
        ledger::Ledger,
        setup::{Config, Parts},
        testing::{Canned, Tested, World, aged, body, rule_of, text},
    },
};

const DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const LAYER: &[u8] = b"the files of an image";

type Weir = World<Docker<FileCache>>;

impl Tested for Docker<FileCache> {
    const ECOSYSTEM: Ecosystem = Ecosystem::Docker;
    const LISTS: &'static str = "/";

    fn defaults(config: Config) -> Config {
        super::config(config.upstream)
    }

    fn made(config: &Config, parts: Parts<'_, FileCache>) -> Result<Self, ReachFault> {
        Self::new(config, parts)
    }

    fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }
}

/// What was published: an index of one image with one layer.
struct Image {
    index: Vec<u8>,
    manifest: Vec<u8>,
}

impl Image {
    /// One that differs from others of another word.
    fn new(word: &str) -> Self {
        let manifest = json!({"schemaVersion": 2, "mediaType": IMAGE, "word": word,
            "layers": [{"digest": Digest::of(LAYER), "size": LAYER.len()}]});
        let manifest = manifest.to_string().into_bytes();
        let digest = Digest::of(&manifest);
        let index = json!({"schemaVersion": 2, "mediaType": INDEX,
            "manifests": [{"digest": digest, "size": manifest.len()}]});
        Self { index: index.to_string().into_bytes(), manifest }
    }

    fn index(&self) -> Digest {
        Digest::of(&self.index)
    }

    fn manifest(&self) -> Digest {
        Digest::of(&self.manifest)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn at(rest: &str) -> String {
    format!("/v2/library/app/{rest}")
}

fn ours(rest: impl std::fmt::Display) -> String {
    format!("/library/app/{rest}")
}

fn rule(versions: &str, mask: Mask) -> Rule {
    rule_of(Ecosystem::Docker, 1, "app", versions, mask)
}

impl Weir {
    /// Publishes an image under each of these tags.
    fn publish(&self, image: &Image, tags: &[&str]) {
        let put = |rest: &str, bytes: &[u8]| {
            let digest = Digest::of(bytes).to_string();
            self.upstream.put(&at(rest), Canned::new(bytes.to_vec()).with(DIGEST, &digest));
        };
        put(&format!("manifests/{}", image.index()), &image.index);
        put(&format!("manifests/{}", image.manifest()), &image.manifest);
        put(&format!("blobs/{}", Digest::of(LAYER)), LAYER);
        for tag in tags {
            put(&format!("manifests/{tag}"), &image.index);
        }
    }

    fn list(&self, tags: &[&str]) {
        let list = json!({"name": "library/app", "tags": tags}).to_string();
        self.upstream.put(&at("tags/list"), Canned::new(list));
    }

    /// Gets what must be there.
    async fn has(&self, rest: impl std::fmt::Display) -> Vec<u8> {
        let path = ours(rest);
        let answer = self.get(&path).await;
        let status = answer.status;
        let bytes = body(answer).await.unwrap().to_vec();
        assert_eq!(status, StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&bytes));
        bytes
    }

    /// The status, the code and the message of a refusal.
    async fn refusal(&self, rest: impl std::fmt::Display) -> (u16, String, String) {
        told(self.get(&ours(rest)).await).await
    }

    /// A Weir with an image under `good` and another one under `bad`, and a rule about the latter.
    async fn ruled(mask: Mask) -> (Self, Image, Image) {
        let weir = Self::start().await;
        let (good, bad) = (Image::new("good"), Image::new("bad"));
        weir.publish(&good, &["good"]);
        weir.publish(&bad, &["bad"]);
        weir.list(&["bad", "good"]);
        weir.rules(1, &[rule("bad", mask)]);
        (weir, good, bad)
    }
}

async fn told(answer: Answer) -> (u16, String, String) {
    let status = answer.status.as_u16();
    let said = text(answer).await;
    let said: serde_json::Value = serde_json::from_str(&said).expect(&said);
    let word = |member: &str| said["errors"][0][member].as_str().unwrap_or_default().to_owned();
    (status, word("code"), word("message"))
}

#[tokio::test]
async fn an_image_is_pulled_and_then_pulled_again_without_the_upstream() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    assert_eq!(weir.get("/").await.status, StatusCode::OK);
    let layer = Digest::of(LAYER);
    for pull in ["cold", "warm"] {
        let answer = weir.get("/app/manifests/v1").await;
        assert_eq!(answer.headers[CONTENT_TYPE], INDEX, "{pull}");
        assert_eq!(answer.headers[DIGEST], image.index().to_string().as_str());
        assert_eq!(body(answer).await.unwrap(), image.index);
        assert_eq!(weir.has(format!("manifests/{}", image.manifest())).await, image.manifest);
        assert_eq!(weir.has(format!("blobs/{layer}")).await, LAYER);
        let stored = || weir.recorded().iter().filter(|name| **name == "stored").count() == 3;
        weir.until("kept", stored).await;
        for rest in [
            "manifests/v1".to_owned(),
            format!("manifests/{}", image.index()),
            format!("blobs/{layer}"),
        ] {
            weir.upstream.remove(&at(&rest));
        }
    }
    let part = weir.get_with(&ours(format!("blobs/{layer}")), RANGE, "bytes=4-8").await;
    assert_eq!((part.status, text(part).await.as_str()), (StatusCode::PARTIAL_CONTENT, "files"));
    // Registries hide indexes from who does not ask for them.
    let accepted =
        &weir.upstream.last_headers(&at(&format!("manifests/{}", image.index())))[ACCEPT];
    assert!(accepted.to_str().unwrap().contains(INDEX));
    let head = weir.head("/app/manifests/v1").await;
    assert_eq!(head.headers[CONTENT_LENGTH], image.index.len().to_string().as_str());
    assert_eq!(body(head).await.unwrap(), "");
    let allowed = weir.events().into_iter().filter_map(|event| match event {
        Event::PackageAllowed(allowed) => allowed.version,
        _ => None,
    });
    let child = image.manifest().to_string();
    let pull = ["v1", &child, "v1"];
    assert_eq!(allowed.collect::<Vec<_>>(), [&pull[..], &pull, &["v1"]].concat());
}

#[tokio::test]
async fn a_blocked_tag_is_refused_and_so_is_everything_that_only_it_leads_to() {
    for mask in [Mask::Mark, Mask::Hide, Mask::DenyOnly] {
        let (weir, good, bad) = Weir::ruled(mask).await;
        let (status, code, message) = weir.refusal("manifests/bad").await;
        assert_eq!((status, code.as_str()), (403, "DENIED"));
        for words in ["too young (rule 019a", "version bad of `library/app`", "good is allowed"] {
            assert!(message.contains(words), "{mask:?}: {message}");
        }
        assert_eq!(weir.upstream.n_asked(&at("manifests/bad")), 0);
        for digest in [bad.index(), bad.manifest()] {
            let (status, _, message) = weir.refusal(format!("manifests/{digest}")).await;
            assert_eq!(status, 403);
            assert!(message.contains("version bad of `library/app`"), "{message}");
        }
        for digest in [good.manifest(), good.index()] {
            weir.has(format!("manifests/{digest}")).await;
        }
        weir.has("manifests/good").await;
        let listed = weir.get("/app/tags/list").await;
        let listed: serde_json::Value = serde_json::from_str(&text(listed).await).unwrap();
        let wanted = if mask == Mask::DenyOnly { json!(["bad", "good"]) } else { json!(["good"]) };
        assert_eq!(listed["tags"], wanted, "{mask:?}");
        assert_eq!(weir.recorded().contains(&"filtered"), mask != Mask::DenyOnly);
    }
}

#[tokio::test]
async fn a_digest_is_forbidden_by_whatever_name_it_is_asked_for() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    weir.list(&["v1"]);
    let (index, child) = (image.index().to_string(), image.manifest().to_string());
    weir.rules(1, &[rule(&index, Mask::Mark)]);
    for asked in ["v1", &index, &child] {
        let (status, _, message) = weir.refusal(format!("manifests/{asked}")).await;
        assert_eq!(status, 403, "{asked}");
        assert!(message.contains(&index), "{asked}: {message}");
    }
    weir.rules(2, &[rule(&child, Mask::Mark)]);
    weir.has("manifests/v1").await;
    assert_eq!(weir.refusal(format!("manifests/{child}")).await.0, 403);
    weir.rules(3, &[rule("*", Mask::Mark)]);
    for asked in ["v1", &index, &child] {
        assert_eq!(weir.refusal(format!("manifests/{asked}")).await.0, 403, "{asked}");
    }
}

#[tokio::test]
async fn a_blob_passes_with_a_manifest_that_passes_and_with_nothing_else() {
    let (weir, good, bad) = Weir::ruled(Mask::Mark).await;
    let blob = format!("blobs/{}", Digest::of(LAYER));
    let (status, code, _) = weir.refusal(&blob).await;
    assert_eq!((status, code.as_str()), (404, "BLOB_UNKNOWN"));
    assert_eq!(weir.refusal(format!("manifests/{}", bad.manifest())).await.0, 403);
    assert_ne!(weir.get(&ours(&blob)).await.status, StatusCode::OK);
    weir.has(format!("manifests/{}", good.manifest())).await;
    assert_eq!(weir.has(&blob).await, LAYER);
    // Forbidden now, and kept since before.
    weir.rules(2, &[rule("*", Mask::Mark)]);
    assert_eq!(weir.refusal(&blob).await.0, 403);
    // In another repository nobody saw it.
    assert_eq!(weir.get(&format!("/library/other/{blob}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_image_is_as_old_as_our_first_sight_of_its_digest_whatever_its_tag() {
    let weir = Weir::start().await;
    let (old, new) = (Image::new("old"), Image::new("new"));
    weir.publish(&old, &["v1"]);
    weir.list(&["v1"]);
    weir.set_hour(0);
    (weir.set_facts)(aged(Ecosystem::Docker, 72));
    let by_tag = "manifests/v1".to_owned();
    let by_digest = |image: &Image| format!("manifests/{}", image.index());
    for reference in [&by_tag, &by_digest(&old)] {
        let (status, code, message) = weir.refusal(reference).await;
        assert_eq!((status, code.as_str()), (403, "DENIED"), "{reference}");
        assert!(message.contains("first seen here at 2026-01-01"), "{reference}: {message}");
    }
    // Who asks early for what is not there yet makes it no older.
    assert_eq!(weir.get(&ours(by_digest(&new))).await.status, StatusCode::NOT_FOUND);
    assert_eq!(weir.has("tags/list").await, br#"{"name":"library/app","tags":["v1"]}"#);
    weir.set_hour(72);
    assert_eq!(weir.has(&by_tag).await, old.index);
    // What an index names is as old as the index.
    assert_eq!(weir.has(format!("manifests/{}", old.manifest())).await, old.manifest);
    assert_eq!(weir.has(format!("blobs/{}", Digest::of(LAYER))).await, LAYER);
    // The same name, and something else behind it.
    weir.publish(&new, &["v2"]);
    let (status, _, message) = weir.refusal("manifests/v2").await;
    assert_eq!(status, 403);
    assert!(message.contains("first seen here at 2026-01-04"), "{message}");
    assert_eq!(weir.refusal(format!("manifests/{}", new.manifest())).await.0, 403);
    weir.set_hour(144);
    weir.has("manifests/v2").await;
    weir.has(format!("manifests/{}", new.manifest())).await;
}

#[tokio::test]
async fn what_does_not_fit_its_digest_is_not_passed_on() {
    let weir = Weir::start().await;
    let (image, other) = (Image::new("x"), Image::new("y"));
    weir.publish(&image, &["v1"]);
    let digest = image.index().to_string();
    let manifest = at(&format!("manifests/{digest}"));
    let short = Canned::new(image.index[..9].to_vec()).breaking_off();
    for lie in [Canned::new(other.index), Canned::new("x"), short] {
        weir.upstream.put(&manifest, lie);
        assert_ne!(weir.get("/app/manifests/v1").await.status, StatusCode::OK);
    }
    weir.publish(&image, &[]);
    weir.has(format!("manifests/{}", image.manifest())).await;
    let blob = format!("blobs/{}", Digest::of(LAYER));
    for lie in [
        Canned::new("other files of such one"),
        Canned::new("less"),
        Canned::new("the files of another image, which are more"),
        Canned::new(&LAYER[..5]).announcing(LAYER.len()).breaking_off(),
        Canned::status(StatusCode::FOUND).with(LOCATION, &at(&blob)),
    ] {
        weir.upstream.put(&at(&blob), lie);
        let answer = weir.get(&ours(&blob)).await;
        let whole = answer.status == StatusCode::OK;
        assert!(!whole || body(answer).await.is_err());
    }
    assert!(weir.recorded().contains(&"rejected"));
    weir.publish(&image, &[]);
    assert_eq!(weir.has(&blob).await, LAYER);
}

#[tokio::test]
async fn what_is_no_manifest_is_not_passed_on() {
    let weir = Weir::start().await;
    for garbage in ["", "<html>", r#"{"schemaVersion":1}"#, r#"{"schemaVersion":2,"layers":7}"#] {
        let digest = Digest::of(garbage.as_bytes());
        let path = format!("manifests/{digest}");
        weir.upstream.put(&at(&path), Canned::new(garbage));
        let (status, code, _) = weir.refusal(&path).await;
        assert_eq!((status, code.as_str()), (502, "MANIFEST_INVALID"), "{garbage}");
    }
    weir.upstream.put(&at("manifests/v1"), Canned::new("{}"));
    let (status, _, message) = weir.refusal("manifests/v1").await;
    assert_eq!(status, 502);
    assert!(message.contains("docker-content-digest"), "{message}");
}

#[tokio::test]
async fn a_large_manifest_is_a_manifest() {
    let weir = Weir::start().await;
    let pad = "x".repeat(5 << 20);
    let manifest = format!(r#"{{"schemaVersion":2,"layers":[],"pad":"{pad}"}}"#).into_bytes();
    let path = format!("manifests/{}", Digest::of(&manifest));
    weir.upstream.put(&at(&path), Canned::new(manifest.clone()));
    assert!(weir.has(&path).await == manifest);
}

#[tokio::test]
async fn an_old_tag_is_given_while_the_upstream_fails_and_after_it_vanished() {
    let weir = Weir::start_with(|config| {
        config.keeping.ttl = Duration::ZERO;
        config.keeping.retry_after = Duration::ZERO;
    })
    .await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    weir.has("manifests/v1").await;
    weir.upstream.put(&at("manifests/v1"), Canned::status(StatusCode::BAD_GATEWAY));
    weir.has("manifests/v1").await;
    weir.upstream.remove(&at("manifests/v1"));
    weir.has("manifests/v1").await;
    let (status, code, _) = weir.refusal("manifests/v2").await;
    assert_eq!((status, code.as_str()), (404, "MANIFEST_UNKNOWN"));
}

#[tokio::test]
async fn a_token_is_fetched_where_the_upstream_says_and_for_one_repository() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    let realm = weir.upstream.url("/token");
    let challenge = format!("Bearer realm=\"{realm}\",service=\"r\"");
    let closed = || Canned::status(StatusCode::UNAUTHORIZED).with(WWW_AUTHENTICATE, &challenge);
    weir.upstream.put(&at("manifests/v1"), closed());
    weir.upstream.put("/token", Canned::new(r#"{"token":"t1","expires_in":300}"#));
    // Still refused with it: then there is no such thing for us.
    let (status, code, _) = weir.refusal("manifests/v1").await;
    assert_eq!((status, code.as_str()), (404, "MANIFEST_UNKNOWN"));
    assert_eq!(weir.upstream.last_headers(&at("manifests/v1"))[AUTHORIZATION], "Bearer t1");
    weir.publish(&image, &["v1"]);
    weir.has("manifests/v1").await;
    let path = at(&format!("manifests/{}", image.index()));
    assert_eq!(weir.upstream.last_headers(&path)[AUTHORIZATION], "Bearer t1");
    assert_eq!(weir.upstream.n_asked("/token"), 1);
    // One that is good for nothing any more is replaced.
    weir.upstream.put("/token", Canned::new(r#"{"access_token":"t2"}"#));
    weir.upstream.put(&at("manifests/v2"), closed());
    weir.refusal("manifests/v2").await;
    assert_eq!(weir.upstream.last_headers(&at("manifests/v2"))[AUTHORIZATION], "Bearer t2");
}

#[tokio::test]
async fn a_realm_inside_a_network_is_not_asked() {
    let weir = Weir::start().await;
    for realm in ["http://127.0.0.1:1/token", "http://169.254.169.254/", "file:///etc", "nonsense"]
    {
        let challenge = format!("Bearer realm=\"{realm}\"");
        let closed = Canned::status(StatusCode::UNAUTHORIZED).with(WWW_AUTHENTICATE, &challenge);
        weir.upstream.put(&at("manifests/v1"), closed);
        let (status, _, message) = weir.refusal("manifests/v1").await;
        assert_eq!(status, 502, "{realm}");
        assert!(message.contains("there is no token for"), "{realm}: {message}");
    }
}

#[tokio::test]
async fn a_blob_is_not_fetched_from_inside_a_network() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    weir.has(format!("manifests/{}", image.manifest())).await;
    let blob = format!("blobs/{}", Digest::of(LAYER));
    let inside = Canned::status(StatusCode::TEMPORARY_REDIRECT);
    weir.upstream.put(&at(&blob), inside.with(LOCATION, "http://127.0.0.1:1/x"));
    let (status, _, message) = weir.refusal(&blob).await;
    assert_eq!(status, 502);
    assert!(message.contains("not a public address"), "{message}");
}

#[tokio::test]
async fn clients_are_told_in_their_own_codes() {
    let weir = Weir::start().await;
    let push = weir.ask(Method::PUT, "/app/manifests/v1", &[]).await;
    let (status, code, _) = told(push).await;
    assert_eq!((status, code.as_str()), (405, "UNSUPPORTED"));
    weir.upstream.put(&at("manifests/v1"), Canned::status(StatusCode::TOO_MANY_REQUESTS));
    let enough = weir.get("/app/manifests/v1").await;
    assert_eq!(enough.headers[RETRY_AFTER], "30");
    let (status, code, _) = told(enough).await;
    assert_eq!((status, code.as_str()), (429, "TOOMANYREQUESTS"));
    let (status, code, _) = weir.refusal("tags/list").await;
    assert_eq!((status, code.as_str()), (404, "NAME_UNKNOWN"));
    assert_eq!(weir.refusal(format!("referrers/{}", Digest::of(b""))).await.0, 404);
    weir.list(&["v1"]);
    let link = "</v2/library/app/tags/list?last=v1&n=1>; rel=\"next\"";
    let list = Canned::new(r#"{"tags":["v1"]}"#).with(LINK, link);
    weir.upstream.put(&at("tags/list"), list);
    let page = weir.get("/app/tags/list?n=1").await;
    assert_eq!(page.headers[LINK], "</v2/library/app/tags/list?n=1&last=v1>; rel=\"next\"");
    // For another registry it does not speak.
    let (status, code, _) = weir.refusal("tags/list?ns=hub.example").await;
    assert_eq!((status, code.as_str()), (404, "NAME_UNKNOWN"));
    let url = weir.upstream.url("/");
    let ns = format!("127.0.0.1:{}", url.port().unwrap());
    let own = weir.get(&ours(format!("tags/list?ns={ns}"))).await;
    assert_eq!(own.headers["oci-namespace"], ns.as_str());
}

#[tokio::test]
async fn what_is_reserved_is_refused_and_nobody_outside_hears_of_it() {
    let weir = Weir::start().await;
    (weir.set_facts)(crate::registry::testing::reserving(Ecosystem::Docker, "acme"));
    weir.keeps_to_itself(&[
        "/acme/app/manifests/v1",
        "/acme/app/tags/list",
        "/acme/app/blobs/sha256:0000000000000000000000000000000000000000000000000000000000000000",
    ])
    .await;
}

#[tokio::test]
async fn a_client_that_takes_no_index_is_told_of_an_image_and_another_one_of_the_index() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    weir.has("manifests/v1").await;
    // What a registry says to who takes no index.
    let digest = image.manifest().to_string();
    let canned = Canned::new(image.manifest.clone()).with(DIGEST, &digest);
    weir.upstream.put(&at("manifests/v1"), canned);
    let narrow = weir.get_with(&ours("manifests/v1"), ACCEPT, IMAGE).await;
    assert_eq!(weir.upstream.last_headers(&at("manifests/v1"))[ACCEPT], IMAGE);
    assert_eq!(
        (&narrow.headers[CONTENT_TYPE], &narrow.headers[VARY]),
        (&HeaderValue::from_static(IMAGE), &HeaderValue::from_static("Accept"))
    );
    assert_eq!(body(narrow).await.unwrap(), image.manifest);
    assert_eq!(weir.has("manifests/v1").await, image.index, "it takes all");
    let by_digest = ours(format!("manifests/{}", image.index()));
    let (status, code, message) = told(weir.get_with(&by_digest, ACCEPT, IMAGE).await).await;
    assert_eq!((status, code.as_str()), (404, "MANIFEST_UNKNOWN"));
    assert!(message.contains("none of what is accepted"), "{message}");
}

#[tokio::test]
async fn tags_that_stand_behind_a_page_that_only_its_upstream_can_name_are_found() {
    let weir = Weir::start().await;
    let list = Canned::new(r#"{"tags":["v1"]}"#);
    let link = "</v2/library/app/tags/list?n=1&next_page=t%3D>; rel=\"next\"";
    weir.upstream.put(&at("tags/list"), list.with(LINK, link));
    let page = weir.get("/app/tags/list").await;
    let link = page.headers[LINK].to_str().unwrap();
    let next = link.strip_prefix("</v2").unwrap().strip_suffix(">; rel=\"next\"").unwrap();
    weir.get(next).await;
    assert_eq!(weir.upstream.last_query(&at("tags/list")).unwrap(), "n=1&next_page=t%3D");
}

#[tokio::test]
async fn a_manifest_is_read_once_however_often_it_is_asked_for() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    weir.has("manifests/v1").await;
    let name = "library/app".parse().unwrap();
    assert!(weir.plugin.read.known(&name, image.index()).is_some());
    let stored = || weir.recorded().contains(&"stored");
    weir.until("kept", stored).await;
    let full = weir.plugin.read.room(None).await.unwrap();
    assert_eq!(weir.head("/app/manifests/v1").await.status, StatusCode::OK);
    drop(full);
}

#[tokio::test]
async fn a_registry_that_is_not_the_hub_is_asked_for_a_name_as_it_is_and_rules_count_all_the_same()
{
    let weir = Weir::start_with(|config| config.library_prefix = false).await;
    let image = Image::new("x");
    let digest = image.index().to_string();
    let canned = Canned::new(image.index.clone()).with(DIGEST, &digest);
    for reference in ["v1", &digest] {
        weir.upstream.put(&format!("/v2/app/manifests/{reference}"), canned.clone());
    }
    let link = "</v2/app/tags/list?last=v1&n=1>; rel=\"next\"";
    weir.upstream.put("/v2/app/tags/list", Canned::new(r#"{"tags":["v1"]}"#).with(LINK, link));
    assert_eq!(body(weir.get("/app/manifests/v1").await).await.unwrap(), image.index);
    let tags = weir.get("/app/tags/list").await;
    assert_eq!(tags.headers[LINK], "</v2/app/tags/list?n=1&last=v1>; rel=\"next\"");
    assert_eq!(text(tags).await, r#"{"name":"app","tags":["v1"]}"#);
    assert_eq!(weir.get("/library/app/manifests/v1").await.status, StatusCode::NOT_FOUND);
    weir.rules(1, &[rule("*", Mask::Mark)]);
    assert_eq!(weir.get("/app/manifests/v1").await.status, StatusCode::FORBIDDEN);
}
