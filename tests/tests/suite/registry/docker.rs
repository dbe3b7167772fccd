//! Real skopeo, in front of a real registry on this machine.

mod held;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::{advisory, sign},
    deadline,
    weir::{Part, Place, Weir},
};

use super::{matrix::shows_id, said};

const GHSA: &str = "GHSA-w31r-w31r-w31r";
const REASON: &str = "not reviewed by security yet";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// A registry with folders of its own, which ends with the test.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    async fn start(place: &Place) -> Self {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            free.local_addr().expect("its address").port()
        };
        let address = format!("127.0.0.1:{port}");
        let (config, root) = (place.path().join("registry.yml"), place.path().join("registry"));
        let text = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {address}\n",
            root.display()
        );
        fs::write(&config, text).expect("its configuration");
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("start docker-registry, which tools/test installs");
        let registry = Self { process, address };
        deadline::until("the registry listens", async || {
            tokio::net::TcpStream::connect(&registry.address).await
        })
        .await;
        registry
    }

    fn stop(&mut self) {
        self.process.kill().expect("stop it");
        self.process.wait().expect("its end");
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

/// Writes a blob into a layout, and describes it.
fn blob(layout: &Path, media_type: &str, bytes: &[u8]) -> Value {
    let digest = hex::encode(Sha256::digest(bytes));
    let folder = layout.join("blobs/sha256");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(&digest), bytes).expect("a blob");
    json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": bytes.len()})
}

/// Writes the layout of an index of images for two architectures, whose layers hold this word.
fn layout(place: &Place, word: &str) -> PathBuf {
    let layout = place.path().join(word);
    let image = |architecture: &str| {
        // A layer of no files: the two empty records that end an archive, and a word behind them.
        let mut tar = vec![0; 10_240 - word.len() - architecture.len()];
        tar.extend_from_slice(word.as_bytes());
        tar.extend_from_slice(architecture.as_bytes());
        let layer = blob(&layout, LAYER, &tar);
        let config = json!({"architecture": architecture, "os": "linux", "config": {},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}});
        let config = blob(&layout, CONFIG, config.to_string().as_bytes());
        let manifest = json!({"schemaVersion": 2, "mediaType": IMAGE, "config": config,
            "layers": [layer]});
        let mut image = blob(&layout, IMAGE, manifest.to_string().as_bytes());
        image["platform"] = json!({"architecture": architecture, "os": "linux"});
        image
    };
    let images = [image("amd64"), image("arm64")];
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": images});
    let mut index = blob(&layout, INDEX, index.to_string().as_bytes());
    index["annotations"] = json!({"org.opencontainers.image.ref.name": "it"});
    let top = json!({"schemaVersion": 2, "manifests": [index]});
    fs::write(layout.join("index.json"), top.to_string()).expect("the layout");
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).expect("its version");
    layout
}

/// A client with a home of its own in the place.
fn skopeo(place: &Place, arguments: &[&str]) -> Output {
    let home = place.path().join("home");
    fs::create_dir_all(&home).expect("a home");
    let policy = place.path().join("policy.json");
    fs::write(&policy, r#"{"default":[{"type":"insecureAcceptAnything"}]}"#).expect("its policy");
    Command::new("skopeo")
        .arg("--policy")
        .arg(&policy)
        .args(arguments)
        .env("HOME", &home)
        .env("XDG_RUNTIME_DIR", &home)
        .output()
        .expect("run skopeo, which tools/test installs")
}

/// Copies all of an image into a folder, and says what is in there.
fn pulled(place: &Place, registry: &str, image: &str, name: &str) -> Vec<(String, Vec<u8>)> {
    let output = pull(place, registry, image, name, &[]);
    assert!(output.status.success(), "{image}: {}", said(&output));
    let folder = fs::read_dir(place.path().join(name)).expect("what was copied");
    let mut files: Vec<_> = folder
        .map(|entry| {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("its name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("its content"))
        })
        .collect();
    files.sort();
    files
}

fn pull(place: &Place, registry: &str, image: &str, name: &str, more: &[&str]) -> Output {
    let from = format!("docker://{registry}/{image}");
    let to = format!("dir:{}", place.path().join(name).display());
    let fixed = ["copy", "--all", "--src-tls-verify=false", "--retry-times=0"];
    skopeo(place, &[&fixed[..], more, &[&from, &to]].concat())
}

async fn weir_with(more: &str) -> (Place, Registry, Weir) {
    let place = Place::on_a_test_database().await;
    let registry = Registry::start(&place).await;
    for (word, tag) in [("good", "1.0"), ("bad", "2.0")] {
        let from = format!("oci:{}:it", layout(&place, word).display());
        let to = format!("docker://{}/library/app:{tag}", registry.address);
        let output = skopeo(&place, &["copy", "--all", "--dest-tls-verify=false", &from, &to]);
        assert!(output.status.success(), "{}", said(&output));
    }
    let upstream =
        format!("registries:\n  docker:\n    upstream: http://{}/\n{more}", registry.address);
    let place = place.setting(&upstream);
    let weir = place.start(Part::Up).await;
    (place, registry, weir)
}

fn host(weir: &Weir) -> &str {
    weir.url.strip_prefix("http://").expect("plain HTTP")
}

async fn rule(weir: &Weir, versions: &str, mask: &str) {
    let rule = json!({"ecosystem": "docker", "package": "app", "versions": versions,
        "reason": REASON, "mask": mask});
    weir.client.post("/api/rules", &rule).await.has(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_through_weir_is_the_same_as_a_direct_one_also_without_the_upstream() {
    let (place, mut registry, weir) = weir_with("").await;
    let wanted = pulled(&place, &registry.address, "library/app:1.0", "direct");
    assert!(wanted.len() > 6, "an index, two images, their configurations and layers: {wanted:?}");
    for temperature in ["cold", "warm", "alone"] {
        if temperature == "alone" {
            registry.stop();
        }
        let got = pulled(&place, host(&weir), "app:1.0", temperature);
        assert!(got == wanted, "{temperature}: other files");
    }
    let events = weir.client.get("/api/events?kind=CacheStored&limit=1000").await.expect(200);
    assert_eq!(events.json()["events"].as_array().map(Vec::len), Some(7), "each thing once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_tag_fails_under_every_mask_and_skopeo_prints_the_reason_and_the_rule() {
    for mask in ["mark", "hide", "deny-only"] {
        let (place, registry, weir) = weir_with("").await;
        let inspect = |tag: &str| {
            let image = format!("docker://{}/library/app:{tag}", registry.address);
            let output = skopeo(
                &place,
                &["inspect", "--tls-verify=false", "--format", "{{.Digest}}", &image],
            );
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let digest = inspect("2.0");
        rule(&weir, "2.*", mask).await;
        for image in ["app:2.0".to_owned(), format!("library/app@{digest}")] {
            let output = pull(&place, host(&weir), &image, "refused", &[]);
            let told = said(&output);
            assert!(!output.status.success(), "{mask}: {told}");
            for words in [REASON, "(rule ", "version 2.0 of `library/app`", "1.0 is allowed"] {
                assert!(told.contains(words), "{mask} {image}: {told}");
            }
        }
        pulled(&place, host(&weir), "app:1.0", "allowed");
        let tags = skopeo(
            &place,
            &["list-tags", "--tls-verify=false", &format!("docker://{}/app", host(&weir))],
        );
        assert!(tags.status.success(), "{}", said(&tags));
        assert_eq!(said(&tags).contains("\"2.0\""), mask == "deny-only", "{}", said(&tags));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_that_an_advisory_is_about_fails_and_skopeo_prints_the_advisory() {
    for mask in ["mark", "hide", "deny-only"] {
        let policy = format!("policy:\n  vulnerability_mask: {mask}\n");
        let (place, _registry, weir) = weir_with(&policy).await;
        let mut about = advisory(Ecosystem::Docker, GHSA, "library/app", "2.0", None);
        // Tags have no order: what is affected is named.
        about.affected[0].windows.clear();
        about.affected[0].versions = vec!["2.0".to_owned()];
        sign(&mut about);
        let at = place.publish(&about).await;
        weir.client.judges_by(at).await;
        let output = pull(&place, host(&weir), "app:2.0", "refused", &[]);
        let told = said(&output);
        assert!(!output.status.success(), "{mask}: {told}");
        assert_eq!(told.contains(GHSA), shows_id("skopeo", mask), "{mask}: {told}");
        pulled(&place, host(&weir), "app:1.0", "allowed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_tokens_are_needed_skopeo_shows_its_own_and_one_for_python_opens_no_image() {
    let (place, _registry, weir) = weir_with("auth:\n  loopback_packages: closed\n").await;
    let (_, images) = weir.client.issue("images", &["registry:docker"]).await;
    let (_, python) = weir.client.issue("python", &["registry:pypi"]).await;
    assert!(!pull(&place, host(&weir), "app:1.0", "nobody", &[]).status.success());
    let credentials = format!("--src-creds=ci:{python}");
    let output = pull(&place, host(&weir), "app:1.0", "python", &[&credentials]);
    assert!(!output.status.success());
    let told = said(&output);
    assert!(told.contains("it needs scope `registry:docker`"), "{told}");
    let credentials = format!("--src-creds=ci:{images}");
    let output = pull(&place, host(&weir), "app:1.0", "images", &[&credentials]);
    assert!(output.status.success(), "{}", said(&output));
}
