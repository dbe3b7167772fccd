//! The JSON of a manifest, member by member: only what is spelt as it is specified, and only once.
//!
//! Clients that are written in Go take a member in any case of its letters for the same, and the last
//! one of several. What is named to them so, and not to us, would be judged by nobody: it is no manifest.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};

/// What is read of a manifest.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) schema_version: Option<u64>,
    pub(super) media_type: Option<String>,
    pub(super) manifests: Option<Vec<Descriptor>>,
    pub(super) config: Option<Descriptor>,
    pub(super) layers: Option<Vec<Descriptor>>,
    /// The layers of an artifact.
    pub(super) blobs: Option<Vec<Descriptor>>,
}

/// What is read of something that it names.
#[derive(Debug)]
pub(super) struct Descriptor {
    pub(super) media_type: Option<String>,
    pub(super) digest: String,
    pub(super) size: u64,
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Manifest)
    }
}

impl<'de> Deserialize<'de> for Descriptor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Named)
    }
}

struct Manifest;

impl<'de> Visitor<'de> for Manifest {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let mut read = Read::default();
        let mut members =
            Members::of(&["schemaVersion", "mediaType", "manifests", "config", "layers", "blobs"]);
        while let Some(name) = map.next_key::<String>()? {
            match members.known(&name)? {
                Some("schemaVersion") => read.schema_version = map.next_value()?,
                Some("mediaType") => read.media_type = map.next_value()?,
                Some("manifests") => read.manifests = map.next_value()?,
                Some("config") => read.config = map.next_value()?,
                Some("layers") => read.layers = map.next_value()?,
                Some("blobs") => read.blobs = map.next_value()?,
                Some(_) | None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(read)
    }
}

struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = Descriptor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a descriptor")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Descriptor, A::Error> {
        let (mut media_type, mut digest, mut size) = (None, None, None);
        let mut members = Members::of(&["mediaType", "digest", "size"]);
        while let Some(name) = map.next_key::<String>()? {
            match members.known(&name)? {
                Some("mediaType") => media_type = map.next_value()?,
                Some("digest") => digest = Some(map.next_value()?),
                Some("size") => size = Some(map.next_value()?),
                Some(_) | None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let digest = digest.ok_or_else(|| A::Error::missing_field("digest"))?;
        let size = size.ok_or_else(|| A::Error::missing_field("size"))?;
        Ok(Descriptor { media_type, digest, size })
    }
}

/// The members of an object that are read, and those that were there already.
struct Members {
    names: &'static [&'static str],
    seen: Vec<&'static str>,
}

impl Members {
    const fn of(names: &'static [&'static str]) -> Self {
        Self { names, seen: Vec::new() }
    }

    /// Which of them has this name; `None` where clients, too, take it for none of them.
    fn known<E: Error>(&mut self, name: &str) -> Result<Option<&'static str>, E> {
        let Some(known) = self.names.iter().copied().find(|known| is_taken_for(name, known)) else {
            return Ok(None);
        };
        if name != known {
            return Err(E::custom(format_args!("`{name}` is no spelling of `{known}`")));
        }
        if self.seen.contains(&known) {
            return Err(E::duplicate_field(known));
        }
        self.seen.push(known);
        Ok(Some(known))
    }
}

/// Whether Go takes a name for another one: two letters beyond ASCII have small ones in it.
fn is_taken_for(name: &str, known: &str) -> bool {
    let folded = name.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    });
    folded.eq(known.chars().map(|letter| letter.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Read, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Once, an index called its images `Manifests`: its clients found them, and nobody here did.
    #[test]
    fn what_clients_would_read_and_we_would_not_is_no_manifest() {
        for (text, words) in [
            (r#"{"Manifests":[]}"#, "is no spelling of `manifests`"),
            (r#"{"manifests":[],"MANIFESTS":[]}"#, "is no spelling of `manifests`"),
            ("{\"manife\u{17f}t\u{17f}\":[]}", "is no spelling of `manifests`"),
            (r#"{"layers":[],"Layers":[]}"#, "is no spelling of `layers`"),
            (r#"{"schemaversion":2}"#, "is no spelling of `schemaVersion`"),
            (r#"{"manifests":[],"manifests":[]}"#, "duplicate field `manifests`"),
            (r#"{"manifests":null,"manifests":[]}"#, "duplicate field `manifests`"),
            (r#"{"config":{"digest":"a","size":1,"Digest":"b"}}"#, "is no spelling of `digest`"),
            (r#"{"config":{"digest":"a","size":1,"digest":"b"}}"#, "duplicate field `digest`"),
            (r#"{"config":{"digest":"a","\u017fize":1}}"#, "is no spelling of `size`"),
            (r#"{"config":{"digest":"a"}}"#, "missing field `size`"),
            (r#"{"config":{"size":1}}"#, "missing field `digest`"),
            ("[2,null,[]]", "expected a manifest"),
        ] {
            let fault = read(text).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        }
    }

    #[test]
    fn what_stands_in_no_place_of_a_member_may_be_called_anything() {
        let text = r#"{"annotations":{"Digest":"x","Manifests":"y"},"manifest":1,"x":[1,{"SIZE":2}],
            "manifests":null,"subject":{"Size":1,"Size":2},
            "config":{"mediaType":null,"digest":"a","size":1,"platform":{"Size":3},"dig":4}}"#;
        let read = read(text).unwrap();
        assert!(read.manifests.is_none() && read.layers.is_none());
        assert_eq!(read.config.unwrap().digest, "a");
    }
}
