//! Pages that nobody has asked for yet: what the way through the gateway adds, and that a crowd which
//! wants the same at once is one visitor to the outside.

use std::time::Instant;

use reqwest::StatusCode;
use tokio::task::JoinSet;

use super::gateway::Gateway;
use crate::{
    Fault, chain,
    effort::{Effort, median, quantile},
    http::Connection,
    line::{Line, Target},
    options::Options,
    report::{Report, again},
};

/// Requests that come at once.
const N_AT_ONCE: usize = 200;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let overhead = Line::new(
        "miss.overhead",
        "what a page of 64 KiB takes longer through the gateway: filtered, charged and on record, \
         median",
        "ms",
        "",
        Target::About("<= 4 ms"),
    );
    let stampede = Line::new(
        "stampede",
        "how often 200 requests for the same page, all at once, ask the outside for it",
        "fetches",
        "",
        Target::SizeAtMost(1.0),
    );
    let all = [&overhead, &stampede];
    if !all.iter().any(|line| options.wants(line.name)) {
        return;
    }
    let gateway = match Gateway::start(options, "misses").await {
        Ok(gateway) => gateway,
        Err(fault) => {
            let words = chain(fault.as_ref());
            for line in all.into_iter().filter(|line| options.wants(line.name)) {
                report.add(line.clone(), Err(again(&fault, &words)));
            }
            return;
        }
    };
    if options.wants(overhead.name) {
        let measured = measure(&gateway, effort, overhead.clone()).await;
        report.add(overhead, measured);
    }
    if options.wants(stampede.name) {
        let measured = crowd(&gateway, effort, stampede.clone()).await;
        report.add(stampede, measured);
    }
    // Its process is gone with us at the latest.
    drop(gateway.stop().await);
}

async fn measure(gateway: &Gateway, effort: Effort, line: Line) -> Result<Line, Fault> {
    let n_pages = if effort.quick { 80 } else { 800 };
    let mut connection = Connection::open(gateway.instance.server.address()).await?;
    let (mut ours, mut bare, mut longer) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, agent) in (0..n_pages).zip(gateway.agents.iter().cycle()) {
        let url = gateway.page(&format!("miss-{nth}"));
        let sent = gateway.sent(agent, &url)?;
        let direct = async || {
            let began = Instant::now();
            let answer = gateway.client.get(&url).send().await?;
            let good = answer.status() == StatusCode::OK;
            answer.bytes().await?;
            let took = began.elapsed().as_secs_f64() * 1_000.0;
            if good { Ok(took) } else { Err(Fault::from("the outside does not answer")) }
        };
        let mut through = async || {
            let began = Instant::now();
            connection.ask(&sent).await?;
            Ok::<_, Fault>(began.elapsed().as_secs_f64() * 1_000.0)
        };
        let (one, other);
        if nth % 2 == 0 {
            one = through().await?;
            other = direct().await?;
        } else {
            other = direct().await?;
            one = through().await?;
        }
        ours.push(one);
        bare.push(other);
        longer.push(one - other);
    }
    let note = format!(
        "{:.2} ms against {:.2} ms of bare reqwest; {:.2} ms longer for the 99th of 100",
        median(&mut ours),
        median(&mut bare),
        quantile(&mut longer, 0.99),
    );
    Ok(line.alone(median(&mut longer)).noting(note))
}

/// The most fetches of any round.
async fn crowd(gateway: &Gateway, effort: Effort, line: Line) -> Result<Line, Fault> {
    let (mut most, mut took) = (0, Vec::new());
    for round in 0..effort.n_rounds {
        let url = gateway.page(&format!("crowd-{round}"));
        let mut ready = Vec::new();
        for (_, agent) in (0..N_AT_ONCE).zip(gateway.agents.iter().cycle()) {
            let connection = Connection::open(gateway.instance.server.address()).await?;
            ready.push((connection, gateway.sent(agent, &url)?));
        }
        let (before, began, mut asking) =
            (gateway.origin.n_asked(), Instant::now(), JoinSet::new());
        for (mut connection, sent) in ready {
            asking.spawn(async move { connection.ask(&sent).await.map(drop) });
        }
        while let Some(asked) = asking.join_next().await {
            asked??;
        }
        took.push(began.elapsed().as_secs_f64() * 1_000.0);
        most = most.max(gateway.origin.n_asked() - before);
    }
    let note = format!("all have it after {:.0} ms", median(&mut took));
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
    Ok(line.alone(most as f64).noting(note))
}
