//! What is asked of a person, and what is not: at the edges, in front of an index of the test's own.

use futures_util::future::join_all;
use serde_json::{Value, json};
use weir_tests::{
    upstream::Index,
    weir::{Client, Part, Place, Weir},
};

use super::{
    profiles::{issue, set},
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
