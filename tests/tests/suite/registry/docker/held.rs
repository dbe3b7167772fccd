//! Images that a person is asked about: by what they are, whatever they are called.

use serde_json::{Value, json};
use weir_tests::{
    deadline,
    weir::{Answer, Client},
};

use super::{
    super::profiles::{issue, set},
    *,
};

const ACCEPT: &str =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";

async fn ask(client: &Client, method: &str, image: &str) -> Answer {
    let (name, reference) = image.split_once(' ').expect("a name and a reference");
    let path = format!("/v2/library/{name}/manifests/{reference}");
    client.send(method, &path, &[("accept", ACCEPT)], None).await.expect("an answer")
}

async fn pending(client: &Client) -> Vec<Value> {
    let page = client.get("/api/registry/holds?state=pending").await.expect(200).json();
    page["holds"].as_array().expect("holds").clone()
}

/// Once, an image that was asked for by its digest was held for nobody, and a tag that came to mean
/// another image was the tag that somebody had allowed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_is_asked_about_by_its_digest_whatever_it_is_called() {
    let (place, registry, weir) = weir_with("    page_ttl: 0s\n").await;
    set(&weir.client, "agent", &json!({"hold": ["new-version"]})).await.has(200);
    let (robot, secret) = issue(&weir, "robot", &["registry:docker"], "agent").await;
    let (second, _) = issue(&weir, "robot 2", &["registry:docker"], "agent").await;
    let digest = async |tag: &str| {
        let answer = ask(&weir.client, "HEAD", &format!("app {tag}")).await.expect(200);
        answer.header("docker-content-digest").expect("its digest").to_owned()
    };
    let (good, bad) = (digest("1.0").await, digest("2.0").await);
    ask(&robot, "HEAD", "app 1.0").await.has(200);
    assert_eq!(pending(&weir.client).await.len(), 0, "to look asks nobody");

    for image in [format!("app {bad}"), "app 2.0".to_owned(), "app 1.0".to_owned()] {
        let refused = ask(&robot, "GET", &image).await.expect(403);
        assert!(refused.body.contains("held for a human"), "{image}: {}", refused.body);
    }
    ask(&robot, "GET", &format!("app {good}")).await.has(403);
    ask(&robot, "HEAD", "app 1.0").await.has(403);
    let asked = pending(&weir.client).await;
    let asked: Vec<_> = asked.iter().map(|it| (&it["version"], &it["file"])).collect();
    assert_eq!(asked, [(&json!(good), &json!("1.0")), (&json!(bad), &json!(bad))]);

    // Everything behind what was allowed comes with it.
    let hold = pending(&weir.client).await[0]["id"].as_str().expect("its id").to_owned();
    let body = json!({"reason": "looked at it", "hours": 24});
    weir.client.post(&format!("/api/registry/holds/{hold}/allow"), &body).await.has(204);
    let output =
        pull(&place, host(&weir), "app:1.0", "allowed", &[&format!("--src-creds=ci:{secret}")]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(pending(&weir.client).await.len(), 1);

    // The tag moves: what it means now nobody has allowed.
    let from = format!("oci:{}:it", layout(&place, "bad").display());
    let to = format!("docker://{}/library/app:1.0", registry.address);
    let moved = skopeo(&place, &["copy", "--all", "--dest-tls-verify=false", &from, &to]);
    assert!(moved.status.success(), "{}", said(&moved));
    deadline::until("the tag has moved", async || {
        let now = digest("1.0").await;
        if now == bad { Ok(()) } else { Err(now) }
    })
    .await;
    ask(&robot, "GET", "app 1.0").await.has(403);
    assert_eq!(pending(&weir.client).await.len(), 1, "the same image asks the same");
    ask(&robot, "GET", &format!("app {good}")).await.has(200);

    // What was delivered to anybody is new to nobody who was not told otherwise.
    ask(&weir.client, "GET", &format!("app {bad}")).await.has(200);
    deadline::until("it is known", async || {
        let status = ask(&second, "GET", "app 2.0").await.status;
        if status == 200 { Ok(()) } else { Err(status) }
    })
    .await;
}

/// Once, an image with a name like another was warned of for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_with_a_name_like_another_is_warned_of_until_somebody_has_it() {
    let policy = "policy:\n  lookalikes: {reaction: warn, protect: ['docker:library/lodash']}\n";
    let (place, registry, weir) = weir_with(policy).await;
    let from = format!("oci:{}:it", layout(&place, "good").display());
    let to = format!("docker://{}/library/lodahs:1.0", registry.address);
    let pushed = skopeo(&place, &["copy", "--all", "--dest-tls-verify=false", &from, &to]);
    assert!(pushed.status.success(), "{}", said(&pushed));
    let warned = async || {
        let answer = ask(&weir.client, "GET", "lodahs 1.0").await.expect(200);
        answer.header("warning").is_some_and(|it| it.contains("its name looks like"))
    };
    ask(&weir.client, "HEAD", "lodahs 1.0").await.has(200);
    assert!(warned().await, "the first time");
    deadline::until("it is known", async || if warned().await { Err("warned") } else { Ok(()) })
        .await;
}
