//! `weir agent`: keys that stay here, agents that are trusted until they are not, and what cannot be
//! signed.

use std::fs;

use serde_json::{Value, json};
use weir_tests::weir::Place;

use super::{Desk, fed, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_trusted_by_its_key_until_somebody_who_means_it_revokes_it() {
    let desk = Desk::open().await;
    let made = desk.run(&["agent", "keygen", "one.pem"]).done();
    let word = |label: &str| {
        let line = made.lines().find(|line| line.starts_with(label)).expect(label);
        line.split_whitespace().last().expect("digits").to_owned()
    };
    let (id, public_key) = (word("agent"), word("public key"));
    let key = fs::read_to_string(desk.place.path().join("one.pem")).expect("the key");
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----"), "{key}");

    let register = ["agent", "register", "reader", "--public-key", &public_key];
    let told = desk.run(&register).ends(0, &[&format!("agent `reader` is registered: {id}")]);
    assert_eq!(told.out.trim_end(), id);
    desk.run(&["agent", "register", "reader"]).ends(2, &["--key"]);
    desk.run(&["agent", "register", "reader", "--public-key", "00"]).ends(2, &["--public-key"]);
    let both = [&register[..], &["--key", "one.pem"]].concat();
    desk.run(&both).ends(2, &["cannot be used with"]);
    let none = ["agent", "register", "x", "--key", "nowhere.pem"];
    desk.run(&none).ends(3, &["could not read a key from `nowhere.pem`"]);
    let with_token = ["agent", "register", "writer", "--key", "two.pem", "--with-token"];
    desk.run(&["agent", "keygen", "two.pem"]).done();
    let writer = desk.run(&with_token).ends(0, &["its token is shown this once"]);
    assert!(writer.out.starts_with("rf_") && !writer.err.contains(writer.out.trim_end()));

    desk.shows("agents").await;
    let row = |id: &str| {
        let listed = desk.run(&["agent", "ls"]).done();
        listed.lines().find(|line| line.starts_with(id)).expect("its row").to_owned()
    };
    assert!(row(&id).contains("reader") && row(&id).ends_with("trusted"), "{}", row(&id));
    let shown = format!("revoke agent {id} and every token of it");
    desk.run(&["agent", "revoke", &id, "--dry-run"]).ends(0, &[&format!("would {shown}")]);
    desk.run(&["agent", "revoke", &id]).ends(2, &[&format!("cannot ask whether to {shown}")]);
    desk.run(&["agent", "revoke", "reader", "--yes"]).ends(2, &["reader"]);
    desk.run(&["agent", "revoke", &"0".repeat(64), "--yes"]).ends(3, &["error: "]);
    assert!(row(&id).ends_with("trusted"), "{}", row(&id));
    let done = desk.run(&["agent", "revoke", &id, "--yes"]).done();
    assert_eq!(done.trim_end(), format!("agent {id} is revoked"));
    desk.shows("agents").await;
    assert!(row(&id).ends_with("revoked"), "{}", row(&id));
    desk.weir.stop().await;
}

#[tokio::test]
async fn what_cannot_be_signed_says_why_and_asks_no_server() {
    let place = Place::with_a_private_postgres();
    run(&place, &["agent", "keygen", "one.pem"]).done();
    run(&place, &["agent", "keygen", "nowhere/one.pem"]).ends(1, &["could not write"]);
    let sign = ["agent", "sign", "--key", "one.pem", "--tick", "7"];
    let signed = |draft: &Value| fed(&place, &sign, draft.to_string().as_bytes());
    let good = signed(&json!({"url": "https://docs.example/", "purpose": "learn"})).json();
    assert_eq!((&good["tick"], &good["method"]), (&json!(7), &json!("GET")));
    assert_eq!(good["signature"].as_str().map(str::len), Some(128), "{good}");
    for (draft, words) in [
        (json!([]), "it is JSON, but no object"),
        (json!({"purpose": "learn"}), "this is no request: "),
        (json!({"url": "https://docs.example/", "purpose": ""}), "`purpose` is empty"),
        (json!({"url": "https://x/", "purpose": "y", "agent": "00"}), "and the key is of agent"),
    ] {
        assert_eq!(signed(&draft).ends(2, &[words]).out, "");
    }
    fed(&place, &sign, b"{").ends(2, &["this is no request: "]);
    fed(&place, &sign, &vec![b' '; (2 << 20) + 1])
        .ends(2, &["a request has at most 2097152 bytes"]);
    let file = [&sign[..], &["nowhere.json"]].concat();
    run(&place, &file).ends(3, &["could not read `nowhere.json`"]);
    fs::write(place.path().join("long.pem"), vec![b'x'; 9_000]).expect("a file");
    let long = ["agent", "sign", "--key", "long.pem", "--tick", "7"];
    fed(&place, &long, b"{}").ends(2, &["it has 9000 bytes, 8192 at most"]);
}
