use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
};

use proptest::prelude::*;
use weir_events::registry::{
    Mask, Rule,
    advisory::{Advisory, AdvisoryPublished, Affected, Class, End, Severity, Window},
    policy::{EcosystemSettings, Floor, Mode, Settings, SettingsChanged, Waiver, WaiverGranted},
    profile::{Profile, ProfileSet},
};

use super::{
    difference::{Of, Who},
    trial::{Changes, EcosystemChanges},
    *,
};
use crate::registry::{
    advisory::digest,
    facts::Facts,
    profile::Asker,
    rule::RuleSet,
    seen::{Seen, State},
    settings::default_of,
    testing::{id, rule_of, seen_of},
};

const HOUR: i64 = 3_600;
const NPM: Ecosystem = Ecosystem::Npm;
/// Some time in 2026.
const NOW: Timestamp = Timestamp::EPOCH.plus_seconds(495_000 * HOUR);
const ALL: usize = 1_000;

fn ago(hours: i64) -> Timestamp {
    NOW.plus_seconds(-hours * HOUR)
}

fn advisory(n: usize, from: &str, severity: Severity) -> Advisory {
    let window = Window { introduced: Some(from.to_owned()), end: End::Fixed("3.0.0".to_owned()) };
    let mut advisory = Advisory {
        source: "osv".to_owned(),
        ecosystem: NPM,
        id: format!("GHSA-{n}"),
        aliases: vec![],
        class: Class::Vulnerability,
        summary: "reads what nobody wrote".to_owned(),
        modified: None,
        affected: vec![Affected {
            package: ["a", "b"][n % 2].to_owned(),
            severity,
            versions: vec![],
            windows: vec![window],
            widened: false,
        }],
        digest: String::new(),
    };
    advisory.digest = digest::of(&advisory).to_hex().to_string();
    advisory
}

/// What is in force, and what our own clock says of every package: version, time, whether that was the
/// first look.
#[derive(Debug, Clone, Default)]
struct Given {
    rules: Vec<Rule>,
    advisories: Vec<Advisory>,
    waivers: Vec<Waiver>,
    profiles: Vec<Profile>,
    settings: Settings,
    seen: Vec<(String, Timestamp, bool)>,
}

impl Given {
    fn facts(&self) -> Facts {
        let mut facts = Facts::of_rules(RuleSet::compile(1, &self.rules));
        facts.apply(2, &SettingsChanged { settings: self.settings.clone() }.into());
        for advisory in &self.advisories {
            facts.apply(3, &AdvisoryPublished { advisory: advisory.clone() }.into());
        }
        for waiver in &self.waivers {
            let (requested_by, granted_by) = ("ann".to_owned(), "bob".to_owned());
            let granted = WaiverGranted { waiver: waiver.clone(), requested_by, granted_by };
            facts.apply(4, &granted.into());
        }
        for profile in &self.profiles {
            facts.apply(5, &ProfileSet { profile: profile.clone() }.into());
        }
        facts.settle();
        facts
    }

    /// What was seen of every package.
    fn seen(&self) -> State {
        seen_of(self.seen.iter().map(|(name, at, first_look)| (name.as_str(), *at, *first_look)))
    }
}

/// What is tried.
#[derive(Debug, Clone, Default)]
struct Tried {
    changes: Changes,
    rules: Vec<Rule>,
    without: BTreeSet<String>,
}

impl Tried {
    fn trial(&self) -> Trial {
        Trial::new(self.changes.clone(), &self.rules, self.without.clone())
    }

    /// What would be in force if it were switched on.
    fn switched_on(&self, given: &Given) -> Given {
        let mut then = given.clone();
        then.rules.retain(|rule| !self.without.contains(&rule.id));
        then.rules.extend(self.rules.iter().cloned());
        then.settings = self.changes.over(&given.settings);
        then
    }
}

/// A decision as a test makes it.
#[derive(Debug, Clone)]
struct Made {
    package: &'static str,
    version: Option<String>,
    published_at: Option<Timestamp>,
    late: bool,
    at: Timestamp,
    token: &'static str,
    profile: Option<&'static str>,
    outcome: Outcome,
}

impl Made {
    fn decision(&self) -> Decision<'_> {
        Decision {
            ecosystem: NPM,
            package: self.package,
            version: self.version.as_deref(),
            published_at: self.published_at,
            late: self.late,
            at: self.at,
            principal: "ci",
            token: Some(self.token),
            profile: self.profile,
            outcome: self.outcome,
        }
    }
}

fn made(package: &'static str, version: &str, at: Timestamp) -> Made {
    let version = Some(version.to_owned());
    let (published_at, profile, outcome) = (None, None, Outcome::Allowed);
    Made { package, version, published_at, late: false, at, token: "0a", profile, outcome }
}

/// By whose facts it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Today,
    Then,
}

/// Whoever is asked what is known, of the past or of now.
fn about(facts: &Facts, seen: &State, by: By, decision: &Decision<'_>) -> About {
    let (at, asker) = (decision.at, Asker { token: decision.token, profile: decision.profile });
    let about = |now| facts.about_for(NPM, decision.package, asker, now);
    let tells_tokens_apart = facts.tells_tokens_apart(NPM, decision.package);
    let (dossier, seen, from, until) = match by {
        By::Today => (about(NOW), seen.clone(), Timestamp::EPOCH, None),
        By::Then => {
            let until = facts.holds_until(at).into_iter().chain(seen.next_after(at)).min();
            (about(at), seen.as_of(at), at, until)
        }
    };
    let dossier = dossier.seeing(Arc::new(Seen::Versions(seen)));
    let until = until.unwrap_or(Timestamp::from_micros(i64::MAX));
    About { dossier, tells_tokens_apart, from, until }
}

fn replay(given: &Given, tried: &Tried, by: By, decisions: &[Made], max_rows: usize) -> Replay {
    let (facts, seen) = (given.facts(), given.seen());
    let mut replay = Replay::of(tried.trial(), max_rows);
    for made in decisions {
        let decision = made.decision();
        let about = || Ok::<_, Infallible>(about(&facts, &seen, by, &decision));
        match replay.judge(&decision, about) {
            Ok(()) => {}
        }
    }
    replay
}

/// How many were judged, would be refused, and would pass, as one after the other.
fn told(replay: &Replay) -> [u64; 3] {
    let difference = replay.difference();
    [difference.n_judged, difference.n_newly_blocked, difference.n_newly_allowed]
}

#[test]
fn what_would_be_refused_is_counted_by_version_by_who_and_by_day_and_says_why() {
    let tried =
        Tried { rules: vec![rule_of(NPM, 2, "a", "<1.3.0", Mask::Hide)], ..Tried::default() };
    let other = Made { token: "0b", ..made("a", "1.2.0", ago(50)) };
    let unread = Made { version: None, ..made("a", "", ago(2)) };
    let refused = Made { outcome: Outcome::Blocked, ..made("b", "1.0.0", ago(2)) };
    let past = [
        made("a", "1.2.0", ago(2)),
        made("a", "1.2.0", ago(1)),
        other,
        made("a", "1.3.0", ago(2)),
        made("b", "1.2.0", ago(2)),
        unread,
        refused,
    ];
    let replay = replay(&Given::default(), &tried, By::Today, &past, ALL);
    assert_eq!(told(&replay), [7, 4, 0]);
    let difference = replay.difference();
    assert_eq!((difference.n_were_allowed, difference.n_answered_otherwise), (6, 1));
    assert_eq!((difference.n_version_unknown, difference.n_age_unknown), (1, 0));
    assert_eq!((difference.in_force.n_passing, difference.tried.n_refused), (7, 4));
    let rows = difference.by_version.rows();
    let (of, changed, cause) = rows[0];
    assert_eq!((&*of.package, of.version.as_deref()), ("a", Some("1.2.0")));
    assert_eq!((changed.n_blocked, changed.first_at, changed.last_at), (3, ago(50), ago(1)));
    assert_eq!(cause.as_ref().map(|no| no.id().to_owned()), Some(id(2)));
    assert_eq!(rows.len(), 2, "{rows:?}");
    let who: Vec<_> = difference.by_who.rows();
    let who: Vec<_> = who.iter().map(|row| (row.0.token.as_deref(), row.1.n_blocked)).collect();
    assert_eq!(who, [(Some("0a"), 3), (Some("0b"), 1)]);
    let days: Vec<_> = difference.by_day().map(|(day, changed)| (day, changed.n())).collect();
    assert_eq!(days.iter().map(|day| day.1).collect::<Vec<_>>(), [1, 3]);
    assert!(days.iter().all(|(day, _)| day.micros() % (24 * HOUR * 1_000_000) == 0));
}

#[test]
fn a_rule_left_out_lets_pass_what_no_other_refuses() {
    let given = Given {
        rules: vec![
            rule_of(NPM, 1, "a", "*", Mask::Mark),
            rule_of(NPM, 2, "*", ">=2.0.0", Mask::Mark),
        ],
        ..Given::default()
    };
    let tried = Tried { without: [id(1)].into(), ..Tried::default() };
    let past =
        ["1.0.0", "2.0.0"].map(|v| Made { outcome: Outcome::Blocked, ..made("a", v, ago(1)) });
    let replay = replay(&given, &tried, By::Today, &past, ALL);
    assert_eq!(told(&replay), [2, 0, 1]);
    let rows = replay.difference().by_version.rows();
    assert_eq!(rows[0].2.as_ref().map(|no| no.id().to_owned()), Some(id(1)), "what would not hold");
}

#[test]
fn an_age_is_that_of_the_day_and_one_that_nobody_tells_is_too_young() {
    let own = EcosystemChanges { min_age_hours: Some(72), ..EcosystemChanges::default() };
    let changes = Changes { ecosystems: [(NPM, own)].into(), ..Changes::default() };
    let tried = Tried { changes, ..Tried::default() };
    let young = Made { published_at: Some(ago(172)), ..made("a", "1.0.0", ago(101)) };
    let ripe = Made { at: ago(100), ..young.clone() };
    let past = [young.clone(), ripe, young, made("a", "1.0.1", ago(100))];
    let replay = replay(&Given::default(), &tried, By::Today, &past, ALL);
    assert_eq!(told(&replay), [4, 3, 0]);
    assert_eq!(replay.difference().n_age_unknown, 1);
}

#[test]
fn an_age_goes_by_our_own_clock_and_what_was_not_seen_yet_was_not_known() {
    let own = EcosystemChanges { min_age_hours: Some(72), ..EcosystemChanges::default() };
    let changes = Changes { ecosystems: [(NPM, own)].into(), ..Changes::default() };
    let tried = Tried { changes, ..Tried::default() };
    let seen = vec![("1.0.0".to_owned(), ago(100), false)];
    let given = Given { seen, ..Given::default() };
    // Its registry says it is old; it was not there before our first sight of it.
    let old = |at| Made { published_at: Some(ago(500)), ..made("a", "1.0.0", at) };
    let past = [old(ago(101)), old(ago(100)), old(ago(29)), old(ago(28))];
    for (by, told_of) in [(By::Today, [4, 3, 0]), (By::Then, [4, 2, 0])] {
        assert_eq!(told(&replay(&given, &tried, by, &past, ALL)), told_of, "{by:?}");
    }
}

#[test]
fn who_is_bound_by_a_profile_is_judged_by_the_stricter_of_it_and_what_is_tried() {
    let profiles = vec![agents(48, None)];
    let given = Given { profiles, ..Given::default() };
    let under = |profile, hours| Made {
        published_at: Some(ago(hours)),
        profile,
        ..made("a", "1.0.0", NOW)
    };
    let past: Vec<_> = [None, Some("agents"), Some("gone")]
        .into_iter()
        .flat_map(|profile| [20, 40, 60, 80].map(|hours| under(profile, hours)))
        .collect();
    let refused = |hours| {
        let own = EcosystemChanges { min_age_hours: hours, ..EcosystemChanges::default() };
        let changes = Changes { ecosystems: [(NPM, own)].into(), ..Changes::default() };
        let tried = Tried { changes, ..Tried::default() };
        let replay = replay(&given, &tried, By::Today, &past, ALL);
        let found = replay.difference();
        (found.in_force.n_refused, found.tried.n_refused)
    };
    // Whose profile is gone gets nothing; an age below that of the profile changes nothing for it.
    assert_eq!(refused(None), (6, 6));
    assert_eq!(refused(Some(24)), (6, 7));
    assert_eq!(refused(Some(72)), (6, 10));
}

fn agents(min_age_hours: u32, severity_floor: Option<Severity>) -> Profile {
    Profile { name: "agents".to_owned(), min_age_hours, severity_floor, ..Profile::default() }
}

#[test]
fn a_table_that_is_full_still_counts() {
    let tried = Tried { rules: vec![rule_of(NPM, 2, "*", "*", Mask::Mark)], ..Tried::default() };
    let past: Vec<_> = (0..5).map(|n| made("a", &format!("1.0.{n}"), ago(n))).collect();
    let again: Vec<_> = past.iter().chain(&past).cloned().collect();
    let replay = replay(&Given::default(), &tried, By::Today, &again, 3);
    let difference = replay.difference();
    assert_eq!((difference.n_newly_blocked, difference.by_version.rows().len()), (10, 3));
    assert_eq!(difference.by_version.n_beyond(), 4);
    assert_eq!(difference.by_who.n_beyond(), 0);
}

fn any_rules(ids: std::ops::Range<u128>) -> impl Strategy<Value = Vec<Rule>> {
    let package = prop_oneof![Just("a"), Just("b"), Just("*")];
    let versions = prop_oneof![Just("*".to_owned()), "(>=|<)[0-3]\\.[0-3]\\.0"];
    let mask = prop_oneof![Just(Mask::Mark), Just(Mask::Hide), Just(Mask::DenyOnly)];
    let rule = (ids, package, versions, mask).prop_map(|(n, p, v, m)| rule_of(NPM, n, p, &v, m));
    prop::collection::vec(rule, 0..4)
}

fn any_severity() -> impl Strategy<Value = Severity> {
    use Severity::{Critical, High, Low, Medium};
    prop::sample::select(vec![Low, Medium, High, Critical])
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Enforce, Mode::Enforce, Mode::Audit])
}

fn any_waiver() -> impl Strategy<Value = Waiver> {
    let token = prop::option::of(Just("0a".to_owned()));
    let waives = prop::sample::select(vec![vec![], vec!["GHSA-0".to_owned()], vec![id(1)]]);
    let about = prop::sample::select(vec!["a", "*"]);
    (about, token, waives, -40_i64..40, 50_u128..54).prop_map(|(about, token, waives, ends, n)| {
        Waiver {
            id: id(n),
            ecosystem: NPM,
            package: about.to_owned(),
            versions: "*".to_owned(),
            waives,
            token,
            reason: "reviewed".to_owned(),
            owner: "ann".to_owned(),
            expires_at: ago(ends),
        }
    })
}

fn any_given() -> impl Strategy<Value = Given> {
    let said = ("[0-2]\\.[0-2]\\.0", any_severity());
    let advisories = prop::collection::vec(said, 0..4);
    let settings =
        (any_mode(), prop::sample::select(vec![0_u32, 24]), any::<bool>(), any_severity());
    let waivers = prop::collection::vec(any_waiver(), 0..3);
    let profile = (prop::sample::select(vec![0_u32, 48]), prop::option::of(any_severity()));
    let profile = (profile, prop::option::of(any_mode()))
        .prop_map(|((hours, floor), mode)| Profile { mode, ..agents(hours, floor) });
    let profiles = prop::collection::vec(profile, 0..2);
    let seen = ("[0-3]\\.[0-3]\\.0", -30_i64..70, any::<bool>());
    let seen = seen.prop_map(|(version, hours, first_look)| (version, ago(hours), first_look));
    let seen = prop::collection::vec(seen, 0..8);
    (any_rules(0..10), advisories, waivers, settings, profiles, seen).prop_map(
        |(rules, said, waivers, settings, profiles, seen)| {
            let said = said.iter().enumerate();
            let (mode, min_age_hours, fix_exemption, floor) = settings;
            let own = EcosystemSettings { mode, min_age_hours, fix_exemption, ..default_of(NPM) };
            let settings = Settings {
                ecosystems: vec![own],
                severity_floor: Floor(floor),
                ..Settings::default()
            };
            let advisories =
                said.map(|(n, (from, severity))| advisory(n, from, *severity)).collect();
            Given { rules, advisories, waivers, profiles, settings, seen }
        },
    )
}

fn any_tried() -> impl Strategy<Value = Tried> {
    let own = (
        prop::option::of(any_mode()),
        prop::option::of(prop::sample::select(vec![0_u32, 24, 72])),
        prop::option::of(any::<bool>()),
    );
    let own = own.prop_map(|(mode, min_age_hours, fix_exemption)| EcosystemChanges {
        mode,
        min_age_hours,
        fix_exemption,
    });
    let floor = prop::option::of(any_severity());
    let without = prop::collection::btree_set((0_u128..10).prop_map(id), 0..4);
    (any_rules(20..30), own, floor, without).prop_map(|(rules, own, severity_floor, without)| {
        Tried {
            changes: Changes {
                severity_floor,
                ecosystems: [(NPM, own)].into(),
                ..Changes::default()
            },
            rules,
            without,
        }
    })
}

fn any_decision() -> impl Strategy<Value = Made> {
    let package = prop::sample::select(vec!["a", "b", "c"]);
    let version = prop::option::weighted(0.9, "[0-3]\\.[0-3]\\.0");
    let published = prop::sample::select(vec![-20_i64, 30, 60, 500, 300_000]);
    let published = prop::option::weighted(0.8, published);
    let token = prop::sample::select(vec!["0a", "0b"]);
    let profile = prop::sample::select(vec![None, Some("agents"), Some("gone")]);
    let outcome = prop::sample::select(vec![Outcome::Allowed, Outcome::Blocked]);
    let late = any::<bool>();
    let all = (package, version, published, late, -30_i64..60, token, profile, outcome);
    all.prop_map(|(package, version, published, late, at, token, profile, outcome)| Made {
        package,
        version,
        published_at: published.map(ago),
        late,
        at: ago(at),
        token,
        profile,
        outcome,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What is remembered changes nothing: the difference is that of judging every decision by all
    /// that is in force, and by all that would be.
    #[test]
    fn the_difference_is_exactly_that_of_judging_every_decision_anew(
        given in any_given(),
        tried in any_tried(),
        by in prop::sample::select(vec![By::Today, By::Then]),
        decisions in prop::collection::vec(any_decision(), 0..60),
    ) {
        let replay = replay(&given, &tried, by, &decisions, ALL);
        let (facts, switched_on) = (given.facts(), tried.switched_on(&given).facts());
        let seen = given.seen();
        let (mut blocked, mut allowed, mut otherwise, mut ageless) = (0, 0, 0, 0);
        let (mut by_version, mut by_who) = (BTreeMap::new(), BTreeMap::new());
        let mut by_day = BTreeMap::new();
        for made in &decisions {
            let decision = made.decision();
            let version = made.version.as_deref().map(|text| Version::parse(NPM, text));
            let candidate = Candidate::published(version.as_ref(), made.published_at);
            let candidate = Candidate { late: made.late, ..candidate };
            let dossiers = [&facts, &switched_on]
                .map(|facts| about(facts, &seen, by, &decision).dossier.at(made.at));
            let [before, after] =
                dossiers.each_ref().map(|dossier| dossier.judge(&candidate).allowed());
            ageless += u64::from(dossiers.iter().any(|dossier| dossier.misses_age(&candidate)));
            otherwise += u64::from(before != (made.outcome == Outcome::Allowed));
            if before == after {
                continue;
            }
            blocked += u64::from(before);
            allowed += u64::from(after);
            let of = Of {
                ecosystem: NPM,
                package: made.package.to_owned(),
                version: made.version.clone(),
            };
            let who = Who { principal: "ci".to_owned(), token: Some(made.token.to_owned()) };
            let day = made.at.micros() / (24 * HOUR * 1_000_000);
            for counts in [
                by_version.entry(of).or_insert([0, 0]),
                by_who.entry(who).or_insert([0, 0]),
                by_day.entry(day).or_insert([0, 0]),
            ] {
                counts[usize::from(after)] += 1;
            }
        }
        prop_assert_eq!(told(&replay), [decisions.len() as u64, blocked, allowed]);
        let found = replay.difference();
        prop_assert_eq!(found.n_answered_otherwise, otherwise);
        prop_assert_eq!(found.n_age_unknown, ageless);
        let counts = |changed: &difference::Changed| [changed.n_blocked, changed.n_allowed];
        let rows = found.by_version.rows();
        let rows = rows.iter().map(|(of, changed, _)| ((*of).clone(), counts(changed)));
        prop_assert_eq!(rows.collect::<BTreeMap<_, _>>(), by_version);
        let rows = found.by_who.rows();
        let rows = rows.iter().map(|(who, changed, ())| ((*who).clone(), counts(changed)));
        prop_assert_eq!(rows.collect::<BTreeMap<_, _>>(), by_who);
        let days = found.by_day();
        let days = days.map(|(day, it)| (day.micros() / (24 * HOUR * 1_000_000), counts(it)));
        prop_assert_eq!(days.collect::<BTreeMap<_, _>>(), by_day);
    }
}

#[test]
fn what_was_looked_up_before_does_not_hold_when_something_new_is_known() {
    let tried = Tried { rules: vec![rule_of(NPM, 2, "a", "*", Mask::Mark)], ..Tried::default() };
    let mut replay = Replay::of(tried.trial(), ALL);
    let refused = Given { rules: vec![rule_of(NPM, 1, "a", "*", Mask::Mark)], ..Given::default() };
    let past = made("a", "1.0.0", ago(1));
    for (given, told_of) in [(&Given::default(), [1, 1, 0]), (&refused, [2, 1, 0])] {
        let facts = given.facts();
        let decision = past.decision();
        let about = || Ok::<_, Infallible>(about(&facts, &State::default(), By::Then, &decision));
        match replay.judge(&decision, about) {
            Ok(()) => {}
        }
        assert_eq!(told(&replay), told_of);
        replay.forget();
    }
}
