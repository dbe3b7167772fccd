//! How much code gets through, and how much prose is lost: on real pages by the judge of the filter's
//! suite, which has nothing in common with the filter, and on the traps by looking.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Stdio};

use serde::{Deserialize, Serialize};
use tokio::{io::AsyncWriteExt as _, process::Command};
use weir_events::web::content::{ContentFilter, ContentFormat};
use weir_processors::web::filter::{Caps, filter};

use super::{
    corpus::{SETS, documentation, readmes},
    forms,
};
use crate::{
    Fault, chain,
    effort::Effort,
    line::{Line, Target},
    options::Options,
    report::{Missing, Report, again},
};

const JUDGE: &str = include_str!("../../../tests/tests/suite/web/judge.py");
/// What is longer is left out: the judge has to end.
const MAX_PAGE_BYTES: u64 = 200_000;
const DOCUMENTATION: &str = "documentation";
const MARKDOWN: &str = "Markdown";

/// A page and what became of it, as the judge wants them.
#[derive(Serialize)]
struct Judged {
    group: &'static str,
    page: String,
    syntax: &'static str,
    /// What is left of it, in each format.
    filtered: BTreeMap<&'static str, String>,
    written: &'static str,
}

/// What it says of a group in a format.
#[derive(Deserialize)]
struct Verdict {
    group: String,
    format: String,
    pages: usize,
    code: usize,
    leaked: usize,
    prose: usize,
    lost: usize,
}

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let most = Target::SizeAtMost(0.1);
    let what = "lines of code that survive on sets of documentation, those in `<pre>`";
    let documentation = Line::new("filter.leak", what, "%", "", most);
    let what = "lines of code that survive in READMEs, those in fences";
    let markdown = Line::new("filter.leak.markdown", what, "%", "", most);
    let what = "forms of code, made by hand, that survive";
    let hand_made = Line::new("filter.leak.traps", what, "forms", "", Target::SizeAtMost(0.0));
    let what = "sentences of both that are kept";
    let prose = Line::new("filter.prose", what, "%", "", Target::SizeAtLeast(99.0));

    let real = [&documentation, &markdown, &prose];
    if real.into_iter().any(|line| options.wants(line.name)) {
        let verdicts = judge(options, effort).await;
        let mut add = |line: Line, shown: fn(Line, &Verdicts) -> Result<Line, Fault>| {
            if options.wants(line.name) {
                let measured = match &verdicts {
                    Ok(verdicts) => shown(line.clone(), verdicts),
                    Err(fault) => Err(again(fault, &chain(fault.as_ref()))),
                };
                report.add(line, measured);
            }
        };
        add(documentation, |line, verdicts| leaked(line, verdicts, DOCUMENTATION));
        add(markdown, |line, verdicts| leaked(line, verdicts, MARKDOWN));
        add(prose, kept);
    }
    if options.wants(hand_made.name) {
        report.add(hand_made.clone(), Ok(caught(hand_made)));
    }
}

type Verdicts = Vec<Verdict>;

fn leaked(line: Line, verdicts: &Verdicts, group: &str) -> Result<Line, Fault> {
    let of_group: Vec<_> = verdicts.iter().filter(|verdict| verdict.group == group).collect();
    let sum = |of: fn(&Verdict) -> usize| of_group.iter().map(|it| of(it)).sum::<usize>();
    let Some(pages) = of_group.iter().map(|verdict| verdict.pages).max() else {
        return Err(Missing(format!("no pages could be fetched: {group}")).into());
    };
    let (code, leaked) = (sum(|it| it.code), sum(|it| it.leaked));
    if code == 0 {
        return Err(format!("{pages} pages without code prove nothing").into());
    }
    let note = format!("{leaked} of {code} lines, {pages} pages in {} formats", of_group.len());
    Ok(line.alone(percent(leaked, code)).noting(note))
}

fn kept(line: Line, verdicts: &Verdicts) -> Result<Line, Fault> {
    // A summary leaves most of them out, and is meant to.
    let whole = || verdicts.iter().filter(|it| it.format != ContentFormat::Summary.as_str());
    let sum = |of: fn(&Verdict) -> usize| whole().map(of).sum::<usize>();
    let (prose, lost) = (sum(|verdict| verdict.prose), sum(|verdict| verdict.lost));
    if prose == 0 {
        return Err(Missing("no pages could be fetched".to_owned()).into());
    }
    let note = format!("{lost} of {prose} lost");
    Ok(line.alone(percent(prose - lost, prose)).noting(note))
}

fn percent(n: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
    let share = n as f64 / all as f64;
    share * 100.0
}

/// Filters the pages, and has them judged.
async fn judge(options: &Options, effort: Effort) -> Result<Verdicts, Fault> {
    let most = if effort.quick { 25 } else { 150 };
    let mut judged = Vec::new();
    for set in SETS {
        judged.extend(filtered(DOCUMENTATION, "html", documentation(options, set), most)?);
    }
    judged.extend(filtered(MARKDOWN, "markdown", readmes(options), most)?);
    let mut command = Command::new("python3");
    command.args(["-I", "-c", JUDGE]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let missing = |fault: std::io::Error| Missing(format!("python3: {fault}"));
    let mut python = command.kill_on_drop(true).spawn().map_err(missing)?;
    let mut input = python.stdin.take().ok_or("the judge has no input")?;
    // It reads all before it writes anything.
    input.write_all(&serde_json::to_vec(&judged)?).await?;
    drop(input);
    let output = python.wait_with_output().await?;
    if !output.status.success() {
        return Err(format!("the judge ended: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// At most so many of the pages, from all over the set, and what is left of them.
fn filtered(
    group: &'static str,
    syntax: &'static str,
    mut files: Vec<(u64, PathBuf)>,
    most: usize,
) -> Result<Vec<Judged>, Fault> {
    files.retain(|(size, _)| *size <= MAX_PAGE_BYTES);
    let step = files.len().div_ceil(most).max(1);
    let declared = format!("text/{syntax}; charset=utf-8");
    let mut judged = Vec::new();
    for (_, file) in files.into_iter().step_by(step) {
        let Ok(page) = fs::read_to_string(file) else { continue };
        let mut filtered = BTreeMap::new();
        for format in ContentFormat::ALL {
            let wanted = ContentFilter { max_size: u32::MAX, format, ..ContentFilter::default() };
            let made = filter(page.as_bytes(), Some(&declared), &wanted, Caps::default())?;
            filtered.insert(format.as_str(), made.content);
        }
        judged.push(Judged { group, page, syntax, filtered, written: syntax });
    }
    Ok(judged)
}

/// Counts the forms that come through in any format.
fn caught(line: Line) -> Line {
    let forms = [
        ("text/html; charset=utf-8", forms::HTML),
        ("text/markdown", forms::MARKDOWN),
        ("text/plain", forms::TEXT),
    ];
    let (mut n_forms, mut through) = (0_usize, Vec::new());
    for (declared, forms) in forms {
        for (name, page) in forms {
            n_forms += 1;
            let survives = ContentFormat::ALL.into_iter().any(|format| {
                let wanted = ContentFilter { format, ..ContentFilter::default() };
                let filtered = filter(page.as_bytes(), Some(declared), &wanted, Caps::default());
                filtered.is_ok_and(|filtered| filtered.content.contains("leak_me"))
            });
            if survives {
                through.push(*name);
            }
        }
    }
    let note = format!("of {n_forms} forms in three formats{}", named(&through));
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
    line.alone(through.len() as f64).noting(note)
}

fn named(through: &[&str]) -> String {
    if through.is_empty() { String::new() } else { format!(": {}", through.join(", ")) }
}
