//! The read models of `access`.

use weir_events::{
    access::{self, AgentRegistered, AgentRevoked, TokenIssued, TokenRevoked},
    timestamp::Timestamp,
    web::request::{AgentId, PublicKey},
};
use weir_projections::access::{agents, api_tokens};

use super::{all_reach, append, stage};

#[tokio::test]
async fn tokens_are_listed_with_their_scopes_and_their_end() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let issued = |id: &str, scopes: &[&str]| TokenIssued {
        token_id: id.to_owned(),
        name: format!("token {id}"),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        expires_at: (id == "b").then_some(Timestamp::from_micros(9_000_000)),
        profile: (id == "b").then(|| "agent".to_owned()),
        agent: (id == "b").then(|| AgentId::new([7; 32])),
    };
    let events: [access::Event; 4] = [
        issued("a", &["admin", "an odd \"scope\""]).into(),
        issued("b", &["rules:read"]).into(),
        TokenRevoked { token_id: "a".to_owned() }.into(),
        issued("c", &[]).into(),
    ];
    let last = append(&stage, "access/token/any", &events).await;
    all_reach(&stage, last).await;
    let tokens = api_tokens::list(database, None, 10).await.expect("rows");
    let ids: Vec<_> = tokens.iter().map(|t| (t.id.as_str(), t.revoked_at.is_some())).collect();
    assert_eq!(ids, [("c", false), ("b", false), ("a", true)]);
    assert_eq!(tokens[2].scopes, ["admin", "an odd \"scope\""]);
    assert_eq!(
        (tokens[0].scopes.len(), tokens[1].expires_at.map(Timestamp::micros)),
        (0, Some(9_000_000))
    );
    let found = api_tokens::find(database, "b").await.expect("an answer").expect("a token");
    assert_eq!((found.name.as_str(), found.issued_by.as_str()), ("token b", "tester"));
    assert_eq!(found.profile.as_deref(), Some("agent"));
    assert_eq!(found.agent, Some("07".repeat(32)));
    assert_eq!(tokens[0].agent, None);
    assert_eq!(api_tokens::find(database, "d").await.expect("an answer"), None);
    worker.stop().await;
}

#[tokio::test]
async fn agents_are_listed_with_their_keys_and_who_revoked_them() {
    let (stage, worker) = stage().await;
    let database = stage.log.log.database();
    let agent = |n: u8| AgentId::of_key(&PublicKey::new([n; 32]));
    let registered = |n: u8| {
        let (name, public_key) = (format!("agent {n}"), PublicKey::new([n; 32]));
        access::Event::from(AgentRegistered { agent: agent(n), name, public_key })
    };
    let revoked = |n: u8| access::Event::from(AgentRevoked { agent: agent(n) });
    let events = [registered(1), registered(2), revoked(1), registered(3), revoked(1)];
    let last = append(&stage, "access/agent/any", &events).await;
    all_reach(&stage, last).await;
    let agents = agents::list(database, None, 10).await.expect("rows");
    let told: Vec<_> = agents.iter().map(|a| (a.name.as_str(), a.revoked_at.is_some())).collect();
    assert_eq!(told, [("agent 3", false), ("agent 2", false), ("agent 1", true)]);
    let next = agents::list(database, Some(agents[1].position), 10).await.expect("rows");
    assert_eq!(next, agents[2..]);
    let found = agents::find(database, &agent(1)).await.expect("an answer").expect("an agent");
    assert_eq!((found.id, found.public_key), (agent(1).to_string(), "01".repeat(32)));
    assert_eq!((found.registered_by, found.revoked_by), ("tester".into(), Some("tester".into())));
    assert_eq!(agents::find(database, &agent(4)).await.expect("an answer"), None);
    worker.stop().await;
}
