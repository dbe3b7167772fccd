//! The configuration file: YAML, read with small budgets, every value with its place.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use serde_saphyr::Spanned;

use super::fault::ConfigFault;

/// More than a configuration can need, and little enough that a hostile one costs nothing.
const MAX_BYTES: usize = 256 << 10;
const MAX_NODES: usize = 5_000;
const MAX_DEPTH: usize = 16;

/// A value as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) value: Node,
    pub(crate) value_line: u64,
    pub(crate) value_column: u64,
}

/// A section or a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Section(Vec<Entry>),
    Value(Value),
}

/// Reads the text of a file; `name` is what messages call it.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Entry>, ConfigFault> {
    if text.len() > MAX_BYTES {
        let size = text.len();
        let message = format!("{name}: {size} bytes, a configuration has at most {MAX_BYTES}");
        return Err(ConfigFault::Syntax(message));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_depth: MAX_DEPTH,
            max_documents: 1,
            max_aliases: 100,
            max_anchors: 100,
            max_merge_keys: 100,
            max_recorded_anchor_events: MAX_NODES,
            max_recorded_anchor_bytes: MAX_BYTES,
            max_total_scalar_bytes: MAX_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
        },
    };
    let parsed: Result<Option<Node>, serde_saphyr::Error> =
        serde_saphyr::from_str_with_options(text, options);
    match parsed {
        Ok(None) => Ok(Vec::new()),
        Ok(Some(Node::Section(entries))) => Ok(entries),
        Ok(Some(Node::Value(_))) => {
            Err(ConfigFault::Syntax(format!("{name}:1:1: the file must hold sections with keys")))
        }
        Err(fault) => Err(ConfigFault::Syntax(said(&fault, name))),
    }
}

fn said(fault: &serde_saphyr::Error, name: &str) -> String {
    let place =
        fault.location().map_or_else(String::new, |at| format!(":{}:{}", at.line(), at.column()));
    let options = serde_saphyr::render_options! { source_name: Some(name) };
    format!("{name}{place}: not a configuration\n{}", fault.render_with_options(options))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl<'de> de::Visitor<'de> for Visitor {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a section or a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Value(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Value(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Value(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Value>()? {
            list.push(item);
        }
        Ok(Node::Value(Value::Array(list)))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Spanned<Node>>()?;
            entries.push(Entry {
                key: key.value,
                line: key.referenced.line(),
                column: key.referenced.column(),
                value: value.value,
                value_line: value.referenced.line(),
                value_column: value.referenced.column(),
            });
        }
        Ok(Node::Section(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_place() {
        let entries = parse("t", "# hello\nserver:\n  host: \"::1\"\n  port: 80\nui: ~\n").unwrap();
        let Node::Section(server) = &entries[0].value else { panic!("{entries:?}") };
        let place = |e: &Entry| (e.line, e.column, e.value_line, e.value_column);
        assert_eq!(place(&entries[0]).0, 2);
        assert_eq!(place(&server[0]), (3, 3, 3, 9));
        assert_eq!(place(&server[1]), (4, 3, 4, 9));
        assert_eq!(server[1].value, Node::Value(80.into()));
        assert_eq!(entries[1].value, Node::Value(Value::Null));
    }

    #[test]
    fn an_empty_file_says_nothing() {
        assert_eq!(parse("t", "").unwrap(), []);
        assert_eq!(parse("t", "# only words\n").unwrap(), []);
    }

    #[test]
    fn what_is_not_yaml_is_shown_with_its_place() {
        let fault = parse("weir.yaml", "server:\n  port: [80\nui: 1\n").unwrap_err().to_string();
        assert!(fault.starts_with("weir.yaml:"), "{fault}");
        assert!(parse("t", "- a\n- b\n").unwrap_err().to_string().contains("sections"));
        let twice = parse("t", "ui:\n  enabled: true\n  enabled: false\n").unwrap_err();
        assert!(twice.to_string().contains("duplicate"), "{twice}");
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for nth in 1..9 {
            let above = vec![format!("*a{}", nth - 1); 9].join(",");
            bomb = format!("{bomb}a{nth}: &a{nth} [{above}]\n");
        }
        let fault = parse("t", &bomb).unwrap_err();
        assert!(matches!(fault, ConfigFault::Syntax(_)), "{fault}");
        let deep = "[".repeat(100);
        assert!(parse("t", &deep).is_err());
        assert!(parse("t", &format!("# {}", "x".repeat(MAX_BYTES))).is_err());
    }
}
