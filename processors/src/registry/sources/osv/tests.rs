use std::time::Duration;

use http::header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, RETRY_AFTER};
use uuid::Uuid;
use weir_log::lifecycle::Lifecycle;

use super::*;
use crate::{
    outbound::{Limits, Outbound},
    registry::{
        sources::testing::{Memory, Packed, record, record_of, zip},
        testing::{Canned, Fake},
    },
};

const PATH: &str = "/bucket/npm/all.zip";
const INDEX: &str = "/bucket/npm/modified_id.csv";

struct Stage {
    fake: Fake,
    osv: Osv,
    log: Memory,
    seen: usize,
    _lifecycle: Lifecycle,
    _folder: tempfile::TempDir,
}

impl Stage {
    async fn new() -> Self {
        let lifecycle = Lifecycle::new();
        let fake = Fake::start(&lifecycle).await;
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            address: fake.url("/bucket"),
            ecosystems: vec![Ecosystem::Npm],
            interval: Duration::from_hours(1),
            timeout: Duration::from_mins(1),
            retry: Retry::default(),
            pause: Duration::ZERO,
            folder: folder.path().to_owned(),
        };
        let outbound = Outbound::new(Uuid::nil(), Limits::default()).unwrap();
        let osv = Osv::new(config, Polite::new(outbound)).unwrap();
        let (log, seen) = (Memory::default(), 0);
        Self { fake, osv, log, seen, _lifecycle: lifecycle, _folder: folder }
    }

    fn serve(&self, records: &[(&str, String)]) {
        let entries: Vec<_> =
            records.iter().map(|(name, body)| Packed::new(name, body.as_bytes())).collect();
        self.fake.put(PATH, Canned::new(zip(&entries)).with(ETAG, "\"one\""));
    }

    async fn visit(&self, revision: Option<&str>, losses: Losses) -> Result<Synced, SyncFault> {
        let (part, revision) = (Some(Ecosystem::Npm), revision.map(str::to_owned));
        self.osv.sync(&Visit { part, revision, losses }, &self.log).await
    }

    async fn sync(&self) -> Result<Synced, SyncFault> {
        self.visit(None, Losses::Doubt).await
    }

    fn news(&mut self) -> Vec<String> {
        self.log.news(&mut self.seen)
    }
}

fn named(n: usize) -> (String, String) {
    (format!("MAL-{n}.json"), record(&format!("MAL-{n}"), "1.0.0"))
}

#[tokio::test]
async fn the_difference_between_two_visits_is_appended_and_nothing_else() {
    let mut stage = Stage::new().await;
    let [a, b, c] = ["A", "B", "C"].map(|id| record(id, "1.0.0"));
    stage.serve(&[("A.json", a.clone()), ("B.json", b), ("C.json", c)]);
    let synced = stage.sync().await.unwrap();
    assert_eq!(stage.news(), ["+A", "+B", "+C"]);
    assert_eq!(synced.revision.as_deref(), Some("\"one\""));
    let Tally { n_records, n_published, .. } = synced.tally;
    assert_eq!((n_records, n_published), (3, 3));

    assert!(stage.sync().await.unwrap().tally.is_silent());
    assert_eq!(stage.news(), Vec::<String>::new());

    let withdrawn = record_of("C", "npm", "1.0.0", r#","withdrawn":"2026-11-02T00:00:00Z""#);
    let (changed, d) = (record("A", "2.0.0"), record("D", "1.0.0"));
    stage.serve(&[("A.json", changed), ("C.json", withdrawn), ("D.json", d)]);
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!(stage.news(), ["+D", "-C", "~A"]);
    assert_eq!((tally.n_published, tally.n_changed, tally.n_withdrawn), (1, 1, 1));
    assert_eq!(tally.n_missing, 1, "B stands");

    stage.serve(&[("A.json", a)]);
    stage.sync().await.unwrap();
    assert_eq!(stage.news(), ["-B", "~A"]);
}

/// An archive without a fifth of what it had, for an hour: forty thousand packages that are known to be
/// malicious would have been let through until it was whole again.
#[tokio::test]
async fn what_an_archive_lacks_is_withdrawn_when_the_next_one_lacks_it_too() {
    let mut stage = Stage::new().await;
    let all: Vec<_> = (0..100).map(named).collect();
    let serve = |stage: &Stage, from: usize, more: &str| {
        let mut some: Vec<_> = all[from..].iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
        some.push(("more.json", record(more, "1.0.0")));
        stage.serve(&some);
    };
    serve(&stage, 0, "X");
    stage.sync().await.unwrap();
    stage.news();
    serve(&stage, 19, "X");
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!((tally.n_missing, tally.n_withdrawn), (19, 0));
    // The same bytes again say nothing more.
    stage.sync().await.unwrap();
    assert_eq!(stage.news(), Vec::<String>::new());
    // All but one are back.
    serve(&stage, 1, "Y");
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!((tally.n_missing, tally.n_withdrawn), (1, 1));
    assert_eq!(stage.news(), ["+Y", "-MAL-0"]);
}

/// The edition between them was refused for what it lacked, and had shown it.
#[tokio::test]
async fn what_two_archives_lack_is_not_gone_where_a_refused_one_came_between_them() {
    let mut stage = Stage::new().await;
    let all: Vec<_> = (0..100).map(named).collect();
    let serve = |stage: &Stage, shown: std::ops::Range<usize>, more: &[&str]| {
        let mut some: Vec<_> = all[shown].iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
        some.extend(more.iter().map(|id| ("more.json", record(id, "1.0.0"))));
        stage.serve(&some);
    };
    serve(&stage, 0..100, &[]);
    stage.sync().await.unwrap();
    stage.news();
    serve(&stage, 1..100, &[]);
    assert_eq!(stage.sync().await.unwrap().tally.n_missing, 1);
    serve(&stage, 0..75, &[]);
    let fault = stage.sync().await.unwrap_err();
    assert!(matches!(fault, SyncFault::Shrunk(..)), "{fault}");
    serve(&stage, 1..100, &["Y"]);
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!((tally.n_missing, tally.n_withdrawn), (1, 0));
    // Twice, and nothing in between.
    serve(&stage, 1..100, &["Y", "Z"]);
    stage.sync().await.unwrap();
    assert_eq!(stage.news(), ["+Y", "+Z", "-MAL-0"]);
}

#[tokio::test]
async fn what_stands_in_the_index_is_not_gone_however_long_the_archive_lacks_it() {
    let mut stage = Stage::new().await;
    let serve = |stage: &Stage, n: usize| {
        let record = [("A.json", record("A", "1.0.0")), ("Z.json", record(&format!("Z{n}"), "1"))];
        stage.serve(&record);
    };
    let [b, c] = ["B", "C"].map(|id| record(id, "1.0.0"));
    stage.serve(&[("A.json", record("A", "1.0.0")), ("B.json", b), ("C.json", c)]);
    stage.sync().await.unwrap();
    assert_eq!(stage.fake.n_asked(INDEX), 0, "nothing was missing");
    stage.news();
    let index = "2026-11-02T00:00:00Z,C\nno line\n2026-11-01T00:00:00Z,npm/A\n";
    stage.fake.put(INDEX, Canned::new(index));
    for n in 0..3 {
        serve(&stage, n);
        stage.sync().await.unwrap();
    }
    assert!(!stage.news().contains(&"-C".to_owned()) && stage.log.knows("C"));
    assert!(!stage.log.knows("B"));
    assert!(stage.log.knows("Z2"));
}

#[tokio::test]
async fn where_the_index_fails_nothing_is_gone_and_the_visit_ends_all_the_same() {
    let mut stage = Stage::new().await;
    let [b, c] = ["B", "C"].map(|id| record(id, "1.0.0"));
    stage.serve(&[("A.json", record("A", "1.0.0")), ("B.json", b), ("C.json", c)]);
    stage.sync().await.unwrap();
    stage.news();
    let withdrawn = record_of("C", "npm", "1.0.0", r#","withdrawn":"2026-11-02T00:00:00Z""#);
    stage.fake.put(INDEX, Canned::status(StatusCode::INTERNAL_SERVER_ERROR));
    for n in 0..3 {
        let new = record(&format!("Z{n}"), "1.0.0");
        let gone = withdrawn.clone();
        stage.serve(&[("A.json", record("A", "1.0.0")), ("C.json", gone), ("Z.json", new)]);
        let synced = stage.sync().await.unwrap();
        assert_eq!(synced.revision.as_deref(), Some("\"one\""), "it need not be fetched again");
        assert_eq!(stage.fake.n_asked(INDEX), n + 1);
    }
    assert_eq!(stage.news(), ["+Z0", "+Z1", "+Z2", "-C"], "B stands");
    // Who refuses to show an index has none, like one who lacks it.
    stage.fake.put(INDEX, Canned::status(StatusCode::UNAUTHORIZED));
    for n in 0..2 {
        let new = record(&format!("Y{n}"), "1.0.0");
        stage.serve(&[("A.json", record("A", "1.0.0")), ("Y.json", new)]);
        stage.sync().await.unwrap();
    }
    assert_eq!(stage.news(), ["+Y0", "+Y1", "-B", "-Z0", "-Z1", "-Z2"]);
}

/// The index names every record there is, also those that say less than they did.
#[tokio::test]
async fn what_a_record_says_no_more_is_withdrawn_though_the_index_names_it() {
    let mut stage = Stage::new().await;
    let about = |n_packages: usize| {
        let affected: Vec<_> = (0..n_packages)
            .map(|n| {
                format!(r#"{{"package":{{"ecosystem":"npm","name":"p{n}"}},"versions":["1.0.0"]}}"#)
            })
            .collect();
        let affected = affected.join(",");
        format!(r#"{{"id":"MAL-1","modified":"2026-11-01T00:00:00Z","affected":[{affected}]}}"#)
    };
    let [a, c, d] = ["A", "C", "D"].map(|id| record(id, "1.0.0"));
    stage.serve(&[
        ("MAL-1.json", about(1_001)),
        ("A.json", a),
        ("C.json", c.clone()),
        ("D.json", d),
    ]);
    stage.sync().await.unwrap();
    assert_eq!(stage.news(), ["+A", "+C", "+D", "+MAL-1", "+MAL-1#2", "+MAL-1#3"]);
    let index = ["MAL-1", "A", "C", "D"].map(|id| format!("2026-11-02T00:00:00Z,{id}\n"));
    stage.fake.put(INDEX, Canned::new(index.concat()));
    // One is about another ecosystem now, one is not in the archive, and one cannot be read.
    let elsewhere = record_of("A", "PyPI", "1.0.0", "");
    let garbage = "{\"id\":\"D\",\"affected\":7}".to_owned();
    let corrected = [("MAL-1.json", about(1)), ("A.json", elsewhere), ("D.json", garbage)];
    stage.serve(&corrected);
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!(stage.news(), ["-A", "-MAL-1#2", "-MAL-1#3", "~MAL-1"]);
    assert_eq!((tally.n_withdrawn, tally.n_missing, stage.fake.n_asked(INDEX)), (3, 0, 1));
    assert!(stage.log.knows("C") && stage.log.knows("D"));
    // Where nothing is missing the index is not asked, though it names more than the archive has.
    let whole: Vec<_> = corrected.into_iter().chain([("C.json", c)]).collect();
    stage.serve(&whole);
    assert!(stage.sync().await.unwrap().tally.is_silent());
    assert_eq!(stage.fake.n_asked(INDEX), 1);
}

#[tokio::test]
async fn an_archive_of_nothing_withdraws_nothing_however_small_the_source() {
    let mut stage = Stage::new().await;
    let all: Vec<_> = (0..99).map(named).collect();
    let all: Vec<_> = all.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    stage.serve(&[]);
    stage.sync().await.unwrap();
    stage.serve(&all);
    stage.sync().await.unwrap();
    stage.news();
    for readme in ["one", "two", "three"] {
        stage.serve(&[("readme.txt", readme.to_owned())]);
        let fault = stage.sync().await.unwrap_err();
        assert!(fault.to_string().contains("--believe-losses"), "{fault}");
    }
    assert_eq!(stage.news(), Vec::<String>::new());
    stage.visit(None, Losses::Believe).await.unwrap();
    assert_eq!(stage.news().len(), 99);
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let mut stage = Stage::new().await;
    stage.fake.put(PATH, Canned::status(StatusCode::NOT_MODIFIED));
    let synced = stage.visit(Some("\"one\""), Losses::Doubt).await.unwrap();
    assert_eq!(synced, Synced { revision: Some("\"one\"".to_owned()), ..Synced::default() });
    assert_eq!(stage.fake.last_headers(PATH)[IF_NONE_MATCH], "\"one\"");
    let date = "Sat, 28 Nov 2026 08:00:00 GMT";
    stage.visit(Some(date), Losses::Doubt).await.unwrap();
    assert_eq!(stage.fake.last_headers(PATH)[IF_MODIFIED_SINCE], date);
    // Nobody who was not asked so may answer that it is the same.
    let fault = stage.sync().await.unwrap_err();
    assert!(matches!(fault, SyncFault::Status { .. }), "{fault}");
    // A bucket without tags tells a date.
    let archive = zip(&[Packed::new("A.json", record("A", "1").as_bytes())]);
    stage.fake.put(PATH, Canned::new(archive).with(LAST_MODIFIED, date));
    assert_eq!(stage.sync().await.unwrap().revision.as_deref(), Some(date));
    assert_eq!(stage.news(), ["+A"]);
}

#[tokio::test]
async fn a_bucket_that_is_busy_or_broken_changes_nothing_and_says_when_to_come_back() {
    let mut stage = Stage::new().await;
    stage.serve(&[("A.json", record("A", "1.0.0"))]);
    stage.sync().await.unwrap();
    stage.news();
    for (status, passing) in [(500, true), (503, true), (404, false), (403, false)] {
        stage.fake.put(PATH, Canned::status(StatusCode::from_u16(status).unwrap()));
        let fault = stage.sync().await.unwrap_err();
        assert_eq!(fault.passing(), passing, "{fault}");
    }
    let busy = Canned::status(StatusCode::TOO_MANY_REQUESTS).with(RETRY_AFTER, "4000");
    stage.fake.put(PATH, busy);
    let fault = stage.sync().await.unwrap_err();
    assert_eq!(fault.retry_after(), Some(Duration::from_secs(4_000)));
    // And it is left alone until then.
    let n_asked = stage.fake.n_asked(PATH);
    let fault = stage.sync().await.unwrap_err();
    assert!(matches!(fault, SyncFault::NotYet(_)), "{fault}");
    assert_eq!(stage.fake.n_asked(PATH), n_asked);
    assert_eq!(stage.news(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_cut_short_or_garbage_or_a_bomb_changes_nothing() {
    let mut stage = Stage::new().await;
    let archive = zip(&[Packed::new("A.json", record("A", "1.0.0").as_bytes())]);
    let half = archive[..archive.len() / 2].to_vec();
    stage.fake.put(PATH, Canned::new(half.clone()).announcing(archive.len()));
    let fault = stage.sync().await.unwrap_err();
    assert!(fault.passing(), "{fault}");
    stage.fake.put(PATH, Canned::new(half.clone()).breaking_off());
    assert!(stage.sync().await.unwrap_err().passing());
    for garbage in [half, b"<html>hello</html>".to_vec(), Vec::new()] {
        stage.fake.put(PATH, Canned::new(garbage));
        let fault = stage.sync().await.unwrap_err();
        assert!(matches!(fault, SyncFault::Feed { .. }), "{fault}");
    }
    let bomb = zip(&[Packed::new("A.json", &vec![b' '; 70 << 20])]);
    stage.fake.put(PATH, Canned::new(bomb));
    let fault = stage.sync().await.unwrap_err();
    assert!(matches!(fault, SyncFault::Feed { .. }) && !fault.passing(), "{fault}");
    assert_eq!(stage.news(), Vec::<String>::new());
}

#[tokio::test]
async fn records_that_cannot_be_read_are_counted_and_what_they_said_before_stands() {
    let mut stage = Stage::new().await;
    let records = ["A", "B", "C"].map(|id| (format!("{id}.json"), record(id, "1.0.0")));
    let [a, b, c] = records.each_ref().map(|(name, body)| (name.as_str(), body.clone()));
    stage.serve(&[a.clone(), b, c]);
    stage.sync().await.unwrap();
    stage.news();
    let garbage = "{\"id\":\"B\",\"affected\":7}".to_owned();
    let huge = format!("{}{}", record("C", "1.0.0"), " ".repeat(MAX_RECORD_BYTES));
    stage.serve(&[
        a,
        ("B.json", garbage),
        ("C.json", huge),
        ("../../../etc/D.json", record("D", "1.0.0")),
        ("readme.txt", "hello".to_owned()),
    ]);
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!(stage.news(), ["+D"]);
    assert_eq!((tally.n_records, tally.n_unreadable, tally.n_withdrawn), (4, 2, 0));
}

#[tokio::test]
async fn half_a_feed_withdraws_nothing_unless_a_person_says_so() {
    let mut stage = Stage::new().await;
    let all: Vec<_> = (0..200).map(named).collect();
    let serve = |stage: &Stage, n: usize| {
        let some: Vec<_> = all[..n].iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
        stage.serve(&some);
    };
    serve(&stage, 200);
    stage.sync().await.unwrap();
    assert_eq!(stage.news().len(), 200);
    serve(&stage, 100);
    let fault = stage.sync().await.unwrap_err();
    let words = fault.to_string();
    assert!(words.contains("weir sources sync osv --believe-losses"), "{words}");
    assert!(!fault.passing());
    assert_eq!(stage.news(), Vec::<String>::new());
    // What it says for the first time counts all the same.
    let mut some: Vec<_> = all[..100].iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    some.push(("NEW.json", record("NEW", "1.0.0")));
    stage.serve(&some);
    stage.sync().await.unwrap_err();
    assert_eq!(stage.news(), ["+NEW"]);
    stage.visit(None, Losses::Believe).await.unwrap();
    assert_eq!(stage.news().len(), 100);
}

#[tokio::test]
async fn a_visit_that_was_cut_off_is_gone_on_with_and_nothing_stands_there_twice() {
    let mut stage = Stage::new().await;
    let all: Vec<_> = (0..4_500).map(named).collect();
    let all: Vec<_> = all.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    stage.serve(&all);
    *stage.log.batches_left.lock().unwrap() = Some(2);
    let fault = stage.sync().await.unwrap_err();
    assert!(matches!(fault, SyncFault::Log(_)) && fault.passing(), "{fault}");
    assert_eq!(stage.news().len(), 2_000);
    *stage.log.batches_left.lock().unwrap() = None;
    let tally = stage.sync().await.unwrap().tally;
    assert_eq!(stage.news().len(), 2_500);
    assert_eq!((tally.n_records, tally.n_published), (4_500, 2_500));
}
