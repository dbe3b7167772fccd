use std::{
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{join, join_all};
use tokio::time::Instant;

use super::world::{World, anything, class, page, redirect};
use crate::{
    clock::Clock as _,
    outbound::web::{Settings, ask::PageAsk},
};

/// Shut until it is opened.
#[derive(Debug, Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let shut = self.1.wait_while(self.0.lock().unwrap(), |open| !*open);
        drop(shut.unwrap());
    }
}

/// A server that answers when a gate opens.
fn gated(settings: Settings) -> (World, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let world = World::with(settings, move |_| {
        held.wait();
        page("", "late")
    });
    (world, gate)
}

async fn until(world: &World, n_asked: usize) {
    let reached = async {
        while world.asked().len() < n_asked {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached).await.unwrap();
}

#[tokio::test]
async fn eight_requests_are_under_way_at_once_and_two_to_each_host() {
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let (seen, eight) = (Arc::clone(&most), Barrier::new(8));
    let world = World::new(move |_| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Answers come only if there really are eight at once.
        eight.wait();
        now.fetch_sub(1, Ordering::SeqCst);
        page("", "done")
    });
    let asks = (0..24).map(|n| {
        let url = format!("http://h{}.example/", n % 12);
        async { world.egress.fetch(PageAsk::get([7; 32], url), &anything).await.map(drop) }
    });
    for done in join_all(asks).await {
        done.unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 8);

    let (world, gate) = gated(Settings::default());
    let mut n_before = 0;
    let observing = async {
        until(&world, 2).await;
        n_before = world.wires.attempts().len();
        gate.open();
    };
    let asks = join_all((0..5).map(|_| world.get("http://one.example/")));
    let (done, ()) = futures_util::future::join(asks, observing).await;
    assert!(done.iter().all(Result::is_ok));
    assert_eq!((n_before, world.wires.attempts().len()), (2, 5));
}

#[tokio::test]
async fn a_queue_that_is_full_says_so_at_once() {
    let settings = Settings { at_once: 1, max_waiting: 1, ..Settings::default() };
    let (world, gate) = gated(settings);
    let observing = async {
        until(&world, 1).await;
        let fault = world.get("http://c.example/").await.unwrap_err();
        gate.open();
        fault
    };
    let asks = join_all(["http://a.example/", "http://b.example/"].map(|url| world.get(url)));
    let (done, fault) = futures_util::future::join(asks, observing).await;
    assert!(done.iter().all(Result::is_ok));
    assert_eq!((class(&fault.why), fault.contacted.len()), ("busy", 0));
}

/// Pages that wait for their turn to be filtered would pile up otherwise.
#[tokio::test]
async fn a_page_takes_its_place_up_for_as_long_as_it_is_kept() {
    let settings =
        Settings { total: Duration::from_millis(300), at_once: 1, ..Settings::default() };
    let world = World::with(settings, |_| page("", "the page"));
    let kept = world.egress.fetch(PageAsk::get([1; 32], "http://a.example/"), &anything).await;
    let fault = world.get("http://b.example/").await.unwrap_err();
    assert_eq!(class(&fault.why), "timeout");
    drop(kept.unwrap());
    world.get("http://b.example/").await.unwrap();
}

#[tokio::test]
async fn the_deadline_covers_waiting_and_bodies_that_never_end() {
    let settings =
        Settings { total: Duration::from_millis(300), at_once: 1, ..Settings::default() };
    let (world, gate) = gated(settings);
    let fault = world.get("http://a.example/").await.unwrap_err();
    assert_eq!(fault.to_string(), "it took longer than 300 ms");
    assert!(fault.asked);
    assert_eq!(fault.contacted.len(), 1);
    let seat = world.egress.0.places.seat([2; 32]).unwrap();
    let place = world.egress.0.places.take(&seat, "b.example").await.unwrap();
    let fault = world.get("http://c.example/").await.unwrap_err();
    assert_eq!((class(&fault.why), fault.contacted.len()), ("timeout", 0));
    assert!(!fault.asked, "it has waited here, and nothing has left");
    // All places are given back.
    gate.open();
    drop(place);
    world.get("http://c.example/").await.unwrap();
}

/// What a page says of its age is older by that.
#[tokio::test]
async fn a_page_says_how_long_it_took_from_when_the_outside_was_asked() {
    let (world, gate) = gated(Settings::default());
    let before = Instant::now();
    let observing = async {
        until(&world, 1).await;
        let asked = Instant::now();
        tokio::task::yield_now().await;
        let held = asked.elapsed();
        gate.open();
        held
    };
    let (page, held) = join(world.get("http://a.example/"), observing).await;
    let took = page.unwrap().took;
    assert!(held <= took && took <= before.elapsed(), "{held:?} {took:?}");
}

/// Who was asked by a redirect is who is left alone, not who was asked for.
#[tokio::test]
async fn the_host_that_was_contacted_is_left_alone_before_any_packet() {
    let busy = "HTTP/1.1 429 Slow\r\nretry-after: 3120\r\ncontent-length: 0\r\n\r\n";
    let world = World::new(|seen| match seen.header("host") {
        Some("a.example") => redirect(302, "http://b.example/"),
        _ => busy.into(),
    });
    let page = world.get("http://a.example/").await.unwrap();
    assert_eq!(page.status.as_u16(), 429);
    assert_eq!(page.headers["retry-after"], "3120");
    let n_attempts = world.wires.attempts().len();
    let fault = world.get("http://b.example/").await.unwrap_err();
    assert_eq!((class(&fault.why), fault.contacted.len()), ("backingoff", 0));
    assert_eq!(
        fault.to_string(),
        "`b.example` has asked to be left alone until 2026-11-28T12:52:00Z"
    );
    assert_eq!(world.wires.attempts().len(), n_attempts);
    let fault = world.get("http://a.example/").await.unwrap_err();
    assert_eq!((class(&fault.why), fault.contacted.len()), ("backingoff", 1));
    world.clock.set(world.clock.now().plus_seconds(3_120));
    assert_eq!(world.get("http://b.example/").await.unwrap().status.as_u16(), 429);
}
