//! Names that are reserved by a command: in force at once, on every instance, until they are released.

use serde_json::{Value, json};
use weir_tests::{
    deadline,
    weir::{Part, Place},
};

use super::{home::Home, npm::client::Client, said};

const PATH: &str = "/api/registry/reserved";

fn names(page: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = page["reserved"].as_array().into_iter().flatten();
    rows.map(|row| (text(&row["package"]), text(&row["origin"]))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_reserved_by_a_command_is_never_asked_for_until_it_is_released() {
    let home = Home::start().await;
    home.npm("acme-tool", &[("1.0.0", json!({}))]);
    let settings = format!("{}policy:\n  reserved: ['npm:@acme/*']\n", home.setting());
    let place = Place::on_a_test_database().await.setting(&settings);
    let weir = place.start(Part::Up).await;
    let other = place.start(Part::Api).await;
    let install = |folder: &str| {
        let project = Client::Npm.project(&place, folder, &[("acme-tool", "1.0.0")]);
        project.install(&format!("{}/npm/", weir.url))
    };
    let before = install("before");
    assert!(before.status.success(), "{}", said(&before));

    let added = place.run(&["reserved", "add", "npm", "acme-*"]);
    assert!(added.status.success(), "{}", said(&added));
    weir.client.get("/npm/acme-tool").await.has(403);
    deadline::until("the other instance goes by it", async || {
        let status = other.client.get("/npm/acme-tool").await.status;
        if status == 403 { Ok(()) } else { Err(status) }
    })
    .await;
    let refused = install("reserved");
    assert!(
        !refused.status.success() && said(&refused).contains("is reserved"),
        "{}",
        said(&refused)
    );
    let listed = weir.client.get(PATH).await.expect(200).json();
    let wanted = [("@acme/*", "configuration"), ("acme-*", "api")];
    assert_eq!(names(&listed), wanted.map(|(name, origin)| (name.to_owned(), origin.to_owned())));
    let shown = said(&place.run(&["reserved", "ls"]));
    assert!(shown.contains("@acme/*") && shown.contains("acme-*"), "{shown}");

    // What only the configuration names is not released here, nor what nobody can be called.
    let configured = format!("{PATH}?ecosystem=npm&package=%40acme%2F*");
    weir.client.delete(&configured).await.has(404);
    let bad = json!({"ecosystem": "npm", "package": "@acme"});
    let refused = weir.client.post(PATH, &bad).await.expect(422).json();
    assert_eq!(refused["errors"][0]["field"], json!("package"), "{refused}");
    let (_, reader) = weir.client.issue("reader", &["rules:read"]).await;
    let reader = weir.client.with_token(Some(&reader));
    reader.get(PATH).await.has(200);
    reader.post(PATH, &json!({"ecosystem": "npm", "package": "x"})).await.has(403);

    let released = place.run(&["reserved", "rm", "npm", "acme-*", "--yes"]);
    assert!(released.status.success(), "{}", said(&released));
    weir.client.get("/npm/acme-tool").await.has(200);
    let again = weir.client.delete(&format!("{PATH}?ecosystem=npm&package=acme-*")).await;
    again.has(404);

    // Tried before it is switched on.
    let policy = "policy: {reserved: ['npm:acme-*']}";
    let body = json!({"days": 1, "policy": policy});
    let told = weir.client.post("/api/registry/what-if", &body).await.expect(200).body;
    let last: Value = serde_json::from_str(told.lines().last().expect("a line")).expect("JSON");
    let rows = last["result"]["by_version"]["rows"].as_array().expect("rows");
    let of = rows.iter().find(|row| row["version"] == json!("1.0.0"));
    assert_eq!(of.expect("what was installed")["n_newly_blocked"], json!(1), "{last}");
}
