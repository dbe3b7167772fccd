use super::*;
use crate::config::{fault::render, file};

fn merge(text: &str, variables: &[(&str, &str)]) -> Result<Merged, String> {
    let mut layers = Layers::new();
    let lookup = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let entries = file::parse("weir.yaml", text).map_err(|fault| fault.to_string())?;
    layers.file("weir.yaml", &entries, &lookup);
    for (name, value) in variables.iter().filter(|(name, _)| name.starts_with("WEIR__")) {
        layers.variable(name, value);
    }
    layers.finish().map_err(|faults| render(&faults, text))
}

fn origin(merged: &Merged, key: &str) -> String {
    merged.values.iter().find(|shown| shown.key == key).unwrap().origin.to_string()
}

fn value(merged: &Merged, key: &str) -> Value {
    merged.values.iter().find(|shown| shown.key == key).unwrap().value.clone()
}

#[test]
fn later_layers_win_and_every_value_knows_who_said_it() {
    let text = "server:\n  host: 0.0.0.0\n  port: 80\n";
    let merged = merge(text, &[("WEIR__SERVER__PORT", "81")]).unwrap();
    assert_eq!(merged.config.server.port, 81);
    assert_eq!(origin(&merged, "server.port"), "environment WEIR__SERVER__PORT");
    assert_eq!(origin(&merged, "server.host"), "weir.yaml:2:9");
    assert_eq!(origin(&merged, "log.notify"), "default");

    let mut layers = Layers::new();
    layers.variable("WEIR__SERVER__PORT", "81");
    layers.flag("--listen", "server.port", "82");
    let merged = layers.finish().unwrap();
    assert_eq!(merged.config.server.port, 82);
    assert_eq!(origin(&merged, "server.port"), "flag --listen");
}

#[test]
fn an_unknown_key_is_shown_with_what_was_meant() {
    let said = merge("server:\n  prot: 80\nserved:\n  port: 1\n", &[]).unwrap_err();
    assert!(said.contains("weir.yaml:2:3: unknown key `server.prot`"), "{said}");
    assert!(said.contains("did you mean `server.port`?"), "{said}");
    assert!(said.contains("weir.yaml:3:1: unknown key `served`, did you mean `server`?"), "{said}");
    let said = merge("", &[("WEIR__SERVER__PROT", "1")]).unwrap_err();
    let expected = "environment WEIR__SERVER__PROT: unknown key `server.prot`, \
                    did you mean `server.port`?";
    assert_eq!(said, expected);
    let misplaced = merge("port: 80\n", &[]).unwrap_err();
    assert!(misplaced.contains("did you mean `server.port`?"), "{misplaced}");
}

#[test]
fn a_value_of_the_wrong_type_is_pointed_at() {
    let said = merge("server:\n  port: eighty\n", &[]).unwrap_err();
    assert!(said.starts_with("weir.yaml:2:9: `server.port`: "), "{said}");
    assert!(said.contains("expected u16"), "{said}");
    assert!(said.ends_with("2 |   port: eighty\n  |         ^^^^^^"), "{said}");
    let said = merge("server: 80\n", &[]).unwrap_err();
    assert!(said.contains("`server` is a section"), "{said}");
    let said = merge("server:\n  port:\n    of: 1\n", &[]).unwrap_err();
    assert!(said.contains("`server.port`: it is a value, not a section"), "{said}");
    let said = merge("", &[("WEIR__SERVER", "x")]).unwrap_err();
    assert!(said.contains("name one of its keys"), "{said}");
}

#[test]
fn all_faults_of_a_file_are_told_at_once() {
    let said = merge("server:\n  port: eighty\n  prot: 1\nnowhere: {}\n", &[]).unwrap_err();
    assert_eq!(said.matches("weir.yaml:").count(), 3, "{said}");
}

#[test]
fn variables_are_put_in_and_not_shown() {
    let text = "database:\n  url: \"postgres://weir:${PASSWORD}@db/weir\"\nserver:\n  \
                port: ${PORT}\n";
    let merged = merge(text, &[("PASSWORD", "hunter2"), ("PORT", "81")]).unwrap();
    let url = merged.config.database.url.clone().unwrap();
    assert_eq!(url.0, "postgres://weir:hunter2@db/weir");
    assert_eq!(merged.config.server.port, 81);
    assert_eq!(value(&merged, "server.port"), "${PORT}");
    assert!(!format!("{:?}", merged.values).contains("hunter2"));
    assert!(!format!("{:?}", merged.config).contains("hunter2"));

    let said = merge(text, &[("PASSWORD", "hunter2"), ("PORT", "s3cret")]).unwrap_err();
    assert!(!said.contains("s3cret"), "{said}");
    let said = merge(text, &[("PASSWORD", "x")]).unwrap_err();
    assert!(said.contains("needs the environment variable PORT, which is not set"), "{said}");
}

#[test]
fn a_dollar_can_be_written() {
    let lookup = |_: &str| Some("x".to_owned());
    let expanded = |text: &str| expand(&text.into(), &lookup).unwrap();
    assert_eq!(expanded("a$${B}c"), ("a${B}c".into(), None));
    assert_eq!(expanded("${A}-${B"), ("x-${B".into(), Some("${A}-${B".to_owned())));
    assert_eq!(expanded("$5"), ("$5".into(), None));
}

#[test]
fn the_old_database_path_is_a_warning() {
    let merged = merge("database:\n  path: ./weir.db\n", &[]).unwrap();
    assert_eq!(merged.warnings.len(), 1);
    assert!(merged.warnings[0].starts_with("weir.yaml:2:3: `database.path`"), "{merged:?}");
}

#[test]
fn an_empty_section_is_no_fault() {
    assert!(merge("server:\nlog: ~\n", &[]).is_ok());
}

#[test]
fn secrets_are_not_shown() {
    let secret = "5a".repeat(32);
    let text = format!("server:\n  secret: \"{secret}\"\ndatabase:\n  url: postgres://u:pw@db/w\n");
    let merged = merge(&text, &[]).unwrap();
    assert_eq!(value(&merged, "server.secret"), "…");
    assert_eq!(value(&merged, "database.url"), "postgres://u:…@db/w");
    assert!(!format!("{merged:?}").contains(&secret));
}

#[test]
fn a_control_character_is_refused_in_every_value_and_not_repeated() {
    for (text, place) in [
        ("server:\n  host: \"127.0.0.1\\0\"\n", "weir.yaml:2:9: `server.host`"),
        ("cache:\n  path: \"/srv\\0/x\"\n", "weir.yaml:2:9: `cache.path`"),
        ("policy:\n  profiles: [{name: \"a\\0\"}]\n", "weir.yaml:2:13: `policy.profiles`"),
    ] {
        let said = merge(text, &[]).unwrap_err();
        assert!(said.starts_with(place) && said.contains("control character U+0000"), "{said}");
    }
    let said = merge("server:\n  host: ${PLACE}\n", &[("PLACE", "a\u{7}b")]).unwrap_err();
    assert!(said.contains("control character U+0007") && !said.contains('\u{7}'), "{said}");
    let said = merge("server:\n  host: a b\n", &[]).unwrap_err();
    assert!(said.contains("`a b` is neither an IP address nor the name of a host"), "{said}");
}

#[test]
fn who_leaves_the_token_out_is_bound_by_a_profile_that_is_set_at_every_start() {
    let named = "auth:\n  loopback_profile: agnet\n";
    let said = merge(named, &[]).unwrap_err();
    let words = "no profile of `policy.profiles` is called `agnet`; none stands there";
    assert!(said.starts_with("weir.yaml:2:21: `auth.loopback_profile`: "), "{said}");
    assert!(said.contains(words), "{said}");
    // In whichever order they stand, and whoever says so.
    let profiles = "policy:\n  profiles: [{name: agent}]\n";
    let said = merge(&format!("{named}{profiles}"), &[]).unwrap_err();
    assert!(said.contains("`agnet`; there are: agent"), "{said}");
    let said = merge(profiles, &[("WEIR__AUTH__LOOPBACK_PROFILE", "x")]).unwrap_err();
    assert!(said.starts_with("environment WEIR__AUTH__LOOPBACK_PROFILE: "), "{said}");
    let variable = [("WEIR__AUTH__LOOPBACK_PROFILE", "agent")];
    assert!(merge(&format!("{named}{profiles}"), &variable).is_ok());
}
