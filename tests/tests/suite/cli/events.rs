//! `weir tail` and `weir events`: what has happened, and what happens.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    sync::mpsc::{self, Receiver},
};

use serde_json::{Value, json};
use weir_tests::{
    deadline::PATIENCE,
    weir::{Part, Place, signal},
};

use super::{Desk, run};

fn positions(lines: &str) -> Vec<i64> {
    let event = |line: &str| serde_json::from_str::<Value>(line).expect("a line of JSON");
    lines.lines().map(|line| event(line)["position"].as_i64().expect("a position")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_happened_is_found_by_kind_words_principal_and_position() {
    let desk = Desk::open().await;
    let (_, ann) = desk.weir.client.issue("ann", &["rules:write", "events:read"]).await;
    let first = desk.weir.client.rule("six", ">=1.17", "not reviewed", "mark").await.position();
    let anns = desk.weir.client.with_token(Some(&ann));
    let second = anns.rule("urllib3", "<2", "too old", "hide").await.position();
    let all = |more: &[&str]| desk.run(&[&["tail", "--from-start", "--until-idle"], more].concat());

    let told = all(&["kind:RuleAdded"]).done();
    assert_eq!(told.lines().count(), 2, "{told}");
    let line = told.lines().next().expect("a line");
    for words in ["registry", &format!("{first}  "), "RuleAdded  six >=1.17: not reviewed"] {
        assert!(line.contains(words), "{words}: {line}");
    }
    let found = |more: &[&str]| positions(&all(&[more, &["--json"]].concat()).done());
    assert_eq!(found(&["--kind", "RuleAdded"]), [first, second]);
    assert_eq!(found(&["subsystem:registry", "urllib3"]), [second]);
    assert_eq!(found(&["--kind", "RuleAdded", "--principal", "ann"]), [second]);
    assert_eq!(found(&["--stream", "registry/rules", "--limit", "1"]), [first]);
    assert_eq!(found(&["kind:RuleRemoved"]), [0; 0], "nothing of the kind is there");
    let after = ["tail", "--after", &first.to_string(), "--until-idle", "--json", "kind:RuleAdded"];
    assert_eq!(positions(&desk.run(&after).done()), [second]);

    let slip =
        all(&["subsytem:registry", "nothing-like-it"]).ends(0, &["did you mean `subsystem:`?"]);
    assert_eq!(slip.out, "");
    assert_eq!(all(&["subsytem:registry", "--quiet"]).ends(0, &[]).err, "");
    all(&["--kind", "RuleAded"]).ends(2, &["RuleAded"]);
    desk.run(&["tail", "--from-start", "--after", "1"]).ends(2, &["cannot be used with"]);

    let one = desk.run(&["events", "get", &first.to_string()]).json();
    assert_eq!((&one["kind"], &one["position"]), (&json!("RuleAdded"), &json!(first)));
    let chain = ["events", "get", &first.to_string(), "--chain"];
    let told = desk.run(&chain).done();
    assert!(told.contains("RuleAdded  six >=1.17: not reviewed"), "{told}");
    let chain = desk.run(&[&chain[..], &["--json"]].concat()).json();
    assert_eq!(chain["events"][0]["position"], first, "{chain}");
    desk.run(&["events", "get", "999999"]).ends(3, &["error: "]);
    desk.run(&["events", "get", "first"]).ends(2, &["invalid value 'first'"]);
    desk.weir.stop().await;
}

/// A tail that goes on, and the lines it prints.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&[&["tail", "--json"], arguments].concat());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start a tail");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        let (say, lines) = mpsc::channel();
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|line| say.send(line))
        });
        Self { child, lines }
    }

    fn next(&self) -> i64 {
        positions(&self.lines.recv_timeout(PATIENCE).expect("a line"))[0]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tail_outlives_its_server_misses_nothing_and_ends_well_when_it_is_told_to() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let address = weir.url.strip_prefix("http://").expect("plain HTTP").to_owned();
    let mut tail = Tail::start(&place, &["--from-start", "kind:RuleAdded"]);
    let first = weir.client.rule("six", "<1", "one", "mark").await.position();
    assert_eq!(tail.next(), first);
    weir.stop().await;
    // What happens while it is away comes when it is back, and once.
    let weir = place.start_at(Part::Up, &address).await;
    let second = weir.client.rule("six", "<2", "two", "mark").await.position();
    let third = weir.client.rule("six", "<3", "three", "mark").await.position();
    assert_eq!([tail.next(), tail.next()], [second, third]);
    signal(tail.child.id(), "INT");
    assert_eq!(tail.child.wait().expect("its end").code(), Some(0), "Ctrl-C is how a tail ends");
    let mut other = Tail::start(&place, &["--after", &second.to_string(), "kind:RuleAdded"]);
    assert_eq!(other.next(), third);
    signal(other.child.id(), "TERM");
    assert_eq!(other.child.wait().expect("its end").code(), Some(143));
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stops_reading_ends_a_command_without_a_complaint() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    weir.client.rule("six", "<1", "one", "mark").await;
    let mut command = place.command(&["tail", "--from-start"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start a tail");
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    drop(out);
    weir.client.rule("six", "<2", "two", "mark").await;
    let ended = child.wait_with_output().expect("its end");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    weir.stop().await;
    // Where nobody was ever there, it is said at once.
    run(&place, &["tail", "--server", "http://127.0.0.1:9"])
        .ends(69, &["could not follow http://127.0.0.1:9/", "fix: start it with"]);
}
