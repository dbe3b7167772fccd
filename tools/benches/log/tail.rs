//! Live events: how soon one client has them, and what a thousand clients cost.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{Executor as _, postgres::PgListener};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};
use weir_api::{
    registry::Packages,
    router, serve,
    state::{ApiState, Parts, Settings},
};
use weir_events::stream::StreamName;
use weir_log::{Log, append::Outcome};
use weir_processors::{access::Tokens, clock::SystemClock, door::Door};
use weir_projections::engine::{Engine, EngineOptions};

use crate::{
    Fault,
    database::{OpenLog, Scratch, fresh},
    effort::{Effort, Pair, median, quantile},
    events,
    line::{Line, Target},
    options::Options,
    report::Report,
    server::Server,
    sse::Client,
};

/// Clients of the fan-out, and events a second they all get.
const N_CLIENTS: usize = 1_000;
const EVENTS_PER_SECOND: usize = 1_000;
/// How often some of them are appended.
const BEAT: Duration = Duration::from_millis(10);
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let latency = Line::new(
        "tail.latency",
        "from the commit of an append to an SSE client on loopback, median",
        "ms",
        "one LISTEN/NOTIFY round trip",
        Target::AtMost(3.0),
    );
    let fanout = Line::new(
        "tail.fanout",
        "memory of one of 1,000 SSE clients at 1,000 events/s",
        "KB",
        "",
        Target::SizeAtMost(64.0),
    );
    if options.wants(latency.name) {
        let measured = measure_latency(options, effort, latency.clone()).await;
        report.add(latency, measured);
    }
    if options.wants(fanout.name) {
        let measured = measure_fanout(options, effort, fanout.clone()).await;
        report.add(fanout, measured);
    }
}

/// The API of this process, as `weir up` has it beside its log.
async fn serve_here(open: &OpenLog, door: &Door) -> Result<SocketAddr, Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let engine = Engine::new(open.log.clone(), Vec::new(), fresh(), EngineOptions::default());
    let state = ApiState::new(Parts {
        door: door.clone(),
        tokens: Tokens::new(door.clone()),
        engine,
        packages: Packages::default(),
        portal: None,
        settings: Settings::new([7; 32]),
        lifecycle: open.lifecycle.clone(),
    });
    let router = router::router(state.clone());
    open.lifecycle.run("api", serve::serve(listener, state, router));
    Ok(address)
}

/// The first admin's token.
pub(crate) async fn admin(door: &Door) -> Result<String, Fault> {
    let issued = Tokens::new(door.clone()).bootstrap().await?;
    Ok(issued.and_then(|issued| issued.token).ok_or("no token was issued")?)
}

/// Appends one event; answers its position.
async fn append(log: &Log, stream: &StreamName) -> Result<i64, Fault> {
    let event = events::blocked(rand::random::<u16>().into())?;
    match log.append(events::append(stream, None, vec![event])).await? {
        Outcome::Appended(at) => Ok(at.last.0),
        other => Err(format!("an append came to {other:?}").into()),
    }
}

async fn measure_latency(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let scratch = Scratch::migrated(&options.database, "tail").await?;
    let open = scratch.log().await?;
    let door = Door::new(open.log.clone(), Arc::new(SystemClock));
    let token = admin(&door).await?;
    let address = serve_here(&open, &door).await?;
    let mut client = Client::open(address, &token).await?;
    let stream = StreamName::new("bench/tail")?;

    let mut listener = PgListener::connect(&scratch.url()).await?;
    listener.listen("bench_tail").await?;
    let mut speaker = scratch.connect().await?;

    let n_each = if effort.quick { 60 } else { 300 };
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.n_rounds {
        let mut took;
        (took, client) = to_client(&open.log, &stream, client, n_each, Duration::ZERO).await?;
        let mut trips = Vec::new();
        for _ in 0..n_each {
            let began = Instant::now();
            let (said, heard) =
                futures_util::future::join(speaker.execute("NOTIFY bench_tail"), listener.recv())
                    .await;
            said?;
            heard?;
            trips.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        ratios.push(median(&mut took) / median(&mut trips));
        ours.extend(took);
        theirs.extend(trips);
    }
    let pair =
        Pair { ours: median(&mut ours), theirs: median(&mut theirs), ratio: median(&mut ratios) };
    let note = format!(
        "p99 {:.2} ms against {:.2} ms",
        quantile(&mut ours, 0.99),
        quantile(&mut theirs, 0.99)
    );
    drop(client);
    open.close().await;
    scratch.discard().await?;
    Ok(line.pair(pair).noting(note))
}

/// Milliseconds from the answer of each append to its event at the client. Tasks of their own for
/// the two: one that is woken late must not hide what the other waits.
async fn to_client(
    log: &Log,
    stream: &StreamName,
    mut client: Client,
    n_events: usize,
    pause: Duration,
) -> Result<(Vec<f64>, Client), Fault> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut reading = JoinSet::new();
    reading.spawn(async move {
        // Until nobody listens any more.
        loop {
            client.events().await?;
            if tell.send((client.position(), Instant::now())).is_err() {
                return Ok::<_, Fault>(client);
            }
        }
    });
    let (to, on) = (log.clone(), stream.clone());
    let mut appending = JoinSet::new();
    appending.spawn(async move {
        let mut took = Vec::new();
        for _ in 0..n_events {
            tokio::time::sleep(pause).await;
            let position = append(&to, &on).await?;
            let committed = Instant::now();
            let received = loop {
                let said = tokio::time::timeout(PATIENCE, told.recv()).await?;
                let (upto, received) = said.ok_or("the client stopped reading")?;
                if position <= upto {
                    break received;
                }
            };
            took.push(received.saturating_duration_since(committed).as_secs_f64() * 1_000.0);
        }
        Ok::<_, Fault>(took)
    });
    let took = appending.join_next().await.ok_or("nothing was appended")???;
    // One more event, so that the reader notices.
    append(log, stream).await?;
    let client = reading.join_next().await.ok_or("nothing was read")???;
    Ok((took, client))
}

async fn measure_fanout(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let scratch = Scratch::migrated(&options.database, "fanout").await?;
    let open = scratch.log().await?;
    let door = Door::new(open.log.clone(), Arc::new(SystemClock));
    let token = admin(&door).await?;
    let mut server = Server::start(options, &scratch, &[])?;
    let stream = StreamName::new("bench/fanout")?;

    // Between processes, while one client is there.
    let first = server.client(&token).await?;
    // Notifications are put together for 10 ms: these come one by one.
    let n_alone = if effort.quick { 40 } else { 200 };
    let (mut between, _first) = to_client(&open.log, &stream, first, n_alone, BEAT * 3).await?;
    let alone = server.resident()?;

    let received = Arc::new(AtomicUsize::new(0));
    let mut readers = JoinSet::new();
    for _ in 0..N_CLIENTS {
        let mut client = Client::open(server.address(), &token).await?;
        let received = Arc::clone(&received);
        readers.spawn(async move {
            while let Ok(n) = client.events().await {
                received.fetch_add(n, Ordering::Relaxed);
            }
        });
    }
    let idle = server.resident()?;
    let before = server.processor()?;
    let n_beats = if effort.quick { 100 } else { 500 };
    let began = Instant::now();
    let (mut most, mut beat) = (idle, tokio::time::interval(BEAT));
    for nth in 0..n_beats {
        beat.tick().await;
        let together = (0..EVENTS_PER_SECOND / 100).map(|_| append(&open.log, &stream));
        futures_util::future::try_join_all(together).await?;
        if nth % 10 == 0 {
            most = most.max(server.resident()?);
        }
    }
    let n_wanted = n_beats * (EVENTS_PER_SECOND / 100) * N_CLIENTS;
    while received.load(Ordering::Relaxed) < n_wanted {
        if began.elapsed() > PATIENCE {
            let n = received.load(Ordering::Relaxed);
            return Err(format!("{n} of {n_wanted} events were delivered").into());
        }
        most = most.max(server.resident()?);
        tokio::time::sleep(BEAT).await;
    }
    let took = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
    let (n_clients, n_delivered) = (N_CLIENTS as f64, n_wanted as f64);
    let micros = (server.processor()? - before) * 1e6 / n_delivered;
    let note = format!(
        "{:.1} KB idle; {micros:.2} µs of processor per delivered event; {:.0} delivered/s; \
         one client of another process waits {:.2} ms (p50) after the commit",
        (idle - alone) / n_clients,
        n_delivered / took,
        median(&mut between),
    );
    readers.shutdown().await;
    server.stop().await?;
    open.close().await;
    scratch.discard().await?;
    Ok(line.alone((most - alone) / n_clients).noting(note))
}
