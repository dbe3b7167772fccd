//! Many rules at once: one JSON object a line.

use axum::{
    body::Bytes,
    extract::{Request, State},
};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::web::rules::{AT_ONCE, Command, check};
use weir_events::web::rule::DomainRule;

use super::RuleSaid;
use crate::{
    answer::Done,
    ask::collect_within,
    auth::{By, needs::WebWrite},
    problem::{
        Problem,
        table::{BAD_BODY, DOMAIN_RULE_REFUSED},
    },
    state::ApiState,
    web::{go_by, rules_of},
};

/// The largest body.
const MAX_BODY_BYTES: usize = 4 << 20;

/// How many rules one import may have: it is answered when all are in force here.
const MAX_LINES: usize = 5_000;

/// The route of imports.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(import))
}

/// What came of an import.
#[derive(Debug, Serialize, ToSchema)]
struct Imported {
    /// How many rules were sent.
    rules: usize,
    /// How many of them say something else than before.
    changed: usize,
}

/// Has many rules hold from now on
///
/// One rule a line, as JSON, as one is set; empty lines count for nothing. All lines are read before
/// the first rule is set, so one that makes no sense changes nothing. They are set by the hundreds, in
/// their order; where that is cut short, the same import again goes on with it.
#[utoipa::path(
    post, path = "/api/web/rules/import", tag = "web", operation_id = "import_domain_rules",
    request_body(
        content = String, content_type = "application/x-ndjson",
        description = "At most 5000 lines and 4 MiB: `{\"pattern\": …, \"action\": …, \
            \"category\": …, \"reason\": …}`",
    ),
    responses(
        (status = 200, description = "They are in force on this instance", body = Imported),
        (status = 422, description = "One makes no sense; the detail names its line"),
    ),
)]
async fn import(
    State(state): State<ApiState>,
    By { principal, .. }: By<WebWrite>,
    request: Request,
) -> Result<Done<Imported>, Problem> {
    let rules = rules_of(&state)?;
    let caller = principal.caller();
    let (parts, body) = request.into_parts();
    let bytes = collect_within(&parts.headers, body, MAX_BODY_BYTES).await?;
    let all = read(&bytes)?;
    let (n_rules, mut changed, mut last) = (all.len(), 0, None);
    for some in all.chunks(AT_ONCE) {
        let executed = rules.execute(&Command::Set(some.to_vec()), &caller, None).await?;
        changed += executed.events.len();
        last = Some(executed);
    }
    let last = last.ok_or_else(|| Problem::new(&BAD_BODY, "there is no rule in it"))?;
    if changed > 0 {
        go_by(&state, last.position).await?;
    }
    Ok(Done::of(&last, StatusCode::OK, Imported { rules: n_rules, changed }))
}

/// The rules, each in its one spelling.
fn read(bytes: &Bytes) -> Result<Vec<DomainRule>, Problem> {
    let mut rules = Vec::new();
    for (nth, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let (line, nth) = (line.trim_ascii(), nth + 1);
        if line.is_empty() {
            continue;
        }
        if rules.len() == MAX_LINES {
            let detail = format!("an import has at most {MAX_LINES} rules; send the rest after it");
            return Err(Problem::new(&DOMAIN_RULE_REFUSED, detail));
        }
        let said: RuleSaid = serde_json::from_slice(line).map_err(|fault| {
            Problem::of_field(&BAD_BODY, format!("line {nth}"), fault.to_string())
        })?;
        let rule = check(&said.into()).map_err(|refusal| {
            Problem::of_field(&DOMAIN_RULE_REFUSED, format!("line {nth}"), refusal.to_string())
        })?;
        rules.push(rule);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<DomainRule>, String> {
        read(&Bytes::copy_from_slice(text.as_bytes())).map_err(|problem| {
            let document = serde_json::to_value(problem.view(None)).unwrap();
            format!("{}: {}", problem.status().as_u16(), document["detail"].as_str().unwrap())
        })
    }

    #[test]
    fn every_line_is_a_rule_and_one_that_is_none_is_named() {
        let rule = r#"{"pattern":"Docs.RS","action":"allow","category":"a","reason":"b"}"#;
        let read = lines(&format!("{rule}\r\n\n  {rule}")).unwrap();
        assert_eq!(read.iter().map(|rule| &*rule.pattern).collect::<Vec<_>>(), ["docs.rs"; 2]);
        assert_eq!(lines("\n \n").unwrap(), []);
        let told = lines(&format!("{rule}\n{{\"pattern\":1}}")).unwrap_err();
        assert!(told.starts_with("400: line 2:"), "{told}");
        let bad = rule.replace("Docs.RS", "re:(");
        let told = lines(&format!("\n{rule}\n{bad}")).unwrap_err();
        assert!(told.starts_with("422: line 3: `re:(` is no pattern"), "{told}");
        let many = format!("{rule}\n").repeat(MAX_LINES + 1);
        assert!(lines(&many).unwrap_err().contains("at most 5000"));
    }
}
