//! Clients that take no index: what their tags mean to them is told by itself.

use super::*;
use crate::registry::docker::{manifest::Accepts, name::Reference, upstream::Called};

impl Weir {
    /// Gets what a tag means to who takes no index.
    async fn narrow(&self, tag: &str) -> Answer {
        self.get_with(&ours(format!("manifests/{tag}")), ACCEPT, IMAGE).await
    }

    /// From now on, it is asked anew what a tag means to who takes indexes.
    fn forget_tag(&self, tag: &str) {
        let name = "library/app".parse().unwrap();
        let reference = Reference::Tag(tag.parse().unwrap());
        let called = Called { name, reference, accepts: Accepts::ALL };
        self.plugin.upstream.as_ref().unwrap().heads.forget(&called);
    }

    /// From now on, `v1` means an image of the old index to who takes none, and to others the new index.
    async fn moved(&self, old: &Image, new: &Image) {
        // What it means to others is known before the upstream says the other thing to everybody.
        assert_eq!(self.has("manifests/v1").await, new.index);
        self.put(&old.manifest, &["v1"]);
    }

    /// One whose `v1` has moved, and with it the old image, whose index no tag means, and the new one.
    async fn with_moved() -> (Self, Image, Image) {
        let weir = Self::start().await;
        let (old, new) = (Image::new("old"), Image::new("new"));
        weir.publish(&old, &[]);
        weir.publish(&new, &["v1"]);
        weir.list(&["v1"]);
        weir.moved(&old, &new).await;
        (weir, old, new)
    }
}

/// Once, the image of an index that is forbidden was given as long as its tag was believed to mean it, if
/// that tag was known to mean another index since.
#[tokio::test]
async fn an_image_of_a_forbidden_index_is_refused_though_its_tag_means_another_one_by_now() {
    for read_before in [true, false] {
        let weir = Weir::start().await;
        let (old, new) = (Image::new("old"), Image::new("new"));
        weir.publish(&old, &["v1"]);
        weir.publish(&new, &[]);
        weir.list(&["v1"]);
        let forbid = || weir.rules(1, &[rule(&old.index().to_string(), Mask::Mark)]);
        if !read_before {
            forbid();
        }
        let status = if read_before { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(weir.get(&ours("manifests/v1")).await.status, status);
        // What a registry says to who takes no index, and then what it says to others.
        weir.put(&old.manifest, &["v1"]);
        assert_eq!(weir.narrow("v1").await.status, status);
        weir.put(&new.index, &["v1"]);
        weir.forget_tag("v1");
        forbid();
        assert_eq!(weir.has("manifests/v1").await, new.index);
        let (status, _, message) = told(weir.narrow("v1").await).await;
        assert_eq!(status, 403, "{message}");
        assert!(message.contains(&old.index().to_string()), "{message}");
        weir.rules(2, &[]);
        assert_eq!(body(weir.narrow("v1").await).await.unwrap(), old.manifest);
    }
}

/// Once, it passed for good where such a client had it before the rule, and nobody the index.
#[tokio::test]
async fn an_image_that_was_had_before_its_index_was_forbidden_is_refused_by_every_name() {
    for by_tag_first in [false, true] {
        let (weir, old, new) = Weir::with_moved().await;
        assert_eq!(body(weir.narrow("v1").await).await.unwrap(), old.manifest);
        let both =
            [format!("manifests/{}", old.manifest()), format!("blobs/{}", Digest::of(LAYER))];
        for path in &both {
            weir.has(path).await;
        }
        weir.rules(1, &[rule(&old.index().to_string(), Mask::Mark)]);
        if by_tag_first {
            assert_eq!(weir.narrow("v1").await.status, StatusCode::FORBIDDEN);
        }
        for path in &both {
            let (status, _, message) = weir.refusal(path).await;
            assert_eq!(status, 403, "{path}: {message}");
            assert!(message.contains(&old.index().to_string()), "{path}: {message}");
        }
        let (status, _, message) = told(weir.narrow("v1").await).await;
        assert_eq!(status, 403, "{message}");
        assert!(message.contains(&old.index().to_string()), "{message}");
        assert_eq!(weir.has("manifests/v1").await, new.index);
        weir.rules(2, &[]);
        for path in &both {
            weir.has(path).await;
        }
    }
}

/// Once, the manifest was given, and its layers were refused.
#[tokio::test]
async fn an_image_of_a_blocked_tag_that_another_one_still_means_comes_with_its_layers() {
    let weir = Weir::start().await;
    let (old, new) = (Image::new("old"), Image::new("new"));
    weir.publish(&old, &["bad"]);
    weir.publish(&new, &["v1"]);
    weir.list(&["bad", "v1"]);
    weir.rules(1, &[rule("bad", Mask::Mark)]);
    let both = [format!("manifests/{}", old.manifest()), format!("blobs/{}", Digest::of(LAYER))];
    assert_eq!(weir.refusal(&both[0]).await.0, 403, "only the blocked tag leads to it");
    weir.moved(&old, &new).await;
    assert_eq!(body(weir.narrow("v1").await).await.unwrap(), old.manifest);
    for path in &both {
        weir.has(path).await;
    }
    weir.rules(2, &[rule(&format!("bad || {}", old.index()), Mask::Mark)]);
    assert_eq!(weir.narrow("v1").await.status, StatusCode::FORBIDDEN);
    for path in &both {
        assert_eq!(weir.refusal(path).await.0, 403, "{path}");
    }
}

/// Once, whoever asked by a tag was told to ask by a tag.
#[tokio::test]
async fn who_takes_no_index_is_told_to_take_one_where_what_is_forbidden_cannot_be_looked_at() {
    let (weir, _, new) = Weir::with_moved().await;
    let many: Vec<_> = (0..257_u128)
        .map(|n| {
            let digest = Digest::of(&n.to_be_bytes()).to_string();
            rule_of(Ecosystem::Docker, n, "app", &digest, Mask::Mark)
        })
        .collect();
    let hidden = Digest::of(b"hidden").to_string();
    let kept_back = Canned::status(StatusCode::FORBIDDEN);
    weir.upstream.put(&at(&format!("manifests/{hidden}")), kept_back);
    let one = vec![rule(&hidden, Mask::Mark)];
    for (revision, rules, why) in [(1, many, "more blocked digests"), (2, one, hidden.as_str())] {
        weir.rules(revision, &rules);
        let (status, code, message) = told(weir.narrow("v1").await).await;
        assert_eq!((status, code.as_str()), (403, "DENIED"), "{message}");
        for words in [why, "ask with an `Accept` that takes indexes"] {
            assert!(message.contains(words), "{message}");
        }
        assert!(!message.contains("by a tag first"), "{message}");
        assert_eq!(weir.has("manifests/v1").await, new.index);
    }
}

/// Once, it was seen under no tag, so that its layers were refused where too much is blocked to be looked
/// behind.
#[tokio::test]
async fn an_image_that_was_made_for_who_takes_no_index_passes_and_is_refused_with_its_tags() {
    let weir = Weir::start().await;
    let (image, made) = (Image::new("x"), Image::new("made"));
    weir.publish(&image, &["v1", "v2"]);
    for tag in ["v1", "v2"] {
        weir.has(format!("manifests/{tag}")).await;
    }
    weir.put(&made.manifest, &["v1", "v2"]);
    let blocked: Vec<String> = (0..65).map(|n| format!("old{n}")).collect();
    weir.list(&blocked.iter().map(String::as_str).collect::<Vec<_>>());
    let mut rules: Vec<_> = (0..65_u128)
        .zip(&blocked)
        .map(|(n, tag)| rule_of(Ecosystem::Docker, n, "app", tag, Mask::Mark))
        .collect();
    weir.rules(1, &rules);
    let both = [format!("manifests/{}", made.manifest()), format!("blobs/{}", Digest::of(LAYER))];
    assert_eq!(body(weir.narrow("v1").await).await.unwrap(), made.manifest);
    for path in &both {
        weir.has(path).await;
    }
    rules.push(rule_of(Ecosystem::Docker, 65, "app", "v1", Mask::Mark));
    weir.rules(2, &rules);
    for path in &both {
        let (status, _, message) = weir.refusal(path).await;
        assert_eq!(status, 403, "{path}");
        assert!(message.contains("version v1 of `library/app`"), "{path}: {message}");
    }
    // Another tag of it is another way to it.
    assert_eq!(body(weir.narrow("v2").await).await.unwrap(), made.manifest);
    for path in &both {
        weir.has(path).await;
    }
}
