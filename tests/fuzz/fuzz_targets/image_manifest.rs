//! What an upstream says of a container image: a manifest, a page of tags, where its tokens are; and
//! the names that clients ask by.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_processors::{
    outbound::tokens::Challenge,
    registry::docker::{
        manifest::Manifest,
        name::{Digest, Name, Reference},
        upstream::Tags,
    },
};

fuzz_target!(|data: &[u8]| {
    if let Ok(manifest) = Manifest::read(data) {
        assert!(manifest.manifests.len() + manifest.blobs.len() <= 10_000);
        let named = manifest.blobs.iter().map(|(digest, _)| digest).chain(&manifest.manifests);
        for digest in named {
            assert_eq!(digest.to_string().parse::<Digest>(), Ok(*digest));
        }
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(tags) = Tags::read(data, Some(&*text)) {
        for tag in &tags.tags {
            assert!(matches!(tag.as_str().parse(), Ok(Reference::Tag(again)) if again == *tag));
        }
    }
    if let Ok(reference) = text.parse::<Reference>() {
        assert_eq!(reference.to_string(), text);
    }
    if let Ok(name) = text.parse::<Name>() {
        assert_eq!(name.as_str().parse(), Ok(name.clone().in_library()));
        assert!(!name.as_str().split('/').any(|part| part.is_empty() || part.starts_with('.')));
    }
    if let Some(challenge) = Challenge::parse(&text) {
        assert!(text.contains(&challenge.realm));
    }
});
