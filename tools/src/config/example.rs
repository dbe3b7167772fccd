//! The example file: every key with its words and its default, generated from the structs.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Config, SECTIONS, section::Section};

const INTRODUCTION: &str = "\
# The configuration of Weir. Every key is optional; what is commented out shows its default.
#
# A value may name a variable of the environment: ${NAME}. Any key may be set by a variable instead:
# server.port by WEIR__SERVER__PORT. Flags win over variables, variables over this file.
# Check it with `weir config check`; see where each value comes from with
# `weir config show --origin`.
";

/// The text of the file. `set` holds keys that are to be written uncommented, with their values.
pub(crate) fn render(set: &[(&str, String)]) -> String {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let mut out = INTRODUCTION.to_owned();
    let mut open: Vec<&str> = Vec::new();
    for section in SECTIONS {
        let path: Vec<&str> = section.path.split('.').collect();
        out.push('\n');
        let shared = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
        for (depth, part) in path.iter().enumerate().skip(shared) {
            let indent = "  ".repeat(depth);
            if depth + 1 == path.len() {
                comment(&mut out, &indent, section.doc);
            }
            let _infallible = writeln!(out, "{indent}{part}:");
        }
        keys(&mut out, section, &"  ".repeat(path.len()), &defaults, set);
        open = path;
    }
    out
}

fn keys(
    out: &mut String,
    section: &Section,
    indent: &str,
    defaults: &Value,
    set: &[(&str, String)],
) {
    let default = |name: &str| {
        let section = section.path.split('.').try_fold(defaults, |tree, part| tree.get(part))?;
        section.get(name)
    };
    for key in section.keys {
        comment(out, indent, key.doc);
        let path = format!("{}.{}", section.path, key.name);
        let _infallible = match set.iter().find(|(set, _)| *set == path) {
            // Yes or no, as it is.
            Some((_, value)) if matches!(default(key.name), Some(Value::Bool(_))) => {
                writeln!(out, "{indent}{}: {value}", key.name)
            }
            Some((_, value)) => writeln!(out, "{indent}{}: {}", key.name, quoted(value)),
            None => match default(key.name) {
                None | Some(Value::Null) => writeln!(out, "{indent}#{}:", key.name),
                Some(Value::String(text)) => {
                    writeln!(out, "{indent}#{}: {}", key.name, quoted(text))
                }
                Some(value) => writeln!(out, "{indent}#{}: {value}", key.name),
            },
        };
    }
}

fn comment(out: &mut String, indent: &str, lines: &[&str]) {
    for line in lines {
        let _infallible = writeln!(out, "{indent}#{line}");
    }
}

/// A text as YAML: as it is where that is safe, else in double quotes. A `${` is literal.
fn quoted(text: &str) -> String {
    let text = text.replace("${", "$${");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let special = ["true", "false", "null", "yes", "no", "on", "off"].contains(&text.as_str());
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    let number = text.parse::<f64>().is_ok();
    if starts_well && text.chars().all(plain) && !special && !number {
        text
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{file, layers::Layers};

    #[test]
    fn the_example_says_exactly_the_defaults() {
        // With every comment sign before a key taken away it must still be the defaults.
        let text = render(&[]);
        let uncommented: String = text
            .lines()
            .map(|line| {
                let body = line.trim_start();
                let key = body.starts_with('#') && !body.starts_with("# ") && body != "#";
                let line = if key { line.replacen('#', "", 1) } else { line.to_owned() };
                line + "\n"
            })
            .collect();
        assert_ne!(text, uncommented);
        for text in [text, uncommented] {
            let mut layers = Layers::new();
            layers.file("weir.yaml", &file::parse("weir.yaml", &text).unwrap(), &|_| None);
            let merged = layers.finish().unwrap();
            assert_eq!(merged.config, Config::default(), "{text}");
        }
    }

    #[test]
    fn every_key_is_documented_in_the_example() {
        let merged = Layers::new().finish().unwrap();
        let documented: Vec<String> = SECTIONS
            .iter()
            .flat_map(|section| section.keys.iter().map(|k| format!("{}.{}", section.path, k.name)))
            .collect();
        for shown in &merged.values {
            assert!(documented.contains(&shown.key), "{}", shown.key);
        }
        assert_eq!(documented.len(), merged.values.len());
    }

    #[test]
    fn a_key_that_is_set_reads_back() {
        let upstream = "https://user:p%40ss@mirror.example/simple/".to_owned();
        let text = render(&[
            ("registries.pypi.upstream", upstream.clone()),
            ("sources.osv.enabled", "false".to_owned()),
        ]);
        let mut layers = Layers::new();
        layers.file("weir.yaml", &file::parse("weir.yaml", &text).unwrap(), &|_| None);
        let config = layers.finish().unwrap().config;
        assert_eq!(config.registries.pypi.upstream.unwrap().to_string(), upstream);
        assert!(!config.sources.osv.enabled && config.sources.openssf.enabled);
    }

    #[test]
    fn texts_that_could_be_something_else_are_quoted() {
        for (text, yaml) in
            [("a/b.c-d", "a/b.c-d"), ("on", "\"on\""), ("1.5", "\"1.5\""), ("a: b", "\"a: b\"")]
        {
            assert_eq!(quoted(text), yaml);
        }
        assert_eq!(quoted("${A}"), "\"$${A}\"");
    }
}
