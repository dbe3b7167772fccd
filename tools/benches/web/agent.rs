//! An agent with a key of its own, whose requests are signed before anything is measured.

use std::net::SocketAddr;

use ed25519_dalek::SigningKey;
use reqwest::Client;
use serde_json::json;
use weir_events::web::{
    content::ContentFilter,
    request::{AgentId, Hash256, HttpMethod, PortalRequest, PublicKey, Signature},
};
use weir_processors::web::signature::sign;

use crate::{Fault, instance::Instance};

/// More spark than is spent here.
const SPARK: u64 = 1_000_000;

/// An agent.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    key: SigningKey,
    pub(super) id: AgentId,
    token: String,
}

impl Agent {
    /// One that nobody knows yet.
    pub(super) fn new(name: &str) -> Self {
        let key = SigningKey::from_bytes(Hash256::of(&[name.as_bytes()]).as_bytes());
        let id = AgentId::of_key(&PublicKey::new(key.verifying_key().to_bytes()));
        Self { key, id, token: String::new() }
    }

    /// One that is registered, with a token of its own and spark.
    pub(super) async fn register(
        instance: &Instance,
        client: &Client,
        name: &str,
    ) -> Result<Self, Fault> {
        let agent = Self::new(name);
        let public_key = hex::encode(agent.public_key().as_bytes());
        let body = json!({"name": name, "public_key": public_key});
        instance.post(client, "api/access/agents", &body).await?;
        let body = json!({"account": agent.id, "amount": SPARK, "reason": "measured"});
        instance.post(client, "api/mint/grants", &body).await?;
        let body = json!({"name": name, "scopes": ["web:fetch"], "agent": agent.id});
        let issued = instance.post(client, "api/tokens", &body).await?;
        let token = issued.get("secret").and_then(|secret| secret.as_str());
        Ok(Self { token: token.ok_or("a token without a secret")?.to_owned(), ..agent })
    }

    /// Its key, for everybody.
    pub(super) fn public_key(&self) -> PublicKey {
        PublicKey::new(self.key.verifying_key().to_bytes())
    }

    /// A request that it has signed. Each has an id of its own.
    pub(super) fn request(&self, url: &str, tick: u64) -> Result<PortalRequest, Fault> {
        let request = PortalRequest {
            id: Hash256::new(rand::random()),
            agent: self.id,
            url: url.as_bytes().to_vec().into(),
            method: HttpMethod::Get,
            headers: [].into(),
            body: None,
            filter: ContentFilter::default(),
            purpose: "to see how long it takes".to_owned(),
            tick,
            signature: Signature::new([0; 64]),
        };
        Ok(sign(request, &self.key)?)
    }

    /// The same, as it is sent to a gateway.
    pub(super) fn sent(&self, server: SocketAddr, url: &str, tick: u64) -> Result<Vec<u8>, Fault> {
        let body = serde_json::to_string(&self.request(url, tick)?)?;
        let head = format!(
            "POST /api/web/requests HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        Ok((head + &body).into_bytes())
    }
}
