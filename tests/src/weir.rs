//! Weir as a user runs it: the built binary in processes of its own, spoken to over HTTP.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    database::{TestDatabase, weir_binary},
    deadline::{self, PATIENCE},
};

/// Which part of Weir a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    Up,
    /// The API alone.
    Api,
    /// The worker alone.
    Worker,
}

/// A place for one Weir's data and configuration.
#[derive(Debug)]
pub struct Place {
    folder: tempfile::TempDir,
    /// The database, where it is not a private one.
    pub database: Option<TestDatabase>,
    /// More lines of configuration.
    settings: String,
}

impl Place {
    /// A place on a test database of the shared cluster.
    pub async fn on_a_test_database() -> Self {
        let mut place = Self::with_a_private_postgres();
        place.database = Some(TestDatabase::create().await);
        place
    }

    /// A place where `weir up` starts a Postgres of its own.
    ///
    /// # Panics
    /// When no folder can be made.
    pub fn with_a_private_postgres() -> Self {
        let folder = tempfile::Builder::new().prefix("weir-test-").tempdir_in("/var/tmp");
        let folder = folder.expect("a place");
        // The private Postgres runs as another user, who must be able to pass.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open it");
        Self { folder, database: None, settings: String::new() }
    }

    /// The same, with an upstream for Python packages.
    #[must_use]
    pub fn upstream(mut self, url: &str) -> Self {
        self.settings += "registries:\n  pypi:\n    upstream: ";
        self.settings += url;
        self.settings += "\n";
        self
    }

    /// The same, with more lines of configuration.
    #[must_use]
    pub fn setting(mut self, yaml: &str) -> Self {
        self.settings.push_str(yaml);
        self
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A folder for the test's own files.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command of the binary in this place, as a user with nothing set would run it.
    ///
    /// # Panics
    /// When its configuration cannot be written.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let config = self.folder.path().join("weir.yaml");
        if !self.settings.is_empty() {
            fs::write(&config, &self.settings).expect("write the configuration");
        }
        let mut command = Command::new(weir_binary());
        // No test goes out to the public sources; one about sources says where its own are.
        if !self.settings.contains("sources:") {
            command.env("WEIR__SOURCES__OSV__ENABLED", "false");
            command.env("WEIR__SOURCES__OPENSSF__ENABLED", "false");
        }
        command
            .args(arguments)
            .arg("--data-dir")
            .arg(self.data_dir())
            .current_dir(self.folder.path())
            .env_remove("WEIR_TOKEN")
            .env_remove("WEIR_SERVER")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("run weir")
    }

    /// Starts a process and waits until it is ready.
    ///
    /// # Panics
    /// When it is not ready in time.
    pub async fn start(&self, part: Part) -> Weir {
        self.start_at(part, "127.0.0.1:0").await
    }

    /// Starts a process that listens at an address, and waits until it is ready.
    ///
    /// # Panics
    /// When it is not ready in time.
    pub async fn start_at(&self, part: Part, listen: &str) -> Weir {
        self.start_with(part, listen, &[]).await
    }

    /// The same, with variables in its environment.
    ///
    /// # Panics
    /// When it is not ready in time.
    pub async fn start_with(&self, part: Part, listen: &str, variables: &[(&str, &str)]) -> Weir {
        let name = match part {
            Part::Up => "up",
            Part::Api => "api",
            Part::Worker => "worker",
        };
        let mut command = self.command(&[name, "--json", "--listen", listen]);
        command.envs(variables.iter().copied());
        if let Some(database) = &self.database {
            command.args(["--database-url", &database.url]);
        }
        let log = self.folder.path().join(format!("{name}.log"));
        let log = fs::File::options().create(true).append(true).open(log).expect("a log file");
        let mut child =
            command.stdout(Stdio::piped()).stderr(log).spawn().expect("start a weir process");
        let stdout = child.stdout.take().expect("its output");
        let (ready, line) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Nobody waits any more for the second line on.
                drop(ready.send(line));
            }
        });
        let patience = PATIENCE * 2;
        let line = tokio::task::spawn_blocking(move || line.recv_timeout(patience))
            .await
            .expect("wait for the process");
        let Ok(line) = line else {
            drop(child.kill());
            panic!("weir {name} is not ready:\n{}", self.log(name));
        };
        let ready: Value = serde_json::from_str(&line).expect("its line of JSON");
        let url = ready["url"].as_str().unwrap_or_default().to_owned();
        Weir { child: Some(child), client: Client::new(&url, self.token().as_deref()), url, ready }
    }

    /// What a part has logged so far.
    pub fn log(&self, name: &str) -> String {
        let log = self.folder.path().join(format!("{name}.log"));
        fs::read_to_string(log).unwrap_or_default()
    }

    /// The admin's token, as the first start left it for the CLI of this machine.
    pub fn token(&self) -> Option<String> {
        let text = fs::read_to_string(self.data_dir().join("credentials")).ok()?;
        let token = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        token.into_iter().find(|word| word.starts_with("rf_")).map(str::to_owned)
    }
}

/// A running process of Weir; killed when dropped.
#[derive(Debug)]
pub struct Weir {
    child: Option<Child>,
    /// Its address.
    pub url: String,
    /// What it said when it was ready.
    pub ready: Value,
    /// A client with the admin's token.
    pub client: Client,
}

impl Weir {
    /// Its process id.
    ///
    /// # Panics
    /// When it was stopped.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a running process").id()
    }

    /// Ends it with no warning.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(mut self) {
        self.kill_in_place();
    }

    fn kill_in_place(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Gives it a moment to end by itself: a program that counts which lines it runs writes them down
    /// at its end.
    fn end_in_place(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let pid = child.id();
        signal(pid, "TERM");
        let (ended, end) = mpsc::channel();
        let waits = std::thread::spawn(move || {
            drop(ended.send(child.wait()));
        });
        if end.recv_timeout(Duration::from_secs(5)).is_err() {
            signal(pid, "KILL");
        }
        drop(waits.join());
    }

    /// Asks it to stop, and waits for its end.
    ///
    /// # Panics
    /// When it does not end in time, or not well.
    pub async fn stop(mut self) -> Duration {
        let start = std::time::Instant::now();
        let mut child = self.child.take().expect("a running process");
        signal(child.id(), "TERM");
        let status = deadline::until("weir stops", async || {
            match child.try_wait().expect("ask for its end") {
                Some(status) => Ok(status),
                None => Err("it is still running"),
            }
        })
        .await;
        assert!(status.success(), "weir ended with {status}");
        start.elapsed()
    }
}

impl Drop for Weir {
    #[expect(clippy::disallowed_methods, reason = "what the compiler's counters go by, not Weir")]
    fn drop(&mut self) {
        if std::env::var_os("LLVM_PROFILE_FILE").is_some() {
            self.end_in_place();
        }
        self.kill_in_place();
    }
}

/// Sends a signal to a process.
///
/// # Panics
/// When `kill` cannot be run.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    status.expect("run kill");
}

/// An HTTP client of one Weir.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
    cookie: Option<String>,
}

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Answer {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The position it carries.
    ///
    /// # Panics
    /// When it carries none.
    pub fn position(&self) -> i64 {
        let position = self.header("weir-position").and_then(|text| text.parse().ok());
        position.unwrap_or_else(|| panic!("no position: {self:?}"))
    }

    /// Asserts its status.
    ///
    /// # Panics
    /// When it is another.
    pub fn has(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.body);
    }

    /// The answer, if its status is the wanted one.
    ///
    /// # Panics
    /// When it is another.
    #[must_use]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}

impl Client {
    /// A client with a token, or without.
    ///
    /// # Panics
    /// When no client can be made.
    #[expect(clippy::disallowed_methods, reason = "the harness is outside")]
    pub fn new(url: &str, token: Option<&str>) -> Self {
        // The first process of a test installs it; a second installation is refused, and no loss.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("an HTTP client");
        Self { http, url: url.to_owned(), token: token.map(str::to_owned), cookie: None }
    }

    /// The same client with another token.
    #[must_use]
    pub fn with_token(&self, token: Option<&str>) -> Self {
        Self { token: token.map(str::to_owned), ..self.clone() }
    }

    /// The same client with a cookie in each request.
    #[must_use]
    pub fn with_cookie(&self, cookie: &str) -> Self {
        Self { cookie: Some(cookie.to_owned()), ..self.clone() }
    }

    /// The same client for another address.
    #[must_use]
    pub fn at(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// Where it sends to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A request with headers and perhaps a JSON body; a fault says what the way broke with.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, String> {
        let request = self.request(method, path, headers);
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let response = request.send().await.map_err(|fault| format!("{fault:?}"))?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(n, v)| (n.to_string(), String::from_utf8_lossy(v.as_bytes()).into_owned()))
            .collect();
        let body = response.text().await.map_err(|fault| format!("{fault:?}"))?;
        Ok(Answer { status, headers, body })
    }

    /// A request to be sent by hand.
    ///
    /// # Panics
    /// When the method is none.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> reqwest::RequestBuilder {
        let method = method.parse().expect("an HTTP method");
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request
    }

    /// GET.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await.expect("an answer")
    }

    /// POST with a JSON body.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], Some(body)).await.expect("an answer")
    }

    /// DELETE.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None).await.expect("an answer")
    }

    /// Adds a rule for Python packages.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn rule(&self, package: &str, versions: &str, reason: &str, mask: &str) -> Answer {
        let rule = json!({"ecosystem": "pypi", "package": package, "versions": versions,
            "reason": reason, "mask": mask});
        self.post("/api/rules", &rule).await.expect(201)
    }

    /// Issues a token and answers its secret.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn issue(&self, name: &str, scopes: &[&str]) -> (String, String) {
        let answer = self.post("/api/tokens", &json!({"name": name, "scopes": scopes})).await;
        let issued = answer.expect(201).json();
        let text = |key: &str| issued[key].as_str().expect(key).to_owned();
        (text("id"), text("secret"))
    }

    /// Waits until packages are judged by what stands at a position.
    ///
    /// # Panics
    /// When they never are.
    pub async fn judges_by(&self, position: i64) {
        let path = "/api/registry/explain?ecosystem=pypi&package=x&version=1";
        deadline::until("the policy's position", async || {
            let at = self.get(path).await.expect(200).json()["policy_revision"].as_i64();
            if at.is_some_and(|at| at >= position) { Ok(()) } else { Err(at) }
        })
        .await;
    }

    /// Waits until a projection has passed a position.
    ///
    /// # Panics
    /// When it has not in time.
    pub async fn reaches(&self, projection: &str, position: i64) {
        // A log of a million events takes its time on two busy cores.
        deadline::within(PATIENCE * 6, &format!("{projection} reaches {position}"), async || {
            let answer = self.send("GET", "/api/projections", &[], None).await?;
            let all = answer.json();
            let one = all["projections"].as_array().into_iter().flatten();
            let one = one.into_iter().find(|p| p["name"] == projection).cloned();
            match one {
                Some(one) if one["position"].as_i64() >= Some(position) => Ok(()),
                other => Err(format!("{}: {other:?}", answer.status)),
            }
        })
        .await;
    }
}
