//! Objects of a JSON text by where their members stand in it, so that what is not changed can be
//! passed on byte for byte.
//!
//! A member that is named twice is read differently by different readers, so such an object is not
//! read at all.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The most members an object may have.
pub const MAX_MEMBERS: usize = 200_000;

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Where it begins.
    pub from: u32,
    /// Where what follows it begins.
    pub to: u32,
}

impl Span {
    /// The stretch between two places.
    #[must_use]
    pub const fn new(from: u32, to: u32) -> Self {
        Self { from, to }
    }

    /// Its text.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.from as usize..self.to as usize).unwrap_or_default()
    }
}

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<N> {
    /// What it is called.
    pub name: N,
    /// What stands before its value: a comma where it is not the first, its name, a colon, blanks.
    pub lead: Span,
    /// Its value.
    pub value: Span,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<N> {
    /// All of it, braces included.
    pub span: Span,
    /// Its members in their order.
    pub members: Vec<Member<N>>,
    /// Whether it has no member at all, also none that was not wanted.
    pub empty: bool,
}

impl<N> Object<N> {
    /// Reads the object that a stretch of a text is: those of its members that `name` knows.
    pub fn read(
        text: &str,
        span: Span,
        mut name: impl FnMut(&str) -> Option<N>,
    ) -> Result<Self, ReadFault> {
        let Raw(raw) = serde_json::from_str(span.of(text)).map_err(ReadFault::Json)?;
        let mut members = Vec::new();
        let mut known = HashSet::new();
        let mut before = span.from + 1;
        let empty = raw.is_empty();
        for (called, value) in raw {
            let from = value.get().as_ptr().addr() - text.as_ptr().addr();
            let place = |at: usize| u32::try_from(at).map_err(|_| ReadFault::TooLarge);
            let value = Span::new(place(from)?, place(from + value.get().len())?);
            let lead = Span::new(before, value.from);
            before = value.to;
            let Some(name) = name(&called) else { continue };
            if !known.insert(called.clone()) {
                return Err(ReadFault::Twice(called.chars().take(80).collect()));
            }
            members.push(Member { name, lead, value });
        }
        Ok(Self { span, members, empty })
    }

    /// What stands behind the last of these members: blanks and the closing brace. Only where every
    /// member was read.
    #[must_use]
    pub fn tail(&self) -> Span {
        let from = self.members.last().map_or(self.span.from + 1, |member| member.value.to);
        Span::new(from, self.span.to)
    }
}

impl<N: PartialEq> Object<N> {
    /// A member by its name.
    #[must_use]
    pub fn get(&self, name: &N) -> Option<Span> {
        self.members.iter().find(|member| member.name == *name).map(|member| member.value)
    }
}

/// An object cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// It is none.
    #[error("it is not JSON, or not an object where one has to be")]
    Json(#[source] serde_json::Error),
    /// It names a member twice.
    #[error("an object in it names `{0}` twice")]
    Twice(String),
    /// It is larger than can be read.
    #[error("it is larger than 4 GiB")]
    TooLarge,
}

/// The members of an object with their values unread.
struct Raw<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<_, &RawValue>()? {
                    if members.len() == MAX_MEMBERS {
                        return Err(serde::de::Error::custom("an object with too many members"));
                    }
                    members.push((name, value));
                }
                Ok(Raw(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Object<String>, ReadFault> {
        let span = Span::new(0, u32::try_from(text.len()).unwrap());
        Object::read(text, span, |name| Some(name.to_owned()))
    }

    #[test]
    fn an_object_is_the_sum_of_its_parts() {
        for text in ["{}", "{ }", r#"{"a":1}"#, "{ \"a\" : 1.50 ,\n\"\\u0062\":{\"c\":[ 2 ]}\t}"] {
            let object = read(text).unwrap();
            let mut sum = "{".to_owned();
            for member in &object.members {
                sum += member.lead.of(text);
                sum += member.value.of(text);
            }
            sum += object.tail().of(text);
            assert_eq!(sum, text);
            assert_eq!(object.empty, object.members.is_empty());
        }
        let text = r#"{"a":1,"\u0062":[2]}"#;
        assert_eq!(read(text).unwrap().get(&"b".to_owned()).unwrap().of(text), "[2]");
    }

    #[test]
    fn what_is_not_wanted_is_skipped_and_what_is_named_twice_is_not_read() {
        let text = r#"{"a":1,"x":0,"x":0,"b":2}"#;
        let span = Span::new(0, u32::try_from(text.len()).unwrap());
        let object = Object::read(text, span, |name| (name != "x").then_some(())).unwrap();
        assert_eq!((object.members.len(), object.empty), (2, false));
        assert_eq!(object.members[1].lead.of(text), r#","b":"#);
        for twice in [r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(matches!(read(twice), Err(ReadFault::Twice(name)) if name == "a"), "{twice}");
        }
        for bad in ["", "[]", "null", "{", r#"{"a":}"#, r#"{"a":1}x"#, "{1:2}"] {
            assert!(matches!(read(bad), Err(ReadFault::Json(_))), "{bad}");
        }
    }
}
