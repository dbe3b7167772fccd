//! Profiles: what tokens that name one are judged by, at the lists, at the files, and at the API.

use std::time::Duration;

use serde_json::{Value, json};
use weir_events::registry::{
    Ecosystem,
    advisory::{Class, Severity},
};
use weir_tests::{
    advisories::{advisory, sign},
    deadline,
    weir::{Answer, Client, Part, Place, Weir},
};

use super::{
    pypi::{pip_at, upstream},
    said,
    what_if::what_if,
};

const WHEEL: &str = "six-1.17.0-py2.py3-none-any.whl";
const PAGE: &str = "/pypi/simple/six/";

/// Where the wheel of six 1.17.0 is.
pub(super) async fn wheel(client: &Client) -> String {
    let page = client.get(PAGE).await.expect(200);
    let link = page.body.split('"').find(|part| part.contains(WHEEL)).expect("its wheel");
    let link = link.split('#').next().expect("an address");
    let base: reqwest::Url = format!("{}{PAGE}", client.url()).parse().expect("a URL");
    base.join(link).expect("a link").path().to_owned()
}

pub(super) async fn set(client: &Client, name: &str, profile: &Value) -> Answer {
    let path = format!("/api/registry/profiles/{name}");
    client.send("PUT", &path, &[], Some(profile)).await.expect("an answer")
}

/// A token of a profile, and a client that shows it.
pub(super) async fn issue(
    weir: &Weir,
    name: &str,
    scopes: &[&str],
    profile: &str,
) -> (Client, String) {
    let wanted = json!({"name": name, "scopes": scopes, "profile": profile});
    let issued = weir.client.post("/api/tokens", &wanted).await.expect(201).json();
    assert_eq!(issued["profile"], profile);
    let secret = issued["secret"].as_str().expect("a secret").to_owned();
    (weir.client.with_token(Some(&secret)), secret)
}

pub(super) async fn events(client: &Client, kind: &str) -> Vec<Value> {
    let answer = client.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200);
    answer.json()["events"].as_array().expect("events").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_judged_by_its_profile_and_a_person_is_not_at_every_place() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    let mut low = advisory(Ecosystem::Pypi, "GHSA-2222-2222-2222", "six", "1.17.0", None);
    low.class = Class::Vulnerability;
    low.affected[0].severity = Severity::Low;
    sign(&mut low);
    weir.client.judges_by(place.publish(&low).await).await;
    set(&weir.client, "agent", &json!({"severity_floor": "low"})).await.has(200);
    let (agent, secret) = issue(&weir, "robot", &["registry:pypi"], "agent").await;
    let (_, person_secret) = weir.client.issue("ann", &["registry:pypi"]).await;
    let person = weir.client.with_token(Some(&person_secret));

    // A severity that nobody else minds is one that blocks the agent: in the list and at the file.
    let (of_agent, of_person) = (agent.get(PAGE).await.expect(200), person.get(PAGE).await);
    assert!(of_agent.body.contains("GHSA-2222-2222-2222"), "{}", of_agent.body);
    assert!(!of_person.expect(200).body.contains("GHSA-2222-2222-2222"));
    person.get(&wheel).await.has(200);
    let refused = agent.get(&wheel).await.expect(403);
    assert!(refused.body.contains("GHSA-2222-2222-2222"), "{}", refused.body);
    for (client, other) in [(&agent, &person), (&person, &agent)] {
        let tag = |page: &Answer| page.header("etag").expect("a validator").to_owned();
        let (own, foreign) = (client.get(PAGE).await, other.get(PAGE).await);
        let with = async |tag: &str| {
            client.send("GET", PAGE, &[("if-none-match", tag)], None).await.expect("an answer")
        };
        with(&tag(&own)).await.has(304);
        assert_eq!(with(&tag(&foreign)).await.expect(200).body, own.body, "never the other's");
    }
    for (name, secret, passes) in [("agent", &secret, false), ("person", &person_secret, true)] {
        let address = weir.url.replace("http://", &format!("http://__token__:{secret}@"));
        let output = pip_at(&address, &place, name, "six==1.17.0");
        assert_eq!(output.status.success(), passes, "{name}: {}", said(&output));
        assert_eq!(said(&output).contains("GHSA-2222-2222-2222"), !passes, "{}", said(&output));
    }

    // Who explains or checks for the agent's token says the same.
    let token = secret.split('_').nth(1).expect("its id");
    let path =
        format!("/api/registry/explain?ecosystem=pypi&package=six&version=1.17.0&token={token}");
    assert_eq!(weir.client.get(&path).await.expect(200).json()["verdict"], "block");
    let checked = json!({"purls": ["pkg:pypi/six@1.17.0"], "token": token});
    let checked = weir.client.post("/api/registry/check", &checked).await.expect(200).json();
    assert_eq!(checked["components"][0]["verdict"], "block", "{checked}");

    // A trial on what was asked for judges everybody as the door did.
    for facts in ["today", "then"] {
        let told = what_if(&weir, "", facts).await;
        assert_eq!(told["n_answered_otherwise"], 0, "{facts}: {told}");
        assert!(told["in_force"]["refused"].as_u64() > Some(1), "{facts}: {told}");
    }

    // A change is in force on every instance within a second; one that is gone lets nothing pass.
    let other = place.start(Part::Api).await;
    let elsewhere = agent.at(&other.url);
    set(&weir.client, "agent", &json!({})).await.has(200);
    agent.get(&wheel).await.has(200);
    let since = std::time::Instant::now();
    deadline::until("the other instance goes by it", async || {
        let status = elsewhere.get(&wheel).await.status;
        if status == 200 { Ok(()) } else { Err(status) }
    })
    .await;
    assert!(since.elapsed() < deadline::promise(Duration::from_secs(1)), "{:?}", since.elapsed());
    weir.client.delete("/api/registry/profiles/agent").await.has(204);
    let refused = agent.get(&wheel).await.expect(403);
    assert!(refused.body.contains("the profile `agent` of this token does not exist"));
    person.get(&wheel).await.has(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trial_only_warns_and_is_an_administrators_to_grant() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    weir.client.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    let (_, secret) =
        weir.client.issue("ann", &["rules:read", "rules:write", "tokens:write"]).await;
    let operator = weir.client.with_token(Some(&secret));
    let trial = json!({"mode": "audit"});
    let refused = set(&operator, "trial", &trial).await.expect(403);
    assert_eq!(refused.json()["errors"][0]["field"], "mode", "{}", refused.body);
    set(&weir.client, "trial", &trial).await.has(200);
    set(&operator, "agent", &json!({"min_age_hours": 1})).await.has(200);
    let wanted = json!({"name": "x", "scopes": ["rules:read"], "profile": "trial"});
    operator.post("/api/tokens", &wanted).await.has(403);
    let (robot, _) = issue(&weir, "robot", &["registry:pypi"], "trial").await;
    let passed = robot.get(&wheel).await.expect(200);
    let warning = passed.header("warning").expect("a word with it");
    assert!(warning.contains("not reviewed by security yet"), "{warning}");
    let allowed = events(&weir.client, "PackageAllowed").await;
    let warned = allowed.iter().filter(|event| event["payload"]["warning"].is_object()).count();
    assert_eq!(warned, 1, "{allowed:?}");
    weir.client.get(&wheel).await.has(403);

    // Who is bound hands out no more freedom than he has, whatever else he may do.
    let (bound, _) = issue(&weir, "root robot", &["admin"], "agent").await;
    let free = json!({"name": "free", "scopes": ["registry:pypi"]});
    let refused = bound.post("/api/tokens", &free).await.expect(403);
    assert_eq!(refused.json()["code"], "bound_by_profile", "{}", refused.body);
    assert_eq!(
        set(&bound, "agent", &json!({})).await.expect(403).json()["code"],
        "bound_by_profile"
    );
    bound.delete("/api/registry/profiles/agent").await.has(403);
    let unknown = json!({"name": "x", "scopes": ["registry:pypi"], "profile": "nobody"});
    let refused = weir.client.post("/api/tokens", &unknown).await.expect(422);
    assert_eq!(refused.json()["errors"][0]["field"], "profile", "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn profiles_come_from_the_configuration_and_the_command_line() {
    let agents = "policy:\n  profiles: [{name: agent, min_age_hours: 168, severity_floor: low}]\n";
    let place = Place::on_a_test_database().await.setting(agents);
    let weir = place.start(Part::Up).await;
    let listed = async || weir.client.get("/api/registry/profiles").await.expect(200).json();
    let agent = json!({"name": "agent", "mode": null, "min_age_hours": 168, "severity_floor": "low",
        "quota": {"downloads_per_hour": null, "downloads_per_day": null, "bytes_per_day": null},
        "hold": []});
    assert_eq!(listed().await["profiles"], json!([agent]));
    assert_eq!(events(&weir.client, "ProfileSet").await.len(), 1);
    let again = place.start(Part::Api).await;
    assert_eq!(events(&again.client, "ProfileSet").await.len(), 1, "it is so already");
    let run = |arguments: &[&str]| {
        let output = place.run(arguments);
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    run(&["profiles", "set", "trial", "--mode", "audit"]);
    let shown = run(&["profiles", "ls"]);
    assert!(
        shown.contains("agent") && shown.contains("168 h") && shown.contains("audit"),
        "{shown}"
    );
    run(&["token", "create", "robot", "--scope", "registry:pypi", "--profile", "agent"]);
    deadline::until("the token is listed with its profile", async || {
        let tokens = run(&["token", "ls"]);
        let robot = tokens.lines().any(|line| line.contains("robot") && line.contains("agent"));
        if robot { Ok(()) } else { Err(tokens) }
    })
    .await;
    run(&["profiles", "rm", "trial", "--yes"]);
    assert_eq!(listed().await["profiles"], json!([agent]));

    let bad = Place::on_a_test_database().await.setting("policy:\n  profiles: [{name: Agent}]\n");
    let database = bad.database.as_ref().expect("a database").url.clone();
    let output = bad.run(&["up", "--listen", "127.0.0.1:0", "--database-url", &database]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("`Agent` is no name of a profile"), "{}", said(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_the_token_out_on_this_machine_is_bound_by_the_profile_that_is_named_for_that() {
    let profiles = "policy:\n  profiles:\n    - name: agent\n      min_age_hours: 87600\n";
    for (auth, passes) in [("", true), ("auth:\n  loopback_profile: agent\n", false)] {
        let place = Place::on_a_test_database().await.upstream(&upstream());
        let place = place.setting(profiles).setting(auth);
        let weir = place.start(Part::Up).await;
        let (_, secret) = weir.client.issue("ann", &["registry:pypi"]).await;
        let wheel = wheel(&weir.client.with_token(Some(&secret))).await;
        let nobody = weir.client.with_token(None);
        let answer = nobody.get(&wheel).await;
        assert_eq!(answer.status == 200, passes, "{}", answer.body);
        for arguments in [&["doctor"][..], &["profiles", "ls"]] {
            let told = said(&place.run(arguments));
            assert_eq!(told.contains("auth.loopback_profile"), passes, "{arguments:?}: {told}");
        }
    }
}
