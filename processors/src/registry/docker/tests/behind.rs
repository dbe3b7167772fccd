//! What leads past a name that is refused: digests, other kinds of manifests, indexes in indexes.

use super::*;

/// An index of these.
pub(super) fn index_of(media_type: &str, digests: &[Digest]) -> Vec<u8> {
    let named: Vec<_> = digests
        .iter()
        .map(|digest| json!({"mediaType": media_type, "digest": digest, "size": 1}))
        .collect();
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": named}).to_string().into_bytes()
}

impl Weir {
    /// Puts a manifest where it is found by its digest, and under these tags.
    pub(super) fn put(&self, manifest: &[u8], tags: &[&str]) -> Digest {
        let digest = Digest::of(manifest);
        let canned = Canned::new(manifest.to_vec()).with(DIGEST, &digest.to_string());
        for reference in tags.iter().map(ToString::to_string).chain([digest.to_string()]) {
            self.upstream.put(&at(&format!("manifests/{reference}")), canned.clone());
        }
        digest
    }
}

/// Once, only an index that this very process had read was known to name its images.
#[tokio::test]
async fn a_digest_that_nobody_asked_for_yet_takes_along_what_it_names() {
    let weir = Weir::start().await;
    let (image, other) = (Image::new("x"), Image::new("y"));
    weir.publish(&image, &["v1"]);
    weir.publish(&other, &["v2"]);
    weir.list(&["v1", "v2"]);
    let absent = Digest::of(b"nobody has it").to_string();
    let both = format!("{} || {absent}", image.index());
    weir.rules(1, &[rule(&both, Mask::Mark)]);
    let child = format!("manifests/{}", image.manifest());
    for _ in 0..2 {
        let (status, code, message) = weir.refusal(&child).await;
        assert_eq!((status, code.as_str()), (403, "DENIED"));
        assert!(message.contains(&image.index().to_string()), "{message}");
    }
    let asked = weir.upstream.n_asked(&at(&format!("manifests/{absent}")));
    assert_eq!(asked, 1, "that it is not there is remembered");
    // Whatever names the same blob, and no tag has to lead to what is forbidden.
    let blob = format!("blobs/{}", Digest::of(LAYER));
    assert_eq!(weir.refusal(&blob).await.0, 403);
    weir.has(format!("manifests/{}", other.manifest())).await;
    assert_eq!(weir.has(&blob).await, LAYER);
    weir.upstream.remove(&at("manifests/v1"));
    assert_eq!(weir.refusal(&child).await.0, 403);
}

/// Once, all of them were asked for again half a minute later, and one answer that failed failed what is
/// allowed.
#[tokio::test]
async fn that_a_blocked_digest_is_not_there_is_believed_as_long_as_a_tag_is() {
    let brief = |config: &mut Config| config.keeping.negative_ttl = Duration::ZERO;
    let weir = Weir::start_with(brief).await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    weir.list(&["gone"]);
    let absent = Digest::of(b"nobody has it").to_string();
    weir.rules(1, &[rule(&format!("{absent} || gone"), Mask::Mark)]);
    for n_asked in 1..3 {
        weir.has(format!("manifests/{}", image.index())).await;
        let asked = |reference: &str| weir.upstream.n_asked(&at(&format!("manifests/{reference}")));
        assert_eq!((asked(&absent), asked("gone")), (1, n_asked), "a tag may come any time");
    }
}

/// Once, what was not there a moment ago was taken for absent for as long as a tag is believed.
#[tokio::test]
async fn what_came_with_a_blocked_digest_or_tag_a_moment_later_is_refused() {
    let brief = |config: &mut Config| config.keeping.negative_ttl = Duration::ZERO;
    for by_tag in [false, true] {
        let weir = Weir::start_with(brief).await;
        let (image, later) = (Image::new("x"), Image::new("y"));
        weir.publish(&image, &[]);
        weir.list(&[]);
        let blocked = if by_tag { "bad".to_owned() } else { later.index().to_string() };
        weir.rules(1, &[rule(&blocked, Mask::Mark)]);
        weir.has(format!("manifests/{}", image.manifest())).await;
        weir.publish(&later, &["bad"]);
        weir.list(&["bad"]);
        for reference in [later.manifest(), later.index()] {
            let (status, ..) = weir.refusal(&format!("manifests/{reference}")).await;
            assert_eq!(status, 403, "{blocked}: {reference}");
        }
        // Another image has the same layer.
        weir.has(format!("manifests/{}", image.manifest())).await;
    }
}

/// Once, what was looked at because it is blocked left no room for what is not.
#[tokio::test]
async fn a_layer_that_many_blocked_images_have_comes_with_one_that_passes() {
    let weir = Weir::start().await;
    let image = Image::new("good");
    weir.publish(&image, &[]);
    weir.list(&[]);
    let rules: Vec<_> = (0..256_u128)
        .map(|n| {
            let digest = weir.put(&Image::new(&n.to_string()).manifest, &[]).to_string();
            rule_of(Ecosystem::Docker, n, "app", &digest, Mask::Mark)
        })
        .collect();
    weir.rules(1, &rules);
    for _ in 0..2 {
        weir.has(format!("manifests/{}", image.manifest())).await;
        assert_eq!(weir.has(format!("blobs/{}", Digest::of(LAYER))).await, LAYER);
    }
}

#[tokio::test]
async fn more_blocked_digests_than_are_looked_behind_let_no_digest_through() {
    let weir = Weir::start().await;
    let (image, other) = (Image::new("x"), Image::new("y"));
    weir.publish(&image, &["v1"]);
    weir.publish(&other, &[]);
    weir.list(&["v1"]);
    let rules: Vec<_> = (0..257_u128)
        .map(|n| {
            let digest = Digest::of(&n.to_be_bytes()).to_string();
            rule_of(Ecosystem::Docker, n, "app", &digest, Mask::Mark)
        })
        .collect();
    weir.rules(1, &rules);
    let child = format!("manifests/{}", image.manifest());
    let (status, code, message) = weir.refusal(&child).await;
    assert_eq!((status, code.as_str()), (403, "DENIED"));
    assert!(message.contains("more blocked digests") && message.contains("by a tag"), "{message}");
    weir.has("manifests/v1").await;
    weir.has(&child).await;
    weir.rules(2, &rules[1..]);
    weir.has(format!("manifests/{}", other.manifest())).await;
}

/// Once, only what stood in the index of a blocked tag itself was found.
#[tokio::test]
async fn what_stands_in_indexes_in_an_index_is_refused_with_its_tag() {
    let weir = Weir::start().await;
    let manifest = Image::new("x").manifest;
    let image = weir.put(&manifest, &[]);
    let gone = Digest::of(b"named, and not there");
    let inner = weir.put(&index_of(IMAGE, &[image]), &[]);
    let middle = weir.put(&index_of(INDEX, &[gone, inner]), &[]);
    let outer = weir.put(&index_of(INDEX, &[middle]), &["bad"]);
    weir.list(&["bad"]);
    weir.rules(1, &[rule("bad", Mask::Mark)]);
    for digest in [image, inner, middle, outer] {
        let (status, _, message) = weir.refusal(format!("manifests/{digest}")).await;
        assert_eq!(status, 403, "{message}");
        assert!(message.contains("version bad of `library/app`"), "{message}");
    }
    // Deeper than that nobody looks, and nobody gets.
    let weir = Weir::start().await;
    weir.put(&manifest, &[]);
    let mut index = image;
    for _ in 0..4 {
        index = weir.put(&index_of(INDEX, &[index]), &["bad"]);
    }
    weir.put(&index_of(INDEX, &[index]), &["bad"]);
    weir.list(&["bad"]);
    weir.rules(1, &[rule("bad", Mask::Mark)]);
    let (status, _, message) = weir.refusal(format!("manifests/{image}")).await;
    assert_eq!(status, 403, "{message}");
    assert!(message.contains("deeper than Weir looks"), "{message}");
}

#[tokio::test]
async fn an_index_that_only_its_clients_could_read_leads_nowhere() {
    let weir = Weir::start().await;
    let image = weir.put(&Image::new("x").manifest, &[]);
    let index = String::from_utf8(index_of(IMAGE, &[image])).unwrap();
    weir.put(index.replace("manifests", "Manifests").as_bytes(), &["bad"]);
    weir.list(&["bad"]);
    let (status, code, message) = weir.refusal("manifests/bad").await;
    assert_eq!((status, code.as_str()), (502, "MANIFEST_INVALID"));
    assert!(message.contains("no spelling of `manifests`"), "{message}");
    weir.rules(1, &[rule("bad", Mask::Mark)]);
    let (status, code, _) = weir.refusal(format!("manifests/{image}")).await;
    assert_eq!((status, code.as_str()), (502, "MANIFEST_INVALID"));
}

/// Once, what the upstream refused was taken for what it does not have.
#[tokio::test]
async fn a_blocked_index_that_the_upstream_keeps_to_itself_lets_no_digest_through() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let weir = Weir::start().await;
        let (image, other) = (Image::new("x"), Image::new("y"));
        weir.publish(&image, &[]);
        weir.publish(&other, &["v2"]);
        weir.list(&["v2"]);
        let index = image.index().to_string();
        weir.rules(1, &[rule(&index, Mask::Mark)]);
        let path = at(&format!("manifests/{index}"));
        let child = format!("manifests/{}", image.manifest());
        // From now on it is known to be there, and nothing of it is here.
        let cut = Canned::new(image.index.clone()).with(DIGEST, &index).breaking_off();
        weir.upstream.put(&path, cut);
        assert_eq!(weir.get(&ours(&child)).await.status, StatusCode::BAD_GATEWAY);
        weir.upstream.put(&path, Canned::status(status));
        let (told, code, message) = weir.refusal(&child).await;
        assert_eq!((told, code.as_str()), (403, "DENIED"), "{message}");
        for words in [index.as_str(), status.as_str(), "ask by a tag first"] {
            assert!(message.contains(words), "{message}");
        }
        weir.has("manifests/v2").await;
        weir.has(format!("manifests/{}", other.manifest())).await;
        // What is not there has nothing behind it.
        weir.upstream.remove(&path);
        weir.has(&child).await;
    }
}

/// Once, they were told that what they asked for is not there.
#[tokio::test]
async fn clients_are_told_that_something_else_could_not_be_looked_at() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    weir.list(&["bad"]);
    let hidden = Digest::of(b"hidden").to_string();
    let mut revision = 0;
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        for blocked in ["bad", &hidden] {
            weir.upstream.put(&at(&format!("manifests/{blocked}")), Canned::status(status));
            revision += 1;
            weir.rules(revision, &[rule(blocked, Mask::Mark)]);
            let (told, code, message) = weir.refusal(format!("manifests/{}", image.index())).await;
            assert_eq!((told, code.as_str()), (403, "DENIED"), "{message}");
            for words in [blocked, status.as_str(), "ask by a tag first"] {
                assert!(message.contains(words), "{message}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_blocked_and_of_a_kind_that_nobody_gets_here_leads_nowhere() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &[]);
    weir.list(&["old", "odd"]);
    let good = format!("manifests/{}", image.index());
    let mut revision = 0;
    let mut block = |blocked: &str| {
        revision += 1;
        weir.rules(revision, &[rule(blocked, Mask::Mark)]);
    };
    for (tag, foreign) in [
        ("old", r#"{"schemaVersion":1,"fsLayers":[]}"#),
        ("odd", r#"{"schemaVersion":2,"mediaType":"text/html"}"#),
    ] {
        let digest = weir.put(foreign.as_bytes(), &[tag]);
        let within = weir.put(&index_of(INDEX, &[digest]), &[]);
        for blocked in [digest.to_string(), tag.to_owned()] {
            block(&blocked);
            assert_eq!(weir.has(&good).await, image.index, "{foreign}");
        }
        // Not blocked itself.
        block(&within.to_string());
        let (status, code, _) = weir.refusal(&good).await;
        assert_eq!((status, code.as_str()), (502, "MANIFEST_INVALID"), "{foreign}");
    }
    block(&weir.put(b"<html>", &[]).to_string());
    let (status, code, _) = weir.refusal(&good).await;
    assert_eq!((status, code.as_str()), (502, "MANIFEST_INVALID"));
}

/// Once, each tag of an index counted all that is behind it anew.
#[tokio::test]
async fn what_many_blocked_tags_mean_is_looked_into_once() {
    let weir = Weir::start().await;
    let other = Image::new("other");
    weir.publish(&other, &[]);
    let images: Vec<_> = (0..8).map(|n| Image::new(&n.to_string()).manifest).collect();
    let images: Vec<_> = images.iter().map(|image| weir.put(image, &[])).collect();
    let inner: Vec<_> =
        images.iter().map(|image| weir.put(&index_of(IMAGE, &[*image]), &[])).collect();
    let tags: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
    let shown: Vec<&str> = tags.iter().map(String::as_str).collect();
    weir.put(&index_of(INDEX, &inner), &shown);
    weir.list(&shown);
    let rules: Vec<_> = (0..60_u128)
        .zip(&shown)
        .map(|(n, tag)| rule_of(Ecosystem::Docker, n, "app", tag, Mask::Mark))
        .collect();
    weir.rules(1, &rules);
    weir.has(format!("manifests/{}", other.index())).await;
    let image = format!("manifests/{}", images[7]);
    let (status, _, message) = weir.refusal(&image).await;
    assert_eq!(status, 403, "{message}");
    assert!(message.contains("version t"), "{message}");
    assert_eq!(weir.upstream.n_asked(&at(&format!("manifests/{}", inner[7]))), 1);
    // Each of the tags is another way to it.
    weir.rules(2, &rules[..59]);
    weir.has(&image).await;
}

/// Once, who took no index got the image out of a forbidden one by its tag.
#[tokio::test]
async fn a_client_that_takes_no_index_is_refused_what_others_are() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["v1"]);
    weir.list(&["v1"]);
    weir.has("manifests/v1").await;
    // What a registry says to who takes no index, from now on.
    weir.put(&image.manifest, &["v1"]);
    let narrow = async || weir.get_with(&ours("manifests/v1"), ACCEPT, IMAGE).await;
    assert_eq!(body(narrow().await).await.unwrap(), image.manifest);
    let child = format!("manifests/{}", image.manifest());
    for (revision, refused) in [(1, image.index().to_string()), (2, "v1".to_owned())] {
        weir.rules(revision, &[rule(&refused, Mask::Mark)]);
        let (status, _, message) = told(narrow().await).await;
        assert_eq!(status, 403, "{refused}");
        assert!(message.contains(&refused), "{message}");
        assert_eq!(weir.refusal(&child).await.0, 403, "{refused}");
    }
    weir.rules(3, &[]);
    assert_eq!(body(narrow().await).await.unwrap(), image.manifest);
}

/// A tag is a name: what it stands for may have another one.
#[tokio::test]
async fn another_tag_of_an_image_is_another_way_to_it() {
    let weir = Weir::start().await;
    let image = Image::new("x");
    weir.publish(&image, &["latest", "1.2.3"]);
    weir.list(&["latest", "1.2.3"]);
    weir.rules(1, &[rule("latest", Mask::Mark)]);
    let child = format!("manifests/{}", image.manifest());
    assert_eq!(weir.refusal("manifests/latest").await.0, 403);
    assert_eq!(weir.refusal(&child).await.0, 403, "only the blocked way is known");
    assert_eq!(weir.has("manifests/1.2.3").await, image.index);
    weir.has(&child).await;
    // Who means the image names its digest.
    weir.rules(2, &[rule(&image.index().to_string(), Mask::Mark)]);
    for asked in ["manifests/latest", "manifests/1.2.3", &child] {
        assert_eq!(weir.refusal(asked).await.0, 403, "{asked}");
    }
}
