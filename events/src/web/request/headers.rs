//! The headers of a request.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, MapAccess, Visitor},
};

use super::MAX_HEADERS;

/// Headers by name, in the order of the names. Each stands once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<String, String>);

impl Headers {
    /// The headers by name.
    pub const fn as_map(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// What a header says, if it stands here.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl From<BTreeMap<String, String>> for Headers {
    fn from(headers: BTreeMap<String, String>) -> Self {
        Self(headers)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Headers {
    fn from(headers: [(&str, &str); N]) -> Self {
        Self(headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    // Two of the same name would be signed as one, and sent as one of the two.
                    if headers.insert(name, value).is_some() {
                        return Err(A::Error::custom("a header stands twice"));
                    }
                    if headers.len() > MAX_HEADERS {
                        let words = format_args!("there are more than {MAX_HEADERS} headers");
                        return Err(A::Error::custom(words));
                    }
                }
                Ok(Headers(headers))
            }
        }

        deserializer.deserialize_map(Each)
    }
}
