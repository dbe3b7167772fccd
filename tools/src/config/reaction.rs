//! What becomes of what is said against a version, as the configuration says it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use weir_events::registry::policy::Reaction;

/// `off`, `warn` or `block`. A bare `off` is a "no" to YAML, and that is what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Consequence(pub(crate) Reaction);

impl Consequence {
    pub(crate) const OFF: Self = Self(Reaction::Off);
    pub(crate) const BLOCK: Self = Self(Reaction::Block);
}

impl Serialize for Consequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Consequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl de::Visitor<'_> for Reader {
            type Value = Consequence;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one of `off`, `warn`, `block`")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Consequence, E> {
                if value {
                    return Err(E::invalid_value(de::Unexpected::Bool(value), &self));
                }
                Ok(Consequence::OFF)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Consequence, E> {
                let found = Reaction::find(text).map(Consequence);
                found.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_consequence_is_one_of_three_words_and_a_bare_off_is_one_of_them() {
        let read = |value| serde_json::from_value::<Consequence>(value);
        for reaction in Reaction::ALL {
            assert_eq!(read(json!(reaction.as_str())).unwrap(), Consequence(reaction));
            assert_eq!(json!(Consequence(reaction)), json!(reaction.as_str()));
        }
        assert_eq!(read(json!(false)).unwrap(), Consequence::OFF);
        for value in [json!(true), json!("no"), json!(1), json!(null)] {
            let fault = read(value.clone()).unwrap_err().to_string();
            assert!(fault.contains("one of `off`, `warn`, `block`"), "{value}: {fault}");
        }
    }
}
