//! A Weir on a database of its own, with its first admin.

use std::sync::Arc;

use reqwest::{Client, header::CONTENT_TYPE};
use serde_json::Value;
use weir_processors::{clock::SystemClock, door::Door};

use crate::{
    Fault,
    database::Scratch,
    log::admin,
    options::Options,
    server::{Server, Setup},
};

/// A Weir on a database of its own.
pub(crate) struct Instance {
    pub(crate) server: Server,
    scratch: Scratch,
    /// The first admin's token.
    pub(crate) token: String,
}

impl Instance {
    /// Starts it, and waits until it answers.
    pub(crate) async fn start(
        options: &Options,
        name: &str,
        setup: &Setup<'_>,
    ) -> Result<Self, Fault> {
        let scratch = Scratch::migrated(&options.database, name).await?;
        let open = scratch.log().await?;
        let token = admin(&Door::new(open.log.clone(), Arc::new(SystemClock))).await?;
        open.close().await;
        let mut server = Server::start_as(options, &scratch, setup)?;
        drop(server.client(&token).await?);
        Ok(Self { server, scratch, token })
    }

    /// The address of something it serves.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.server.address())
    }

    /// Asks it for something, as its admin.
    pub(crate) async fn get(&self, client: &Client, path: &str) -> Result<Value, Fault> {
        let answer = client.get(self.url(path)).bearer_auth(&self.token).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            return Err(format!("{path}: {status}: {text}").into());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Tells it something, as its admin; what it says to that.
    pub(crate) async fn post(
        &self,
        client: &Client,
        path: &str,
        body: &Value,
    ) -> Result<Value, Fault> {
        let request = client.post(self.url(path)).bearer_auth(&self.token);
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            return Err(format!("{path}: {status}: {text}").into());
        }
        Ok(serde_json::from_str(&text)?)
    }

    pub(crate) async fn stop(self) -> Result<(), Fault> {
        self.server.stop().await?;
        self.scratch.discard().await
    }
}
