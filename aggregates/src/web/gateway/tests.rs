use proptest::prelude::*;
use weir_events::{
    timestamp::Timestamp,
    web::{
        Asked, Event, WebRedirect,
        content::{ContentFilter, FilterReport},
        request::{AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod, PortalError},
        rule::Action,
    },
};

use super::*;
use crate::machine::fold;

const NOW: Context = Context { now: Timestamp::EPOCH };
const TAX: Tax = Tax { percent: 5 };

fn id(n: u64) -> Hash256 {
    Hash256::of(&[&n.to_be_bytes()])
}

fn asks(n: u64, tick: u64) -> Admission {
    Admission {
        asked: Asked {
            request: id(n),
            agent: AgentId::new([7; 32]),
            url: "https://docs.rs/".to_owned(),
            method: HttpMethod::Get,
            purpose: "to learn".to_owned(),
            cycle: 1,
            tick,
        },
        interaction: ApiInteractionKind::RestGet,
        filter: ContentFilter::default(),
        key: id(100),
        epoch: 3,
        requests_per_tick: 1,
        carried: BackOff::default(),
        ban: None,
        approval: None,
        hit: None,
    }
}

fn given() -> Given {
    Given {
        variant: id(101),
        status: 200,
        content_type: "text/plain".to_owned(),
        content: id(102),
        content_size: 3,
        filtered: FilterReport::default(),
    }
}

fn answer(n: u64) -> Answer {
    Answer {
        request: id(n),
        given: given(),
        cached: false,
        hosts: vec!["docs.rs".to_owned()],
        redirects: Vec::new(),
        tick: 0,
        carried: BackOff::default(),
    }
}

/// Answered with this status.
fn says(status: u16, answer: Answer) -> Answer {
    Answer { given: Given { status, ..given() }, ..answer }
}

fn failure(n: u64, left: bool) -> Failure {
    Failure {
        request: id(n),
        error: PortalError::Timeout(10_000),
        left,
        hosts: Vec::new(),
        redirects: Vec::new(),
    }
}

fn admit(admission: Admission) -> Command {
    Command::Admit(Box::new(admission))
}

fn complete(answer: Answer) -> Command {
    Command::Complete(Box::new(answer), TAX)
}

fn fail(failure: Failure) -> Command {
    Command::Fail(Box::new(failure), TAX)
}

/// Judges, folds, and says what was refused and how many events there are.
fn done(state: &mut State, command: &Command) -> (Option<Refusal>, Vec<Event>) {
    let decision = Gateway::decide(state, command, &NOW);
    for event in &decision.events {
        Gateway::apply(state, event);
    }
    (decision.refusal, decision.events)
}

fn error(state: &mut State, command: &Command) -> Option<PortalError> {
    match done(state, command).0 {
        Some(Refusal::No(error)) => Some(error),
        None => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_epoch_allows_what_the_contract_says() {
    let judge = |epoch, method, interaction| {
        let mut asked = asks(1, 1);
        (asked.epoch, asked.asked.method, asked.interaction) = (epoch, method, interaction);
        error(&mut State::default(), &admit(asked))
    };
    let (get, post, head) = (HttpMethod::Get, HttpMethod::Post, HttpMethod::Head);
    let rest = ApiInteractionKind::RestGet;
    for epoch in 0..=2 {
        assert_eq!(judge(epoch, get, rest), Some(PortalError::PortalClosed { epoch }));
    }
    assert_eq!([judge(3, get, rest), judge(3, head, rest)], [None, None]);
    let read_only = |what| Some(PortalError::ReadOnlyEpoch { epoch: 3, what });
    assert_eq!(judge(3, post, ApiInteractionKind::RestPost), read_only("POST"));
    assert_eq!(judge(3, get, ApiInteractionKind::GraphQL), read_only("GraphQL"));
    assert_eq!(judge(3, get, ApiInteractionKind::WebsocketSnap), read_only("a websocket"));
    for interaction in [
        ApiInteractionKind::RestPost,
        ApiInteractionKind::GraphQL,
        ApiInteractionKind::WebsocketSnap,
    ] {
        assert_eq!(judge(4, post, interaction), None, "{interaction:?}");
    }
}

#[test]
fn the_order_of_refusals_is_the_order_of_the_pipeline() {
    let banned = PortalError::DomainBlocked { domain: "x.com".to_owned(), reason: "no".to_owned() };
    let ask = |n, tick| Admission { ban: Some(banned.clone()), ..asks(n, tick) };
    let mut state = State::default();
    for n in 0..5 {
        assert_eq!(error(&mut state, &admit(asks(n, n + 1))), None);
    }
    let closed = Admission { epoch: 0, ..ask(9, 5) };
    assert_eq!(error(&mut state, &admit(closed)), Some(PortalError::PortalClosed { epoch: 0 }));
    let limited = Some(PortalError::RateLimited { retry_ticks: 1 });
    assert_eq!(error(&mut state, &admit(ask(9, 5))), limited);
    let exceeded = Some(PortalError::QuotaExceeded { used: 5, max: 5 });
    assert_eq!(error(&mut state, &admit(ask(9, 6))), exceeded);
    // An exhausted agent is refused even what the cache has (ruling A10).
    let cached = Admission { hit: Some(given()), ..asks(9, 6) };
    assert_eq!(error(&mut state, &admit(cached)), exceeded);
    let wider = Admission { epoch: 4, ..ask(9, 6) };
    assert_eq!(error(&mut state, &admit(wider)), Some(banned.clone()));
    // Nothing refused counts against the tick.
    let wider = Admission { epoch: 4, hit: Some(given()), ..asks(9, 6) };
    assert_eq!(error(&mut state, &admit(wider)), None);
}

#[test]
fn that_the_quota_is_used_up_is_said_once() {
    let mut state = State::default();
    for n in 0..5 {
        assert_eq!(error(&mut state, &admit(asks(n, n))), None);
    }
    let kinds = |events: Vec<Event>| {
        events.iter().map(|event| matches!(event, Event::QuotaExhausted(_))).collect::<Vec<_>>()
    };
    assert_eq!(kinds(done(&mut state, &admit(asks(5, 5))).1), [true, false]);
    assert_eq!(kinds(done(&mut state, &admit(asks(6, 6))).1), [false]);
}

#[test]
fn refusals_beyond_a_bound_leave_no_trace_until_the_next_tick() {
    let mut state = State::default();
    let closed = |tick| admit(Admission { epoch: 0, ..asks(1, tick) });
    for _ in 0..MAX_REFUSALS_PER_TICK {
        assert_eq!(done(&mut state, &closed(4)).1.len(), 1);
    }
    let (refusal, events) = done(&mut state, &closed(4));
    assert!(refusal.is_some() && events.is_empty());
    assert_eq!(done(&mut state, &closed(5)).1.len(), 1);
}

#[test]
fn what_did_not_leave_gives_its_place_back() {
    let mut state = State::default();
    let used = |state: &mut State, n, command: Command| {
        assert_eq!(error(state, &admit(asks(n, n))), None);
        assert_eq!(done(state, &command).0, None);
        state.used()
    };
    assert_eq!(used(&mut state, 1, complete(Answer { cached: true, ..answer(1) })), 0);
    assert_eq!(used(&mut state, 2, fail(failure(2, false))), 0);
    assert_eq!(used(&mut state, 3, fail(failure(3, true))), 1);
    assert_eq!(used(&mut state, 4, complete(answer(4))), 2);
}

#[test]
fn what_an_answer_costs_is_on_record_with_its_tax() {
    let cost = |method, interaction, command: Command| {
        let mut asked = asks(1, 1);
        (asked.epoch, asked.asked.method, asked.interaction) = (4, method, interaction);
        let mut state = State::default();
        assert_eq!(done(&mut state, &admit(asked)).0, None);
        match done(&mut state, &command).1.pop() {
            Some(Event::WebRequestCompleted(done)) => (done.cost, done.tax),
            Some(Event::WebRequestFailed(failed)) => (failed.cost, failed.tax),
            other => panic!("{other:?}"),
        }
    };
    let (get, post, head) = (HttpMethod::Get, HttpMethod::Post, HttpMethod::Head);
    let rest = ApiInteractionKind::RestGet;
    assert_eq!(cost(get, rest, complete(answer(1))), (Cost { ticks: 3, spark: 2 }, 1));
    assert_eq!(cost(head, rest, complete(answer(1))), (Cost { ticks: 2, spark: 1 }, 1));
    let sent = cost(post, ApiInteractionKind::RestPost, complete(answer(1)));
    assert_eq!(sent, (Cost { ticks: 3, spark: 3 }, 1));
    let snap = cost(get, ApiInteractionKind::WebsocketSnap, complete(answer(1)));
    assert_eq!(snap, (Cost::POST, 1));
    let shared = complete(Answer { cached: true, ..answer(1) });
    assert_eq!(cost(get, rest, shared), (Cost { ticks: 1, spark: 0 }, 0));
    assert_eq!(cost(get, rest, fail(failure(1, true))), (Cost { ticks: 1, spark: 1 }, 1));
    assert_eq!(cost(get, rest, fail(failure(1, false))), (Cost::NONE, 0));
}

#[test]
fn a_hit_is_on_record_and_reserves_nothing() {
    let mut state = State::default();
    let (refusal, events) =
        done(&mut state, &admit(Admission { hit: Some(given()), ..asks(1, 1) }));
    assert_eq!(refusal, None);
    let [Event::WebCacheHit(found), Event::WebRequestCompleted(done)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((found.key, found.variant), (id(100), id(101)));
    assert_eq!((done.cached, done.cost, done.tax), (true, Cost::CACHE_HIT, 0));
    assert_eq!((state.used(), state.pending(&id(1))), (0, None));
    let again = PortalError::RateLimited { retry_ticks: 1 };
    assert_eq!(error(&mut state, &admit(asks(2, 1))), Some(again), "it counts for the tick");
}

/// Who looked at a page that a human let one agent see left no trace of that, once it was cached.
#[test]
fn a_hit_says_which_approval_it_was_shown_by() {
    let approval = Some(id(7));
    let asked = Admission { hit: Some(given()), approval, ..asks(1, 1) };
    let (_, events) = done(&mut State::default(), &admit(asked));
    let [_, Event::WebRequestCompleted(done)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(done.approval, approval);
}

#[test]
fn who_waited_for_another_ones_page_is_on_record_as_a_hit() {
    let mut state = State::default();
    assert_eq!(error(&mut state, &admit(asks(1, 1))), None);
    let shared = complete(Answer { cached: true, ..answer(1) });
    let (_, events) = done(&mut state, &shared);
    let [Event::WebCacheHit(found), Event::WebRequestCompleted(done)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((found.request, found.key, found.variant), (id(1), id(100), id(101)));
    assert!(done.cached);
}

#[test]
fn what_is_settled_is_settled_once() {
    let mut state = State::default();
    assert_eq!(error(&mut state, &admit(asks(1, 1))), None);
    assert_eq!(done(&mut state, &admit(asks(1, 2))).0, Some(Refusal::UnderWay(id(1))));
    assert_eq!(done(&mut state, &complete(answer(1))).0, None);
    for again in [complete(answer(1)), fail(failure(1, true))] {
        let (refusal, events) = done(&mut state, &again);
        assert_eq!(refusal, Some(Refusal::NotUnderWay(id(1))));
        assert!(events.is_empty());
    }
}

#[test]
fn what_is_said_of_a_page_is_on_record_where_there_is_something_to_say() {
    let n_events = |filtered: FilterReport| {
        let mut state = State::default();
        assert_eq!(error(&mut state, &admit(asks(1, 1))), None);
        let given = Given { filtered, ..given() };
        done(&mut state, &complete(Answer { given, ..answer(1) })).1.len()
    };
    assert_eq!(n_events(FilterReport::default()), 1);
    assert_eq!(n_events(FilterReport { code_blocks_removed: 1, ..FilterReport::default() }), 2);
    let warnings = vec!["high code density detected".to_owned()];
    assert_eq!(n_events(FilterReport { warnings, ..FilterReport::default() }), 2);
}

#[test]
fn an_agent_that_is_told_to_pause_pauses_longer_each_time() {
    let mut state = State::default();
    let (mut tick, mut pauses) = (1, Vec::new());
    for n in 0..6 {
        let wide = Admission { epoch: 40, ..asks(n, tick) };
        assert_eq!(error(&mut state, &admit(wide)), None, "tick {tick}");
        let status = if n % 2 == 0 { 429 } else { 503 };
        assert_eq!(done(&mut state, &complete(says(status, answer(n)))).0, None);
        let pause = state.back_off().length;
        for soon in tick + 1..=tick + pause {
            let retry_ticks = tick + pause + 1 - soon;
            let limited = Some(PortalError::RateLimited { retry_ticks });
            let wide = Admission { epoch: 40, ..asks(99, soon) };
            assert_eq!(error(&mut state, &admit(wide)), limited);
        }
        tick += pause + 1;
        pauses.push(pause);
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 16]);
    assert_eq!(error(&mut state, &admit(Admission { epoch: 40, ..asks(7, tick) })), None);
    assert_eq!(done(&mut state, &complete(answer(7))).0, None);
    assert_eq!(state.back_off().length, 0, "and begins anew when it is welcome");
    // The next cycle goes on with it.
    let carried = BackOff { until: 9, length: 4 };
    let early = Admission { carried, ..asks(1, 7) };
    let limited = Some(PortalError::RateLimited { retry_ticks: 2 });
    assert_eq!(error(&mut State::default(), &admit(early)), limited);
}

#[test]
fn a_pause_begins_when_the_outside_asks_for_it() {
    let mut state = State::default();
    assert_eq!(error(&mut state, &admit(asks(1, 1))), None);
    let late = complete(Answer { tick: 8, ..says(429, answer(1)) });
    let (_, events) = done(&mut state, &late);
    assert!(matches!(&events[..], [Event::WebRequestCompleted(done)] if done.paused_at == Some(8)));
    assert_eq!(state.back_off(), BackOff { until: 10, length: 1 });
}

/// The refusal that a pause carried over brings about begins the new cycle, and once ended the pause.
#[test]
fn a_pause_that_is_carried_over_outlives_the_first_refusal_and_goes_on_doubling() {
    let (mut state, carried) = (State::default(), BackOff { until: 9, length: 4 });
    let asks = |n, tick| Admission { carried, ..asks(n, tick) };
    for (n, tick) in [(1, 7), (2, 7), (3, 8)] {
        let limited = Some(PortalError::RateLimited { retry_ticks: 9 - tick });
        assert_eq!(error(&mut state, &admit(asks(n, tick))), limited, "request {n}");
    }
    assert_eq!(error(&mut state, &admit(asks(4, 9))), None);
    let busy = complete(Answer { tick: 9, carried, ..says(503, answer(4)) });
    assert_eq!(done(&mut state, &busy).0, None);
    assert_eq!(state.back_off(), BackOff { until: 18, length: 8 });
    // What a cycle before is told late counts as well.
    let later = BackOff { until: 30, length: 2 };
    assert_eq!(later.before(&state), BackOff { until: 30, length: 8 });
    assert_eq!(later.before(&State::default()), later);
}

#[test]
fn who_cannot_pay_is_refused_on_record() {
    let mut state = State::default();
    let error = PortalError::PermissionDenied("insufficient spark".to_owned());
    let (refusal, events) = done(&mut state, &Command::Bounce(asks(1, 1).into(), error.clone()));
    assert_eq!(refusal, Some(Refusal::No(error)));
    assert!(matches!(&events[..], [Event::WebRequestBlocked(blocked)] if blocked.code == 0x0705));
    assert_eq!(state.used(), 0);
}

#[test]
fn a_host_that_a_redirect_led_to_is_blocked_and_costs() {
    let mut state = State::default();
    assert_eq!(error(&mut state, &admit(asks(1, 1))), None);
    let error = PortalError::DomainBlocked { domain: "x.com".to_owned(), reason: "no".to_owned() };
    let redirects = vec![WebRedirect {
        url: "https://x.com/".to_owned(),
        action: Action::Block,
        rule: Some("x.com".to_owned()),
        reason: "no".to_owned(),
    }];
    let failed = Failure { error, redirects: redirects.clone(), ..failure(1, true) };
    let (_, events) = done(&mut state, &fail(failed));
    let [Event::WebRequestBlocked(blocked)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(blocked.redirects, redirects);
    assert_eq!((blocked.cost, blocked.tax), (Cost::FAILED, 1));
    assert_eq!((blocked.code, blocked.domain.as_deref()), (0x0702, Some("x.com")));
}

#[derive(Debug, Clone)]
enum Step {
    Ask { tick: u64, hit: bool, epoch: u32 },
    Answer { nth: usize, cached: bool },
    Fail { nth: usize, left: bool },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..4_u64, any::<bool>(), 3..6_u32).prop_map(|(tick, hit, epoch)| Step::Ask {
            tick,
            hit,
            epoch
        }),
        (any::<usize>(), any::<bool>()).prop_map(|(nth, cached)| Step::Answer { nth, cached }),
        (any::<usize>(), any::<bool>()).prop_map(|(nth, left)| Step::Fail { nth, left }),
    ]
}

proptest! {
    /// Whatever is asked, answered and given up in whatever order: what has left and what may still
    /// leave is never more than the quota, each request ends once, and the state is what its events
    /// add up to.
    #[test]
    fn no_more_leave_than_the_quota(
        steps in proptest::collection::vec(step(), 0..120),
        per_tick in 1..20_u32,
    ) {
        let (mut state, mut log) = (State::default(), Vec::new());
        let (mut open, mut left, mut tick, mut widest) = (Vec::new(), 0_u32, 0_u64, 0_u32);
        for (n, step) in (0_u64..).zip(steps) {
            let command = match step {
                Step::Ask { tick: later, hit: has, epoch } => {
                    tick += later;
                    widest = widest.max(weir_events::web::request::quota(epoch));
                    admit(Admission {
                        epoch,
                        requests_per_tick: per_tick,
                        hit: has.then(given),
                        ..asks(n, tick)
                    })
                }
                Step::Answer { nth, cached } if !open.is_empty() => {
                    let n = open.remove(nth % open.len());
                    left += u32::from(!cached);
                    complete(Answer { cached, ..answer(n) })
                }
                Step::Fail { nth, left: did } if !open.is_empty() => {
                    let n = open.remove(nth % open.len());
                    left += u32::from(did);
                    fail(failure(n, did))
                }
                Step::Answer { .. } | Step::Fail { .. } => continue,
            };
            let (_, events) = done(&mut state, &command);
            if events.iter().any(|event| matches!(event, Event::WebRequestSubmitted(_))) {
                open.push(n);
            }
            log.extend(events);
            let n_open = u32::try_from(open.len()).unwrap();
            prop_assert_eq!(state.used(), left + n_open);
            prop_assert!(state.used() <= widest);
        }
        prop_assert_eq!(fold::<Gateway>(&log), state);
    }
}
