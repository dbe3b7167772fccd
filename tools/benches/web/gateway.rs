//! A gateway in a process of its own, with an outside in this one and agents that may ask for it.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use bytes::Bytes;
use reqwest::Client;
use serde_json::json;

use super::{agent::Agent, corpus::of_64_kib};
use crate::{
    Fault,
    http::client,
    instance::Instance,
    options::Options,
    origin::{Content, Origin},
    server::Setup,
};

/// Agents, each of which has a connection.
pub(super) const N_AGENTS: usize = 8;
/// How far the epoch may be advanced at once: an agent has 199 requests in a cycle then.
const EPOCH: u32 = 100;
/// How long it may take until the clock runs.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// The gateway, and who asks it for what.
pub(super) struct Gateway {
    pub(super) instance: Instance,
    pub(super) origin: Origin,
    pub(super) agents: Vec<Agent>,
    /// What requests are signed with.
    pub(super) tick: u64,
    pub(super) client: Client,
}

impl Gateway {
    /// Starts all of it. The outside has a documentation page of 64 KiB.
    pub(super) async fn start(options: &Options, name: &str) -> Result<Self, Fault> {
        let page = of_64_kib(options, 1)?.pop().ok_or("there is no page")?;
        let page = Content::Of { kind: "text/html; charset=utf-8", body: Bytes::from(page) };
        let origin = Origin::start(HashMap::from([("/page".to_owned(), page)])).await?;
        std::fs::create_dir_all(&options.scratch)?;
        let config = options.scratch.join(format!("{name}.yaml"));
        let settings = format!(
            "sources:\n  osv:\n    enabled: false\n  openssf:\n    enabled: false\n\
             nexus:\n  ticks_per_cycle: 1000000\n\
             web:\n  allow_private: [127.0.0.0/8]\n  ports: [80, 443, {}]\n  \
             default_action: allow\n  requests_per_tick: 100000\n",
            origin.address.port()
        );
        std::fs::write(&config, settings)?;
        let setup = Setup { part: "up", variables: &[], config: Some(config) };
        let (instance, client) = (Instance::start(options, name, &setup).await?, client()?);
        let tick = running(&instance, &client).await?;
        let body = json!({"epoch": EPOCH, "reason": "measured"});
        instance.post(&client, "api/nexus/epoch", &body).await?;
        let mut agents = Vec::new();
        for nth in 0..N_AGENTS {
            agents.push(Agent::register(&instance, &client, &format!("agent-{nth}")).await?);
        }
        Ok(Self { instance, origin, agents, tick, client })
    }

    /// The address of the page. What stands behind the `?` makes it another one to whoever caches it.
    pub(super) fn page(&self, query: &str) -> String {
        format!("http://{}/page?{query}", self.origin.address)
    }

    /// What an agent sends to have a page.
    pub(super) fn sent(&self, agent: &Agent, url: &str) -> Result<Vec<u8>, Fault> {
        agent.sent(self.instance.server.address(), url, self.tick)
    }

    pub(super) async fn stop(self) -> Result<(), Fault> {
        self.instance.stop().await
    }
}

/// Waits until the world's clock runs; the tick it shows.
async fn running(instance: &Instance, client: &Client) -> Result<u64, Fault> {
    let began = Instant::now();
    loop {
        let now = instance.get(client, "api/nexus").await?;
        if now.get("clock").is_some_and(serde_json::Value::is_string) {
            let tick = now.get("tick").and_then(serde_json::Value::as_u64);
            return Ok(tick.ok_or("a clock without a tick")?);
        }
        if began.elapsed() > PATIENCE {
            return Err("the clock does not run".into());
        }
        tokio::time::sleep(LOOK).await;
    }
}
