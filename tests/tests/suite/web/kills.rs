//! Kill -9 at every step of the road of a request ([`steps`]), and at random ([`rounds`]): nothing is
//! fetched without a record, charged twice or left open, and the same request asked again has one end.

pub(super) mod holder;
mod rounds;
mod steps;

use serde_json::Value;
use sqlx::{Connection, PgConnection};
use weir_events::web::request::PortalRequest;
use weir_tests::{
    agent::Agent,
    database::TestDatabase,
    weir::{Client, Place},
};

use super::read_models::counters::RECOUNTED;

/// The read models of a request.
const READ_MODELS: [&str; 4] = ["request_log", "cache", "reports", "accounts"];

fn body(agent: &Agent, request: &PortalRequest) -> Value {
    serde_json::to_value(agent.sign(request.clone())).expect("JSON")
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
