use std::{collections::BTreeMap, fmt::Write as _};

use proptest::prelude::*;
use weir_events::web::rule::DomainRuleUpdated;

use super::*;

fn rule(pattern: &str, action: Action) -> DomainRule {
    DomainRule {
        pattern: pattern.to_owned(),
        action,
        category: "test".to_owned(),
        reason: format!("because of {pattern}"),
    }
}

fn host(text: &str) -> Host {
    Host::new(text).unwrap()
}

fn fits(pattern: &str, action: Action, text: &str) -> bool {
    Pattern::parse(pattern, action).unwrap().matches(&host(text), 443)
}

#[test]
fn a_bare_block_covers_what_is_below_it_and_a_bare_allow_is_exact() {
    for (pattern, block, allow, text) in [
        ("github.com", true, true, "github.com"),
        ("github.com", true, true, "GITHUB.com."),
        ("github.com", true, false, "codeload.github.com"),
        ("github.com", true, false, "a.b.github.com"),
        ("github.com", false, false, "notgithub.com"),
        ("github.com", false, false, "github.com.evil.org"),
        ("github.com", false, false, "com"),
        ("*.github.com", true, true, "api.github.com"),
        ("*.github.com", true, true, "a.b.github.com"),
        ("*.github.com", false, false, "github.com"),
        ("**.github.com", true, true, "github.com"),
        ("**.github.com", true, true, "a.b.github.com"),
        ("**.github.com", false, false, "xgithub.com"),
        ("docs-*.example.org", true, true, "docs-1.example.org"),
        ("docs-*.example.org", false, false, "docs-1.a.example.org"),
        ("*.docs-*.example.org", true, true, "a.b.docs-1.example.org"),
        ("*.docs-*.example.org", false, false, "docs-1.example.org"),
        ("**.docs-*.example.org", true, true, "docs-1.example.org"),
        ("*", true, true, "localhost"),
        ("*", false, false, "a.b"),
        ("re:.*\\.example\\.(org|com)", true, true, "a.example.com"),
        ("re:example", false, false, "example.com"),
        ("re:EXAMPLE\\.com", true, true, "example.com"),
        ("re:a|b", false, false, "ab"),
        ("10.0.0.1", true, true, "10.0.0.1"),
        ("2001:db8::1", true, true, "2001:DB8:0::1"),
        ("xn--bcher-kva.example", true, true, "XN--BCHER-KVA.example"),
        ("Bücher.example", true, true, "xn--bcher-kva.example"),
        ("10.0.0.1", true, true, "::ffff:10.0.0.1"),
    ] {
        let found = [Action::Block, Action::Allow].map(|action| fits(pattern, action, text));
        assert_eq!(found, [block, allow], "{pattern} and {text}");
    }
}

#[test]
fn a_port_in_a_pattern_means_that_port_only() {
    let at = |pattern: &str, text: &str, port| {
        Pattern::parse(pattern, Action::Allow).unwrap().matches(&host(text), port)
    };
    assert!(at("example.org:8443", "example.org", 8443));
    assert!(!at("example.org:8443", "example.org", 443));
    assert!(at("[2001:db8::1]:80", "2001:db8::1", 80));
    assert!(!at("[2001:db8::1]:80", "2001:db8::1", 81));
    assert!(at("2001:db8::1", "2001:db8::1", 81));
    assert!(at("*.example.org:8443", "a.example.org", 8443));
    let rules = [rule("example.org", Action::Allow), rule("example.org:8443", Action::Allow)];
    let word = |port| judge(&rules, Action::Block, &host("example.org"), port);
    assert_eq!((word(443).names_port, word(8443).names_port), (false, true));
}

#[test]
fn what_is_no_pattern_says_why() {
    let long = "a".repeat(MAX_PATTERN_BYTES + 1);
    let huge = format!("re:{}", "(a{50}){50}".repeat(4));
    for (pattern, words) in [
        ("", "1 to 512 bytes"),
        (long.as_str(), "1 to 512 bytes"),
        ("a..b", "part that is empty"),
        ("https://docs.rs/", "host alone"),
        ("docs.rs/serde", "host alone"),
        ("me@docs.rs", "host alone"),
        ("docs .rs", "host alone"),
        ("docs.rs:", "`` is no port"),
        ("docs.rs:+80", "`+80` is no port"),
        ("*.10.0.0.1", "part that is"),
        ("a%62.org", "no host has"),
        ("docs.rs:0", "`0` is no port"),
        ("docs.rs:65536", "`65536` is no port"),
        ("a*b*c*d*e*f*g*h*i*", "at most 8"),
        ("re:(", "unclosed group"),
        ("re:a)|(b", "unopened group"),
        (huge.as_str(), "size limit"),
        ("*.", "no host"),
    ] {
        let fault = Pattern::parse(pattern, Action::Allow).unwrap_err().to_string();
        assert!(fault.contains(words), "{pattern}: {fault}");
    }
}

#[test]
fn a_block_wins_whatever_is_more_specific_and_whatever_comes_first() {
    let mut rules = vec![
        rule("example.org", Action::Block),
        rule("docs.example.org", Action::Allow),
        rule("docs.rs", Action::Allow),
        rule("re:.*\\.rs", Action::Allow),
    ];
    for _ in 0..2 {
        let said = |text: &str| {
            let word = judge(&rules, Action::Block, &host(text), 443);
            (word.action, word.reason().to_owned())
        };
        let because = |pattern: &str| format!("because of {pattern}");
        assert_eq!(said("docs.example.org"), (Action::Block, because("example.org")));
        assert_eq!(said("docs.rs"), (Action::Allow, because("docs.rs")));
        assert_eq!(said("nowhere.net"), (Action::Block, NO_RULE.to_owned()));
        rules.reverse();
    }
    let open = judge(&rules, Action::Allow, &host("nowhere.net"), 443);
    assert_eq!((open.action, open.rule), (Action::Allow, None));
}

#[test]
fn a_pattern_has_one_spelling() {
    for (text, spelling) in [
        ("GitHub.com.", "github.com"),
        ("**.Docs-*.example.org.:8443", "**.docs-*.example.org:8443"),
        ("*.EXAMPLE.org:08443", "*.example.org:8443"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("2001:DB8:0::1", "[2001:db8::1]"),
        ("[2001:DB8:0::1]:80", "[2001:db8::1]:80"),
        ("re:Docs[0-9]+\\.example", "re:Docs[0-9]+\\.example"),
    ] {
        let pattern = Pattern::parse(text, Action::Block).unwrap();
        assert_eq!(pattern.as_str(), spelling);
        let again = Pattern::parse(spelling, Action::Block).unwrap();
        assert_eq!(again.as_str(), spelling, "it is a pattern itself");
    }
}

#[test]
fn a_rule_of_a_newer_build_does_not_go_silent() {
    let newer = |action| [rule("docs.rs", Action::Allow), rule("geo:nowhere", action)];
    for (rules, action) in
        [(newer(Action::Block), Action::Block), (newer(Action::Allow), Action::Allow)]
    {
        assert_eq!(judge(&rules, Action::Block, &host("docs.rs"), 443).action, action);
        let mut index = Index::new(&rules);
        assert_eq!(index.judge(&host("docs.rs"), 443, Action::Block).action, action);
        let gone = DomainRuleUpdated { pattern: "geo:nowhere".to_owned(), rule: None };
        index.put(index.prepare([&gone]));
        assert_eq!(index.judge(&host("docs.rs"), 443, Action::Block).action, Action::Allow);
    }
}

#[test]
fn as_many_odd_patterns_as_there_may_be_are_told_apart() {
    let mut rules = Vec::new();
    for nth in 0..MAX_ODD {
        let mut text = "re:(?:[a-z0-9-]+\\.)*".to_owned();
        write!(text, "n{nth}\\.example\\.(?:org|net|com)").unwrap();
        rules.push(rule(&text, Action::Block));
    }
    let index = Index::new(&rules);
    let word = index.judge(&host("www.n777.example.net"), 443, Action::Allow);
    assert_eq!(word.rule, Some(&rules[777]));
    assert_eq!(index.matching(&host("www.n777.example.net"), 443).len(), 1);
    assert!(index.matching(&host("www.n1000.example.net"), 443).is_empty());
}

fn pattern() -> impl Strategy<Value = String> {
    let label = "[ab]{1,2}";
    let name = prop::collection::vec(label, 1..4).prop_map(|labels| labels.join("."));
    (name, 0..7_u8).prop_map(|(name, shape)| match shape {
        0 => format!("*.{name}"),
        1 => format!("**.{name}"),
        2 => format!("{name}:8443"),
        3 => format!("re:(?:.*\\.)?{name}"),
        4 => format!("*{name}"),
        _ => name,
    })
}

fn rules() -> impl Strategy<Value = Vec<DomainRule>> {
    let one = (pattern(), any::<bool>()).prop_map(|(pattern, block)| {
        rule(&pattern, if block { Action::Block } else { Action::Allow })
    });
    prop::collection::vec(one, 0..12)
}

/// An index of rules that others were in before.
fn changed(rules: &[DomainRule], gone: &[DomainRule]) -> Index {
    let mut index = Index::new(gone);
    let update = |rule: &DomainRule, stays: bool| DomainRuleUpdated {
        pattern: rule.pattern.clone(),
        rule: stays.then(|| rule.clone()),
    };
    for updates in [
        gone.iter().map(|rule| update(rule, false)).collect::<Vec<_>>(),
        rules.iter().map(|rule| update(rule, true)).collect(),
    ] {
        let prepared = index.prepare(&updates);
        assert!(!prepared.too_odd());
        index.put(prepared);
    }
    index
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_index_says_what_the_rules_say_in_any_order(
        rules in rules(), gone in rules(), labels in prop::collection::vec("[ab]{1,2}", 1..5), odd in any::<bool>(),
    ) {
        let host = host(&labels.join("."));
        let port = if odd { 8443 } else { 443 };
        // One rule a pattern: the last that was said of it.
        let rules: Vec<DomainRule> =
            rules.into_iter().map(|rule| (rule.pattern.clone(), rule)).collect::<BTreeMap<_, _>>()
                .into_values().collect();
        let said = judge(&rules, Action::Block, &host, port);
        let index = changed(&rules, &gone);
        prop_assert_eq!(index.len(), rules.len());
        let found = index.judge(&host, port, Action::Block);
        let matching = index.matching(&host, port);
        prop_assert_eq!(matching.first().map(|rule| &rule.pattern), said.rule.map(|rule| &rule.pattern));
        prop_assert_eq!(found.action, said.action);
        prop_assert_eq!(found.rule.map(|rule| &rule.pattern), said.rule.map(|rule| &rule.pattern));
        let mut turned = rules.clone();
        turned.reverse();
        let turned = judge(&turned, Action::Block, &host, port);
        prop_assert_eq!(turned.rule.map(|rule| &rule.pattern), said.rule.map(|rule| &rule.pattern));
        let blocks = rules.iter().any(|rule| {
            let pattern = Pattern::parse(&rule.pattern, rule.action).unwrap();
            rule.action == Action::Block && pattern.matches(&host, port)
        });
        prop_assert!(!blocks || found.action == Action::Block, "nothing passes a Block");
    }

    #[test]
    fn no_text_makes_a_pattern_panic(text in ".{0,40}", name in "[a-z.]{1,30}") {
        for action in [Action::Allow, Action::Block] {
            if let (Ok(pattern), Ok(host)) = (Pattern::parse(&text, action), Host::new(&name)) {
                let _ = pattern.matches(&host, 443);
            }
        }
    }
}
