//! What clients get of a packument, member by member.

use proptest::prelude::*;
use serde_json::Value;
use weir_events::registry::{Mask, Rule};

use super::*;
use crate::{
    outbound::Url,
    registry::npm::{
        filter::filter,
        name::Name,
        testing::{known, rule},
    },
};

const BASE: &str = "https://weir.example/npm";
const TOLD: &str = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
const STEP: &str = "blocked/too-young-rule_019a0000-0000-7000-8000-000000000001";

/// With members nobody knows, numbers nobody can hold, blanks, and escapes.
const PACKUMENT: &str = concat!(
    "{ \"_id\":\"@s/n\", \"_rev\" : 1e400,\n\"name\":\"@s/n\",\"dist-tags\":{\"latest\":\"1.1.0\", \"next\" : \"2.0.0-b.1\"},",
    "\"versions\":{ \"1.0.0\" : {\"name\":\"@s/n\",\"version\":\"1.0.0\",\"x\":123456789012345678901234567890,",
    "\"dependencies\":{\"a\":\"^1\"},\"scripts\":{\"install\":\"make\"},\"dist\":{ \"shasum\":\"00\", \"tarball\" : \"https://f.example/@s/n/-/n-1.0.0.tgz\",\"signatures\":[{\"keyid\":\"k\"}]} },\n",
    "\"1.1.0\":{\"version\":\"1.1.0\",\"deprecated\":\"old\",\"readme\":\"\\u0041\",\"dist\":{\"tarball\":\"https://f.example/@s/n/-/n-1.1.0.tgz\"}},",
    "\"2.0.0-b.1\":{\"version\":\"2.0.0-b.1\",\"dist\":{\"integrity\":\"sha512-x\",\"tarball\":\"https://f.example/@s/n/-/n-2.0.0-b.1.tgz\"},\"hasInstallScript\":false} },",
    "\"time\":{\"modified\":\"2021-05-05T14:18:18.379Z\",\"1.0.0\":\"a\" , \"1.1.0\":\"b\",\"2.0.0-b.1\":\"c\" },\"readme\":\"\\ud83d\\ude00 \u{e4}\" }\n",
);

fn document(body: &str) -> Document {
    let url = Url::parse("https://registry.example/@s%2fn").unwrap();
    Document::read(&Name::new("@s/n").unwrap(), &url, body.as_bytes()).unwrap()
}

fn rendered(body: &str, given: &[Rule], form: Form) -> String {
    let document = document(body);
    render(&document, &filter(&document, &known("@s/n", given)), form, BASE)
}

/// The full form with what nobody could hold made readable.
fn full(given: &[Rule]) -> Value {
    serde_json::from_str(&rendered(&PACKUMENT.replace("1e400", "1"), given, Form::Full)).unwrap()
}

fn short(given: &[Rule]) -> Value {
    serde_json::from_str(&rendered(PACKUMENT, given, Form::Abbreviated)).unwrap()
}

#[test]
fn without_rules_the_full_form_is_the_upstreams_but_for_the_addresses() {
    let same = PACKUMENT.replace("https://f.example", BASE);
    assert_eq!(rendered(PACKUMENT, &[], Form::Full), same);
}

#[test]
fn what_is_hidden_is_cut_out_and_nothing_else_is_touched() {
    let rule = [rule(1, "@s/n", "1.0.0", Mask::Hide)];
    let mut cut = PACKUMENT.replace("https://f.example", BASE);
    let from = cut.find(" \"1.0.0\" : {").unwrap();
    let to = cut.find("\"1.1.0\":{").unwrap();
    // What stood before the first comma goes with it.
    cut.replace_range(from..to, "\n");
    let cut = cut.replace(",\"1.0.0\":\"a\" , \"1.1.0\"", " , \"1.1.0\"");
    assert_eq!(rendered(PACKUMENT, &rule, Form::Full), cut);
}

#[test]
fn a_hidden_version_is_in_no_form_and_nobody_points_at_it() {
    let hide = [rule(1, "@s/n", ">=1.1.0", Mask::Hide)];
    for page in [full(&hide), short(&hide)] {
        assert_eq!(page["dist-tags"], serde_json::json!({"latest": "1.0.0"}));
        assert_eq!(page["versions"].as_object().unwrap().len(), 1);
        let time = serde_json::json!({"modified": "2021-05-05T14:18:18.379Z", "1.0.0": "a"});
        assert_eq!(page["time"], time);
    }
}

/// Clients that gate by age take it for the age of the newest version.
#[test]
fn a_policy_does_not_touch_when_a_package_was_modified() {
    for mask in [Mask::Hide, Mask::Mark, Mask::DenyOnly] {
        for versions in ["1.0.0", ">=1.1.0"] {
            let given = [rule(1, "@s/n", versions, mask)];
            assert_eq!(full(&given)["time"]["modified"], "2021-05-05T14:18:18.379Z");
            let short = short(&given);
            assert_eq!(short["modified"], "2021-05-05T14:18:18.379Z");
            assert_eq!(short["time"]["modified"], "2021-05-05T14:18:18.379Z");
        }
    }
}

#[test]
fn a_marked_version_is_deprecated_and_its_address_says_why() {
    let mark = [rule(1, "@s/n", ">=1.1.0", Mask::Mark)];
    for page in [full(&mark), short(&mark)] {
        for version in ["1.1.0", "2.0.0-b.1"] {
            let marked = &page["versions"][version];
            assert_eq!(marked["deprecated"], TOLD);
            let tarball = format!("{BASE}/@s/n/-/{STEP}/n-{version}.tgz");
            assert_eq!(marked["dist"]["tarball"], tarball);
        }
        assert_eq!(page["versions"]["1.0.0"].get("deprecated"), None);
        // `next` has nothing to step down to, and is still listed.
        assert_eq!(page["dist-tags"], serde_json::json!({"latest": "1.0.0", "next": "2.0.0-b.1"}));
    }
    let plain = rendered(PACKUMENT, &[], Form::Full);
    let marked = rendered(PACKUMENT, &mark, Form::Full);
    let undone = marked
        .replace(&format!("{STEP}/"), "")
        .replace(&format!(",\"deprecated\":\"{TOLD}\"}}"), "}")
        .replace(TOLD, "old")
        .replace("{\"latest\":\"1.0.0\"", "{\"latest\":\"1.1.0\"");
    assert_eq!(undone, plain);
}

#[test]
fn a_denied_version_is_listed_as_it_is_but_for_its_address() {
    let deny = [rule(1, "@s/n", "1.1.0", Mask::DenyOnly)];
    let undone = rendered(PACKUMENT, &deny, Form::Full).replace(&format!("{STEP}/"), "");
    assert_eq!(undone, rendered(PACKUMENT, &[], Form::Full));
}

#[test]
fn the_abbreviated_form_has_its_members_and_the_times() {
    let page = short(&[]);
    let members: Vec<_> = page.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["dist-tags", "modified", "name", "time", "versions"]);
    assert_eq!(page["modified"], "2021-05-05T14:18:18.379Z");
    let first = serde_json::json!({
        "name": "@s/n", "version": "1.0.0", "dependencies": {"a": "^1"}, "hasInstallScript": true,
        "dist": {"shasum": "00", "tarball": format!("{BASE}/@s/n/-/n-1.0.0.tgz"), "signatures": [{"keyid": "k"}]},
    });
    assert_eq!(page["versions"]["1.0.0"], first);
    assert_eq!(page["versions"]["1.1.0"]["deprecated"], "old");
    assert_eq!(page["versions"]["2.0.0-b.1"]["hasInstallScript"], false);
}

#[test]
fn what_a_cut_down_packument_leaves_out_is_supplied_where_clients_need_it() {
    let body =
        r#"{"versions":{"1.0.0":{},"1.1.0":{"dist":{}},"1.2.0":null,"1.3.0":{"version":"1.3.0"}}}"#;
    let at = |file: &str| format!("{BASE}/@s/n/-/{file}");
    for form in [Form::Full, Form::Abbreviated] {
        let mark = [rule(1, "@s/n", "1.0.0 || 1.3.0", Mask::Mark)];
        let page: Value = serde_json::from_str(&rendered(body, &mark, form)).unwrap();
        assert_eq!(page["versions"].as_object().unwrap().len(), 3, "{page}");
        for (version, path) in [
            ("1.0.0", at(&format!("{STEP}/n-1.0.0.tgz"))),
            ("1.1.0", at("n-1.1.0.tgz")),
            ("1.3.0", at(&format!("{STEP}/n-1.3.0.tgz"))),
        ] {
            assert_eq!(page["versions"][version]["dist"]["tarball"], path, "{page}");
            let told = (version != "1.1.0").then(|| Value::from(TOLD));
            assert_eq!(page["versions"][version].get("deprecated"), told.as_ref());
        }
    }
    assert_eq!(rendered("{}", &[], Form::Full), "{}");
    assert_eq!(
        rendered("{}", &[], Form::Abbreviated),
        r#"{"name":"@s/n","dist-tags":{},"versions":{}}"#
    );
}

#[test]
fn one_version_is_written_as_in_the_full_form() {
    let document = document(PACKUMENT);
    let mark = known("@s/n", &[rule(1, "@s/n", "1.1.0", Mask::Mark)]);
    let filtered = filter(&document, &mark);
    let page = render(&document, &filtered, Form::Full, BASE);
    for at in 0..3 {
        assert!(page.contains(&version(&document, &filtered, at, BASE)));
    }
}

fn any_packument() -> impl Strategy<Value = String> {
    let blank = prop::sample::select(vec!["", " ", "\n\t"]);
    let version = ("[0-2]\\.[0-3]\\.[0-1](-(a|b)\\.[0-2])?", any::<[bool; 5]>());
    (prop::collection::vec(version, 0..10), any::<[bool; 3]>(), blank).prop_map(
        |(mut versions, [tags, times, named], blank)| {
            versions.sort();
            versions.dedup_by(|a, b| a.0 == b.0);
            let comma = format!("{blank},{blank}");
            let joined = |parts: Vec<String>| format!("{{{blank}{}{blank}}}", parts.join(&comma));
            let listed = versions.iter().map(|(version, [dist, tarball, old, odd, script])| {
                let mut parts = Vec::new();
                let mut part = |there: &bool, text: &str| {
                    if *there {
                        parts.push(text.to_owned());
                    }
                };
                part(odd, r#""x":[1e999]"#);
                part(old, r#""deprecated":"old""#);
                part(&(*dist && *tarball), r#""dist":{"x":0, "tarball" :"a.tgz"}"#);
                part(&(*dist && !*tarball), r#""dist":{ }"#);
                part(script, r#""scripts":{"install":"x"}"#);
                format!("\"{version}\"{blank}:{blank}{}", joined(parts))
            });
            let mut parts = vec![format!("\"versions\":{}", joined(listed.collect()))];
            let first = versions.first().filter(|_| tags);
            let last = versions.last().filter(|_| tags);
            let tags = first.map(|(v, _)| format!("\"old\":\"{v}\"")).into_iter();
            let tags = tags.chain(last.map(|(v, _)| format!("\"latest\":\"{v}\"")));
            parts.push(format!("\"dist-tags\":{}", joined(tags.collect())));
            if times {
                let times = versions.iter().map(|(v, _)| format!("\"{v}\":\"t\""));
                parts.push(format!("\"time\":{}", joined(times.collect())));
            }
            if named {
                parts.insert(0, r#""name":"@s/n""#.to_owned());
            }
            joined(parts)
        },
    )
}

proptest! {
    #[test]
    fn whatever_the_rules_are_both_forms_list_the_same_and_tags_stand_for_what_is_listed(
        body in any_packument(),
        given in prop::collection::vec(
            ("(<|>=|=)[0-2]\\.[0-3]\\.0",
             prop::sample::select(vec![Mask::Hide, Mask::Mark, Mask::DenyOnly])), 0..4),
    ) {
        let given: Vec<_> = given
            .iter()
            .zip(1..)
            .map(|((versions, mask), n)| rule(n, "@s/n", versions, *mask))
            .collect();
        let document = document(&body);
        let filtered = filter(&document, &known("@s/n", &given));
        // What no reader could hold is made readable.
        let read = |form| {
            let page = render(&document, &filtered, form, BASE).replace("1e999", "1");
            serde_json::from_str::<Value>(&page).unwrap()
        };
        let (full, short) = (read(Form::Full), read(Form::Abbreviated));
        for part in ["dist-tags", "time"] {
            prop_assert_eq!(full.get(part), short.get(part));
        }
        let (whole, brief) =
            (full["versions"].as_object().unwrap(), short["versions"].as_object().unwrap());
        prop_assert!(whole.keys().eq(brief.keys()));
        for (version, listed) in whole {
            for member in ["deprecated", "dist"] {
                prop_assert_eq!(listed.get(member), brief[version].get(member));
            }
            let tarball = listed["dist"]["tarball"].as_str().unwrap();
            prop_assert!(tarball.starts_with(BASE), "{}", tarball);
            let marked = filtered.marked.contains(version);
            prop_assert!(marked || listed.get("deprecated").is_none_or(|told| told != TOLD));
            prop_assert!(!marked || tarball.contains("/-/blocked/"));
        }
        for target in full["dist-tags"].as_object().unwrap().values() {
            prop_assert!(whole.contains_key(target.as_str().unwrap()), "{}", target);
        }
        if let Some(times) = full.get("time") {
            prop_assert!(times.as_object().unwrap().keys().eq(whole.keys()));
        }
    }
}
