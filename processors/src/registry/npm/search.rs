//! Results of a search, without the packages whose newest version is not to be chosen.

use serde::Deserialize;
use serde_json::value::RawValue;
use weir_aggregates::registry::{
    rule::RuleSet,
    verdict::{Verdict, judge},
};
use weir_events::registry::{Ecosystem, Mask};

use super::span::{Object, Span};

/// A result, as far as it matters.
#[derive(Debug, Deserialize)]
struct Found<'a> {
    #[serde(borrow)]
    package: Package<'a>,
}

#[derive(Debug, Deserialize)]
struct Package<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Objects,
    Total,
}

/// Leaves out what the rules hide or mark, and what is no result; `None` where these are no results.
/// What stays is as it was written.
#[must_use]
pub fn filter(body: &[u8], rules: &RuleSet) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let whole = Span::new(0, u32::try_from(text.len()).ok()?);
    let top = Object::read(text, whole, |name| match name {
        "objects" => Some(Part::Objects),
        "total" => Some(Part::Total),
        _ => None,
    });
    let top = top.ok()?;
    let objects = top.get(&Part::Objects)?;
    let found: Vec<&RawValue> = serde_json::from_str(objects.of(text)).ok()?;
    let stay: Vec<_> =
        found.iter().map(|found| found.get()).filter(|found| stays(found, rules)).collect();
    let n_left_out = (found.len() - stay.len()) as u64;
    let mut page = String::with_capacity(text.len());
    let mut at = 0;
    for member in &top.members {
        page.push_str(Span::new(at, member.value.from).of(text));
        let value = member.value.of(text);
        match (member.name, value.parse::<u64>()) {
            (Part::Objects, _) => {
                page.push('[');
                page.push_str(&stay.join(","));
                page.push(']');
            }
            (Part::Total, Ok(total)) => {
                page.push_str(&total.saturating_sub(n_left_out).to_string());
            }
            (Part::Total, Err(_)) => page.push_str(value),
        }
        at = member.value.to;
    }
    page.push_str(Span::new(at, whole.to).of(text));
    Some(page)
}

fn stays(found: &str, rules: &RuleSet) -> bool {
    let Ok(Found { package }) = serde_json::from_str(found) else { return false };
    match judge(rules, Ecosystem::Npm, &package.name, package.version.as_deref()) {
        Verdict::Block { rule } => rule.rule.mask == Mask::DenyOnly,
        Verdict::Allow => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::npm::testing::{rule, rules};

    #[test]
    fn a_package_whose_newest_version_is_not_to_be_chosen_is_not_found() {
        let package = |name: &str| {
            format!(r#"{{"package":{{"name":"{name}","version":"1.0.0"}}, "score":1.50}}"#)
        };
        let page = |names: &[&str], total: u32| {
            let found: Vec<_> = names.iter().map(|name| package(name)).collect();
            format!(r#"{{"time":"now","objects":[{}],"total":{total},"x":1e400}}"#, found.join(","))
        };
        let rules = rules(&[
            rule(1, "b", ">=1", Mask::Hide),
            rule(2, "c", "1.0.0", Mask::Mark),
            rule(3, "d", "*", Mask::DenyOnly),
            rule(4, "a", ">1.0.0", Mask::Hide),
        ]);
        let results = filter(page(&["a", "B", "c", "d"], 100).as_bytes(), &rules).unwrap();
        assert_eq!(results, page(&["a", "d"], 98));
        assert_eq!(filter(br#"{"objects":[{},1,null]}"#, &rules).unwrap(), r#"{"objects":[]}"#);
        for bad in ["", "[]", "{}", r#"{"objects":1}"#, r#"{"objects":[],"objects":[]}"#] {
            assert_eq!(filter(bad.as_bytes(), &rules), None, "{bad}");
        }
    }
}
