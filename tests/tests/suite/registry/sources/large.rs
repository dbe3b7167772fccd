//! A whole feed: 300,000 records with `WEIR_LONG=1`, few without, which holds the same counts.

use std::time::{Duration, Instant};

use super::*;

/// How long a visit may take: the first one writes an event for each record.
const PATIENCE: Duration = Duration::from_mins(20);

/// Kinds of events about advisories and visits, by their names.
const COUNT: &str = "SELECT kind, count(*), sum(octet_length(payload) + octet_length(meta))::bigint
    FROM log.events WHERE position > $1 GROUP BY kind ORDER BY kind";

/// What came onto the log after a position: how many events and bytes of each kind.
struct Growth {
    kinds: BTreeMap<i32, (i64, i64)>,
    /// The whole database.
    size_bytes: i64,
    head: i64,
}

impl Growth {
    async fn since(place: &Place, position: i64) -> Self {
        let database = place.database.as_ref().expect("a test database");
        let mut connection = database.intruder().await;
        let rows: Vec<(i32, i64, i64)> =
            sqlx::query_as(COUNT).bind(position).fetch_all(&mut connection).await.expect("events");
        let head = "SELECT coalesce(max(position), 0) FROM log.events";
        let head = sqlx::query_scalar(head).fetch_one(&mut connection).await.expect("the head");
        let kinds = rows.into_iter().map(|(kind, n, bytes)| (kind, (n, bytes))).collect();
        Self { kinds, size_bytes: database.size_bytes().await, head }
    }

    fn n_events(&self) -> i64 {
        self.kinds.values().map(|(n, _)| n).sum()
    }

    fn n_bytes(&self) -> i64 {
        self.kinds.values().map(|(_, bytes)| bytes).sum()
    }
}

/// The resident memory of a Weir, in MiB: now, and at most so far.
fn resident(weir: &Weir) -> (u64, u64) {
    (memory::now(weir) >> 10, memory::most(weir) >> 10)
}

/// Waits until visits of both parts have succeeded after these times, and answers when they have.
async fn visited(client: &Client, before: &[Value]) -> Vec<Value> {
    deadline::within(PATIENCE, "a visit of the whole feed", async || {
        // The log is not asked: with all of a feed coming in, each question would hold it up.
        let answer = client.get("/api/security-sources").await;
        if answer.status != 200 {
            return Err(answer.body);
        }
        let told = answer.json();
        let osv = told["sources"].as_array().into_iter().flatten().find(|it| it["name"] == "osv");
        let osv = osv.cloned().unwrap_or_default();
        let parts = osv["parts"].as_array().into_iter().flatten();
        let times: Vec<Value> = parts.map(|part| part["succeeded_at"].clone()).collect();
        let fresh = times.iter().all(|at| at.is_string() && !before.contains(at));
        if osv["state"] == "ok" && times.len() == 2 && fresh {
            Ok(times)
        } else {
            Err(told.to_string())
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_feed_that_changed_a_little_only_the_changes_come_onto_the_log() {
    let (n_records, n_changes) = if long() { (300_000, 100) } else { (2_000, 10) };
    let of = |at: usize, more: Value| {
        record(&format!("MAL-2026-{at}"), "npm", &format!("helper-{at}"), more)
    };
    let mut records: Vec<_> = (0..n_records).map(|at| of(at, json!({}))).collect();
    let bucket = Bucket::start().await;
    bucket.put("npm", &records);
    bucket.put("PyPI", &[]);
    let place = Place::on_a_test_database().await.setting(&osv(&bucket));
    let began = Instant::now();
    let weir = place.start(Part::Up).await;
    let client = &weir.client;
    let times = visited(client, &[]).await;
    let took = began.elapsed();
    let first = Growth::since(&place, 0).await;
    let (now, most) = resident(&weir);
    let size = first.size_bytes >> 20;
    eprintln!(
        "first sync of {n_records} records: {took:?}, {now} MiB resident ({most} at most), {} events of \
         {} bytes, database of {size} MiB",
        first.n_events(),
        first.n_bytes(),
    );
    let n_published = i64::try_from(n_records).expect("a number");
    let (published, of_published) = first.kinds.iter().max_by_key(|(_, (n, _))| *n).expect("some");
    assert_eq!(of_published.0, n_published, "one event for each record: {:?}", first.kinds);

    // Spread over all of the feed: some say something else, some are withdrawn, some are new.
    let step = n_records / n_changes;
    let mut wanted = Vec::new();
    for (n, at) in (0..n_records).step_by(step).enumerate() {
        let (sign, id, more) = match n % 3 {
            0 => ('~', at, json!({"summary": "worse than we thought"})),
            1 => ('-', at, json!({"withdrawn": "2026-11-02T00:00:00Z"})),
            _ => ('+', n_records + at, json!({})),
        };
        let changed = of(id, more);
        wanted.push(format!("{sign}{}", changed.0));
        match records.get_mut(id) {
            Some(record) => *record = changed,
            None => records.push(changed),
        }
    }
    wanted.sort();
    assert_eq!(wanted.len(), n_changes);
    bucket.put("npm", &records);
    let began = Instant::now();
    client.post("/api/security-sources/osv/sync", &json!({})).await.has(202);
    visited(client, &times).await;
    let took = began.elapsed();
    let second = Growth::since(&place, first.head).await;
    let (now, most) = resident(&weir);
    let grown = (second.size_bytes - first.size_bytes) >> 10;
    eprintln!(
        "second sync with {n_changes} changes: {took:?}, {now} MiB resident ({most} at most), {} events \
         of {} bytes, database grown by {grown} KiB",
        second.n_events(),
        second.n_bytes(),
    );
    let mut came = Vec::new();
    let path = format!("/api/events?kind={NEWS}&limit=1000&after={}", first.head);
    let page = client.get(&path).await.expect(200).json();
    for event in page["events"].as_array().expect("events") {
        let payload = &event["payload"];
        let id = payload["advisory"]["id"].as_str().or_else(|| payload["id"].as_str());
        let sign = match event["kind"].as_str() {
            Some("AdvisoryPublished") => '+',
            Some("AdvisoryChanged") => '~',
            _ => '-',
        };
        came.push(format!("{sign}{}", id.unwrap_or_default()));
    }
    came.sort();
    assert_eq!(came, wanted, "exactly the changes");
    // Beside the news: that a visit was asked for, and that those of two ecosystems began and ended.
    // Nothing for what stayed as it was.
    let n_news = i64::try_from(n_changes).expect("a number");
    assert_eq!(second.n_events(), n_news + 5, "{:?}", second.kinds);
    let of_new = second.kinds.get(published).map_or(0, |(n, _)| *n);
    assert_eq!(of_new, i64::try_from(n_changes / 3).expect("a number"), "{:?}", second.kinds);
}
