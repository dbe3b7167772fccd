//! Real pages, none of them committed: no code gets through, and the prose stays.
//!
//! `tools/test` fetches them. What is code on them, and what is prose, is said by `judge.py`, which
//! has nothing in common with the filter.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use serde::{Deserialize, Serialize};
use weir_events::web::content::ContentFilter;
use weir_processors::web::filter::{Caps, filter};
use weir_tests::database::weir_binary;

/// One line in so many may get through.
const LEAKED_SHARE: usize = 1000;
/// One sentence in so many may be lost.
const LOST_SHARE: usize = 100;
/// What is longer is left out: the suite has to end.
const MAX_PAGE_BYTES: u64 = 200_000;

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
    filtered: String,
    written: &'static str,
}

#[derive(Debug, Deserialize)]
struct Verdict {
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
    let binary = weir_binary();
    let target = binary.parent().and_then(Path::parent).expect("the target folder");
    target.join("corpora")
}

/// Every file below a folder that is wanted, in order.
fn files(folder: &Path, wanted: fn(&str) -> bool) -> Vec<PathBuf> {
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
                && entry.metadata().is_ok_and(|file| file.len() <= MAX_PAGE_BYTES)
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
    let step = files.len().div_ceil(most).max(1);
    let pages = files.iter().step_by(step).filter_map(|file| fs::read_to_string(file).ok());
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
    let wanted = ContentFilter { max_size: 1_000_000, ..ContentFilter::default() };
    let filtered = filter(case.page.as_bytes(), Some(&declared), &wanted, Caps::default());
    let filtered = filtered.expect("a page is text");
    assert!(!filtered.truncated, "a page of {} bytes was cut", case.page.len());
    let (page, syntax) = match &case.means {
        Some(html) => (html.as_str(), Syntax::Html),
        None => (case.page.as_str(), case.syntax),
    };
    Judged {
        group,
        page,
        syntax: syntax.name(),
        filtered: filtered.content,
        written: case.syntax.name(),
    }
}

fn judge(judged: &[Judged<'_>]) -> BTreeMap<String, Verdict> {
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
    let groups = [
        (COMMONMARK, examples()),
        ("READMEs", pages("npm", readme, 120, Syntax::Markdown)),
        ("AsciiDoc", pages("git-doc", html, 40, Syntax::Html)),
        ("Sphinx", pages("python3.11-doc", html, 40, Syntax::Html)),
        ("Node.js", pages("nodejs-doc", html, 25, Syntax::Html)),
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
    for (group, verdict) in &verdicts {
        let Verdict { pages, code, leaked, prose, lost, .. } = verdict;
        println!(
            "{group}: {pages} pages, {leaked} of {code} lines of code leaked, {lost} of {prose} sentences lost"
        );
    }
    for (group, verdict) in &verdicts {
        let Verdict { code, leaked, prose, lost, examples, .. } = verdict;
        assert!(0 < *code && 0 < *prose, "{group} proves nothing: {verdict:?}");
        assert!(leaked * LEAKED_SHARE <= *code, "{group} leaks: {examples:#?}");
        // The specification's examples are marks and single words, and much of them looks like code.
        if group != COMMONMARK {
            assert!(lost * LOST_SHARE <= *prose, "{group} loses: {examples:#?}");
        }
    }
}
