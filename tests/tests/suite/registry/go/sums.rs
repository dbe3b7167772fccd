//! A checksum database with a key of its own, as the real go command and Weir both verify it.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest as _, Sha256};

use super::*;

const NAME: &str = "sums.example";

/// The `h1` of files, by their names in a zip.
fn h1(mut files: Vec<(String, String)>) -> String {
    files.sort();
    let mut lines = String::new();
    for (name, content) in files {
        let hash = hex::encode(Sha256::digest(content));
        writeln!(lines, "{hash}  {name}").expect("a line");
    }
    format!("h1:{}", STANDARD.encode(Sha256::digest(lines)))
}

/// What a database says of what is published.
fn records() -> Vec<(String, String)> {
    let record = |module: &str, version: &str, go_mod: &str, code: &str| {
        let at = |file: &str| format!("{module}@{version}/{file}");
        let zip = h1(vec![(at("go.mod"), go_mod.to_owned()), (at("code.go"), code.to_owned())]);
        let go_mod = h1(vec![("go.mod".to_owned(), go_mod.to_owned())]);
        let text = format!("{module} {version} {zip}\n{module} {version}/go.mod {go_mod}\n");
        (format!("{}@{version}", module.replace('T', "!t")), text)
    };
    let leaf = ["v1.0.0", "v1.1.0", "v1.2.0"].map(|version| {
        let code = format!("package leaf\n\nconst Version = \"{version}\"\n");
        record(LEAF, version, &format!("module {LEAF}\n\ngo 1.21\n"), &code)
    });
    let go_mod = format!("module {MID}\n\ngo 1.21\n\nrequire {LEAF} v1.0.0\n");
    let code = format!("package mid\n\nimport \"{LEAF}\"\n\nconst Leaf = leaf.Version\n");
    let mid = record(MID, "v1.0.0", &go_mod, &code);
    leaf.into_iter().chain([mid]).collect()
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

fn hash_of_key() -> ([u8; 4], Vec<u8>) {
    let bytes = [&[1], &key().verifying_key().to_bytes()[..]].concat();
    let hash = Sha256::digest([format!("{NAME}\n").as_bytes(), &bytes].concat());
    (hash[..4].try_into().expect("four bytes"), bytes)
}

/// `NAME+HASH+KEY`.
fn public() -> String {
    let (hash, bytes) = hash_of_key();
    format!("{NAME}+{}+{}", hex::encode(hash), STANDARD.encode(bytes))
}

fn leaf(text: &str) -> [u8; 32] {
    Sha256::digest([&[0], text.as_bytes()].concat()).into()
}

/// Adds a database to a proxy: four records, so that one tile says it all.
fn add(files: &mut Files, records: &[(String, String)]) {
    let mut put = |path: &str, body: Vec<u8>| {
        files.insert(format!("/sumdb/{NAME}/{path}"), body.into());
    };
    let leaves: Vec<_> = records.iter().map(|(_, text)| leaf(text)).collect();
    let both = |a: &[u8], b: &[u8]| Sha256::digest([&[1], a, b].concat());
    let root = both(&both(&leaves[0], &leaves[1]), &both(&leaves[2], &leaves[3]));
    let tree = format!("go.sum database tree\n4\n{}\n", STANDARD.encode(root));
    let signature = key().sign(tree.as_bytes()).to_bytes();
    let signature = STANDARD.encode([&hash_of_key().0, &signature[..]].concat());
    let signed = format!("{tree}\n\u{2014} {NAME} {signature}\n");
    put("supported", Vec::new());
    put("latest", signed.clone().into());
    put("tile/8/0/000.p/4", leaves.concat());
    for (id, (path, text)) in records.iter().enumerate() {
        put(&format!("lookup/{path}"), format!("{id}\n{text}\n{signed}").into());
    }
}

/// A Weir that knows the key of the database behind a proxy that says this.
async fn weir_beside(files: Files) -> (Place, Weir, String) {
    let proxy = serve(files).await;
    let database = public();
    let registry =
        format!("registries:\n  go:\n    upstream: {proxy}/\n    checksum_database: {database}\n");
    let place = Place::on_a_test_database().await.setting(&registry);
    let weir = place.start(Part::Up).await;
    let through = format!("{}/go", weir.url);
    (place, weir, through)
}

fn project(place: &Place, through: &str) -> Project {
    Project { database: Some(public()), ..Project::new(place, "project", through) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_go_command_believes_of_a_database_weir_believes_too_and_no_more() {
    let mut files = published();
    add(&mut files, &records());
    let (place, weir, through) = weir_beside(files).await;
    let honest = project(&place, &through);
    honest.does(&["mod", "tidy"]);
    assert!(said(&honest.go(&["run", "."])).contains("v1.0.0"));
    // It has asked the database, and through Weir.
    let tile = weir.client.get(&format!("/go/sumdb/{NAME}/tile/8/0/000.p/4")).await;
    tile.has(200);
    let stored = weir.client.get("/api/events?kind=CacheStored").await.expect(200).json();
    assert_eq!(stored["events"].as_array().map(Vec::len), Some(2), "{stored}");

    // A record that was changed on its way, with the tree as it was signed.
    let mut files = published();
    add(&mut files, &records());
    let path = format!("/sumdb/{NAME}/lookup/{}", records()[0].0);
    let record = String::from_utf8(files[&path].to_vec()).expect("text");
    let lie = record.replacen("h1:", "h1:AAAA", 1);
    files.insert(path, lie.into());
    let (place, weir, through) = weir_beside(files).await;
    let told = project(&place, &through).refuses(&["mod", "tidy"]);
    assert!(told.contains("does not verify: it is not in the tree that is signed"), "{told}");
    let rejected = weir.client.get("/api/events?kind=UpstreamRejected").await.expect(200).json();
    let rejected = &rejected["events"][0]["payload"];
    assert_eq!(
        (&rejected["package"], &rejected["file"]),
        (&json!(LEAF), &json!("v1.0.0 in the checksum database"),)
    );
}
