//! The rules that Weir brings along.

use weir_events::web::rule::{Action, DomainRule};

const REFERENCE: &str = "documentation and standards are what agents learn from";
const CODE: &str = "agents write their own code: repositories are closed to them";
const AI: &str = "agents do not ask other models through this gateway";
const SOCIAL: &str = "social media are no source";

const DEFAULTS: [(&str, Action, &str, &str); 16] = [
    ("docs.rs", Action::Allow, "documentation", REFERENCE),
    ("doc.rust-lang.org", Action::Allow, "documentation", REFERENCE),
    ("en.wikipedia.org", Action::Allow, "reference", REFERENCE),
    ("developer.mozilla.org", Action::Allow, "documentation", REFERENCE),
    ("www.rfc-editor.org", Action::Allow, "standards", REFERENCE),
    ("www.w3.org", Action::Allow, "standards", REFERENCE),
    ("arxiv.org", Action::Allow, "papers", REFERENCE),
    ("github.com", Action::Block, "code_repo", CODE),
    ("gitlab.com", Action::Block, "code_repo", CODE),
    ("bitbucket.org", Action::Block, "code_repo", CODE),
    ("api.openai.com", Action::Block, "ai_api", AI),
    ("api.anthropic.com", Action::Block, "ai_api", AI),
    ("twitter.com", Action::Block, "social_media", SOCIAL),
    ("x.com", Action::Block, "social_media", SOCIAL),
    ("facebook.com", Action::Block, "social_media", SOCIAL),
    ("reddit.com", Action::Block, "social_media", SOCIAL),
];

/// The rules that hold until somebody says otherwise.
pub(super) fn defaults() -> impl Iterator<Item = DomainRule> {
    DEFAULTS.into_iter().map(|(pattern, action, category, reason)| DomainRule {
        pattern: pattern.to_owned(),
        action,
        category: category.to_owned(),
        reason: reason.to_owned(),
    })
}

/// Whether a rule is one that Weir brings along, word for word.
#[must_use]
pub fn is_default(rule: &DomainRule) -> bool {
    defaults().any(|default| default == *rule)
}
