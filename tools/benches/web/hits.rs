//! Requests that are answered from the cache: each of them signed, judged, and on record before it is
//! answered. Against caches that only look up, with the same bytes.

use std::{
    collections::HashMap,
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::task::JoinSet;

use super::gateway::{Gateway, N_AGENTS};
use crate::{
    Fault,
    caches::{nginx, squid},
    chain,
    effort::{self, Effort, Pair, alternate, quantile},
    http::Connection,
    line::{Line, Target},
    options::Options,
    origin::{Content, Origin},
    processes::{Program, free_address},
    report::{Report, again},
};

/// What an answer says that came from the cache.
const CACHED: &[u8] = b"\"cached\":true";
/// How many bytes before the end of an answer that stands.
const TAIL: usize = 300;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let what = "signed requests answered from the cache, each on record first, 8 connections";
    let squid = Line::new(
        "cache_hit.vs_squid",
        what,
        "requests/s",
        "squid, the same bytes from memory",
        Target::AtLeast(0.5, None),
    );
    let nginx = Line::new(
        "cache_hit.vs_nginx",
        what,
        "requests/s",
        "nginx proxy_cache, the same bytes",
        Target::AtLeast(0.1, None),
    );
    let alone = Line::new(
        "cache_hit.alone",
        "such a request, one after another, median",
        "ms",
        "",
        Target::About("<= 0.7 ms"),
    );
    let slow = Line::new(
        "cache_hit.alone.p99",
        "the same, the 99th of 100",
        "ms",
        "",
        Target::About("<= 3 ms"),
    );
    let all = [&squid, &nginx, &alone, &slow];
    if !all.iter().any(|line| options.wants(line.name)) {
        return;
    }
    let stage = match Stage::set(options).await {
        Ok(stage) => stage,
        Err(fault) => {
            let words = chain(fault.as_ref());
            for line in all.into_iter().filter(|line| options.wants(line.name)) {
                report.add(line.clone(), Err(again(&fault, &words)));
            }
            return;
        }
    };
    for line in [squid, nginx] {
        if options.wants(line.name) {
            let measured = stage.against(options, effort, &line).await;
            report.add(line, measured);
        }
    }
    if options.wants(alone.name) || options.wants(slow.name) {
        let took = stage.alone(effort).await;
        for (line, share) in [(alone, 0.5), (slow, 0.99)] {
            if !options.wants(line.name) {
                continue;
            }
            let measured = match &took {
                Ok(took) => Ok(line.clone().alone(quantile(&mut took.clone(), share))),
                Err(fault) => Err(again(fault, &chain(fault.as_ref()))),
            };
            report.add(line, measured);
        }
    }
    // Its process is gone with us at the latest.
    drop(stage.gateway.stop().await);
}

/// A gateway that has a page in its cache.
struct Stage {
    gateway: Gateway,
    url: String,
    /// The very bytes that it answers.
    answer: Bytes,
}

impl Stage {
    async fn set(options: &Options) -> Result<Self, Fault> {
        let gateway = Gateway::start(options, "hits").await?;
        let url = gateway.page("hit");
        let mut connection = Connection::open(gateway.instance.server.address()).await?;
        let agent = gateway.agents.first().ok_or("there is no agent")?;
        connection.ask(&gateway.sent(agent, &url)?).await?;
        let answer = connection.ask(&gateway.sent(agent, &url)?).await?;
        from_cache(answer)?;
        let answer = Bytes::copy_from_slice(answer);
        // A token that is shown for the first time takes longer to be believed.
        for agent in &gateway.agents {
            from_cache(connection.ask(&gateway.sent(agent, &url)?).await?)?;
        }
        Ok(Self { gateway, url, answer })
    }

    async fn against(&self, options: &Options, effort: Effort, line: &Line) -> Result<Line, Fault> {
        let contents = Content::Of { kind: "application/json", body: self.answer.clone() };
        let origin = Origin::start(HashMap::from([("/answer".to_owned(), contents)])).await?;
        let name = if line.name.ends_with("squid") { "squid" } else { "nginx" };
        let (folder, address) = (options.scratch.join(name), free_address()?);
        std::fs::create_dir_all(&folder)?;
        let command = match name {
            "squid" => squid(&folder, address, origin.address)?,
            _ => nginx(&folder, address, &format!("http://{}", origin.address))?,
        };
        let peer = Program::start(name, command, address, &folder).await?;
        let pair = self.pair(effort, address).await;
        // It is gone with us at the latest.
        drop(peer.stop().await);
        if origin.n_asked() > N_AGENTS {
            return Err(
                format!("{name} asked {} times: it caches nothing", origin.n_asked()).into()
            );
        }
        let note = format!("{} bytes each", self.answer.len());
        Ok(line.clone().pair(pair?).noting(note))
    }

    async fn pair(&self, effort: Effort, peer: SocketAddr) -> Result<Pair, Fault> {
        let (n_ours, n_theirs) = if effort.quick { (100, 400) } else { (500, 3_000) };
        let plain = format!("GET /answer HTTP/1.1\r\nhost: {peer}\r\n\r\n").into_bytes();
        let theirs = || rate(peer, vec![vec![plain.clone(); n_theirs]; N_AGENTS], |_| Ok(()));
        // It has it before anything is measured.
        rate(peer, vec![vec![plain.clone()]], |_| Ok(())).await?;
        let ours = async || {
            let sent = self.gateway.agents.iter().map(|agent| {
                let each = (0..n_ours).map(|_| self.gateway.sent(agent, &self.url));
                each.collect::<Result<Vec<_>, _>>()
            });
            let sent = sent.collect::<Result<Vec<_>, _>>()?;
            rate(self.gateway.instance.server.address(), sent, from_cache).await
        };
        alternate(effort.n_rounds, ours, theirs).await
    }

    /// The milliseconds of requests that come one after another.
    async fn alone(&self, effort: Effort) -> Result<Vec<f64>, Fault> {
        let n_requests = if effort.quick { 500 } else { 5_000 };
        let agent = self.gateway.agents.first().ok_or("there is no agent")?;
        let mut connection = Connection::open(self.gateway.instance.server.address()).await?;
        let mut took = Vec::new();
        for _ in 0..n_requests {
            let sent = self.gateway.sent(agent, &self.url)?;
            let began = Instant::now();
            from_cache(connection.ask(&sent).await?)?;
            took.push(millis(began.elapsed()));
        }
        Ok(took)
    }
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

fn from_cache(answer: &[u8]) -> Result<(), Fault> {
    let tail = answer.get(answer.len().saturating_sub(TAIL)..).unwrap_or_default();
    let said = tail.windows(CACHED.len()).any(|window| window == CACHED);
    if said { Ok(()) } else { Err("an answer does not come from the cache".into()) }
}

/// How many requests a second are answered, each list of them on a connection of its own.
async fn rate(
    server: SocketAddr,
    requests: Vec<Vec<Vec<u8>>>,
    look: fn(&[u8]) -> Result<(), Fault>,
) -> Result<f64, Fault> {
    let n_requests = requests.iter().map(Vec::len).sum();
    let mut connections = Vec::new();
    for own in requests {
        connections.push((Connection::open(server).await?, own));
    }
    let (began, mut asking) = (Instant::now(), JoinSet::new());
    for (mut connection, own) in connections {
        asking.spawn(async move {
            for request in own {
                look(connection.ask(&request).await?)?;
            }
            Ok::<_, Fault>(())
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked??;
    }
    Ok(effort::rate(n_requests, began))
}
