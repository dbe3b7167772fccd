//! Real pages, none of them committed: no code gets through in any format, and the prose stays.
//!
//! `tools/corpora` fetches them. What is code on them, and what is prose, is said by `judge.py`, which
//! has nothing in common with the filter. `WEIR_LONG=1` takes 300 pages of each kind instead of a few.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use serde::{Deserialize, Serialize};
use weir_events::web::content::{ContentFilter, ContentFormat};
use weir_processors::web::filter::{Caps, filter};
use weir_tests::database::{long, target};

/// One line in so many may get through.
const LEAKED_SHARE: usize = 1000;
/// One sentence in so many may be lost.
const LOST_SHARE: usize = 100;
/// The same of the specification's examples, many of which are about tags that are none: they are text
/// to `CommonMark`, and marks of code that was escaped to the filter.
const LOST_EXAMPLES_SHARE: usize = 15;
/// What is longer is left out: the suite has to end, and no page is to be cut.
const MAX_PAGE_BYTES: u64 = 200_000;
/// The same of the long run.
const MAX_LONG_PAGE_BYTES: u64 = 800_000;

/// The group of the specification's examples; `judge.py` knows it too.
const COMMONMARK: &str = "CommonMark";

#[derive(Clone, Copy)]
enum Syntax {
    Html,
    Markdown,
}

struct Case {
    page: String,
    /// The HTML that the page means, where that is known.
    means: Option<String>,
    syntax: Syntax,
}

#[derive(Serialize)]
struct Judged<'a> {
    group: &'a str,
    page: &'a str,
    syntax: &'static str,
    /// What came out, by format.
    filtered: BTreeMap<&'static str, String>,
    /// What it is written in where it keeps its type.
    written: &'static str,
}

/// Of a group, in a format.
#[derive(Debug, Deserialize)]
struct Verdict {
    group: String,
    format: String,
    pages: usize,
    code: usize,
    leaked: usize,
    prose: usize,
    lost: usize,
    examples: Vec<String>,
}

impl Syntax {
    const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
        }
    }
}

fn corpora() -> PathBuf {
    target().join("corpora")
}

/// Every file below a folder that is wanted, in order.
fn files(folder: &Path, wanted: fn(&str) -> bool) -> Vec<PathBuf> {
    let max_bytes = if long() { MAX_LONG_PAGE_BYTES } else { MAX_PAGE_BYTES };
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && wanted(&name)
                && entry.metadata().is_ok_and(|file| file.len() <= max_bytes)
            {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// At most so many pages, from all over the folder.
fn pages(folder: &str, wanted: fn(&str) -> bool, most: usize, syntax: Syntax) -> Vec<Case> {
    let files = files(&corpora().join(folder), wanted);
    let n = files.len().min(most);
    let chosen = (0..n).filter_map(|at| files.get(at * files.len() / n));
    let pages = chosen.filter_map(|file| fs::read_to_string(file).ok());
    pages.map(|page| Case { page, means: None, syntax }).collect()
}

/// The examples of the specification, with the HTML that they mean.
fn examples() -> Vec<Case> {
    let file = corpora().join("npm/node_modules/commonmark-spec/spec.txt");
    let Ok(specification) = fs::read_to_string(file) else { return Vec::new() };
    let mark = "`".repeat(32);
    let opens = format!("\n{mark} example\n");
    let closes = format!("\n{mark}\n");
    let example = |behind: &str| {
        let (example, _) = behind.split_once(&closes)?;
        let (markdown, html) = example.split_once("\n.\n")?;
        let page = markdown.replace('→', "\t");
        Some(Case { page, means: Some(html.replace('→', "\t")), syntax: Syntax::Markdown })
    };
    specification.split(&opens).skip(1).filter_map(example).collect()
}

fn filtered<'a>(group: &'a str, case: &'a Case) -> Judged<'a> {
    let declared = format!("text/{}; charset=utf-8", case.syntax.name());
    let in_format = |format: ContentFormat| {
        let wanted = ContentFilter { max_size: 1_000_000, format, ..ContentFilter::default() };
        let filtered = filter(case.page.as_bytes(), Some(&declared), &wanted, Caps::default());
        let filtered = filtered.expect("a page is text");
        assert!(!filtered.truncated, "a page of {} bytes was cut", case.page.len());
        (format.as_str(), filtered.content)
    };
    let (page, syntax) = match &case.means {
        Some(html) => (html.as_str(), Syntax::Html),
        None => (case.page.as_str(), case.syntax),
    };
    Judged {
        group,
        page,
        syntax: syntax.name(),
        filtered: ContentFormat::ALL.into_iter().map(in_format).collect(),
        written: case.syntax.name(),
    }
}

fn judge(judged: &[Judged<'_>]) -> Vec<Verdict> {
    let mut python = Command::new("python3")
        .args(["-I", "-c", include_str!("judge.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start python3");
    let cases = serde_json::to_vec(judged).expect("cases as JSON");
    // It reads all before it writes anything.
    python.stdin.take().expect("its input").write_all(&cases).expect("hand over the cases");
    let output = python.wait_with_output().expect("its verdicts");
    assert!(output.status.success(), "judge.py: {}", output.status);
    serde_json::from_slice(&output.stdout).expect("verdicts as JSON")
}

#[test]
fn real_pages_lose_their_code_and_keep_their_prose() {
    let html: fn(&str) -> bool = |name| Path::new(name).extension() == Some("html".as_ref());
    let readme: fn(&str) -> bool = |name| name == "readme.md";
    let n = |most: usize| if long() { most } else { most / 12 };
    let groups = [
        (COMMONMARK, examples()),
        ("READMEs", pages("npm", readme, n(200), Syntax::Markdown)),
        ("rustdoc", pages("rust-doc", html, n(300), Syntax::Html)),
        ("AsciiDoc", pages("git-doc", html, n(300), Syntax::Html)),
        ("Sphinx", pages("python3.11-doc", html, n(300), Syntax::Html)),
        ("Node.js", pages("nodejs-doc", html, n(300), Syntax::Html)),
    ];
    for (group, _) in groups.iter().filter(|(_, cases)| cases.is_empty()) {
        println!("skipped: no pages of {group} on this machine, tools/test fetches them");
    }
    let cases: Vec<(&str, &Case)> = groups
        .iter()
        .flat_map(|(group, cases)| cases.iter().map(move |case| (*group, case)))
        .collect();
    let half = cases.len().div_ceil(2).max(1);
    let judged: Vec<Judged<'_>> = thread::scope(|scope| {
        let halves: Vec<_> = cases
            .chunks(half)
            .map(|cases| {
                scope.spawn(move || cases.iter().map(|(g, c)| filtered(g, c)).collect::<Vec<_>>())
            })
            .collect();
        halves.into_iter().flat_map(|half| half.join().expect("pages are filtered")).collect()
    });
    let verdicts = judge(&judged);
    for Verdict { group, format, pages, code, leaked, prose, lost, .. } in &verdicts {
        println!(
            "{group}, {format}: {pages} pages, {leaked} of {code} lines of code leaked, \
             {lost} of {prose} sentences lost"
        );
    }
    for verdict in &verdicts {
        let Verdict { group, format, code, leaked, prose, lost, examples, .. } = verdict;
        assert!(0 < *code && 0 < *prose, "{group} proves nothing: {verdict:?}");
        let may_leak = if group == COMMONMARK { 0 } else { *code / LEAKED_SHARE };
        assert!(*leaked <= may_leak, "{group} leaks, {format}: {examples:#?}");
        // A summary is what it is because it leaves out most of the page.
        if format != ContentFormat::Summary.as_str() {
            let share = if group == COMMONMARK { LOST_EXAMPLES_SHARE } else { LOST_SHARE };
            assert!(lost * share <= *prose, "{group} loses, {format}: {examples:#?}");
        }
    }
}
