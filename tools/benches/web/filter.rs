//! What it costs to take the code out of a page: against a parser that only reads it, against what
//! one uses in Python, and as pages grow or are made to be slow.

use std::{
    cell::RefCell,
    hint::black_box,
    time::{Duration, Instant},
};

use weir_events::web::content::ContentFilter;
use weir_processors::web::filter::{Caps, filter};

use super::{
    corpus::of_64_kib,
    hostile::{self, Hostile},
    python::Python,
    tree,
};
use crate::{
    Fault, chain,
    effort::{Effort, Pair, alternate, median, quantile},
    line::{Line, Target},
    options::Options,
    report::{Report, again, figure},
};

const HTML: &str = "text/html; charset=utf-8";
/// Pages of 64 KiB, which together are one of 1 MiB.
const N_PAGES: usize = 16;
/// Those of them that Python gets where there is little time.
const N_FEW: usize = 4;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let [bare, slow, bs4, trafilatura, large, worst] = lines();
    let all = [&bare, &slow, &bs4, &trafilatura, &large, &worst];
    if !all.iter().any(|line| options.wants(line.name)) {
        return;
    }
    let pages = match of_64_kib(options, N_PAGES) {
        Ok(pages) => pages,
        Err(fault) => {
            let words = chain(fault.as_ref());
            for line in all.into_iter().filter(|line| options.wants(line.name)) {
                report.add(line.clone(), Err(again(&fault, &words)));
            }
            return;
        }
    };
    if options.wants(bare.name) || options.wants(slow.name) {
        let took = RefCell::new(Vec::new());
        let pair = against_html5ever(effort, &pages, &took).await;
        let mut took = took.into_inner();
        if options.wants(bare.name) {
            report.add(bare.clone(), pair.map(|pair| bare.pair(pair)));
        }
        if options.wants(slow.name) {
            let note = format!("{} times a page", took.len());
            report.add(slow.clone(), Ok(slow.alone(quantile(&mut took, 0.99)).noting(note)));
        }
    }
    if options.wants(bs4.name) || options.wants(trafilatura.name) {
        let few = if effort.quick { pages.get(..N_FEW).unwrap_or(&pages) } else { &pages };
        let python = Python::start(options, few).await;
        for (line, way) in [(bs4, "bs4"), (trafilatura, "trafilatura")] {
            if !options.wants(line.name) {
                continue;
            }
            let measured = match &python {
                Ok(python) => against_python(effort, few, python, way)
                    .await
                    .map(|pair| line.clone().pair(pair).noting(python.versions.clone())),
                Err(fault) => Err(again(fault, &chain(fault.as_ref()))),
            };
            report.add(line, measured);
        }
    }
    if options.wants(large.name) {
        let measured = of_1_mib(effort, &pages).await.map(|pair| large.clone().pair(pair));
        report.add(large, measured);
    }
    if options.wants(worst.name) {
        let measured = of_the_worst(effort, &pages, worst.clone()).await;
        report.add(worst, measured);
    }
}

fn lines() -> [Line; 6] {
    let what = "the code taken out of a documentation page of 64 KiB, median";
    let pages = "documentation pages of 64 KiB whose code is taken out, one after another";
    [
        Line::new(
            "filter.64k.vs_html5ever",
            what,
            "ms",
            "the bare tree that html5ever builds of the same page",
            Target::AtMost(1.6),
        ),
        Line::new(
            "filter.64k.p99",
            "the same, the 99th of 100",
            "ms",
            "",
            Target::About("<= 6 ms"),
        ),
        Line::new(
            "filter.64k.vs_bs4",
            pages,
            "pages/s",
            "bs4 with lxml, without the elements of code",
            Target::AtLeast(5.0, None),
        ),
        Line::new(
            "filter.64k.vs_trafilatura",
            pages,
            "pages/s",
            "trafilatura's extract",
            Target::AtLeast(3.0, None),
        ),
        Line::new(
            "filter.1m.vs_64k",
            "a page of 1 MiB, made of 16 pages of 64 KiB",
            "ms",
            "one of them",
            Target::AtMost(18.0),
        ),
        Line::new(
            "filter.hostile.vs_typical",
            "the slowest of the pages of 64 KiB that are made to be slow",
            "ms",
            "a documentation page of 64 KiB",
            Target::AtMost(3.0),
        ),
    ]
}

/// Takes the code out of a page, as an agent gets it that asks for nothing else.
fn work(page: &str, declared: &str) {
    work_up_to(ContentFilter::default().max_size, page, declared);
}

/// The same, for an agent that wants so much of it.
fn work_up_to(max_size: u32, page: &str, declared: &str) {
    let wanted = ContentFilter { max_size, ..ContentFilter::default() };
    // Hostile pages may be no text at all, which is found out in the same way.
    drop(black_box(filter(black_box(page.as_bytes()), Some(declared), &wanted, Caps::default())));
}

/// The milliseconds that each page takes, all of them in turn for a while.
fn times(pages: &[String], span: Duration, work: impl Fn(&str)) -> Vec<f64> {
    let (began, mut took) = (Instant::now(), Vec::new());
    while took.is_empty() || began.elapsed() < span {
        for page in pages {
            let began = Instant::now();
            work(page);
            took.push(millis(began));
        }
    }
    took
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// Keeps how long each page took.
async fn against_html5ever(
    effort: Effort,
    pages: &[String],
    took: &RefCell<Vec<f64>>,
) -> Result<Pair, Fault> {
    alternate(
        effort.n_rounds,
        async || {
            let mut ours = times(pages, effort.span, |page| work(page, HTML));
            took.borrow_mut().extend_from_slice(&ours);
            Ok(median(&mut ours))
        },
        async || Ok(median(&mut times(pages, effort.span, |page| drop(black_box(tree::of(page)))))),
    )
    .await
}

async fn against_python(
    effort: Effort,
    pages: &[String],
    python: &Python,
    way: &str,
) -> Result<Pair, Fault> {
    let ours = async || {
        let took = times(pages, effort.span, |page| work(page, HTML));
        #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
        Ok(took.len() as f64 * 1_000.0 / took.iter().sum::<f64>())
    };
    // What is done for the first time only is nobody's.
    python.rate(way).await?;
    alternate(effort.n_rounds, ours, || python.rate(way)).await
}

async fn of_1_mib(effort: Effort, pages: &[String]) -> Result<Pair, Fault> {
    let large = [pages.concat()];
    let work = |page: &str| work_up_to(u32::MAX, page, HTML);
    alternate(
        effort.n_rounds,
        async || Ok(median(&mut times(&large, effort.span, work))),
        async || {
            let took = times(pages, effort.span, work);
            // Some of them are slower than others, and all of them are in the large one.
            #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
            Ok(took.iter().sum::<f64>() / took.len() as f64)
        },
    )
    .await
}

async fn of_the_worst(effort: Effort, pages: &[String], line: Line) -> Result<Line, Fault> {
    let hostile = hostile::pages();
    let once = |Hostile { page, declared, .. }: &Hostile| {
        let mut took: Vec<f64> = (0..3)
            .map(|_| {
                let began = Instant::now();
                work(page, declared);
                millis(began)
            })
            .collect();
        median(&mut took)
    };
    let mut took: Vec<(f64, &Hostile)> = hostile.iter().map(|page| (once(page), page)).collect();
    took.sort_by(|one, other| other.0.total_cmp(&one.0));
    let worst = took.first().ok_or("nobody is hostile")?.1;
    let slow = took.iter().take(5).map(|(took, page)| format!("{} {}", page.name, figure(*took)));
    let note = format!("{} pages; {} ms", took.len(), slow.collect::<Vec<_>>().join(", "));
    let page = [worst.page.clone()];
    let pair = alternate(
        effort.n_rounds,
        async || Ok(median(&mut times(&page, effort.span, |page| work(page, worst.declared)))),
        async || Ok(median(&mut times(pages, effort.span, |page| work(page, HTML)))),
    );
    Ok(line.pair(pair.await?).noting(note))
}
