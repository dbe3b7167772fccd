//! What stands deep in indexes, and what becomes of an image however it stands.

use super::{behind::index_of, *};
use crate::registry::docker::{
    manifest::Manifest,
    name::{Name, Tag},
};

/// An index that was seen: its digest, its tag, and what it names.
type Seen = (Digest, Option<&'static str>, Digest);

fn nth(n: usize) -> Digest {
    Digest::of(format!("index {n}").as_bytes())
}

fn layer() -> String {
    format!("blobs/{}", Digest::of(LAYER))
}

impl Weir {
    /// A Weir that has read an image, and saw these indexes.
    async fn seeing(image: &Image, indexes: &[Seen]) -> Self {
        let weir = Self::start().await;
        weir.publish(image, &[]);
        weir.list(&[]);
        weir.has(format!("manifests/{}", image.manifest())).await;
        let name: Name = "library/app".parse().unwrap();
        for (index, tag, named) in indexes {
            let tag: Option<Tag> = tag.map(|tag| tag.parse().unwrap());
            let (manifests, indexes, blobs) = (vec![*named], Vec::new(), Vec::new());
            let manifest = Manifest { media_type: INDEX, manifests, indexes, blobs };
            weir.plugin.kin.learn(&name, *index, tag.as_ref(), &manifest);
        }
        weir
    }
}

/// Once, what stands too deep, or has too many names, was judged by a name that nothing is said against.
#[tokio::test]
async fn an_image_and_its_layer_are_had_if_it_is_known_to_pass_and_refused_with_a_reason_if_not() {
    let image = Image::new("x");
    let it = image.manifest();
    let deep = |tag| {
        let within = |n| if n == 0 { it } else { nth(n - 1) };
        (0..5).map(|n| (nth(n), (n == 4).then_some(tag), within(n))).collect::<Vec<Seen>>()
    };
    let mut many: Vec<Seen> = Vec::new();
    for n in 0..64 {
        many.push((nth(n), None, it));
        for above in (1..65).map(|m| nth(64 * (n + 1) + m)) {
            many.extend([(above, None, nth(n)), (nth(9_999), None, above)]);
        }
    }
    for (seen, refused) in [
        (vec![(nth(0), Some("good"), it)], None),
        (vec![], None),
        (vec![(nth(0), Some("bad"), it)], Some("version bad of `library/app`")),
        (deep("bad"), Some("deeper than Weir looks (4)")),
        (deep("good"), Some("deeper than Weir looks (4)")),
        (many, Some("more names than Weir asks about (4096)")),
    ] {
        let weir = Weir::seeing(&image, &seen).await;
        let both = [format!("manifests/{it}"), layer()];
        weir.rules(1, &[rule("bad", Mask::Mark)]);
        for path in &both {
            let head = weir.head(&ours(path)).await;
            let Some(words) = refused else {
                assert_eq!(head.status, StatusCode::OK, "{path}");
                weir.has(path).await;
                continue;
            };
            assert_eq!(head.status, StatusCode::FORBIDDEN, "{words}: {path}");
            let (status, code, message) = weir.refusal(path).await;
            assert_eq!((status, code.as_str()), (403, "DENIED"), "{words}: {path}");
            assert!(message.contains(words), "{path}: {message}");
        }
        // Where nothing is said against anything, nobody has to know.
        weir.rules(2, &[]);
        for path in &both {
            weir.has(path).await;
        }
    }
}

/// Once, an image out of the fourth index in a blocked one was given to who asked for its digest; and of
/// one that is not blocked, the manifest was given, and no layer.
#[tokio::test]
async fn what_stands_as_deep_in_indexes_as_weir_looks_is_refused_with_its_tag_and_had_with_it() {
    for read_before in [false, true] {
        let weir = Weir::start().await;
        let image = Image::new("x");
        weir.publish(&image, &[]);
        let mut outer = weir.put(&index_of(IMAGE, &[image.manifest()]), &[]);
        for _ in 0..3 {
            outer = weir.put(&index_of(INDEX, &[outer]), &["bad"]);
        }
        weir.list(&["bad"]);
        let manifest = format!("manifests/{}", image.manifest());
        if read_before {
            weir.has(&manifest).await;
        }
        weir.rules(1, &[rule("bad", Mask::Mark)]);
        let (status, _, message) = weir.refusal(&manifest).await;
        assert_eq!(status, 403, "{message}");
        assert!(message.contains("version bad of `library/app`"), "{message}");
        let status = weir.refusal(layer()).await.0;
        assert_eq!(status, if read_before { 403 } else { 404 });
        // Nothing is said against its tag.
        weir.rules(2, &[rule("other", Mask::Mark)]);
        assert_eq!(weir.has(&manifest).await, image.manifest);
        assert_eq!(weir.has(layer()).await, LAYER);
        weir.rules(3, &[rule("bad", Mask::Mark)]);
        for path in [&manifest, &layer()] {
            let (status, _, message) = weir.refusal(path).await;
            assert_eq!(status, 403, "{path}: {message}");
            assert!(message.contains("version bad of `library/app`"), "{path}: {message}");
        }
    }
}
