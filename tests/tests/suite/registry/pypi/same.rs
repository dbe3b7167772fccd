//! What pip and uv install and lock through Weir is what they would without it, and a dependency of
//! which the newest version is forbidden is taken in its last good one.
//!
//! What they install is `python-dateutil` 2.9.0.post0, which asks for `six` >=1.5.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use weir_tests::weir::{Place, Weir};

use super::{clean, said, upstream, weir};

const WANTED: &str = "python-dateutil==2.9.0.post0";
const PROJECT: &str = "[project]\nname = \"project\"\nversion = \"1.0.0\"\n\
    requires-python = \">=3.9\"\ndependencies = [\"python-dateutil==2.9.0.post0\"]\n";

#[derive(Debug, Clone, Copy)]
enum Client {
    Pip,
    Uv,
}

/// A folder that a client installs into, with a cache of its own.
struct Installed {
    client: Client,
    folder: PathBuf,
}

/// Installs from an index, and locks.
fn install(client: Client, place: &Place, name: &str, index: &str) -> Installed {
    let folder = place.path().join(format!("{client:?}-{name}"));
    fs::create_dir_all(&folder).expect("a folder");
    let it = Installed { client, folder };
    match client {
        Client::Pip => it.run(&[
            &["python3", "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"],
            &["--no-cache-dir", "--index-url", index, "--target", "installed"],
            &["--report", "report.json", WANTED],
        ]),
        Client::Uv => {
            fs::write(it.folder.join("pyproject.toml"), PROJECT).expect("a project");
            let from = ["--no-config", "--cache-dir", "cache", "--default-index", index];
            it.run(&[&["uv", "pip", "install", "--target", "installed", WANTED], &from]);
            it.run(&[&["uv", "lock"], &from]);
        }
    }
    it
}

impl Installed {
    fn run(&self, words: &[&[&str]]) {
        let words = words.concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder);
        let output = clean(&mut command, &self.folder);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
    }

    /// Every file that was installed, by its content.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (top, mut files) = (self.folder.join("installed"), BTreeMap::new());
        collect(&top, &top, &mut files);
        files
    }

    /// What it was locked to: names, versions, files and hashes, and no address.
    fn lock(&self) -> String {
        match self.client {
            Client::Pip => {
                let report = fs::read(self.folder.join("report.json")).expect("its report");
                let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
                let installs = report["install"].as_array().expect("what it installed").iter();
                let lines = installs.map(|one| {
                    let file = last_of(one["download_info"]["url"].as_str().expect("an address"));
                    let hashes = &one["download_info"]["archive_info"]["hashes"];
                    format!("{} {file} {hashes}", one["metadata"]["version"])
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            Client::Uv => {
                let lock = fs::read_to_string(self.folder.join("uv.lock")).expect("its lock file");
                let words = lock.split('"');
                let words = words.map(|word| match word {
                    address if address.contains("://") => last_of(address.trim_end_matches('/')),
                    word => word,
                });
                words.collect::<Vec<_>>().join("\"")
            }
        }
    }

    fn has_six(&self, version: &str) -> bool {
        self.folder.join(format!("installed/six-{version}.dist-info")).is_dir()
    }
}

fn last_of(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or_default()
}

fn collect(top: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(top, &path, files);
        } else {
            let name = path.strip_prefix(top).expect("below it").to_owned();
            files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

fn through(weir: &Weir) -> String {
    format!("{}/pypi/simple/", weir.url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_install_through_weir_is_the_same_as_a_direct_one_cold_and_warm() {
    let (place, weir) = weir().await;
    let mut n_allowed = 0;
    for client in [Client::Pip, Client::Uv] {
        let direct = install(client, &place, "direct", &upstream());
        assert!(direct.tree().len() > 30, "{client:?} installed next to nothing");
        assert!(direct.lock().contains("six-1.17.0-py2.py3-none-any.whl"), "{}", direct.lock());
        for temperature in ["cold", "warm"] {
            let it = install(client, &place, temperature, &through(&weir));
            assert!(it.tree() == direct.tree(), "{client:?} {temperature}: other files");
            assert_eq!(it.lock(), direct.lock(), "{client:?} {temperature}");
            let now = n_of(&weir, "PackageAllowed").await;
            assert!(now > n_allowed, "{client:?} {temperature} asked somebody else");
            n_allowed = now;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_good_version_of_a_dependency_is_taken_when_the_newest_is_hidden_or_marked() {
    let (place, weir) = weir().await;
    for mask in ["hide", "mark"] {
        let rule = weir.client.rule("six", ">=1.17", "not reviewed by security yet", mask).await;
        for client in [Client::Pip, Client::Uv] {
            let it = install(client, &place, mask, &through(&weir));
            assert!(it.has_six("1.16.0"), "{client:?} {mask}: {:?}", it.tree().keys());
            assert!(it.lock().contains("six-1.16.0"), "{client:?} {mask}: {}", it.lock());
        }
        let id = rule.json()["id"].as_str().expect("its id").to_owned();
        weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
    }
}

async fn n_of(weir: &Weir, kind: &str) -> usize {
    let events = weir.client.get(&format!("/api/events?kind={kind}&limit=1000")).await;
    events.expect(200).json()["events"].as_array().map_or(0, Vec::len)
}
