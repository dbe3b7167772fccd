//! What is cached is shown to whom it may be shown to, as long as it may be, and then forgotten.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use weir_events::{
    position::Position,
    web::{
        Asked, WebCacheStored, WebEvictionCause, WebRequestSubmitted,
        content::ContentFilter,
        request::{AgentId, Hash256, HttpMethod},
    },
};
use weir_log::lifecycle::Lifecycle;
use weir_processors::{
    caller::Caller,
    clock::SystemClock,
    door::Door,
    outbound::web::address::WebUrl,
    web::{
        content::{ContentFault, Contents, MAX_BYTES},
        eviction::Evictions,
        pages::{self, Cached, Names, Pages, PagesSettings},
    },
};
use weir_projections::web::{cache::Purge, content};
use weir_tests::{
    database::TestLog,
    deadline::{PATIENCE, until},
    web::{agent, asked, completed, evicted, hash, stored, submitted},
};

use super::read_models::Stage;

const FILTER_OFF: ContentFilter = ContentFilter {
    strip_code_blocks: false,
    strip_inline_code: true,
    transform_apis: false,
    transform_examples: false,
    max_size: 65_536,
    format: weir_events::web::content::ContentFormat::Raw,
};

/// An instance of the gateway, as far as pages go.
struct Instance {
    _log: TestLog,
    door: Door,
    pages: Pages,
    lifecycle: Lifecycle,
}

async fn instance(stage: &Stage, settings: PagesSettings) -> Instance {
    let log = stage.database.log().await;
    let door = Door::new(log.log.clone(), Arc::new(SystemClock));
    let lifecycle = Lifecycle::new();
    let engine = weir_projections::engine::Engine::new(
        log.log.clone(),
        weir_projections::all(),
        weir_tests::database::fresh(),
        weir_tests::process::options(),
    );
    let pages = Pages::start(&door, &engine, settings, &lifecycle);
    Instance { _log: log, door, pages, lifecycle }
}

impl Instance {
    async fn new(stage: &Stage) -> Self {
        instance(stage, PagesSettings::default()).await
    }

    /// Stores a page as the gateway does.
    async fn store(&self, asked: &Asked, owner: Option<AgentId>, text: &str) -> WebCacheStored {
        self.store_as(Hash256::of(&[asked.url.as_bytes()]), asked, owner, text).await
    }

    /// The same, as the page of a key.
    async fn store_as(
        &self,
        key: Hash256,
        asked: &Asked,
        owner: Option<AgentId>,
        text: &str,
    ) -> WebCacheStored {
        let content = Bytes::from(text.to_owned());
        let hash = self.pages.keep(&content).await.expect("keep");
        let size = content.len() as u64;
        let url = WebUrl::parse(&asked.url).expect("an address");
        let also = Some(pages::address(&url)).filter(|address| *address != key);
        let also = also.into_iter().collect();
        let stored = WebCacheStored { key, content_size: size, also, ..stored(asked, owner, hash) };
        let stream = weir_events::web::cache_stream(&stored.key).expect("a stream");
        let event: weir_events::web::Event = stored.clone().into();
        let caller = Caller::processor("test");
        let recorded = self.door.record(stream, &[event], &caller).await.expect("record");
        self.pages.remember(&stored, recorded.last, content);
        stored
    }

    async fn look(&self, page: &WebCacheStored, who: AgentId, cycle: u64) -> Option<Arc<Cached>> {
        self.pages.lookup(&page.key, &page.variant, &who, cycle).await.expect("an answer")
    }

    async fn text(&self, page: &WebCacheStored, who: AgentId, cycle: u64) -> Option<String> {
        let cached = self.look(page, who, cycle).await?;
        Some(String::from_utf8(cached.body.to_vec()).expect("text"))
    }

    fn head(&self) -> Position {
        self.door.log().head()
    }
}

#[tokio::test]
async fn a_page_is_shown_here_at_once_and_on_another_instance_soon() {
    let stage = Stage::new().await;
    let (here, there) = (Instance::new(&stage).await, Instance::new(&stage).await);
    let (ann, bob) = (agent(1), agent(2));
    let page = here.store(&asked(1, ann, 3), None, "everybody's").await;
    assert_eq!(here.text(&page, bob, 3).await.as_deref(), Some("everybody's"));
    until("the other instance shows it", async || {
        let text = there.text(&page, bob, 3).await;
        if text.as_deref() == Some("everybody's") { Ok(()) } else { Err(text) }
    })
    .await;
    // What is in memory is the same page, not another copy.
    let first = there.look(&page, bob, 3).await.expect("a page");
    let again = there.look(&page, ann, 3).await.expect("a page");
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!((first.status, first.size(), first.content), (200, 11, page.content));
    // While the cycle is before the one it expires in.
    assert!(here.look(&page, bob, 6).await.is_some());
    assert!(here.look(&page, bob, 7).await.is_none() && there.look(&page, bob, 7).await.is_none());
    // Stored again when it has expired, it is shown at once again.
    here.store(&asked(1, ann, 7), None, "everybody's again").await;
    assert_eq!(here.text(&page, bob, 7).await.as_deref(), Some("everybody's again"));
    for instance in [here, there] {
        instance.lifecycle.stop(Duration::from_secs(5)).await;
    }
}

/// An instance without a worker anywhere once had everybody wait a second for every page.
#[tokio::test]
async fn where_no_worker_runs_pages_are_fetched_and_nobody_waits_for_one() {
    let mut stage = Stage::new().await;
    let here = Instance::new(&stage).await;
    let page = here.store(&asked(1, agent(1), 3), None, "stored before").await;
    stage.reached(here.head()).await;
    stage.rest().await;
    let gone: weir_events::web::Event = evicted(&page, 3).into();
    stage.append(&[gone]).await;
    let there = Instance::new(&stage).await;
    let looks = async {
        for n in 0..200 {
            assert_eq!(there.text(&page, agent(n), 3).await, None);
        }
    };
    tokio::time::timeout(PATIENCE, looks).await.expect("nobody waits");
    for instance in [here, there] {
        instance.lifecycle.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn who_starts_while_the_read_model_lags_does_not_show_what_was_forgotten() {
    let mut stage = Stage::new().await;
    let here = Instance::new(&stage).await;
    let ann = agent(1);
    let kept = here.store(&asked(1, ann, 3), None, "kept").await;
    let forgotten = here.store(&asked(2, ann, 3), None, "forgotten").await;
    stage.reached(here.head()).await;
    stage.rest().await;
    let gone: weir_events::web::Event = evicted(&forgotten, 3).into();
    stage.append(&[gone]).await;
    let there = Instance::new(&stage).await;
    assert_eq!(there.text(&forgotten, ann, 3).await, None, "it was forgotten");
    assert_eq!(there.text(&kept, ann, 3).await, None, "nobody knows yet");
    stage.work().await;
    until("what is kept is shown again", async || {
        let text = there.text(&kept, ann, 3).await;
        if text.as_deref() == Some("kept") { Ok(()) } else { Err(text) }
    })
    .await;
    assert_eq!(there.text(&forgotten, ann, 3).await, None);
    for instance in [here, there] {
        instance.lifecycle.stop(Duration::from_secs(5)).await;
    }
    stage.rest().await;
}

#[tokio::test]
async fn nobody_sees_what_is_another_ones_or_another_rendering() {
    let stage = Stage::new().await;
    let here = Instance::new(&stage).await;
    let (ann, bob) = (agent(1), agent(2));
    let anns = here.store(&asked(1, ann, 3), Some(ann), "ann's own").await;
    stage.reached(here.head()).await;
    let there = Instance::new(&stage).await;
    for instance in [&here, &there] {
        assert_eq!(instance.text(&anns, ann, 3).await.as_deref(), Some("ann's own"));
        assert_eq!(instance.text(&anns, bob, 3).await, None);
        let other = WebCacheStored { variant: hash(77), ..anns.clone() };
        assert_eq!(instance.text(&other, ann, 3).await, None, "another rendering");
        let other = WebCacheStored { key: hash(77), ..anns.clone() };
        assert_eq!(instance.text(&other, ann, 3).await, None, "another page");
    }
    here.store(&asked(1, bob, 3), None, "everybody's").await;
    stage.reached(here.head()).await;
    until("bob sees what is everybody's", async || {
        let text = there.text(&anns, bob, 3).await;
        if text.as_deref() == Some("everybody's") { Ok(()) } else { Err(text) }
    })
    .await;
}

#[tokio::test]
async fn what_is_purged_is_gone_on_every_instance_and_can_be_stored_again() {
    let stage = Stage::new().await;
    let (here, there) = (Instance::new(&stage).await, Instance::new(&stage).await);
    let ann = agent(1);
    let page = here.store(&asked(1, ann, 3), None, "old words").await;
    let kept = here.store(&asked(2, ann, 3), None, "other host").await;
    stage.reached(here.head()).await;
    assert!(there.look(&page, ann, 3).await.is_some());
    let evictions = Evictions::new(&here.door, &stage.asking);
    let caller = Caller::principal("op", "1");
    let purge = Purge::Host("docs1.example".to_owned());
    let purged = evictions.purge(&purge, 3, &caller).await.expect("a purge");
    assert_eq!(purged.n_pages, 1);
    let again = evictions.purge(&purge, 3, &caller).await.expect("a purge");
    assert_eq!(again.n_pages, 0);
    for instance in [&here, &there] {
        until("it is gone", async || match instance.text(&page, ann, 3).await {
            None => Ok(()),
            Some(text) => Err(text),
        })
        .await;
        assert!(instance.look(&kept, ann, 3).await.is_some());
    }
    here.store(&asked(1, ann, 3), None, "new words").await;
    assert_eq!(here.text(&page, ann, 3).await.as_deref(), Some("new words"), "here at once");
    for instance in [&here, &there] {
        until("the new one is shown", async || {
            let text = instance.text(&page, ann, 3).await;
            if text.as_deref() == Some("new words") { Ok(()) } else { Err(text) }
        })
        .await;
    }
}

/// Something was sent to an address: what was read there before is gone here at once, on another instance
/// soon, whosever it was.
#[tokio::test]
async fn what_may_have_changed_is_gone_whosever_it_was() {
    let stage = Stage::new().await;
    let (here, there) = (Instance::new(&stage).await, Instance::new(&stage).await);
    let (ann, bob) = (agent(1), agent(2));
    let url = WebUrl::parse("https://docs.example/items").expect("an address");
    let of = |n, path: &str, method| {
        let url = url.join(path).expect("an address");
        let asked = Asked { url: url.as_str().to_owned(), method, ..asked(n, ann, 3) };
        (pages::key(url.as_str(), method, b""), asked)
    };
    let mut kept = Vec::new();
    for (path, method, owner, goes) in [
        ("/items", HttpMethod::Get, None, true),
        ("/items", HttpMethod::Get, Some(bob), true),
        ("/items", HttpMethod::Head, None, true),
        ("/items?page=2", HttpMethod::Get, None, false),
    ] {
        let (key, asked) = of(u64::from(goes), path, method);
        let page = here.store_as(key, &asked, owner, &format!("{path} {method:?}")).await;
        until("the other instance shows it", async || {
            there.look(&page, bob, 3).await.ok_or("not yet")
        })
        .await;
        kept.push((page, goes));
    }
    let caller = Caller::principal("op", "1");
    let before = there.pages.now();
    let changed = || pages::changed([&url]).expect("an address");
    let cause = WebEvictionCause::Changed;
    let evictions = Evictions::new(&here.door, &stage.asking).of(&here.pages);
    evictions.invalidate(changed(), cause, 3, &caller).await.expect("on record");
    for (page, goes) in &kept {
        assert_eq!(here.look(page, bob, 3).await.is_none(), *goes, "{}", page.url);
        until("the other instance has heard", async || {
            let gone = there.look(page, bob, 3).await.is_none();
            if gone == *goes { Ok(()) } else { Err(page.url.clone()) }
        })
        .await;
        // What it had asked for before is not kept any more.
        let url = WebUrl::parse(&page.url).expect("an address");
        let names = Names::asked(&url, &page.key, page.method);
        assert_eq!(there.pages.forgotten(&names).is_since(before), *goes, "{}", page.url);
    }
    // Whoever stores it a moment too late has it forgotten again.
    let (page, _) = &kept[0];
    let before = here.pages.now();
    evictions.invalidate(changed(), cause, 3, &caller).await.expect("on record");
    let late = Asked { url: page.url.clone(), ..asked(1, ann, 3) };
    let late = here.store_as(page.key, &late, None, "late").await;
    assert!(here.look(&late, bob, 3).await.is_some());
    let names = Names::asked(&url, &late.key, late.method);
    assert!(here.pages.recheck(&late, &[names], before, &caller).await);
    assert!(here.look(&late, bob, 3).await.is_none());
    for instance in [here, there] {
        instance.lifecycle.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn what_has_expired_goes_and_then_what_has_no_room_the_least_used_first() {
    let stage = Stage::new().await;
    let settings = PagesSettings { max_bytes: 25, ..PagesSettings::default() };
    let here = instance(&stage, settings).await;
    let ann = agent(1);
    let old = here.store(&asked(1, ann, 1), None, "0123456789").await;
    let mut pages = Vec::new();
    for n in 2..6 {
        pages.push(here.store(&asked(n, ann, 4), None, &format!("page {n} ...")).await);
    }
    let hit: weir_events::web::Event = weir_tests::web::hit(&pages[0], &asked(9, ann, 4)).into();
    let used = stage.append(&[hit]).await;
    stage.reached(used).await;
    assert_eq!(here.pages.evict(5).await.expect("evicted"), 3);
    assert_eq!(here.pages.evict(5).await.expect("evicted"), 0);
    let mut left = Vec::new();
    for page in pages.iter().chain([&old]) {
        left.push(here.look(page, ann, 5).await.is_some());
    }
    // The one that was shown last, and the newest.
    assert_eq!(left, [true, false, false, true, false]);
}

#[tokio::test]
async fn content_is_what_was_stored_or_nothing() {
    let stage = Stage::new().await;
    let here = Instance::new(&stage).await;
    let contents = Contents::new(stage.log.log.clone());
    let words = Bytes::from_static(b"these very words");
    let hash = contents.put(&words).await.expect("put");
    assert_eq!(contents.put(&words).await.expect("put"), hash);
    assert_eq!(contents.get(&hash).await.expect("get"), Some(words.clone()));
    assert_eq!(contents.get(&weir_tests::web::hash(1)).await.expect("get"), None);
    let binary = Bytes::from_static(b"\0\xff");
    let odd = contents.put(&binary).await.expect("put");
    assert_eq!(contents.get(&odd).await.expect("get"), Some(binary));
    let most = Bytes::from(vec![b'x'; MAX_BYTES]);
    contents.put(&most).await.expect("so much is kept");
    let more = Bytes::from(vec![b'x'; MAX_BYTES + 1]);
    let refused = contents.put(&more).await.expect_err("and no more");
    assert!(matches!(refused, ContentFault::TooLarge(n) if n == MAX_BYTES + 1), "{refused}");

    // Somebody changes it behind our back.
    let page = here.store(&asked(1, agent(1), 3), None, "true words").await;
    stage.reached(here.head()).await;
    let change = "UPDATE portal.content SET bytes = convert_to('false words', 'UTF8'), size = 11 \
        WHERE bytes = convert_to('true words', 'UTF8')";
    let changed = sqlx::query(change).execute(&mut stage.database.intruder().await).await;
    assert_eq!(changed.expect("changed").rows_affected(), 1);
    let there = Instance::new(&stage).await;
    assert_eq!(there.text(&page, agent(1), 3).await, None);
    assert_eq!(contents.get(&page.content).await.expect("get"), None, "it is forgotten");
    here.store(&asked(1, agent(1), 3), None, "true words").await;
    until("it is fetched anew", async || {
        let text = there.text(&page, agent(1), 3).await;
        if text.as_deref() == Some("true words") { Ok(()) } else { Err(text) }
    })
    .await;
}

#[tokio::test]
async fn content_that_nothing_points_at_is_swept_at_the_second_look() {
    let stage = Stage::new().await;
    let database = stage.log.log.database();
    let here = Instance::new(&stage).await;
    let (ann, grace) = (agent(1), Duration::ZERO);
    let page = here.store(&asked(1, ann, 3), None, "cached").await;
    let answer = here.pages.keep(&Bytes::from_static(b"an answer")).await.expect("keep");
    let request = asked(2, ann, 3);
    let last =
        stage.append::<weir_events::web::Event>(&[completed(&request, answer, 0).into()]).await;
    let orphan = here.pages.keep(&Bytes::from_static(b"nobody's")).await.expect("keep");
    stage.reached(last).await;
    let contents = Contents::new(stage.log.log.clone());
    let there = |hash| {
        let contents = contents.clone();
        async move { contents.get(&hash).await.expect("an answer").is_some() }
    };
    assert_eq!(content::sweep(database, 3, grace).await.expect("a look"), 0);
    // Whoever keeps it again needs it.
    here.pages.keep(&Bytes::from_static(b"nobody's")).await.expect("keep");
    assert_eq!(content::sweep(database, 3, grace).await.expect("a look"), 0);
    assert_eq!(content::sweep(database, 3, grace).await.expect("a look"), 1);
    assert!(!there(orphan).await && there(answer).await && there(page.content).await);
    // The answer is of a cycle long ago; the page expires.
    assert_eq!(content::sweep(database, 4, grace).await.expect("a look"), 0);
    here.pages.evict(7).await.expect("evicted");
    assert_eq!(content::sweep(database, 4, grace).await.expect("a look"), 1);
    assert!(!there(answer).await && there(page.content).await);
    assert_eq!(content::sweep(database, 4, grace).await.expect("a look"), 1);
    assert!(!there(page.content).await);
}

#[tokio::test]
async fn words_are_found_in_cached_pages_that_one_may_see_and_that_hold_no_code() {
    let stage = Stage::new().await;
    let database = stage.log.log.database();
    let here = Instance::new(&stage).await;
    let (ann, bob) = (agent(1), agent(2));
    let mut events: Vec<weir_events::web::Event> = Vec::new();
    let texts = [
        (1, None, "<p>Borrowing lets several readers share a value.</p> <script>no</script>"),
        (2, Some(ann), "A borrowed value is not moved: notes of my own about borrowing."),
        (3, None, "Nothing of the kind, but of gardens & weirs."),
        (4, None, "fn borrow(value: &str) {} // borrowing, with its code"),
    ];
    for (n, owner, text) in texts {
        let request = asked(n, ann, 3);
        let filter = if n == 4 { FILTER_OFF } else { ContentFilter::default() };
        events.push(WebRequestSubmitted { filter, ..submitted(&request) }.into());
        here.store(&request, owner, text).await;
    }
    // A page whose request is not known.
    here.store(&asked(5, ann, 3), None, "Borrowing without a request.").await;
    let last = stage.append(&events).await;
    stage.reached(last).await;
    let found = |words: &'static str, agent: Option<AgentId>, cycle| async move {
        let rows =
            content::search(database, words, agent.as_ref(), cycle, 10, 0).await.expect("rows");
        let mut pages: Vec<_> =
            rows.iter().map(|row| (row.url.clone(), row.snippet.clone())).collect();
        pages.sort();
        pages
    };
    let everybodys = found("borrow", None, 3).await;
    assert_eq!(everybodys.len(), 1, "{everybodys:?}");
    assert!(everybodys[0].0.ends_with("/page/1"), "{everybodys:?}");
    assert!(everybodys[0].1.contains("**Borrowing**"), "{everybodys:?}");
    assert!(!everybodys[0].1.contains('<'), "{everybodys:?}");
    assert_eq!(found("borrowing", Some(bob), 3).await, everybodys);
    let anns = found("borrowing", Some(ann), 3).await;
    assert_eq!(anns.len(), 2, "{anns:?}");
    assert_eq!(found("\"several readers\"", Some(ann), 3).await.len(), 1);
    assert_eq!(found("borrowing -notes", Some(ann), 3).await.len(), 1);
    assert_eq!(found("gardens or borrowing", None, 3).await.len(), 2);
    for odd in ["", "'", "a & | !", "((", "\\"] {
        found(odd, None, 3).await;
    }
    assert_eq!(found("borrowing", Some(ann), 7).await, [], "their time is over");
    here.pages.evict(7).await.expect("evicted");
    assert_eq!(found("borrowing", Some(ann), 3).await, [], "they are forgotten");
}
