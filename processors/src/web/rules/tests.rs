use weir_events::web::rule::{DomainRuleUpdated, WebWaiver, WebWaiverExpired, WebWaiverGranted};

use super::*;
use crate::follower::Follows as _;

const NOW: Timestamp = Timestamp::EPOCH;

fn host(text: &str) -> Host {
    Host::new(text).unwrap()
}

fn settings(default: Action) -> RulesSettings {
    let registries = Registries::of([(host("index.packages.example"), 443)]);
    RulesSettings { default, ports: vec![80, 443], registries }
}

fn rule(pattern: &str, action: Action) -> Event {
    let rule = DomainRule {
        pattern: pattern.to_owned(),
        action,
        category: "test".to_owned(),
        reason: format!("because of {pattern}"),
    };
    DomainRuleUpdated { pattern: pattern.to_owned(), rule: Some(rule) }.into()
}

fn waiver(id: &str, pattern: &str, seconds: i64) -> Event {
    let waiver = WebWaiver {
        id: id.to_owned(),
        permits: Permits::Host,
        pattern: Some(pattern.to_owned()),
        agent: None,
        reason: "looked into".to_owned(),
        owner: "team a".to_owned(),
        expires_at: NOW.plus_seconds(seconds),
    };
    let (requested_by, granted_by) = ("ann".to_owned(), "bob".to_owned());
    WebWaiverGranted { waiver, requested_by, granted_by }.into()
}

fn known(events: &[Event]) -> Known {
    let mut known = Known::default();
    for (nth, event) in (1..).zip(events) {
        let news = known.prepare(&[(Position(nth), event.clone())]);
        known.put(news);
    }
    known
}

fn judged(known: &Known, text: &str, port: u16) -> (Action, String) {
    let verdict = settings(Action::Block).judge(known, &host(text), port, NOW);
    (verdict.action, verdict.reason)
}

#[test]
fn rules_decide_and_what_none_names_is_blocked() {
    let known = known(&[rule("docs.rs", Action::Allow), rule("github.com", Action::Block)]);
    let says = |action, reason: &str| (action, reason.to_owned());
    assert_eq!(judged(&known, "docs.rs", 443), says(Action::Allow, "because of docs.rs"));
    let of_github = says(Action::Block, "because of github.com");
    assert_eq!(judged(&known, "api.github.com", 443), of_github);
    assert_eq!(judged(&known, "www.docs.rs", 443), says(Action::Block, "no rule"));
    let open = settings(Action::Allow).judge(&known, &host("www.docs.rs"), 443, NOW);
    assert_eq!((open.action, open.reason.as_str()), (Action::Allow, "no rule"));
}

#[test]
fn a_port_is_reached_where_the_settings_or_a_rule_say_so() {
    let known = known(&[
        rule("docs.rs", Action::Allow),
        rule("wiki.example", Action::Allow),
        rule("wiki.example:8443", Action::Allow),
        rule("docs.rs:80", Action::Block),
    ]);
    let allowed = |text, port| judged(&known, text, port).0 == Action::Allow;
    assert_eq!([443, 80, 22].map(|port| allowed("docs.rs", port)), [true, false, false]);
    let wiki = [443, 8443, 8080].map(|port| allowed("wiki.example", port));
    assert_eq!(wiki, [true, true, false]);
    assert_eq!(judged(&known, "docs.rs", 22).1, PORT);
    let open = settings(Action::Allow).judge(&known, &host("other.example"), 22, NOW);
    assert_eq!(open.action, Action::Block, "also where everything is allowed");
}

#[test]
fn no_rule_lets_a_package_registry_through_and_a_waiver_does() {
    let mut events = vec![rule("re:.*", Action::Allow), rule("**.packages.example", Action::Allow)];
    let before = known(&events);
    for text in ["packages.example", "index.packages.example", "files.packages.example"] {
        let verdict = settings(Action::Allow).judge(&before, &host(text), 443, NOW);
        assert_eq!(verdict.action, Action::Block, "{text}");
        assert_eq!(verdict.category.as_deref(), Some("package_mgr"), "{text}");
    }
    events.push(waiver("w1", "files.packages.example", 60));
    let after = known(&events);
    let judged = |text, now| settings(Action::Block).judge(&after, &host(text), 443, now);
    let waived = judged("files.packages.example", NOW);
    assert_eq!((waived.action, waived.waived_by.as_deref()), (Action::Allow, Some("w1")));
    assert_eq!(waived.category.as_deref(), Some("package_mgr"), "it still says what it is");
    assert!(!judged("index.packages.example", NOW).allows());
    assert!(!judged("files.packages.example", NOW.plus_seconds(60)).allows(), "its time is over");
}

#[test]
fn a_waiver_beats_a_block_for_its_hosts_and_ports_until_it_ends() {
    let mut events = vec![rule("github.com", Action::Block), waiver("w1", "api.github.com", 60)];
    events.push(waiver("w2", "git.example:9418", 60));
    let waived = known(&events);
    let allowed = |text, port| judged(&waived, text, port).0 == Action::Allow;
    assert!(allowed("api.github.com", 443));
    assert!(!allowed("github.com", 443));
    assert!(!allowed("api.github.com", 22), "no port is opened that it does not name");
    assert!(allowed("git.example", 9418));
    assert!(!allowed("git.example", 443));
    events.push(WebWaiverExpired { id: "w1".to_owned() }.into());
    assert_eq!(judged(&known(&events), "api.github.com", 443).0, Action::Block);
}

#[test]
fn what_changes_counts_and_what_cannot_be_read_blocks() {
    let live = Live::new(known(&[rule("docs.rs", Action::Allow)]));
    let index = |live: &Live| live.read(|known| known.map(|known| known.index.len()).ok());
    assert_eq!(index(&live), Some(1));
    let gone = DomainRuleUpdated { pattern: "docs.rs".to_owned(), rule: None };
    assert!(!live.advance(&[(Position(9), gone.into())]));
    assert_eq!(index(&live), Some(0));
    live.unreadable("an event of the future");
    assert_eq!(index(&live), None);
    live.replace(Known::default());
    assert_eq!(index(&live), Some(0));
}

#[test]
fn whatever_an_address_looks_like_its_host_is_what_is_judged() {
    let known = known(&[rule("github.com", Action::Block), rule("docs.rs", Action::Allow)]);
    let open = settings(Action::Allow);
    for text in [
        "https://github.com/",
        "https://github.com./x",
        "http://GITHUB.com",
        "https://%67ithub.com/",
        "https://git\u{ad}hub.com/",
        "https://ｇｉｔｈｕｂ.com/",
        "https:/github.com/",
        "https://api.github.com:443/",
        "wss://github.com/",
    ] {
        let url = WebUrl::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let verdict = open.judge(&known, url.name(), url.port(), NOW);
        assert_eq!(verdict.rule.as_deref(), Some("github.com"), "{text}");
    }
    // Letters of another script that look the same are another name, which no rule names.
    for text in
        ["https://g\u{456}thub.com/", "https://d\u{43e}cs.rs/", "https://docs.rs.evil.example/"]
    {
        let url = WebUrl::parse(text).unwrap();
        let verdict = settings(Action::Block).judge(&known, url.name(), 443, NOW);
        assert_eq!((verdict.action, verdict.rule), (Action::Block, None), "{text}");
    }
    for text in ["https://docs.rs@github.com/", "https://.github.com/", "https://docs.rs:0/"] {
        assert!(WebUrl::parse(text).is_err(), "{text}");
    }
}
