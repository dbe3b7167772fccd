//! The one query grammar of URL, API, UI and command line:
//! `subsystem:registry kind:PackageBlocked stream:registry/rules principal:robot six`.
//!
//! `subsystem` and `kind` take comma lists and may repeat, `stream` is one prefix, `principal` one
//! name, quotes hold spaces together. What is left is free text: every word must occur in the stream, the kind or the
//! payload.

use serde_json::Value;

use crate::config::nearest;

const KEYS: [&str; 4] = ["subsystem", "kind", "stream", "principal"];

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) subsystems: Vec<String>,
    pub(crate) kinds: Vec<String>,
    pub(crate) stream: Option<String>,
    pub(crate) principal: Option<String>,
    /// In lower case.
    pub(crate) words: Vec<String>,
}

impl Query {
    /// Reads a query. What the person should know about it comes second.
    pub(crate) fn parse(text: &str) -> (Self, Vec<String>) {
        let (mut query, mut notes) = (Self::default(), Vec::new());
        for token in tokens(text) {
            let key = KEYS.into_iter().find_map(|key| {
                let (head, value) = token.split_once(':')?;
                head.eq_ignore_ascii_case(key).then_some((key, value))
            });
            match key {
                None => query.word(&token, &mut notes),
                Some((key, "")) => notes.push(format!("`{key}:` needs a value")),
                Some(("stream", value)) => {
                    if query.stream.as_deref().is_some_and(|before| before != value) {
                        notes
                            .push("only one `stream:` prefix counts; the last one does".to_owned());
                    }
                    query.stream = Some(value.to_owned());
                }
                Some(("principal", value)) => {
                    if query.principal.as_deref().is_some_and(|before| before != value) {
                        notes.push("only one `principal:` counts; the last one does".to_owned());
                    }
                    query.principal = Some(value.to_owned());
                }
                Some(("kind", value)) => add(&mut query.kinds, value),
                Some((_, value)) => add(&mut query.subsystems, value),
            }
        }
        (query, notes)
    }

    fn word(&mut self, token: &str, notes: &mut Vec<String>) {
        if let Some((head, value)) = token.split_once(':')
            && !value.starts_with("//")
            && let Some(near) = nearest(&head.to_lowercase(), KEYS)
        {
            notes.push(format!("`{token}` is searched as text; did you mean `{near}:`?"));
        }
        if !token.is_empty() {
            self.words.push(token.to_lowercase());
        }
    }

    /// Adds to the lists what flags say.
    pub(crate) fn and(
        &mut self,
        subsystems: &[String],
        kinds: &[String],
        stream: Option<&str>,
        principal: Option<&str>,
    ) {
        for list in subsystems {
            add(&mut self.subsystems, list);
        }
        for list in kinds {
            add(&mut self.kinds, list);
        }
        if let Some(stream) = stream {
            self.stream = Some(stream.to_owned());
        }
        if let Some(principal) = principal {
            self.principal = Some(principal.to_owned());
        }
    }

    /// What the server filters by, as parameters of the API.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        let lists = [("subsystem", &self.subsystems), ("kind", &self.kinds)];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            parameters.push((name, list.join(",")));
        }
        parameters.extend(self.stream.clone().map(|stream| ("stream", stream)));
        parameters.extend(self.principal.clone().map(|principal| ("principal", principal)));
        parameters
    }

    /// Whether an event holds every word of the free text.
    pub(crate) fn finds(&self, event: &Value) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let hay = format!("{}\n{}\n{}", text("stream"), text("kind"), event["payload"]);
        let hay = hay.to_lowercase();
        self.words.iter().all(|word| hay.contains(word))
    }
}

fn add(list: &mut Vec<String>, value: &str) {
    for item in value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        if !list.iter().any(|known| known == item) {
            list.push(item.to_owned());
        }
    }
}

/// Words, with what stands in quotes held together and the quotes taken away.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut token, mut quoted, mut open) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => (quoted, open) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if std::mem::take(&mut open) {
                    tokens.push(std::mem::take(&mut token));
                }
            }
            c => {
                token.push(c);
                open = true;
            }
        }
    }
    if open {
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).0
    }

    fn notes(text: &str) -> Vec<String> {
        Query::parse(text).1
    }

    #[test]
    fn a_filter_is_told_from_free_text() {
        let read =
            query("subsystem:registry kind:PackageBlocked stream:registry/rules Six left-pad");
        assert_eq!(read.subsystems, ["registry"]);
        assert_eq!(read.kinds, ["PackageBlocked"]);
        assert_eq!(read.stream.as_deref(), Some("registry/rules"));
        assert_eq!(read.words, ["six", "left-pad"]);
    }

    #[test]
    fn lists_and_repeats_are_joined_once_each() {
        let mut read = query("kind:A,B KIND:B,C subsystem:web");
        read.and(&["registry,web".to_owned()], &[], Some("x"), Some("robot 2"));
        assert_eq!(read.kinds, ["A", "B", "C"]);
        assert_eq!(read.subsystems, ["web", "registry"]);
        let expected = [
            ("subsystem", "web,registry".to_owned()),
            ("kind", "A,B,C".to_owned()),
            ("stream", "x".to_owned()),
            ("principal", "robot 2".to_owned()),
        ];
        assert_eq!(read.parameters(), expected);
    }

    #[test]
    fn quotes_hold_words_together_and_an_open_one_reaches_to_the_end() {
        assert_eq!(
            query("\"too young\" stream:\"a b\" \"open end").words,
            ["too young", "open end"]
        );
        assert_eq!(query("stream:\"a b\"").stream.as_deref(), Some("a b"));
        let named = query("Principal:\"robot, 2\"");
        assert_eq!(named.principal.as_deref(), Some("robot, 2"), "a name may hold a comma");
    }

    #[test]
    fn other_colons_are_text_and_slips_are_asked_about() {
        assert_eq!(
            query("https://docs.example pkg:six").words,
            ["https://docs.example", "pkg:six"]
        );
        assert_eq!(notes("https://docs.example pkg:six"), Vec::<String>::new());
        assert!(notes("subsytem:web")[0].contains("did you mean `subsystem:`?"));
        assert!(notes("kind:")[0].contains("needs a value"));
        assert_eq!(notes("stream:a stream:b").len(), 1);
        assert_eq!(notes("principal:a principal:b principal:b").len(), 1);
        assert_eq!(query("stream:a stream:b").stream.as_deref(), Some("b"));
    }

    #[test]
    fn every_word_must_occur_somewhere() {
        let event = serde_json::json!({
            "stream": "registry/rules", "kind": "RuleAdded", "payload": {"package": "Six"}
        });
        assert!(query("six ruleadded").finds(&event));
        assert!(!query("six seven").finds(&event));
        assert!(query("").finds(&event));
    }
}
