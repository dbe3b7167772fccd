//! Go modules end to end, against a proxy in this process.

mod lists;
mod sums;
mod zips;

use std::io::{Cursor, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};
use weir_events::registry::{Ecosystem, Event, Mask, Rule};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::Go;
use crate::{
    outbound::ReachFault,
    registry::{
        cache::FileCache,
        ledger::Ledger,
        setup::{Config, Parts},
        testing::{Canned, Tested, World, aged, body, rule_of, text},
    },
};

/// A registry with its own upstream, cache and rules.
type Weir = World<Go<FileCache>>;

impl Tested for Go<FileCache> {
    const ECOSYSTEM: Ecosystem = Ecosystem::Go;
    const LISTS: &'static str = "/proxy";

    fn defaults(config: Config) -> Config {
        super::config(config.upstream)
    }

    fn made(config: &Config, parts: Parts<'_, FileCache>) -> Result<Self, ReachFault> {
        Self::new(config, parts)
    }

    fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }
}

const MODULE: &str = "example.com/Mod";
const ESCAPED: &str = "example.com/!mod";
const DATABASE: &str = "sums.example";

fn at(what: &str) -> String {
    format!("/{ESCAPED}/{what}")
}

fn rule(n: u128, versions: &str, mask: Mask) -> Rule {
    rule_of(Ecosystem::Go, n, MODULE, versions, mask)
}

/// A zip of these files.
fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The files of a version.
fn files(version: &str) -> [(String, String); 2] {
    let name = |file: &str| format!("{MODULE}@{version}/{file}");
    [
        (name("go.mod"), format!("module {MODULE}\n")),
        (name("mod.go"), format!("package mod // {version}\n")),
    ]
}

fn zip(version: &str) -> Vec<u8> {
    let files = files(version);
    zip_of(&files.each_ref().map(|(name, content)| (name.as_str(), content.as_str())))
}

/// What a database says of a version, worked out another way than in the code that is tested.
fn sum(version: &str) -> String {
    let mut files = files(version);
    files.sort();
    let lines =
        files.map(|(name, content)| format!("{}  {name}\n", hex::encode(Sha256::digest(content))));
    format!("h1:{}", STANDARD.encode(Sha256::digest(lines.concat())))
}

impl Weir {
    /// One whose proxy has these versions, a day apart.
    async fn open(versions: &[&str]) -> Self {
        Self::open_with(versions, |_| {}).await
    }

    async fn open_with(versions: &[&str], adjust: impl FnOnce(&mut Config)) -> Self {
        let weir = Self::start_with(adjust).await;
        let put = |what: &str, body: Vec<u8>| {
            weir.upstream.put(&format!("/proxy{}", at(what)), Canned::new(body));
        };
        put("@v/list", (versions.join("\n") + "\n").into());
        for (day, version) in (1..).zip(versions) {
            put(&format!("@v/{version}.info"), info(version, day).into());
            put(&format!("@v/{version}.mod"), format!("module {MODULE}\n").into());
            put(&format!("@v/{version}.zip"), zip(version));
        }
        if let Some((day, latest)) = (1..).zip(versions).last() {
            put("@latest", info(latest, day).into());
        }
        weir
    }

    /// The same, whose proxy passes a database on.
    async fn with_database(versions: &[&str]) -> Self {
        let weir = Self::open_with(versions, |config| {
            config.checksum_database = Some(DATABASE.parse().unwrap());
            config.private = vec!["example.com/private".to_owned()];
        });
        let weir = weir.await;
        for version in versions {
            weir.says(version, &sum(version));
        }
        weir
    }

    /// What the database says of a version.
    fn says(&self, version: &str, sum: &str) {
        let record =
            format!("7\n{MODULE} {version} {sum}\n{MODULE} {version}/go.mod h1:x\n\ntree\n");
        let path = format!("/proxy/sumdb/{DATABASE}/lookup/{ESCAPED}@{version}");
        self.upstream.put(&path, Canned::new(record));
    }

    async fn keeps(&self) {
        self.until("kept", || self.recorded().contains(&"stored")).await;
    }
}

fn info(version: &str, day: u32) -> String {
    format!(r#"{{"Version":"{version}","Time":"1970-01-{day:02}T00:00:00Z","Origin":{{}}}}"#)
}
