//! Kill -9 at every step of the road of a request, and at random: nothing is fetched without a record,
//! charged twice or left open, and the same request asked again has one end.
//!
//! What the process does is held up from outside of it: by a website that does not answer, and by a
//! trigger in Postgres that has the append, or the content, wait for the test.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use weir_events::web::{agent_stream, request::PortalRequest};
use weir_tests::{
    agent::Agent,
    database::{TestDatabase, long},
    deadline,
    outside::Outside,
    weir::{Answer, Client, Part, Place, Weir, signal},
};

use super::{
    portal::{advance, code, place, refused, tick},
    read_models::RECOUNTED,
};

/// What an agent begins with.
const GRANTED: i64 = 1_000;
/// What a failed and a whole GET cost, with their tax.
const FAILED: i64 = 2;
const WHOLE: i64 = 3;
/// The read models of a request.
const READ_MODELS: [&str; 4] = ["request_log", "cache", "reports", "accounts"];

/// What is held up when the process is killed.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// The append that has this kind of event, with everything done but the commit.
    Append(u16),
    /// The outside, which was asked and does not answer.
    Outside,
    /// The process, which was answered and has not read it.
    Answer,
    /// The content, which is about to be kept.
    Content,
}

/// What becomes of what was held up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is lost with the process.
    Lost,
    /// It is committed, and the process that sent it does not live to hear of it.
    Lands,
}

/// What the request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// A page of its own.
    Page,
    /// A page that is cached.
    Cached,
    /// A host that may not be asked.
    Blocked,
}

struct Step {
    name: &'static str,
    asks: For,
    held: Held,
    fate: Fate,
    /// What the same request is answered in the end.
    status: u16,
    /// How often the outside was asked in the end.
    hits: usize,
    /// How many of each there are: admitted, completed, failed, blocked.
    events: [usize; 4],
    paid: i64,
}

const SUBMITTED: u16 = 0x6000;
const COMPLETED: u16 = 0x6001;
const BLOCKED: u16 = 0x6002;

const STEPS: [Step; 11] = [
    Step {
        name: "before the admission is on record",
        asks: For::Page,
        held: Held::Append(SUBMITTED),
        fate: Fate::Lost,
        status: 200,
        hits: 1,
        events: [1, 1, 0, 0],
        paid: WHOLE,
    },
    Step {
        name: "admitted, before a packet leaves",
        asks: For::Page,
        held: Held::Append(SUBMITTED),
        fate: Fate::Lands,
        status: 502,
        hits: 0,
        events: [1, 0, 1, 0],
        paid: FAILED,
    },
    Step {
        name: "while the outside holds the answer",
        asks: For::Page,
        held: Held::Outside,
        fate: Fate::Lost,
        status: 502,
        hits: 1,
        events: [1, 0, 1, 0],
        paid: FAILED,
    },
    Step {
        name: "answered, before it is filtered",
        asks: For::Page,
        held: Held::Answer,
        fate: Fate::Lost,
        status: 502,
        hits: 1,
        events: [1, 0, 1, 0],
        paid: FAILED,
    },
    Step {
        name: "filtered, before it is kept",
        asks: For::Page,
        held: Held::Content,
        fate: Fate::Lost,
        status: 502,
        hits: 1,
        events: [1, 0, 1, 0],
        paid: FAILED,
    },
    Step {
        name: "kept, before its end is on record",
        asks: For::Page,
        held: Held::Append(COMPLETED),
        fate: Fate::Lost,
        status: 502,
        hits: 1,
        events: [1, 0, 1, 0],
        paid: FAILED,
    },
    Step {
        name: "its end is on record, before the agent has the answer",
        asks: For::Page,
        held: Held::Append(COMPLETED),
        fate: Fate::Lands,
        status: 200,
        hits: 1,
        events: [1, 1, 0, 0],
        paid: WHOLE,
    },
    Step {
        name: "before a hit is on record",
        asks: For::Cached,
        held: Held::Append(COMPLETED),
        fate: Fate::Lost,
        status: 200,
        hits: 1,
        events: [0, 1, 0, 0],
        paid: 0,
    },
    Step {
        name: "a hit is on record, before the agent has it",
        asks: For::Cached,
        held: Held::Append(COMPLETED),
        fate: Fate::Lands,
        status: 200,
        hits: 1,
        events: [0, 1, 0, 0],
        paid: 0,
    },
    Step {
        name: "before a refusal is on record",
        asks: For::Blocked,
        held: Held::Append(BLOCKED),
        fate: Fate::Lost,
        status: 403,
        hits: 0,
        events: [0, 0, 0, 1],
        paid: 0,
    },
    Step {
        name: "a refusal is on record, before the agent hears it",
        asks: For::Blocked,
        held: Held::Append(BLOCKED),
        fate: Fate::Lands,
        status: 403,
        hits: 0,
        events: [0, 0, 0, 1],
        paid: 0,
    },
];

/// Whoever holds things up in the database.
struct Holder {
    connection: PgConnection,
}

impl Holder {
    async fn new(database: &TestDatabase) -> Self {
        let mut connection = PgConnection::connect(&database.url).await.expect("connect");
        let function = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_advisory_xact_lock(7402); RETURN NEW; END $$";
        connection.execute(function).await.expect("a function that waits");
        Self { connection }
    }

    async fn sql(&mut self, sql: String) {
        self.connection.execute(AssertSqlSafe(sql.as_str())).await.expect("hold it up");
    }

    /// Appends of an event to a stream wait at their commit from now on.
    async fn hold_append(&mut self, stream: &str, kind: u16) {
        self.sql(format!(
            "SELECT pg_advisory_lock(7402);
             CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON log.events
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                WHEN (NEW.stream = '{stream}' AND NEW.kind = {kind}) EXECUTE FUNCTION hold()"
        ))
        .await;
    }

    /// New contents wait from now on.
    async fn hold_content(&mut self) {
        let trigger = "SELECT pg_advisory_lock(7402);
            CREATE TRIGGER hold BEFORE INSERT ON portal.content
                FOR EACH ROW EXECUTE FUNCTION hold()";
        self.sql(trigger.to_owned()).await;
    }

    async fn waiting(&mut self) -> Option<i32> {
        let waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7402
            AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        sqlx::query_scalar(waiting).fetch_optional(&mut self.connection).await.expect("look")
    }

    async fn held(&mut self, what: &str) -> i32 {
        deadline::until(what, async || self.waiting().await.ok_or("nobody waits")).await
    }

    /// Who waits is cut off, or goes on; from now on nobody waits any more.
    async fn let_go(&mut self, backend: i32, fate: Fate, table: &str) {
        if fate == Fate::Lost {
            let cut = sqlx::query("SELECT pg_terminate_backend($1)").bind(backend);
            cut.execute(&mut self.connection).await.expect("cut it off");
            deadline::until("it is cut off", async || {
                let alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1";
                let alive = sqlx::query_scalar::<_, i64>(alive).bind(backend);
                match alive.fetch_one(&mut self.connection).await {
                    Ok(0) => Ok(()),
                    other => Err(other),
                }
            })
            .await;
        }
        // Dropping the trigger waits for whoever goes on with it.
        self.sql(format!("SELECT pg_advisory_unlock(7402); DROP TRIGGER hold ON {table}")).await;
    }
}

/// Asks, and lets nobody wait for the answer that does not come.
fn asking(
    agent: &Agent,
    request: &PortalRequest,
) -> tokio::task::JoinHandle<Result<Answer, String>> {
    let (client, body) = (agent.client.clone(), body(agent, request));
    tokio::spawn(async move { client.send("POST", "/api/web/requests", &[], Some(&body)).await })
}

fn body(agent: &Agent, request: &PortalRequest) -> Value {
    serde_json::to_value(agent.sign(request.clone())).expect("JSON")
}

impl Step {
    /// Has the request come as far as this, and kills the process there.
    async fn strike(
        &self,
        (weir, outside, holder): (Weir, &Outside, &mut Holder),
        agent: &Agent,
        request: &PortalRequest,
    ) {
        let name = self.name;
        let path = format!("/{}", request.id);
        let asked = async |n| {
            deadline::until(name, async || match outside.asked(&path) {
                is if is == n => Ok(()),
                is => Err(is),
            })
            .await;
        };
        let answer = match self.held {
            Held::Append(kind) => {
                let stream = agent_stream(&agent.id, 0).expect("a stream");
                holder.hold_append(stream.as_str(), kind).await;
                let answer = asking(agent, request);
                let backend = holder.held(name).await;
                weir.kill();
                holder.let_go(backend, self.fate, "log.events").await;
                answer
            }
            Held::Content => {
                holder.hold_content().await;
                let answer = asking(agent, request);
                let backend = holder.held(name).await;
                weir.kill();
                holder.let_go(backend, self.fate, "portal.content").await;
                answer
            }
            Held::Outside => {
                outside.hold();
                let answer = asking(agent, request);
                asked(1).await;
                weir.kill();
                answer
            }
            Held::Answer => {
                let gate = outside.hold();
                let answer = asking(agent, request);
                asked(1).await;
                signal(weir.pid(), "STOP");
                gate.add_permits(1);
                deadline::until("it is answered", async || match gate.available_permits() {
                    0 => Ok(()),
                    n => Err(n),
                })
                .await;
                weir.kill();
                answer
            }
        };
        outside.release();
        let answer = answer.await.expect("no panic");
        assert!(answer.is_err(), "{name}: {answer:?}");
    }

    fn url(&self, outside: &Outside, request: &str) -> String {
        match self.asks {
            For::Page => format!("{}/{request}", outside.url),
            For::Cached => format!("{}/cached", outside.url),
            For::Blocked => "https://github.com/".to_owned(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_every_step_leaves_one_record_one_end_and_one_charge() {
    let outside = Outside::start().await;
    let place = place(&outside, ", timeout: 1s").await;
    let database = place.database.as_ref().expect("a test database");
    let mut holder = Holder::new(database).await;
    let mut weir = place.start(Part::Up).await;
    advance(&weir.client, 3).await;
    let warm = Agent::with_spark(&weir.client, "warm", 100).await;
    let now = tick(&weir.client, 1).await;
    warm.get("warm", &format!("{}/cached", outside.url), now).await.has(200);
    let mut asked = Vec::new();
    for step in &STEPS {
        let granted = u64::try_from(GRANTED).expect("a number");
        let agent = Agent::with_spark(&weir.client, step.name, granted).await;
        let mut request = agent.asks(step.name, "", now);
        if step.asks == For::Cached {
            // Until the lease of who was killed is over, nothing is shown from the cache.
            let head = weir.client.get("/api/nexus").await.position();
            weir.client.reaches("cache", head).await;
        }
        request.url = step.url(&outside, &request.id.to_string()).into_bytes().into();
        step.strike((weir, &outside, &mut holder), &agent, &request).await;
        weir = place.start(Part::Up).await;
        asked.push((step, agent, request));
    }
    let admin = weir.client.clone();
    let asked: Vec<_> = asked
        .into_iter()
        .map(|(step, agent, request)| (step, agent.at(&weir.url), request))
        .collect();

    // Until the leases of who was killed are over, nothing is shown from the cache, and all is fetched.
    let head = admin.get("/api/nexus").await.position();
    admin.reaches("cache", head).await;
    // Asked again at once, while some are not settled yet: what it is in the end, or not yet.
    let again = asked.iter().map(async |(step, agent, request)| {
        let answer = agent.send(request.clone()).await;
        let early = code(&answer) == refused(504, "portal_timeout");
        assert!(answer.status == step.status || early, "{}: {answer:?}", step.name);
    });
    join_all(again).await;
    let places: BTreeMap<&str, usize> = BTreeMap::from([
        ("WebRequestSubmitted", 0),
        ("WebRequestCompleted", 1),
        ("WebRequestFailed", 2),
        ("WebRequestBlocked", 3),
    ]);
    for (step, agent, request) in &asked {
        let name = step.name;
        deadline::within(Duration::from_mins(1), name, async || {
            let account = agent.account(&admin).await;
            if account == (GRANTED - step.paid, 0) { Ok(()) } else { Err(account) }
        })
        .await;
        // Twice, and the same each time.
        let first = agent.send(request.clone()).await.expect(step.status);
        let second = agent.send(request.clone()).await;
        let said = |answer: &Answer| {
            let mut said = answer.json();
            // That of the answer, not of the request of the agent.
            said.as_object_mut().map(|said| said.remove("request_id"));
            (answer.status, said)
        };
        assert_eq!(said(&second), said(&first), "{name}");
        let hits = match step.asks {
            For::Cached => outside.asked("/cached"),
            _ => outside.asked(&format!("/{}", request.id)),
        };
        assert_eq!(hits, step.hits, "{name}");
        let mut n_events = [0; 4];
        for (kind, place) in &places {
            let events = all_events(&admin, kind).await.into_iter();
            n_events[*place] = events.filter(|event| is_of(event, request)).count();
        }
        assert_eq!(n_events, step.events, "{name}");
        let charged = all_events(&admin, "SparkTransferred").await.into_iter();
        let charged = charged.filter(|event| event["payload"]["from"] == agent.id.to_string());
        assert_eq!(charged.count(), usize::from(step.paid > 0), "{name}");
        assert_eq!(agent.account(&admin).await, (GRANTED - step.paid, 0), "{name}");
        let head = admin.get("/api/nexus").await.position();
        let path = format!("/api/web/requests?agent={}&min_position={head}", agent.id);
        let listed = admin.get(&path).await.expect(200).json();
        let rows = listed["requests"].as_array().expect("rows");
        let [row] = &rows[..] else { panic!("{name}: {rows:?}") };
        let spark = row["spark_cost"].as_i64().expect("a cost");
        let tax = row["tax"].as_i64().expect("a tax");
        assert_eq!(spark + tax, step.paid, "{name}: {row}");
    }
    agree(&place, database, &admin).await;
    weir.stop().await;
}

/// Whether an event is about a request.
fn is_of(event: &Value, request: &PortalRequest) -> bool {
    let asked = &event["payload"]["asked"];
    asked["request"] == request.id.to_string() && asked["agent"] == request.agent.to_string()
}

/// All events of a kind, however many.
pub(super) async fn all_events(admin: &Client, kind: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/api/events?kind={kind}&after={after}&limit=1000");
        let page = admin.get(&path).await.expect(200).json();
        let events = page["events"].as_array().expect("events");
        let Some(last) = events.last() else { return all };
        after = last["position"].as_i64().expect("a position");
        all.extend(events.iter().cloned());
    }
}

/// The read models are what a replay gives, the counters what a recount gives.
async fn agree(place: &Place, database: &TestDatabase, admin: &Client) {
    let head = admin.get("/api/nexus").await.position();
    for name in READ_MODELS {
        admin.reaches(name, head).await;
        let checked = place.run(&["replay", name, "--check", "--database-url", &database.url]);
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{name}: {said}");
    }
    let mut connection = PgConnection::connect(&database.url).await.expect("connect");
    for recount in RECOUNTED {
        let wrong: i64 =
            sqlx::query_scalar(recount).fetch_one(&mut connection).await.expect("count");
        assert_eq!(wrong, 0, "{recount}");
    }
}

/// Sends a request, to one instance and the other, until it has an end.
async fn insist(client: &Client, urls: &[String; 2], nth: usize, body: &Value) -> u16 {
    let start = Instant::now();
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    for attempt in nth.. {
        pause.tick().await;
        let client = client.at(&urls[attempt % 2]);
        let instead = match client.send("POST", "/api/web/requests", &[], Some(body)).await {
            Ok(answer) if matches!(answer.status, 200 | 403 | 502) => return answer.status,
            Ok(answer) => answer.body,
            Err(broken) => broken,
        };
        assert!(start.elapsed() < deadline::PATIENCE * 2, "no end: {instead}");
    }
    unreachable!("it is tried for ever")
}

/// Asks for one page after another, each until it has an end, at whichever instance answers. Answers
/// what each request came to.
async fn load(
    agent: Agent,
    urls: [String; 2],
    (website, now): (String, u64),
    stop: Arc<AtomicBool>,
) -> BTreeMap<String, u16> {
    let mut ends = BTreeMap::new();
    for n in 0_usize.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let mut request = agent.asks(&format!("{} {n}", agent.id), "", now);
        let url = match n % 7 {
            3 => format!("{website}/cached"),
            5 => "https://github.com/".to_owned(),
            _ => format!("{website}/{}", request.id),
        };
        request.url = url.into_bytes().into();
        let body = body(&agent, &request);
        let status = insist(&agent.client, &urls, n, &body).await;
        ends.insert(request.id.to_string(), status);
    }
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_killed_at_random_under_load_charge_what_they_recorded() {
    let rounds = if long() { 200 } else { 50 };
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100000, timeout: 2s").await;
    let database = place.database.as_ref().expect("a test database");
    let mut instances = [place.start(Part::Up).await, place.start(Part::Api).await].map(Some);
    let urls = [0, 1].map(|nth: usize| instances[nth].as_ref().expect("it runs").url.clone());
    let admin = instances[0].as_ref().expect("it runs").client.clone();
    // So that nobody's quota is used up.
    // A quota that nobody reaches; an epoch advances by 100 at most.
    for epoch in (100..=2_000).step_by(100) {
        advance(&admin, epoch).await;
    }
    let now = tick(&admin, 1).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut agents = Vec::new();
    let mut loads = Vec::new();
    for name in ["ann", "bob", "cyd", "dan", "eve", "fay"] {
        let agent = Agent::with_spark(&admin, name, 1_000_000).await;
        agents.push(agent.clone());
        let asking = load(agent, urls.clone(), (outside.url.clone(), now), Arc::clone(&stop));
        loads.push(tokio::spawn(asking));
    }
    for round in 0..rounds {
        let before = outside.n_asked();
        deadline::until(&format!("progress in round {round}"), async || {
            let now = outside.n_asked();
            if now > before + 3 { Ok(()) } else { Err(now) }
        })
        .await;
        // Not in step with anything.
        let jitter = Duration::from_micros(u64::from(rand::random::<u16>()));
        tokio::time::timeout(jitter, std::future::pending::<()>()).await.expect_err("jitter");
        let nth = usize::from(rand::random::<bool>());
        drop(instances[nth].take());
        let listen = urls[nth].trim_start_matches("http://");
        let part = [Part::Up, Part::Api][nth];
        instances[nth] = Some(place.start_at(part, listen).await);
    }
    stop.store(true, Ordering::SeqCst);
    let mut told = BTreeMap::new();
    for load in loads {
        told.extend(load.await.expect("the load ends"));
    }
    for agent in &agents {
        deadline::within(Duration::from_mins(1), "all is settled", async || {
            let account = agent.account(&admin).await;
            if account.1 == 0 { Ok(()) } else { Err(account) }
        })
        .await;
    }
    accounted(&admin, &agents, &outside, &told).await;
    agree(&place, database, &admin).await;
    println!("{rounds} rounds, {} requests, {} fetches", told.len(), outside.n_asked());
    drop(instances);
}

/// From the log alone: each request has one end, each that was admitted paid what its end says, once.
async fn accounted(
    admin: &Client,
    agents: &[Agent],
    outside: &Outside,
    told: &BTreeMap<String, u16>,
) {
    let text = |event: &Value, key: &str| {
        event["payload"]["asked"][key].as_str().expect("asked").to_owned()
    };
    let number = |value: &Value| value.as_i64().expect("a number");
    let submitted = all_events(admin, "WebRequestSubmitted").await;
    let admitted: BTreeSet<String> = submitted.iter().map(|it| text(it, "request")).collect();
    assert_eq!(admitted.len(), submitted.len(), "admitted twice");
    let (mut ends, mut owed) = (BTreeMap::new(), BTreeMap::<String, i64>::new());
    for (kind, status) in
        [("WebRequestCompleted", 200), ("WebRequestFailed", 502), ("WebRequestBlocked", 403)]
    {
        for event in all_events(admin, kind).await {
            let payload = &event["payload"];
            let before = ends.insert(text(&event, "request"), status);
            assert_eq!(before, None, "two ends: {event}");
            *owed.entry(text(&event, "agent")).or_default() +=
                number(&payload["cost"]["spark"]) + number(&payload["tax"]);
        }
    }
    assert_eq!(&ends, told, "each agent was told what is on record");
    assert!(admitted.iter().all(|request| ends.contains_key(request)));
    let (mut transfers, mut paid) = (BTreeSet::new(), BTreeMap::<String, i64>::new());
    for event in all_events(admin, "SparkTransferred").await {
        let payload = &event["payload"];
        let transfer = payload["transfer"].as_str().expect("a transfer").to_owned();
        assert!(transfers.insert(transfer), "charged twice: {event}");
        let from = payload["from"].as_str().expect("an account").to_owned();
        *paid.entry(from).or_default() += number(&payload["amount"]) + number(&payload["tax"]);
    }
    assert_eq!(paid, owed);
    for agent in agents {
        assert_eq!(agent.account(admin).await, (1_000_000 - paid[&agent.id.to_string()], 0));
    }
    for request in told.keys() {
        let hits = outside.asked(&format!("/{request}"));
        assert!(hits <= usize::from(admitted.contains(request)), "{request}: {hits}");
    }
}
