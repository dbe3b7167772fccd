//! `weir up`, `weir status`, `weir down`: one Weir for one data directory, found and stopped by it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Stdio},
    sync::mpsc::{self, Receiver},
};

use serde_json::{Value, json};
use weir_tests::{
    database::TestDatabase,
    deadline::{self, PATIENCE},
    weir::{Part, Place, signal},
};

use super::{Desk, run};

/// A server that is started as a person does, and what it prints.
struct Server {
    child: Child,
    lines: Receiver<String>,
}

impl Server {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(arguments);
        if let Some(database) = &place.database {
            command.args(["--database-url", &database.url]);
        }
        let log = fs::File::create(place.path().join("said")).expect("a file");
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("start a server");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        let (say, lines) = mpsc::channel();
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|line| say.send(line))
        });
        Self { child, lines }
    }

    /// All lines up to one that begins so.
    fn until(&self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no line begins with `{start}`: {lines:?}"));
            let last = line.trim_start().starts_with(start);
            lines.push(line);
            if last {
                return lines;
            }
        }
    }

    fn end(mut self) -> Option<i32> {
        signal(self.child.id(), "TERM");
        self.child.wait().expect("its end").code()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_weir_runs_with_a_data_directory_and_is_stopped_by_it() {
    let desk = Desk::open().await;
    let (url, pid) = (desk.weir.url.clone(), desk.weir.pid());
    let status = desk.run(&["status"]).done();
    let first = status.lines().next().expect("a line");
    assert!(first.starts_with("weir ") && first.contains(&format!(" at {url}, up ")), "{status}");
    desk.weir.client.reaches("custom_rules", 1).await;
    let status = desk.run(&["status"]).done();
    let row = status.lines().find(|line| line.starts_with("custom_rules ")).expect("a projection");
    assert!(row.ends_with("live"), "{status}");
    let told = desk.run(&["status", "--json"]).json();
    assert_eq!(told["server"], url);
    let names = |all: &Value| all.as_array().expect("a list").len();
    assert_eq!(names(&told["projections"]), status.lines().count() - 5, "{status}");

    let database = desk.place.database.as_ref().expect("a database").url.clone();
    let up = ["up", "--listen", "127.0.0.1:0", "--database-url", &database];
    let words = format!("a weir (process {pid}) runs already with this data directory, at {url}");
    let data_dir = desk.place.data_dir();
    let down = format!("stop it with `weir --data-dir {} down`", data_dir.display());
    desk.run(&up).ends(5, &[&words, &down]);

    let stopped = desk.run(&["down"]).done();
    let wanted = format!("stopped weir (process {pid}) in ");
    assert!(stopped.starts_with(&wanted), "{stopped}");
    let gone = desk.weir.client.send("GET", "/livez", &[], None).await;
    assert!(gone.is_err(), "{gone:?}");
    let again = desk.run(&["down"]).done();
    assert_eq!(again.trim_end(), format!("no weir runs with {}", data_dir.display()));
    assert_eq!(desk.run(&["down", "--json"]).json(), json!({"stopped": false}));
    // Nothing listens where it was.
    desk.run(&["status", "--server", &url]).ends(69, &["could not reach", "fix: start it with"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_start_shows_its_token_once_and_keeps_it_for_this_machine() {
    let place = Place::on_a_test_database().await.setting("logging: {format: json}\n");
    let server = Server::start(&place, &["up", "--listen", "127.0.0.1:0"]);
    let lines = server.until(&format!("weir --data-dir {} tail", place.data_dir().display()));
    let first = &lines[0];
    assert!(
        first.starts_with("weir ") && first.contains(" is ready: http://127.0.0.1:"),
        "{first}"
    );
    let token = place.token().expect("a token");
    let said = lines.join("\n");
    for words in [
        "shown this once",
        &format!("admin token   {token}"),
        &format!("kept in {}/credentials (0600)", place.data_dir().display()),
        "rules add pypi six '>=1.17'",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("pip install"), "no Python packages are served: {said}");
    let told = run(&place, &["down", "--json"]).json();
    assert_eq!((&told["stopped"], &told["pid"]), (&json!(true), &json!(server.child.id())));

    // Its log is for machines, as configured; the token is not in it.
    let log = fs::read_to_string(place.path().join("said")).expect("its log");
    let lines: Vec<Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(lines.iter().any(|line| line["message"] == "log opened"), "{log}");
    assert!(lines.iter().any(|line| line["message"] == "stopped"), "{log}");
    assert!(!log.contains(&token), "the log holds the token");

    let server =
        Server::start(&place, &["up", "--listen", "127.0.0.1:0", "--log-format", "pretty"]);
    let lines = server.until(&format!("weir --data-dir {} tail", place.data_dir().display()));
    assert!(!lines.join("\n").contains("admin token"), "{lines:?}");
    assert_eq!(server.end(), Some(0));
    let log = fs::read_to_string(place.path().join("said")).expect("its log");
    assert!(log.contains("log opened") && !log.contains("{\""), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_and_an_api_say_when_they_are_ready() {
    let place = Place::on_a_test_database().await;
    place.start(Part::Up).await.stop().await;
    let silent = Server::start(&place, &["worker"]);
    let told = silent.until("weir worker");
    assert!(told[0].ends_with(" is ready"), "{told:?}");
    assert_eq!(silent.end(), Some(0));
    let worker = Server::start(&place, &["worker", "--listen", "127.0.0.1:0"]);
    let told = worker.until("weir worker");
    let (_, health) = told[0].split_once(", health at ").expect("an address");
    let (base, path) = health.split_at(health.len() - "/readyz".len());
    let client = weir_tests::weir::Client::new(base, place.token().as_deref());
    deadline::until("it is ready", async || {
        let answer = client.send("GET", path, &[], None).await?;
        if answer.status == 200 { Ok(()) } else { Err(answer.body) }
    })
    .await;
    assert_eq!(client.get("/pypi/simple/six/").await.status, 404, "a worker serves no packages");
    assert_eq!(worker.end(), Some(0));
    // Neither has the pid file of a Weir that is found by its data directory.
    let api = Server::start(&place, &["api", "--listen", "127.0.0.1:0"]);
    api.until("weir ");
    assert_eq!(run(&place, &["down", "--json"]).json(), json!({"stopped": false}));
    assert_eq!(api.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_cannot_be_says_what_to_do_and_leaves_nothing_running() {
    let place = Place::on_a_test_database().await;
    let database = place.database.as_ref().expect("a database").url.clone();
    let up = |more: &[&str]| run(&place, &[&["up", "--database-url", &database], more].concat());
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = taken.local_addr().expect("its address").to_string();
    let cannot = format!("could not listen on {at}: ");
    up(&["--listen", &at]).ends(1, &[&cannot, "in use", "fix: choose another with --listen"]);
    for wrong in ["7400", "127.0.0.1:http", ":80"] {
        let words = [&format!("--listen `{wrong}` is not HOST:PORT")[..], "fix: write it like"];
        up(&["--listen", wrong]).ends(2, &words);
    }
    let words = ["`loud,,=` is no filter for log lines", "fix: write a level"];
    up(&["--listen", "127.0.0.1:0", "--log", "loud,,="]).ends(2, &words);
    let itself = ["WEIR__REGISTRIES__NPM__UPSTREAM", "http://127.0.0.1:7421/npm/"];
    let mut command =
        place.command(&["up", "--listen", "127.0.0.1:7421", "--database-url", &database]);
    let refused = command.env(itself[0], itself[1]).output().expect("run weir");
    super::Ran::new(&["up"], &refused)
        .ends(2, &["registries.npm.upstream is this Weir itself", "fix: set it to the registry"]);
    let other = ["--database-url", "postgres:///nobody?host=/nowhere&user=weir"];
    let unreachable = run(&place, &[&["migrate"], &other[..]].concat());
    unreachable.ends(69, &["fix: check database.url, and that the server runs"]);
    assert_eq!(run(&place, &["down", "--json"]).json(), json!({"stopped": false}));

    let mut nowhere = std::process::Command::new(weir_tests::database::weir_binary());
    nowhere.args(["up", "--data-dir", "/proc/weir/data", "--listen", "127.0.0.1:0"]);
    let refused = nowhere.current_dir(place.path()).output().expect("run weir");
    super::Ran::new(&["up"], &refused).ends(1, &["could not make `/proc/weir/data`"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_data_directory_holds_is_not_guessed_at() {
    let mut place = Place::on_a_test_database().await;
    let url = place.database.as_ref().expect("a database").url.clone();
    place.start(Part::Up).await.stop().await;
    let key = place.data_dir().join("seal.key");
    let kept = fs::read_to_string(&key).expect("the key");
    fs::write(&key, "no key\n").expect("spoil it");
    let words = format!("`{}` does not hold a key (64 hexadecimal digits)", key.display());
    for command in [&["verify"][..], &["up", "--listen", "127.0.0.1:0"]] {
        run(&place, &[command, &["--database-url", &url]].concat()).ends(1, &[&words]);
    }
    assert_eq!(fs::read_to_string(&key).expect("the key"), "no key\n", "it is written over");
    fs::write(&key, &kept).expect("put it back");
    // Another log: its token comes beside the old one, which may be the only way in to the old one.
    let token = place.token().expect("a token");
    place.database = Some(TestDatabase::create().await);
    place.start(Part::Up).await.stop().await;
    let old = fs::read_to_string(place.data_dir().join("credentials.old")).expect("the old one");
    assert_eq!(old.trim_end(), token);
    assert_ne!(place.token().as_deref(), Some(token.as_str()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_weir_that_does_not_end_in_time_is_left_to_who_asked() {
    let desk = Desk::open().await;
    let pid = desk.weir.pid();
    signal(pid, "STOP");
    let late = format!("weir (process {pid}) has not ended after 0 s");
    let hint = format!("fix: wait longer with --timeout, or end it at once: kill -KILL {pid}");
    desk.run(&["down", "--timeout", "0"]).ends(75, &[&late, &hint]);
    signal(pid, "CONT");
    desk.run(&["down"]).done();
    assert!(desk.weir.client.send("GET", "/livez", &[], None).await.is_err(), "it goes on");
}
