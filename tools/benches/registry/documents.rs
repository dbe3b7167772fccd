//! The documents that are asked for, and how they are.

use std::time::{Duration, Instant};

use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, ETAG, IF_NONE_MATCH},
};
use tokio::task::JoinSet;

use crate::{Fault, processes::processor};

/// Requests that are under way at once.
const N_CONNECTIONS: usize = 4;

/// A form of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// In notes.
    pub(super) name: &'static str,
    /// What a client says it takes.
    pub(super) accept: &'static str,
}

/// A document, by where each server has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document {
    pub(super) package: &'static str,
    pub(super) ecosystem: &'static str,
    /// Below Weir.
    pub(super) path: &'static str,
    pub(super) forms: &'static [Form],
    /// The versions that a rule leaves out.
    pub(super) filtered: &'static str,
}

const NPM: &[Form] = &[
    Form { name: "full", accept: "application/json" },
    Form { name: "abbreviated", accept: "application/vnd.npm.install-v1+json" },
];
const PYPI: &[Form] = &[
    Form { name: "JSON", accept: "application/vnd.pypi.simple.v1+json" },
    Form { name: "HTML", accept: "text/html" },
];
const CARGO: &[Form] = &[Form { name: "index", accept: "*/*" }];

pub(super) const REACT: Document = Document {
    package: "react",
    ecosystem: "npm",
    path: "npm/react",
    forms: NPM,
    filtered: "16.0.0",
};
pub(super) const NUMPY: Document = Document {
    package: "numpy",
    ecosystem: "pypi",
    path: "pypi/simple/numpy/",
    forms: PYPI,
    filtered: "==1.26.0",
};
pub(super) const SERDE: Document = Document {
    package: "serde",
    ecosystem: "cargo",
    path: "cargo/se/rd/serde",
    forms: CARGO,
    filtered: "=1.0.100",
};
pub(super) const SIX: Document = Document {
    package: "six",
    ecosystem: "pypi",
    path: "pypi/simple/six/",
    forms: PYPI,
    filtered: "==1.16.0",
};

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) client: Client,
    pub(super) url: String,
    pub(super) accept: &'static str,
    /// What the client has already.
    pub(super) tag: Option<String>,
}

impl Request {
    pub(super) fn new(client: &Client, url: String, accept: &'static str) -> Self {
        Self { client: client.clone(), url, accept, tag: None }
    }

    /// The same, of a client that has what it got the last time.
    pub(super) fn with_tag(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    async fn send(&self) -> Result<Response, Fault> {
        let request = self.client.get(&self.url).header(ACCEPT, self.accept);
        let request = request.header(ACCEPT_ENCODING, "identity");
        let request = match &self.tag {
            Some(tag) => request.header(IF_NONE_MATCH, tag),
            None => request,
        };
        let answer = request.send().await?;
        let expected = answer.status() == StatusCode::OK
            || (self.tag.is_some() && answer.status() == StatusCode::NOT_MODIFIED);
        if expected { Ok(answer) } else { Err(format!("{}: {}", self.url, answer.status()).into()) }
    }

    /// Reads the answer to its end; how many bytes it has.
    pub(super) async fn read(&self) -> Result<usize, Fault> {
        let mut answer = self.send().await?;
        let mut n = 0;
        while let Some(chunk) = answer.chunk().await? {
            n += chunk.len();
        }
        Ok(n)
    }

    /// The whole answer.
    pub(super) async fn text(&self) -> Result<String, Fault> {
        Ok(self.send().await?.text().await?)
    }

    /// The tag of the answer.
    pub(super) async fn etag(&self) -> Result<String, Fault> {
        let answer = self.send().await?;
        let tag = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        // To its end, so that the connection serves again.
        answer.bytes().await?;
        tag.ok_or_else(|| format!("{}: no tag", self.url).into())
    }

    /// Asks again and again for a while; milliseconds of processor time that a process and its
    /// children had for each.
    pub(super) async fn cost(&self, pid: u32, span: Duration) -> Result<f64, Fault> {
        let (began, before) = (Instant::now(), processor(pid)?);
        let mut asking = JoinSet::new();
        for _ in 0..N_CONNECTIONS {
            let request = self.clone();
            asking.spawn(async move {
                let mut n = 0_u32;
                while n == 0 || began.elapsed() < span {
                    request.read().await?;
                    n += 1;
                }
                Ok::<_, Fault>(n)
            });
        }
        let mut n_answers = 0;
        while let Some(asked) = asking.join_next().await {
            n_answers += asked??;
        }
        Ok((processor(pid)? - before) * 1_000.0 / f64::from(n_answers))
    }
}
