//! Kill -9 at every step of the road of a request.
//!
//! What the process does is held up from outside of it: by a website that does not answer, and by a
//! trigger in Postgres that has the append, or the content, wait for the test.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use serde_json::Value;
use weir_events::web::{agent_stream, request::PortalRequest};
use weir_tests::{
    agent::Agent,
    deadline,
    outside::Outside,
    weir::{Answer, Part, Weir, signal},
};

use super::{
    super::portal::{advance, code, place, refused, tick},
    agree, all_events, body,
    holder::{Fate, Holder},
};

/// What an agent begins with.
const GRANTED: i64 = 1_000;
/// What a failed and a whole GET cost, with their tax.
const FAILED: i64 = 2;
const WHOLE: i64 = 3;

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

/// Asks, and lets nobody wait for the answer that does not come.
fn asking(
    agent: &Agent,
    request: &PortalRequest,
) -> tokio::task::JoinHandle<Result<Answer, String>> {
    let (client, body) = (agent.client.clone(), body(agent, request));
    tokio::spawn(async move { client.send("POST", "/api/web/requests", &[], Some(&body)).await })
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
        let path = format!("/api/web/requests?agent={}&min_position=head", agent.id);
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
