//! Lists of versions: what a cached, filtered one costs, against a plain cache and against what
//! else stands in front of registries.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};

use super::{
    OPEN,
    documents::{Document, Form, NUMPY, REACT, Request, SERDE, SIX},
    peers::Peer,
    upstreams::{Upstreams, known},
};
use crate::{
    Fault, chain,
    effort::{Effort, Pair, alternate, median},
    http::client,
    instance::Instance,
    line::{Line, Target},
    options::Options,
    report::Report,
    server::Setup,
};

/// How long a rule may take until it is in force.
const PATIENCE: Duration = Duration::from_secs(30);

/// Documents by who else serves them.
const LINES: [(&str, Document, &str, f64); 9] = [
    ("metadata.cpu.react.vs_nginx", REACT, "nginx", 2.0),
    ("metadata.cpu.numpy.vs_nginx", NUMPY, "nginx", 2.0),
    ("metadata.cpu.serde.vs_nginx", SERDE, "nginx", 2.0),
    ("metadata.cpu.six.vs_nginx", SIX, "nginx", 2.0),
    ("metadata.cpu.react.vs_verdaccio", REACT, "verdaccio", 0.1),
    ("metadata.cpu.numpy.vs_proxpi", NUMPY, "proxpi", 0.1),
    ("metadata.cpu.six.vs_proxpi", SIX, "proxpi", 0.1),
    ("metadata.cpu.numpy.vs_devpi", NUMPY, "devpi", 0.02),
    ("metadata.cpu.six.vs_devpi", SIX, "devpi", 0.02),
];

fn against(peer: &str) -> &'static str {
    match peer {
        "nginx" => "nginx proxy_cache, the same bytes",
        "verdaccio" => "Verdaccio, its cached document",
        "proxpi" => "proxpi, its cached document",
        _ => "devpi, its cached document",
    }
}

pub(super) async fn run(
    options: &Options,
    effort: Effort,
    upstreams: Result<&Upstreams, &String>,
    report: &mut Report,
) {
    let not_modified = Line::new(
        "metadata.304",
        "processor time of a conditional request, answered from the revision's tag (react)",
        "ms",
        "",
        Target::About("<= 0.05 ms"),
    );
    let render = Line::new(
        "metadata.render.react",
        "from a new rule about react to its filtered list",
        "ms",
        "",
        Target::About("<= 60 ms"),
    );
    let lines = LINES.map(|(name, document, peer, most)| {
        let what = "processor time of a cached, filtered list of versions, per request";
        (Line::new(name, what, "ms", against(peer), Target::AtMost(most)), document, peer)
    });
    let wanted = |name: &str| options.wants(name);
    let any = lines.iter().any(|(line, ..)| wanted(line.name));
    if !any && !wanted(not_modified.name) && !wanted(render.name) {
        return;
    }
    let stage = match Stage::set(options, upstreams).await {
        Ok(stage) => stage,
        Err(fault) => {
            let words = chain(fault.as_ref());
            let all = lines.into_iter().map(|(line, ..)| line).chain([not_modified, render]);
            for line in all.filter(|line| wanted(line.name)) {
                let again = crate::report::again(&fault, &words);
                report.add(line, Err(again));
            }
            return;
        }
    };
    for kind in ["nginx", "verdaccio", "proxpi", "devpi"] {
        let mut own = lines.iter().filter(|(line, _, peer)| *peer == kind && wanted(line.name));
        let Some(first) = own.next() else { continue };
        let peer = Peer::start(options, kind, &stage.firewall.url(""), upstreams).await;
        for (line, document, _) in std::iter::once(first).chain(own) {
            let measured = match &peer {
                Ok(peer) => stage.pair(effort, *document, peer, line.clone()).await,
                Err(fault) => Err(crate::report::again(fault, &chain(fault.as_ref()))),
            };
            report.add(line.clone(), measured);
        }
        if let Ok(peer) = peer {
            // It is gone with us at the latest.
            drop(peer.stop().await);
        }
    }
    if wanted(not_modified.name) {
        let measured = stage.not_modified(effort, not_modified.clone()).await;
        report.add(not_modified, measured);
    }
    if wanted(render.name) {
        let measured = stage.render(effort, render.clone()).await;
        report.add(render, measured);
    }
    // Its process is gone with us at the latest.
    drop(stage.firewall.stop().await);
}

/// Weir in front of the real registries, with a rule about each document.
struct Stage {
    firewall: Instance,
    client: Client,
}

impl Stage {
    async fn set(options: &Options, upstreams: Result<&Upstreams, &String>) -> Result<Self, Fault> {
        let config = Some(known(upstreams)?.config.clone());
        let setup = Setup { part: "api", variables: &OPEN, config };
        let firewall = Instance::start(options, "metadata", &setup).await?;
        let stage = Self { firewall, client: client()? };
        for document in [REACT, NUMPY, SERDE, SIX] {
            stage.rule(&document, document.filtered).await?;
        }
        Ok(stage)
    }

    /// Adds a rule; returns when it has been recorded.
    async fn rule(&self, document: &Document, versions: &str) -> Result<(), Fault> {
        let rule = json!({"ecosystem": document.ecosystem, "package": document.package,
            "versions": versions, "reason": "measured", "mask": "hide"});
        self.firewall.post(&self.client, "api/rules", &rule).await?;
        Ok(())
    }

    fn request(&self, document: &Document, form: &Form) -> Request {
        Request::new(&self.client, self.firewall.url(document.path), form.accept)
    }

    /// Each form of a document against a peer's. The line says the one that stands worst.
    async fn pair(
        &self,
        effort: Effort,
        document: Document,
        peer: &Peer,
        line: Line,
    ) -> Result<Line, Fault> {
        let mut all: Vec<(&Form, Pair)> = Vec::new();
        let (ours_pid, theirs_pid) = (self.firewall.server.pid()?, peer.pid()?);
        for form in document.forms {
            let ours = self.request(&document, form);
            let theirs = Request::new(&self.client, peer.url(&document), form.accept);
            // Both have it before anything is measured.
            let sizes = (ours.read().await?, theirs.read().await?);
            if peer.same_bytes && sizes.0 != sizes.1 {
                return Err(format!("{sizes:?} bytes are not the same document").into());
            }
            let span = effort.span;
            let pair = alternate(
                effort.n_rounds,
                || ours.cost(ours_pid, span),
                || theirs.cost(theirs_pid, span),
            );
            all.push((form, pair.await?));
        }
        let worst = all.iter().map(|(_, pair)| *pair).max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let worst = worst.ok_or("a document without forms")?;
        let each = all.iter().map(|(form, pair)| {
            format!("{} {:.3} against {:.3} ms", form.name, pair.ours, pair.theirs)
        });
        let resident = self.firewall.server.resident()? / 1_024.0;
        let note =
            format!("{}; {resident:.0} MB resident after it", each.collect::<Vec<_>>().join(", "));
        Ok(line.pair(worst).noting(note))
    }

    async fn not_modified(&self, effort: Effort, line: Line) -> Result<Line, Fault> {
        let form = REACT.forms.first().ok_or("a document without forms")?;
        let plain = self.request(&REACT, form);
        let request = plain.clone().with_tag(&plain.etag().await?);
        if request.read().await? > 0 {
            return Err("its tag does not fit any more".into());
        }
        let pid = self.firewall.server.pid()?;
        let mut costs = Vec::new();
        for _ in 0..effort.n_rounds {
            costs.push(request.cost(pid, effort.span).await?);
        }
        Ok(line.alone(median(&mut costs)))
    }

    /// What the first request after a new rule waits longer than those after it.
    async fn render(&self, effort: Effort, line: Line) -> Result<Line, Fault> {
        let form = REACT.forms.first().ok_or("a document without forms")?;
        let plain = self.request(&REACT, form);
        let document: Value = serde_json::from_str(&plain.text().await?)?;
        let n_versions =
            document.get("versions").and_then(Value::as_object).map_or(0, serde_json::Map::len);
        let mut took = Vec::new();
        for round in 0..effort.n_rounds {
            let known = plain.clone().with_tag(&plain.etag().await?);
            self.rule(&REACT, &format!("15.0.{round}")).await?;
            let began = Instant::now();
            // Cheap until the rule is in force; then one answer is the whole list.
            let waited = loop {
                let asked = Instant::now();
                if known.read().await? > 0 {
                    break asked.elapsed();
                }
                if began.elapsed() > PATIENCE {
                    return Err("a rule is not in force".into());
                }
            };
            let again = Instant::now();
            plain.read().await?;
            took.push(waited.saturating_sub(again.elapsed()).as_secs_f64() * 1_000.0);
        }
        Ok(line.alone(median(&mut took)).noting(format!("{n_versions} versions")))
    }
}
