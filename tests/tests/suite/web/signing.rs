//! Signing: the published vectors, the clients that are held to them, and `weir agent`.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ed25519_dalek::SigningKey;
use serde_json::{Value, json};
use weir_events::web::{
    content::{ContentFilter, ContentFormat},
    request::{
        AgentId, Hash256, Headers, HttpMethod, Message, PortalRequest, PublicKey, Signature,
    },
};
use weir_processors::web::signature::{check_signature, sign};
use weir_tests::{
    agent::Agent,
    database::target,
    outside::Outside,
    weir::{Part, Place},
};

use super::portal::{advance, place, tick};

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn plain() -> PortalRequest {
    PortalRequest {
        id: Hash256::of(&[b"plain"]),
        agent: AgentId::new([0; 32]),
        url: "https://docs.rs/serde".into(),
        method: HttpMethod::Get,
        headers: Headers::default(),
        body: None,
        filter: ContentFilter::default(),
        purpose: "learn how serde names fields".to_owned(),
        tick: 7,
        signature: Signature::new([0; 64]),
    }
}

/// What differs from what: each shows one rule of the canonical bytes.
fn requests() -> [(&'static str, PortalRequest); 6] {
    let post = PortalRequest { method: HttpMethod::Post, ..plain() };
    let summary = ContentFilter {
        strip_inline_code: false,
        transform_apis: true,
        max_size: 1_000_000,
        format: ContentFormat::Summary,
        ..ContentFilter::default()
    };
    [
        ("nothing but what is needed", plain()),
        (
            "an empty body is no missing one",
            PortalRequest { body: Some("".into()), ..post.clone() },
        ),
        (
            "headers by name, a body that is no text",
            PortalRequest {
                headers: [("content-type", "a/b"), ("accept-language", "en"), ("accept", "*/*")]
                    .into(),
                body: Some([0, 0xff, 0x80].as_slice().into()),
                ..post.clone()
            },
        ),
        ("a body of 300 bytes", PortalRequest { body: Some(vec![b'x'; 300].into()), ..post }),
        (
            "another filter, words of another alphabet",
            PortalRequest {
                filter: summary,
                purpose: "Wörter in größerer Zahl, damit ihre Länge ein Byte braucht: 言葉"
                    .to_owned(),
                ..plain()
            },
        ),
        (
            "the last tick there is",
            PortalRequest { method: HttpMethod::Head, tick: u64::MAX, ..plain() },
        ),
    ]
}

fn vectors() -> Value {
    let vectors = requests().into_iter().map(|(name, request)| {
        let secret = Hash256::of(&[b"a key for ", name.as_bytes()]);
        let key = SigningKey::from_bytes(secret.as_bytes());
        let request = sign(request, &key).expect("signed");
        let canonical = request.canonical_bytes().expect("bytes");
        let envelope = Message::Request(Box::new(request.clone())).encode().expect("an envelope");
        json!({
            "name": name,
            "secret_key": hex::encode(key.to_bytes()),
            "public_key": hex::encode(key.verifying_key().to_bytes()),
            "request": request,
            "body": request.body.as_ref().map(hex::encode),
            "canonical": hex::encode(canonical),
            "signature": request.signature,
            "envelope": hex::encode(envelope),
        })
    });
    vectors.collect()
}

#[test]
fn the_published_vectors_are_what_this_build_signs() {
    let file = clients().join("vectors.json");
    let made = serde_json::to_string_pretty(&vectors()).expect("JSON") + "\n";
    if fs::read_to_string(&file).unwrap_or_default() != made {
        fs::write(file.with_extension("json.new"), made).expect("propose them");
        panic!("the vectors changed: look at {}.new, and think of every client", file.display());
    }
}

#[test]
fn the_python_client_signs_as_this_build_does() {
    let output = Command::new("python3")
        .arg(clients().join("weir_agent.py"))
        .arg(clients().join("vectors.json"))
        .output()
        .expect("python3: run tools/test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.trim(), format!("{} vectors agree", requests().len()));
}

/// The client in TypeScript, as Node.js runs it: its types taken out, nothing else.
fn compiled(folder: &Path) -> PathBuf {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/ui");
    let compiler = [target().join("tools/typescript"), ui]
        .map(|at| at.join("node_modules/typescript/lib/tsc.js"))
        .into_iter()
        .find(|compiler| compiler.exists())
        .expect("TypeScript: run tools/test");
    fs::write(folder.join("package.json"), r#"{"type": "module"}"#).expect("write");
    let options = ["--noCheck", "--target", "es2022", "--module", "esnext", "--outDir"];
    let output = Command::new("node")
        .arg(compiler)
        .args(options)
        .arg(folder)
        .arg(clients().join("weir_agent.ts"))
        .output()
        .expect("node: run tools/test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    folder.join("weir_agent.js")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_clients_ask_a_running_gateway_and_say_why_they_are_refused() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100").await;
    let weir = place.start(Part::Up).await;
    let admin = &weir.client;
    advance(admin, 4).await;
    tick(admin, 1).await;
    for (name, program, script) in [
        ("python", "python3", clients().join("weir_agent.py")),
        ("typescript", "node", compiled(place.path())),
    ] {
        let agent = Agent::with_spark(admin, name, 100).await;
        let said = async |token: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.arg(&script).args([&weir.url, token, &agent.secret_key()]).args(arguments);
            let output = tokio::task::spawn_blocking(move || command.output());
            let output = output.await.expect("no panic").expect("it runs");
            let text = |bytes| String::from_utf8(bytes).expect("text");
            (output.status.code(), text(output.stdout), text(output.stderr))
        };
        let at = |path: &str| format!("{}/{name}/{path}", outside.url);
        let (code, page, words) = said(&agent.token, &["GET", &at("get"), "to learn"]).await;
        assert_eq!(code, Some(0), "{name}: {words}");
        assert!(page.starts_with("200 fetched 2 spark\n"), "{name}: {page}");
        assert!(page.contains(&format!("This is the page at /{name}/get.")), "{name}: {page}");
        let again = said(&agent.token, &["GET", &at("get"), "to learn"]).await;
        assert!(again.1.starts_with("200 cached 0 spark\n"), "{name}: {again:?}");

        // One id is one request, whoever is impatient.
        let id = Hash256::of(&[name.as_bytes()]).to_string();
        let post = ["POST", &at("post"), "to ask", r#"{"q": 1}"#, &id];
        let first = said(&agent.token, &post).await;
        assert!(first.1.starts_with("200 fetched 3 spark\n"), "{name}: {first:?}");
        assert_eq!(said(&agent.token, &post).await, first, "{name}");
        assert_eq!(outside.asked(&format!("/{name}/post")), 1, "{name}");
        let paid = agent.account(admin).await;

        let refused = |answer: &(Option<i32>, String, String), words: &str| {
            assert_eq!((answer.0, answer.1.as_str()), (Some(1), ""), "{name}: {answer:?}");
            assert!(answer.2.starts_with(&format!("refused: {words}: ")), "{name}: {answer:?}");
        };
        let blocked = said(&agent.token, &["GET", "https://github.com/", "to copy"]).await;
        refused(&blocked, "0x0702 DomainBlocked");
        assert!(blocked.2.contains("github.com"), "{name}: {blocked:?}");
        let other = ["POST", &at("other"), "to ask", r#"{"q": 2}"#, &id];
        refused(&said(&agent.token, &other).await, "0x0704 InvalidRequest");
        let nobody = format!("rf_{}", "0".repeat(40));
        let problem = admin.with_token(Some(&nobody)).get("/api/web/requests").await;
        let code = problem.json()["code"].as_str().expect("a code").to_owned();
        refused(&said(&nobody, &["GET", &at("get"), "to learn"]).await, &code);
        assert_eq!(agent.account(admin).await, paid, "{name}: a refusal costs nothing");
    }
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_gets_a_key_is_registered_signs_and_is_revoked_on_the_command_line() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let ran = |arguments: &[&str], input: &str| {
        let mut command = place.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("start weir");
        // It may end without reading.
        drop(run.stdin.take().expect("its input").write_all(input.as_bytes()));
        run.wait_with_output().expect("its output")
    };
    let done = |arguments: &[&str], input: &str| {
        let output = ran(arguments, input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let json = |arguments: &[&str], input: &str| -> Value {
        serde_json::from_slice(&done(arguments, input)).expect("JSON")
    };
    let server = ["--json", "--server", &weir.url];
    let to_server = |arguments: &[&str], input: &str| json(&[arguments, &server].concat(), input);

    let made = json(&["agent", "keygen", "reader.pem", "--json"], "");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(ran(&["agent", "keygen", "reader.pem"], "").status.code(), Some(5), "written over");
    let registered =
        to_server(&["agent", "register", "reader", "--key", "reader.pem", "--with-token"], "");
    assert_eq!(registered["id"], id);
    assert!(registered["secret"].as_str().is_some_and(|secret| secret.starts_with("rf_")));

    let draft = r#"{"url": "https://docs.rs/serde", "purpose": "learn"}"#;
    let signed = to_server(&["agent", "sign", "--key", "reader.pem"], draft);
    let request: PortalRequest = serde_json::from_value(signed).expect("a request");
    let public_key: PublicKey =
        made["public_key"].as_str().expect("a key").parse().expect("digits");
    let key = weir_aggregates::access::agent::verifying_key(&public_key).expect("a good key");
    assert_eq!(request.agent.to_string(), id);
    check_signature(&request, &key).expect("it fits");
    // With a tick nobody is asked, and the same is signed again as an envelope.
    let again = serde_json::to_string(&request).expect("JSON");
    let envelope =
        done(&["agent", "sign", "--key", "reader.pem", "--tick", "9", "--envelope"], &again);
    let Ok(Message::Request(sent)) = Message::decode(&envelope) else { panic!("no envelope") };
    assert_eq!((sent.tick, sent.id), (9, request.id));
    check_signature(&sent, &key).expect("it fits");
    let refused = ran(&["agent", "sign", "--key", "reader.pem", "--tick", "9"], r#"{"url": "x"}"#);
    assert_eq!(refused.status.code(), Some(2));

    to_server(&["agent", "revoke", id, "--yes"], "");
    let head = weir.client.get("/api/status").await.expect(200).json()["head"].clone();
    weir.client.reaches("agents", head.as_i64().expect("a position")).await;
    let listed = to_server(&["agent", "list"], "");
    assert_eq!(listed["agents"][0]["id"], id);
    assert!(listed["agents"][0]["revoked_at"].is_string(), "{listed}");
    weir.stop().await;
}
