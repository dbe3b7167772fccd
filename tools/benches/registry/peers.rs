//! What Weir is measured against, as each of them is usually run. They stand in front of the same
//! registries; nginx stands in front of Weir, and so keeps the very bytes that Weir gave.

use std::{fs, net::SocketAddr, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::header::{CONTENT_TYPE, HeaderName};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{
    documents::Document,
    upstreams::{Upstreams, known},
};
use crate::{
    Fault,
    caches::{installed, nginx},
    http::client,
    options::Options,
    processes::{Program, free_address},
};

/// One of them, running.
#[derive(Debug)]
pub(super) struct Peer {
    kind: &'static str,
    program: Program,
    /// Whether it gives what Weir gives, byte for byte.
    pub(super) same_bytes: bool,
}

impl Peer {
    /// Starts it in a folder of its own.
    pub(super) async fn start(
        options: &Options,
        kind: &'static str,
        weir: &str,
        upstreams: Result<&Upstreams, &String>,
    ) -> Result<Self, Fault> {
        let (folder, address) = (options.scratch.join(kind), free_address()?);
        fs::create_dir_all(&folder)?;
        let upstreams = known(upstreams)?;
        let command = match kind {
            "nginx" => nginx(&folder, address, weir)?,
            "verdaccio" => verdaccio(&options.peers, &folder, address, &upstreams.of("npm")?)?,
            "proxpi" => proxpi(&options.peers, &folder, address, &upstreams.of("pypi")?)?,
            _ => devpi(&options.peers, &folder, address).await?,
        };
        let program = Program::start(kind, command, address, &folder).await?;
        if kind == "devpi" {
            mirror(address, &upstreams.of("pypi")?).await?;
        }
        Ok(Self { kind, program, same_bytes: kind == "nginx" })
    }

    /// Where it has a document.
    pub(super) fn url(&self, document: &Document) -> String {
        let path = match self.kind {
            "nginx" => document.path.to_owned(),
            "verdaccio" => document.package.to_owned(),
            "proxpi" => format!("index/{}/", document.package),
            _ => format!("root/pypi/+simple/{}/", document.package),
        };
        format!("http://{}/{path}", self.program.address())
    }

    pub(super) fn pid(&self) -> Result<u32, Fault> {
        self.program.pid()
    }

    pub(super) async fn stop(self) -> Result<(), Fault> {
        self.program.stop().await
    }
}

fn verdaccio(
    peers: &Path,
    folder: &Path,
    address: SocketAddr,
    upstream: &str,
) -> Result<Command, Fault> {
    let script =
        installed(peers.join("verdaccio/node_modules/verdaccio/bin/verdaccio"), "Verdaccio")?;
    // YAML has JSON within.
    let config = json!({
        "storage": folder.join("storage"),
        "uplinks": {"upstream": {"url": upstream, "maxage": "1h"}},
        "packages": {"**": {"access": "$all", "proxy": "upstream"}},
        "log": {"type": "stdout", "format": "json", "level": "error"},
    });
    let file = folder.join("config.yaml");
    fs::write(&file, config.to_string())?;
    let mut command = Command::new("node");
    command.arg(script).arg("--config").arg(file).arg("--listen").arg(address.to_string());
    command.current_dir(folder);
    Ok(command)
}

fn proxpi(
    peers: &Path,
    folder: &Path,
    address: SocketAddr,
    upstream: &str,
) -> Result<Command, Fault> {
    let server = installed(peers.join("python/bin/gunicorn"), "proxpi")?;
    let mut command = Command::new(server);
    // As its own image runs it.
    command
        .args(["--preload", "--workers", "1", "--threads", "2", "--bind", &address.to_string()])
        .arg("proxpi.server:app")
        .env("PROXPI_INDEX_URL", format!("{upstream}/"))
        .env("PROXPI_INDEX_TTL", "3600")
        .env("PROXPI_CACHE_DIR", folder.join("files"))
        .current_dir(folder);
    roots(&mut command);
    Ok(command)
}

async fn devpi(peers: &Path, folder: &Path, address: SocketAddr) -> Result<Command, Fault> {
    let (init, server) =
        (peers.join("python/bin/devpi-init"), peers.join("python/bin/devpi-server"));
    let (init, server) = (installed(init, "devpi")?, installed(server, "devpi")?);
    let data = folder.join("data");
    let mut first = Command::new(init);
    first.arg("--serverdir").arg(&data).arg("--no-root-pypi").args(["--root-passwd", ""]);
    let output = first.output().await?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut command = Command::new(server);
    command.arg("--serverdir").arg(data).args(["--host", &address.ip().to_string()]);
    command.args(["--port", &address.port().to_string()]);
    roots(&mut command);
    Ok(command)
}

/// Python's clients know the machine's roots by another name.
fn roots(command: &mut Command) {
    let bundle = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if bundle.exists() {
        command.env("REQUESTS_CA_BUNDLE", bundle).env("SSL_CERT_FILE", bundle);
    }
}

/// Makes the index of devpi that stands in front of the upstream.
async fn mirror(address: SocketAddr, upstream: &str) -> Result<(), Fault> {
    let client = client()?;
    let login = json!({"user": "root", "password": ""}).to_string();
    let request = client.post(format!("http://{address}/+login"));
    let request = request.header(CONTENT_TYPE, "application/json").body(login);
    let answer: Value = serde_json::from_str(&request.send().await?.text().await?)?;
    let password = answer.pointer("/result/password").and_then(Value::as_str);
    let password = password.ok_or_else(|| format!("devpi lets nobody in: {answer}"))?;
    let index = json!({"type": "mirror", "mirror_url": format!("{upstream}/"), "volatile": true});
    let request = client.put(format!("http://{address}/root/pypi"));
    let credentials = BASE64_STANDARD.encode(format!("root:{password}"));
    let request = request.header(HeaderName::from_static("x-devpi-auth"), credentials);
    let request = request.header(CONTENT_TYPE, "application/json").body(index.to_string());
    let answer = request.send().await?;
    if !answer.status().is_success() {
        return Err(format!("devpi makes no mirror: {}", answer.text().await?).into());
    }
    Ok(())
}
