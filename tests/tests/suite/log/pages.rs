//! Pages: what one read holds in memory is bounded by its bytes, not only by its number of events.

use bytes::Bytes;
use weir_events::position::Position;
use weir_log::{
    LogOptions,
    append::{Append, MAX_PAYLOAD_BYTES},
    read::{MAX_READ, MAX_READ_BYTES},
};
use weir_tests::{
    database::TestDatabase,
    deadline::PATIENCE,
    events::{allowed, blocked, facts},
};

/// An append of events as large as they may be.
fn huge(n_events: usize) -> Append {
    let mut append = facts("huge", &vec![allowed(1); n_events]);
    for event in &mut append.writes[0].events {
        event.payload = Bytes::from(vec![7; MAX_PAYLOAD_BYTES]);
    }
    append
}

fn n_bytes(page: &[std::sync::Arc<weir_events::envelope::Recorded>]) -> usize {
    page.iter().map(|event| event.payload.len() + event.meta.len()).sum()
}

#[tokio::test]
async fn a_page_of_large_events_ends_early_and_nothing_is_passed_over() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let n_events = 10 * (MAX_READ_BYTES / MAX_PAYLOAD_BYTES / 10 + 5);
    for _ in 0..n_events / 10 {
        log.log.append(huge(10)).await.expect("append");
    }
    let (mut last, mut pages) = (Position::START, Vec::new());
    loop {
        let page = log.log.read(last, MAX_READ).await.expect("read");
        let Some(end) = page.last() else { break };
        assert_eq!(page[0].position, last.next());
        last = end.position;
        let before_the_last = n_bytes(&page[..page.len() - 1]);
        assert!(before_the_last < MAX_READ_BYTES, "{before_the_last} bytes and one more event");
        pages.push(page.len());
    }
    assert_eq!(pages.iter().sum::<usize>(), n_events);
    assert_eq!(pages.len(), 2, "{pages:?}");
    // A hole is found on a page that is cut, too.
    sqlx::query("DELETE FROM log.events WHERE position = 3")
        .execute(&mut database.intruder().await)
        .await
        .expect("make a hole");
    log.log.read(Position::START, MAX_READ).await.expect_err("a hole is an error");
    log.log.read(Position(2), MAX_READ).await.expect_err("also at the start of a page");
}

#[tokio::test]
async fn a_tail_hands_out_large_events_in_bounded_pages_from_memory_and_from_the_table() {
    let database = TestDatabase::create().await;
    let small = LogOptions { ring_bytes: 1 << 20, ..LogOptions::default() };
    let large = LogOptions { ring_bytes: 64 << 20, ..LogOptions::default() };
    let (writer, far) = (
        database.log_with(database.database(4), &large).await,
        database.log_with(database.database(4), &small).await,
    );
    let n_events = 10 * (MAX_READ_BYTES / MAX_PAYLOAD_BYTES / 10 + 5);
    for _ in 0..n_events / 10 {
        writer.log.append(huge(10)).await.expect("append");
    }
    for log in [&writer.log, &far.log] {
        let mut tail = log.tail(Position::START);
        let (mut n_seen, mut n_pages) = (0, 0);
        while n_seen < n_events {
            let page = tokio::time::timeout(PATIENCE, tail.next(MAX_READ)).await.expect("in time");
            let page = page.expect("the next page");
            assert!(n_bytes(&page[..page.len() - 1]) < MAX_READ_BYTES, "{} events", page.len());
            n_seen += page.len();
            n_pages += 1;
        }
        assert_eq!(n_seen, n_events);
        assert!(n_pages >= 2, "{n_pages} pages");
    }
}

#[tokio::test]
async fn some_kinds_are_read_out_of_the_whole_order_and_a_time_is_found_in_it() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let start = facts("s", &[allowed(1)]).recorded_at;
    for n in 0..5 {
        let mut append = facts("s", &[allowed(1), blocked(1)]);
        append.recorded_at = start.plus_seconds(n * 10);
        log.log.append(append).await.expect("append");
    }
    let head = log.log.head();
    assert_eq!(head, Position(10));
    let read = async |after: i64, last: i64, ranges: &[(i32, i32)]| {
        let page = log.log.read_kinds(Position(after), Position(last), ranges).await.expect("read");
        let positions = page.events.iter().map(|event| event.position.0).collect::<Vec<_>>();
        (positions, page.upto.0)
    };
    assert_eq!(read(0, 10, &[(0x4002, 0x4002)]).await, (vec![1, 3, 5, 7, 9], 10));
    assert_eq!(read(3, 8, &[(0x4003, 0x4003)]).await, (vec![4, 6, 8], 8));
    assert_eq!(read(2, 4, &[(0x4002, 0x4002), (0x4003, 0x4fff)]).await, (vec![3, 4], 4));
    assert_eq!(read(0, 10, &[(0x5000, 0x5fff)]).await, (vec![], 10));
    for (seconds, before) in [(-1, 0), (0, 0), (1, 2), (10, 2), (40, 8), (41, 10)] {
        let found = log.log.before(start.plus_seconds(seconds)).await.expect("read");
        assert_eq!(found, Position(before), "{seconds} s");
    }
}

#[tokio::test]
async fn a_page_of_some_kinds_that_is_heavy_ends_early_and_says_where() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let n_events = 10 * (MAX_READ_BYTES / MAX_PAYLOAD_BYTES / 10 + 5);
    for _ in 0..n_events / 10 {
        log.log.append(huge(10)).await.expect("append");
    }
    let (mut after, mut n_read) = (Position::START, 0);
    while after < log.log.head() {
        let page = log.log.read_kinds(after, log.log.head(), &[(0x4002, 0x4002)]).await;
        let page = page.expect("read");
        assert!(page.upto > after && page.events.len() < n_events, "{}", page.upto);
        (after, n_read) = (page.upto, n_read + page.events.len());
    }
    assert_eq!(n_read, n_events);
}
