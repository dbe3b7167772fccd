use std::{path::Path, process::Command};

use uuid::Uuid;

use super::*;
use crate::{
    outbound::{Limits, Outbound},
    registry::sources::testing::{Memory, record_of},
};

/// A repository as the foundation's, in a folder.
struct Upstream(tempfile::TempDir);

impl Upstream {
    fn new() -> Self {
        let this = Self(tempfile::tempdir().unwrap());
        this.git(&["init", "--quiet", "--initial-branch=main"]);
        this
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(self.0.path())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    fn put(&self, path: &str, body: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, body).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=more"]);
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

struct Stage {
    upstream: Upstream,
    source: OpenSsf,
    log: Memory,
    seen: usize,
    kept: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let (upstream, kept) = (Upstream::new(), tempfile::tempdir().unwrap());
        let source = Self::source(&upstream, kept.path(), MAX_REPOSITORY_BYTES);
        Self { upstream, source, log: Memory::default(), seen: 0, kept }
    }

    fn source(upstream: &Upstream, kept: &Path, cap_bytes: u64) -> OpenSsf {
        let address = format!("file://{}", upstream.path().display()).parse().unwrap();
        let config = Config {
            git: Git::new(address, kept.join("malicious.git"), cap_bytes),
            ecosystems: vec![Ecosystem::Npm, Ecosystem::Pypi, Ecosystem::Cargo],
            interval: Duration::from_mins(30),
            timeout: Duration::from_mins(1),
            retry: Retry::default(),
            pause: Duration::ZERO,
        };
        let outbound = Outbound::new(Uuid::nil(), Limits::default()).unwrap();
        OpenSsf::new(config, Polite::new(outbound))
    }

    async fn visit(&self, revision: Option<String>) -> Result<Synced, SyncFault> {
        let visit = Visit { part: None, revision, losses: Losses::Doubt };
        self.source.sync(&visit, &self.log).await
    }

    fn news(&mut self) -> Vec<String> {
        self.log.news(&mut self.seen)
    }
}

fn put(stage: &Stage, ecosystem: &str, id: &str) {
    let folder = format!("osv/malicious/{}/{}", ecosystem.to_lowercase(), id.to_lowercase());
    stage.upstream.put(&format!("{folder}/{id}.json"), &record_of(id, ecosystem, "1.0.0", ""));
}

#[tokio::test]
async fn a_repository_is_read_once_a_commit_and_its_difference_appended() {
    let mut stage = Stage::new();
    put(&stage, "npm", "MAL-1");
    put(&stage, "PyPI", "MAL-2");
    put(&stage, "crates.io", "MAL-3");
    put(&stage, "RubyGems", "MAL-4");
    stage.upstream.put("README.md", "hello");
    stage.upstream.put("osv/malicious/npm/x/notes.txt", "hello");
    stage.upstream.commit();
    let first = stage.visit(None).await.unwrap();
    assert_eq!(stage.news(), ["+MAL-1", "+MAL-2", "+MAL-3"]);
    assert_eq!((first.tally.n_records, first.tally.n_published), (3, 3));

    let again = stage.visit(first.revision.clone()).await.unwrap();
    assert_eq!(again, Synced { revision: first.revision.clone(), ..Synced::default() });

    // Withdrawn is said by moving the record. One that is not there any more is missing.
    let folder = "osv/withdrawn/npm/mal-1";
    std::fs::create_dir_all(stage.upstream.path().join(folder)).unwrap();
    stage.upstream.git(&["mv", "osv/malicious/npm/mal-1/MAL-1.json", folder]);
    stage.upstream.git(&["rm", "--quiet", "osv/malicious/pypi/mal-2/MAL-2.json"]);
    put(&stage, "npm", "MAL-5");
    stage.upstream.commit();
    let third = stage.visit(first.revision.clone()).await.unwrap();
    assert_ne!(third.revision, first.revision);
    assert_eq!(stage.news(), ["+MAL-5", "-MAL-1"]);
    let Tally { n_records, n_withdrawn, n_missing, .. } = third.tally;
    assert_eq!((n_records, n_withdrawn, n_missing), (3, 1, 1));

    // Gone is what the next commit lacks too.
    stage.visit(None).await.unwrap();
    assert_eq!(stage.news(), Vec::<String>::new());
    put(&stage, "npm", "MAL-6");
    stage.upstream.commit();
    stage.visit(third.revision).await.unwrap();
    assert_eq!(stage.news(), ["+MAL-6", "-MAL-2"]);
}

#[tokio::test]
async fn links_garbage_and_huge_records_are_not_followed_read_or_fatal() {
    let mut stage = Stage::new();
    put(&stage, "npm", "MAL-1");
    stage.upstream.put("osv/malicious/npm/bad/MAL-6.json", "{");
    let huge = format!("{}{}", record_of("MAL-7", "npm", "1", ""), " ".repeat(MAX_RECORD_BYTES));
    stage.upstream.put("osv/malicious/npm/huge/MAL-7.json", &huge);
    let secret = stage.kept.path().join("secret.json");
    std::fs::write(&secret, record_of("MAL-8", "npm", "1.0.0", "")).unwrap();
    let link = stage.upstream.path().join("osv/malicious/npm/link.json");
    std::os::unix::fs::symlink(&secret, link).unwrap();
    stage.upstream.commit();
    let tally = stage.visit(None).await.unwrap().tally;
    assert_eq!(stage.news(), ["+MAL-1"]);
    assert_eq!((tally.n_records, tally.n_unreadable), (3, 2));
}

#[tokio::test]
async fn what_a_crash_left_behind_is_fetched_anew() {
    let mut stage = Stage::new();
    put(&stage, "npm", "MAL-1");
    stage.upstream.commit();
    stage.visit(None).await.unwrap();
    let folder = stage.kept.path().join("malicious.git");
    put(&stage, "npm", "MAL-2");
    stage.upstream.commit();
    std::fs::write(folder.join("shallow.lock"), "").unwrap();
    let fault = stage.visit(None).await.unwrap_err();
    assert!(fault.passing(), "{fault}");
    stage.visit(None).await.unwrap();
    std::fs::write(folder.join("HEAD"), "nonsense").unwrap();
    put(&stage, "npm", "MAL-3");
    stage.upstream.commit();
    let fault = stage.visit(None).await.unwrap_err();
    assert!(fault.passing(), "{fault}");
    stage.visit(None).await.unwrap();
    assert_eq!(stage.news(), ["+MAL-1", "+MAL-2", "+MAL-3"]);
}

#[tokio::test]
async fn a_repository_that_is_not_there_or_too_large_is_refused() {
    let mut stage = Stage::new();
    put(&stage, "npm", "MAL-1");
    stage.upstream.commit();
    let small = Stage::source(&stage.upstream, stage.kept.path(), 1_000);
    let visit = Visit { part: None, revision: None, losses: Losses::Doubt };
    let fault = small.sync(&visit, &stage.log).await.unwrap_err();
    assert!(matches!(fault, SyncFault::Git(GitFault::TooLarge { .. })), "{fault}");
    std::fs::remove_dir_all(stage.upstream.path()).unwrap();
    let fault = stage.visit(None).await.unwrap_err();
    assert!(!fault.passing() && fault.to_string().contains("could not fetch"), "{fault}");
    assert_eq!(stage.news(), Vec::<String>::new());
}

#[test]
fn a_line_names_a_record_or_nothing() {
    let path = "osv/malicious/npm/x/MAL-1.json";
    let is = |line: &str| listed_in(line.as_bytes()).is_some();
    assert!(is(&format!("100644 blob abc\t{path}")));
    for line in [
        format!("120000 blob abc\t{path}"),
        format!("160000 commit abc\t{path}"),
        "100644 blob abc\tosv/malicious/npm/x/notes.txt".to_owned(),
        "100644 blob abc\tdocs/MAL-1.json".to_owned(),
        "nonsense".to_owned(),
    ] {
        assert!(!is(&line), "{line}");
    }
}
