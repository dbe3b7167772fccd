//! What an agent would get of a page that is sent here, and what of it would be taken out.
//!
//! Nothing is fetched and nothing is kept. A page is shown with its code only where an agent could
//! have it: there is a waiver for its host, or for the agent whose token asks. Whoever sends a page has
//! its code, but a preview that no agent can get would say that Weir lets code through.

use axum::{
    Json,
    extract::{Request, State},
};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::content::{ContentFilter, FilterReport};
use weir_processors::{
    access::Principal,
    outbound::web::address::WebUrl,
    web::filter::{Caps, Filtered, Inspected, Removed, Unfit, inspect},
};

use super::rules_of;
use crate::{
    ask::{collect_within, drain, parse},
    auth::{By, needs::WebRead},
    problem::{
        Problem,
        table::{BAD_BODY, BODY_TOO_LARGE, BUSY, INTERNAL, PORTAL_DENIED, PORTAL_INVALID},
    },
    state::ApiState,
};

/// The longest page, in bytes of UTF-8: as much as is read of a page that is fetched.
const MAX_CONTENT_BYTES: usize = 2 << 20;
/// The largest body: such a page, and what its quotes and line ends cost as JSON.
const MAX_BODY_BYTES: usize = 2 * MAX_CONTENT_BYTES;

/// Pages that are on their way here at once: each lies in memory as far as it has come, before it has a
/// place.
static BODIES: Semaphore = Semaphore::const_new(32);

/// Pages that are previewed at once: apart from those that agents wait for.
static PLACES: Semaphore = Semaphore::const_new(2);

/// The route of previews.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(preview))
}

/// A page, and how it is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PagePreviewRequest {
    /// The page: at most 2 MiB.
    content: String,
    /// What it would be declared to be, like `text/html`. Its looks tell, without. A charset counts
    /// for nothing: the page is text already.
    content_type: Option<String>,
    /// Where it would be from. Only a waiver for its host makes a difference.
    url: Option<String>,
    /// What an agent would ask for: `strip_code_blocks`, `strip_inline_code`, `transform_apis`,
    /// `transform_examples`, `max_size`, and `format`, which is `raw`, `structured` or `summary`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    filter: ContentFilter,
}

/// What an agent would get, and what not.
#[derive(Debug, Serialize, ToSchema)]
struct PagePreview {
    /// The type of the content.
    content_type: &'static str,
    /// What the page is called.
    title: Option<String>,
    /// What an agent would get.
    content: String,
    /// Whether some of it is missing because it, or the page, was too long.
    truncated: bool,
    /// The share of code among what readers saw before, from 0 to 1.
    density: f64,
    /// What a reader should know.
    warnings: Vec<String>,
    /// What was done, in numbers.
    report: PagePreviewReport,
    /// What was taken out, in order: the first 256 pieces.
    removed: Vec<RemovedCode>,
    /// How many pieces there were beside them.
    n_more_removed: usize,
}

/// What was done, in numbers.
#[derive(Debug, Serialize, ToSchema)]
struct PagePreviewReport {
    /// How many blocks and spans of code are gone.
    code_blocks_removed: u32,
    /// How many bytes of text they were, and what no reader sees.
    bytes_stripped: u64,
    /// How many of them were described in plain words instead.
    transformations: u32,
}

/// A piece that was taken out.
#[derive(Debug, Serialize, ToSchema)]
struct RemovedCode {
    /// `block`, `inline`, or `unseen` for scripts, styles and what else no reader sees.
    kind: &'static str,
    /// Its language, where the page names one.
    language: Option<&'static str>,
    /// How many of its lines are not blank.
    lines: usize,
    /// It, or its first 4 KiB.
    text: String,
    /// Whether that is not all of it.
    cut: bool,
}

impl From<Removed> for RemovedCode {
    fn from(removed: Removed) -> Self {
        let Removed { kind, language, n_lines: lines, text, is_cut: cut } = removed;
        Self { kind: kind.as_str(), language, lines, text, cut }
    }
}

impl From<Inspected> for PagePreview {
    fn from(inspected: Inspected) -> Self {
        let Inspected { filtered, density, removals } = inspected;
        let Filtered { content, content_type, title, report, truncated } = filtered;
        let FilterReport { code_blocks_removed, bytes_stripped, transformations, warnings } =
            report;
        let report = PagePreviewReport { code_blocks_removed, bytes_stripped, transformations };
        let removed = removals.pieces.into_iter().map(RemovedCode::from).collect();
        let n_more_removed = removals.n_more;
        Self {
            content_type,
            title,
            content,
            truncated,
            density,
            warnings,
            report,
            removed,
            n_more_removed,
        }
    }
}

/// Says what an agent would get of a page, and what would be taken out of it
///
/// The page is in the request: nothing is fetched, and nothing of it is kept or put on record.
/// `strip_code_blocks: false` is answered where an agent could ask for it: by a waiver for the host of
/// `url`, or for the agent that the token is of.
#[utoipa::path(
    post, path = "/api/web/preview", tag = "web", operation_id = "web_preview",
    request_body = PagePreviewRequest,
    responses(
        (status = 200, description = "What an agent would get", body = PagePreview),
        (status = 403, description = "No waiver lets anybody have the code of this page"),
        (status = 413, description = "The page is too long"),
        (status = 422, description = "It is no text, or no size was asked for"),
        (status = 503, description = "Other pages are being previewed"),
    ),
)]
async fn preview(
    State(state): State<ApiState>,
    by: By<WebRead>,
    request: Request,
) -> Result<Json<PagePreview>, Problem> {
    let (parts, body) = request.into_parts();
    // Who is slow to send it keeps nobody from a place in which pages are previewed; but where there are as
    // many as may be on their way, the next one is sent away until they are here or their time is over.
    let coming = match one_of(&BODIES, "other pages are on their way to a preview at this moment") {
        Ok(coming) => coming,
        Err(busy) => {
            drain(body).await;
            return Err(busy);
        }
    };
    let body = collect_within(&parts.headers, body, MAX_BODY_BYTES).await?;
    drop(coming);
    let work = move || {
        let asked: PagePreviewRequest = parse(&parts.headers, &body)?;
        drop(body);
        permitted(&state, &by.principal, &asked)?;
        previewed(&asked)
    };
    in_a_place(&PLACES, work).await.map(Json)
}

/// A place, if there is one now: nobody waits for it.
fn one_of(
    places: &'static Semaphore,
    otherwise: &'static str,
) -> Result<SemaphorePermit<'static>, Problem> {
    places.try_acquire().map_err(|_| Problem::new(&BUSY, otherwise).retry_after(1))
}

/// Does work on a thread of its own, unless all places are taken. Whoever goes away meanwhile, it has its
/// place until it is done.
async fn in_a_place<T: Send + 'static>(
    places: &'static Semaphore,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let place = one_of(places, "other pages are being previewed at this moment")?;
    let work = move || {
        let _place = place;
        work()
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Problem::new(&INTERNAL, "the preview broke off"))?
}

/// Whether an agent could ask for the page like this.
fn permitted(
    state: &ApiState,
    principal: &Principal,
    asked: &PagePreviewRequest,
) -> Result<(), Problem> {
    let url = asked.url.as_deref().map(WebUrl::parse).transpose();
    let url = url.map_err(|fault| Problem::of_field(&BAD_BODY, "url", fault.to_string()))?;
    if asked.filter.strip_code_blocks {
        return Ok(());
    }
    let rules = rules_of(state)?;
    if url.is_some_and(|url| rules.may_keep_code(principal.agent.as_ref(), &url)) {
        return Ok(());
    }
    let words = "an agent gets `strip_code_blocks: false` only by a waiver: name the `url` of a host \
        that has one";
    Err(Problem::of_field(&PORTAL_DENIED, "filter.strip_code_blocks", words))
}

fn previewed(asked: &PagePreviewRequest) -> Result<PagePreview, Problem> {
    let PagePreviewRequest { content, content_type, filter, .. } = asked;
    if MAX_CONTENT_BYTES < content.len() {
        let words = format!("a page has at most {MAX_CONTENT_BYTES} bytes here");
        return Err(Problem::of_field(&BODY_TOO_LARGE, "content", words));
    }
    let essence = content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    // It was text before it came here, whatever it was when it was fetched, or says of itself.
    let declared = format!("{essence}; charset=utf-8");
    let caps = Caps { max_input_bytes: MAX_CONTENT_BYTES, ..Caps::default() };
    let inspected = inspect(content.as_bytes(), Some(&declared), filter, caps);
    inspected.map(PagePreview::from).map_err(|unfit| {
        let field = match unfit {
            Unfit::NoSize => "filter.max_size",
            Unfit::Type { .. } => "content",
        };
        Problem::of_field(&PORTAL_INVALID, field, unfit.to_string())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::task::JoinSet;

    use super::*;

    /// It once took no place up any more when the one who had asked had gone.
    #[tokio::test]
    async fn work_has_its_place_until_it_is_done_whoever_goes_away() {
        static PLACE: Semaphore = Semaphore::const_new(1);
        let ((begun, begins), (finish, finished)) = (mpsc::channel(), mpsc::channel::<()>());
        let work = move || {
            begun.send(()).expect("somebody waits for it");
            finished.recv().expect("it is let go");
            Ok(())
        };
        let mut asking = JoinSet::new();
        let asked = asking.spawn(in_a_place(&PLACE, work));
        tokio::task::spawn_blocking(move || begins.recv()).await.expect("no panic").expect("begun");
        asked.abort();
        let gone = asking.join_next().await.expect("somebody asked").expect_err("gone");
        assert!(gone.is_cancelled());
        let busy = in_a_place(&PLACE, || Ok(())).await.expect_err("the place is taken");
        assert_eq!(busy.kind().code, "busy");
        finish.send(()).expect("it waits");
        drop(PLACE.acquire().await.expect("the place is free again"));
        in_a_place(&PLACE, || Ok(())).await.expect("there is a place");
    }

    fn asked(content: &str, content_type: Option<&str>) -> PagePreviewRequest {
        PagePreviewRequest {
            content: content.to_owned(),
            content_type: content_type.map(str::to_owned),
            url: None,
            filter: ContentFilter::default(),
        }
    }

    #[test]
    fn a_preview_has_what_an_agent_gets_and_what_was_taken_out() {
        let page = "<title>Files</title><script>go()</script><p>How to <code>open</code> one – like so:</p>\
            <pre class=language-rust>let f = open(x)?;\n\nread(f);</pre><p>That is all of it.</p>";
        let view = previewed(&asked(page, Some("text/html; charset=latin1"))).unwrap();
        assert_eq!(view.title.as_deref(), Some("Files"));
        assert!(view.content.contains("How to [code] one – like so:"), "{}", view.content);
        assert_eq!(view.content_type, "text/html; charset=utf-8");
        assert_eq!(view.report.code_blocks_removed, 2);
        assert!(0.2 < view.density && view.density < 0.8, "{}", view.density);
        let removed: Vec<_> = view
            .removed
            .iter()
            .map(|it| (it.kind, it.language, it.lines, it.text.as_str(), it.cut))
            .collect();
        assert_eq!(
            removed,
            [
                ("unseen", None, 1, "go()", false),
                ("inline", None, 1, "open", false),
                ("block", Some("rust"), 2, "let f = open(x)?;\n\nread(f);", false),
            ]
        );
        assert_eq!(view.n_more_removed, 0);
    }

    #[test]
    fn what_cannot_be_previewed_names_the_field() {
        let field = |asked: PagePreviewRequest| {
            let problem = previewed(&asked).unwrap_err();
            (problem.kind().code, problem.detail().to_owned())
        };
        let (code, detail) = field(asked("%PDF-1.7 ...", None));
        assert_eq!(code, "portal_invalid");
        assert!(detail.starts_with("content: a PDF document"), "{detail}");
        let sizeless = ContentFilter { max_size: 0, ..ContentFilter::default() };
        let (code, detail) = field(PagePreviewRequest { filter: sizeless, ..asked("x", None) });
        assert_eq!(code, "portal_invalid");
        assert!(detail.starts_with("filter.max_size: "), "{detail}");
        let (code, _) = field(asked(&"x".repeat(MAX_CONTENT_BYTES + 1), None));
        assert_eq!(code, "body_too_large");
    }
}
