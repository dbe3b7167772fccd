//! An agent with a key of its own, as the web gateway knows it.

use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};
use weir_events::web::{
    content::ContentFilter,
    request::{AgentId, Hash256, HttpMethod, PortalRequest, PublicKey, Signature},
};

use crate::weir::{Answer, Client};

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    key: SigningKey,
    /// What it is known by.
    pub id: AgentId,
    /// A client with its own token.
    pub client: Client,
    /// That token.
    pub token: String,
}

impl Agent {
    /// Registers an agent with a name of its own, and has a token issued for it.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn register(admin: &Client, name: &str) -> Self {
        let key = SigningKey::from_bytes(Hash256::of(&[name.as_bytes()]).as_bytes());
        let public = key.verifying_key().to_bytes();
        let id = AgentId::of_key(&PublicKey::new(public));
        let body = json!({"name": name, "public_key": hex::encode(public)});
        admin.post("/api/access/agents", &body).await.has(201);
        let token = json!({"name": name, "scopes": ["web:fetch"], "agent": id});
        let issued = admin.post("/api/tokens", &token).await.expect(201).json();
        let secret = issued["secret"].as_str().expect("a secret").to_owned();
        Self { key, id, client: admin.with_token(Some(&secret)), token: secret }
    }

    /// Registers one, and gives it spark.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn with_spark(admin: &Client, name: &str, amount: u64) -> Self {
        let agent = Self::register(admin, name).await;
        agent.grant(admin, amount).await;
        agent
    }

    /// The same agent at another instance.
    #[must_use]
    pub fn at(&self, url: &str) -> Self {
        Self { client: self.client.at(url), ..self.clone() }
    }

    /// The same agent with another token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        let (client, token) = (self.client.with_token(Some(token)), token.to_owned());
        Self { client, token, ..self.clone() }
    }

    /// The secret bytes of its key, in hexadecimal digits.
    pub fn secret_key(&self) -> String {
        hex::encode(self.key.to_bytes())
    }

    /// Gives it spark.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn grant(&self, admin: &Client, amount: u64) {
        let body = json!({"account": self.id, "amount": amount, "reason": "for a test"});
        admin.post("/api/mint/grants", &body).await.has(201);
    }

    /// A request, not signed yet. Requests of one agent with one seed are the same.
    pub fn asks(&self, seed: &str, url: &str, tick: u64) -> PortalRequest {
        PortalRequest {
            id: Hash256::of(&[seed.as_bytes()]),
            agent: self.id,
            url: url.as_bytes().to_vec().into(),
            method: HttpMethod::Get,
            headers: [].into(),
            body: None,
            filter: ContentFilter::default(),
            purpose: "to see whether it works".to_owned(),
            tick,
            signature: Signature::new([0; 64]),
        }
    }

    /// The same, signed.
    ///
    /// # Panics
    /// When it has no canonical bytes.
    pub fn sign(&self, mut request: PortalRequest) -> PortalRequest {
        let bytes = request.canonical_bytes().expect("canonical bytes");
        request.signature = Signature::new(self.key.sign(&bytes).to_bytes());
        request
    }

    /// Sends a request.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn send(&self, request: PortalRequest) -> Answer {
        let body: Value = serde_json::to_value(self.sign(request)).expect("JSON");
        self.client.post("/api/web/requests", &body).await
    }

    /// Fetches a page.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn get(&self, seed: &str, url: &str, tick: u64) -> Answer {
        self.send(self.asks(seed, url, tick)).await
    }

    /// What its account has, and what of it is set aside.
    ///
    /// # Panics
    /// When it has none.
    pub async fn account(&self, admin: &Client) -> (i64, i64) {
        let path = format!("/api/mint/accounts/{}?min_position=head", self.id);
        let account = admin.get(&path).await.expect(200).json();
        let number = |key: &str| account[key].as_i64().expect(key);
        (number("balance"), number("reserved"))
    }
}
