//! What is asked of a person, and what is not: at the edges, in front of an index of the test's own.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpSocket};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    deadline,
    upstream::Index,
    weir::{Client, Part, Place, Weir},
};

use super::{
    profiles::{events, issue, set},
    said,
};

/// A Weir in front of an index, and an agent whose profile holds on these grounds.
async fn held(index: &Index, grounds: &[&str]) -> (Place, Weir, Client) {
    let place = Place::on_a_test_database().await.upstream(&index.simple);
    let weir = place.start(Part::Up).await;
    set(&weir.client, "agent", &json!({ "hold": grounds })).await.has(200);
    let (robot, _) = issue(&weir, "robot", &["registry:pypi"], "agent").await;
    (place, weir, robot)
}

/// Where a file is.
fn file(project: &str, version: &str) -> String {
    format!("/pypi/files/{project}/{project}-{version}.tar.gz")
}

async fn pending(client: &Client) -> Vec<Value> {
    let page = client.get("/api/registry/holds?state=pending").await.expect(200).json();
    page["holds"].as_array().expect("holds").clone()
}

/// Once, 33 questions at once were too many: each made the others try again, until they were refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_new_packages_at_once_are_two_hundred_questions() {
    let index = Index::start().await;
    let names: Vec<String> = (0..200).map(|n| format!("new{n}")).collect();
    for name in &names {
        index.project(name, &["1.0"]);
    }
    let (_place, weir, robot) = held(&index, &["new-package"]).await;
    let asking = names.iter().map(|name| {
        let robot = robot.clone();
        async move { robot.get(&file(name, "1.0")).await.expect(403) }
    });
    for refused in join_all(asking).await {
        assert!(refused.body.contains("held for a human"), "{}", refused.body);
    }
    assert_eq!(pending(&weir.client).await.len(), 200);
}

/// Once, all were told that theirs was recorded, and whoever came last had his way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_persons_who_contradict_each_other_at_once_one_is_told_so() {
    let index = Index::start().await;
    index.project("six", &["1.0"]);
    let (place, weir, robot) = held(&index, &["new-package"]).await;
    robot.get(&file("six", "1.0")).await.has(403);
    let hold = pending(&weir.client).await[0]["id"].as_str().expect("its id").to_owned();
    let words = ["allow", "deny", "allow", "deny"];
    let answering = words.iter().map(|word| {
        let client = weir.client.clone();
        let path = format!("/api/registry/holds/{hold}/{word}");
        async move {
            let body = json!({"reason": format!("{word} it"), "hours": 24});
            (*word, client.post(&path, &body).await)
        }
    });
    let answers = join_all(answering).await;
    let all = weir.client.get("/api/registry/holds").await.expect(200).json();
    let state = all["holds"][0]["state"].as_str().expect("its state").to_owned();
    for (word, answer) in answers {
        if state.starts_with(&word[..3]) {
            answer.has(204);
            continue;
        }
        let told = answer.expect(409).json();
        assert_eq!(told["code"], "hold_answered", "{told}");
        let detail = told["detail"].as_str().expect("its words");
        assert!(detail.contains(&format!("has {state} it until")), "{told}");
    }
    // On the command line the same.
    let other = if state == "allowed" { "deny" } else { "allow" };
    let says = ["holds", other, &hold, "--reason", "once more", "--yes"];
    let refused = place.run(&says);
    assert!(said(&refused).contains("replace that answer"), "{}", said(&refused));
    assert_eq!(refused.status.code(), Some(5), "{}", said(&refused));
    let replaced = place.run(&[&says[..], &["--replace"]].concat());
    assert!(replaced.status.success(), "{}", said(&replaced));
    let status = if other == "allow" { 200 } else { 403 };
    robot.get(&file("six", "1.0")).await.has(status);
}

/// Where a wheel is.
fn wheel(project: &str, version: &str) -> String {
    format!("/pypi/files/{project}/{project}-{version}-py3-none-any.whl")
}

async fn head(client: &Client, path: &str) -> u16 {
    client.send("HEAD", path, &[], None).await.expect("an answer").status
}

/// Once, the metadata that a resolver reads of each version asked a person, and HEAD answered 200 before
/// and after a denial.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_only_looked_at_asks_nobody_and_hears_what_was_said() {
    let index = Index::start().await;
    index.wheel("six", "1.0");
    let (_place, weir, robot) = held(&index, &["new-version"]).await;
    let (file, beside) = (wheel("six", "1.0"), format!("{}.metadata", wheel("six", "1.0")));
    robot.get(&beside).await.has(200);
    assert_eq!(head(&robot, &file).await, 200);
    assert_eq!(head(&robot, &beside).await, 200);
    assert_eq!(pending(&weir.client).await, Vec::<Value>::new(), "nobody is asked");

    // What delivers the file asks. A resolver goes on reading meanwhile.
    robot.get(&file).await.has(403);
    let hold = pending(&weir.client).await[0]["id"].as_str().expect("its id").to_owned();
    assert_eq!(head(&robot, &file).await, 403);
    robot.get(&beside).await.has(200);

    let answer = async |word: &str| {
        let body = json!({"reason": "looked at it", "hours": 24, "replace": true});
        weir.client.post(&format!("/api/registry/holds/{hold}/{word}"), &body).await.has(204);
    };
    answer("deny").await;
    for path in [&file, &beside] {
        assert_eq!(head(&robot, path).await, 403, "{path}");
        let refused = robot.get(path).await.expect(403);
        assert!(refused.body.contains("said no: looked at it"), "{path}: {}", refused.body);
    }
    answer("allow").await;
    for path in [&beside, &file] {
        assert_eq!(head(&robot, path).await, 200, "{path}");
        robot.get(path).await.has(200);
    }
    assert_eq!(events(&weir.client, "PackageRequested").await.len(), 1);
}

/// Once, a resolver that could not read what an advisory warns of never came to ask for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_advisory_warns_of_is_told_of_and_asked_about_at_the_file() {
    let index = Index::start().await;
    index.wheel("six", "1.0");
    let (place, weir, robot) = held(&index, &["advisory"]).await;
    let warned = advisory(Ecosystem::Pypi, "GHSA-2222-2222-2222", "six", "1.0", None);
    weir.client.judges_by(place.publish(&warned).await).await;
    let (file, beside) = (wheel("six", "1.0"), format!("{}.metadata", wheel("six", "1.0")));
    let told = robot.get(&beside).await.expect(200);
    assert!(told.header("warning").is_some_and(|it| it.contains("GHSA-2222")), "{told:?}");
    assert_eq!(pending(&weir.client).await.len(), 0);
    // Nobody answers for who is not asked about.
    weir.client.get(&beside).await.has(403);
    robot.get(&file).await.has(403);
    let asked = pending(&weir.client).await;
    assert_eq!((asked.len(), &asked[0]["file"]), (1, &json!("six-1.0-py3-none-any.whl")));
}

/// Once, whatever was let through made a version known: its metadata, a part of a file, or one that
/// broke off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_is_known_once_a_file_of_it_was_delivered_to_its_last_byte() {
    let index = Index::start().await;
    index.wheel("six", "1.0");
    let (place, weir, robot) = held(&index, &["new-package", "new-version"]).await;
    let (second, _) = issue(&weir, "robot 2", &["registry:pypi"], "agent").await;
    let (file, beside) = (wheel("six", "1.0"), format!("{}.metadata", wheel("six", "1.0")));
    weir.client.get(&beside).await.has(200);
    let gate = index.hold();
    let address = weir.url.strip_prefix("http://").expect("an address");
    let socket = TcpSocket::new_v4().expect("a socket");
    let mut broken = socket.connect(address.parse().expect("one")).await.expect("a connection");
    let token = place.token().expect("a token");
    let request =
        format!("GET {file} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
    broken.write_all(request.as_bytes()).await.expect("sent");
    assert_eq!(broken.peek(&mut [0]).await.expect("the first half"), 1);
    // Closed with something unread, it is known to be gone at once: the other half goes nowhere.
    drop(broken);
    gate.add_permits(9);
    let part = [("range", "bytes=0-9")];
    let part = weir.client.send("GET", &file, &part, None).await.expect("an answer").expect(206);
    weir.client.reaches("downloads", part.position()).await;
    robot.get(&file).await.has(403);
    let delivered = events(&weir.client, "FileDelivered").await;
    assert!(delivered.is_empty(), "{delivered:?}");

    weir.client.get(&file).await.has(200);
    deadline::until("it is known", async || {
        let status = second.get(&file).await.status;
        if status == 200 { Ok(()) } else { Err(status) }
    })
    .await;
    let delivered = events(&weir.client, "FileDelivered").await;
    assert_eq!(delivered.len(), 1, "{delivered:?}");
    assert_eq!(delivered[0]["payload"]["version"], json!("1.0"));
}
