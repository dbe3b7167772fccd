//! Blocked requests that a human is asked about. Stream `web/approval/<approval>`.
//!
//! The rule: an agent asks, a human answers, and the answer holds for the very request that was shown
//! to him, for a time. No agent answers. A question that is open is not asked again; an answer that
//! holds is not contradicted by another one, unless that says that it takes its place.

use std::time::Duration;

use weir_events::{
    kind::Subsystem,
    timestamp::Timestamp,
    web::{
        Event,
        approval::{ApprovalWord, WebApprovalAnswered, WebApprovalRequested},
    },
};

use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// The longest reason, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// The longest time that an answer holds.
pub const LONGEST: Duration = Duration::from_hours(24 * 7);

/// The machine of one approval.
#[derive(Debug)]
pub struct Approval;

/// Where an approval stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    asked: Option<WebApprovalRequested>,
    answered: Option<WebApprovalAnswered>,
}

impl State {
    /// The answer that holds at a time.
    #[must_use]
    pub fn answer_at(&self, now: Timestamp) -> Option<&WebApprovalAnswered> {
        self.answered.as_ref().filter(|answer| now < answer.until)
    }

    /// Whether a human has allowed it, and that still holds.
    #[must_use]
    pub fn allows_at(&self, now: Timestamp) -> bool {
        self.answer_at(now).is_some_and(|answer| answer.word == ApprovalWord::Allow)
    }

    /// What was asked last.
    #[must_use]
    pub const fn asked(&self) -> Option<&WebApprovalRequested> {
        self.asked.as_ref()
    }

    /// Whether somebody still has to answer.
    #[must_use]
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        let waits = self.asked.as_ref().is_some_and(|asked| now < asked.expires_at);
        waits && self.answered.is_none()
    }
}

/// What can be asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Ask a human.
    Ask(Box<WebApprovalRequested>),
    /// Answer.
    Answer {
        /// The answer.
        word: ApprovalWord,
        /// Why.
        reason: String,
        /// Who answers.
        by: String,
        /// Whether he is an agent.
        by_agent: bool,
        /// For how long it holds.
        holds: Duration,
        /// Whether it takes the place of an answer that says otherwise.
        replace: bool,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody has asked.
    #[error("nobody has asked for this")]
    Unknown,
    /// It was asked too long ago.
    #[error("this was asked until {0}; the agent has to ask again")]
    Expired(Timestamp),
    /// Agents ask, and do not answer.
    #[error("an agent cannot approve anything")]
    Agent,
    /// Nobody says why.
    #[error(
        "a reason has 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadReason,
    /// Not at all, or too long.
    #[error("an answer holds from 1 second to 7 days")]
    BadTime,
    /// Somebody else has said otherwise.
    #[error("`{by}` has answered `{word}` already, until {until}", word = .word.as_str())]
    Answered {
        /// Who.
        by: String,
        /// What.
        word: ApprovalWord,
        /// Until when that holds.
        until: Timestamp,
    },
}

impl Machine for Approval {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Web;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        let now = context.now;
        match command {
            Command::Ask(asked) => {
                if state.is_open_at(now) || state.answer_at(now).is_some() {
                    Decision::nothing()
                } else {
                    Decision::accept(WebApprovalRequested::clone(asked))
                }
            }
            Command::Answer { word, reason, by, by_agent, holds, replace } => {
                let Some(asked) = &state.asked else { return Decision::refuse(Refusal::Unknown) };
                if *by_agent {
                    return Decision::refuse(Refusal::Agent);
                }
                if !are_plain(reason, MAX_REASON_CHARS) {
                    return Decision::refuse(Refusal::BadReason);
                }
                if !(Duration::from_secs(1)..=LONGEST).contains(holds) {
                    return Decision::refuse(Refusal::BadTime);
                }
                match state.answer_at(now) {
                    Some(answer) if answer.word == *word && !replace => {
                        return Decision::nothing();
                    }
                    Some(WebApprovalAnswered { by, word, until, .. }) if !replace => {
                        let (by, word, until) = (by.clone(), *word, *until);
                        return Decision::refuse(Refusal::Answered { by, word, until });
                    }
                    None if now >= asked.expires_at => {
                        return Decision::refuse(Refusal::Expired(asked.expires_at));
                    }
                    Some(_) | None => {}
                }
                let micros = i64::try_from(holds.as_micros()).unwrap_or(i64::MAX);
                Decision::accept(WebApprovalAnswered {
                    approval: asked.approval,
                    word: *word,
                    reason: reason.clone(),
                    by: by.clone(),
                    until: Timestamp::from_micros(now.micros().saturating_add(micros)),
                })
            }
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::WebApprovalRequested(asked) => {
                *state = State { asked: Some(asked.clone()), answered: None };
            }
            Event::WebApprovalAnswered(answered) => state.answered = Some(answered.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_events::web::request::{AgentId, Hash256, HttpMethod};

    use super::*;

    const fn at(seconds: i64) -> Context {
        Context { now: Timestamp::from_micros(seconds * 1_000_000) }
    }

    fn ask() -> Command {
        Command::Ask(Box::new(WebApprovalRequested {
            approval: Hash256::new([1; 32]),
            agent: AgentId::new([2; 32]),
            url: "https://github.com/".to_owned(),
            method: HttpMethod::Get,
            purpose: "to learn".to_owned(),
            host: "github.com".to_owned(),
            reason: "code".to_owned(),
            expires_at: at(100).now,
            said: None,
        }))
    }

    fn answer(word: ApprovalWord, by: &str) -> Command {
        Command::Answer {
            word,
            reason: "looked at it".to_owned(),
            by: by.to_owned(),
            by_agent: false,
            holds: Duration::from_mins(1),
            replace: false,
        }
    }

    /// Judges, folds, and says what was refused and how many events there are.
    fn done(state: &mut State, command: &Command, context: Context) -> (Option<Refusal>, usize) {
        let decision = Approval::decide(state, command, &context);
        for event in &decision.events {
            Approval::apply(state, event);
        }
        (decision.refusal, decision.events.len())
    }

    #[test]
    fn a_human_answers_for_a_time() {
        let mut state = State::default();
        let allow = answer(ApprovalWord::Allow, "ann");
        assert_eq!(done(&mut state, &allow, at(0)), (Some(Refusal::Unknown), 0));
        assert_eq!(done(&mut state, &ask(), at(0)), (None, 1));
        assert_eq!(done(&mut state, &ask(), at(1)), (None, 0), "it is asked once");
        assert!(state.is_open_at(at(99).now) && !state.is_open_at(at(100).now));
        assert!(!state.allows_at(at(1).now));
        assert_eq!(done(&mut state, &allow, at(10)), (None, 1));
        assert!(state.allows_at(at(69).now) && !state.allows_at(at(70).now));
        assert!(!state.is_open_at(at(11).now));
        assert_eq!(done(&mut state, &ask(), at(20)), (None, 0), "it is answered");
        assert_eq!(done(&mut state, &ask(), at(70)), (None, 1), "the answer is over");
    }

    #[test]
    fn nobody_answers_too_late_too_long_without_a_reason_or_as_an_agent() {
        let mut state = State::default();
        assert_eq!(done(&mut state, &ask(), at(0)), (None, 1));
        let late = done(&mut state, &answer(ApprovalWord::Allow, "ann"), at(100));
        assert_eq!(late, (Some(Refusal::Expired(at(100).now)), 0));
        let mut refused = |change: fn(&mut String, &mut bool, &mut Duration)| {
            let mut command = answer(ApprovalWord::Allow, "ann");
            if let Command::Answer { reason, by_agent, holds, .. } = &mut command {
                change(reason, by_agent, holds);
            }
            done(&mut state, &command, at(1)).0
        };
        assert_eq!(refused(|_, agent, _| *agent = true), Some(Refusal::Agent));
        assert_eq!(refused(|reason, _, _| reason.clear()), Some(Refusal::BadReason));
        assert_eq!(refused(|reason, _, _| reason.push('\u{1b}')), Some(Refusal::BadReason));
        assert_eq!(refused(|reason, _, _| reason.push('\u{202e}')), Some(Refusal::BadReason));
        let long = |reason: &mut String, _: &mut bool, _: &mut Duration| *reason = "x".repeat(501);
        assert_eq!(refused(long), Some(Refusal::BadReason));
        assert_eq!(refused(|_, _, holds| *holds = Duration::ZERO), Some(Refusal::BadTime));
        let week = |_: &mut String, _: &mut bool, holds: &mut Duration| {
            *holds = LONGEST + Duration::from_secs(1);
        };
        assert_eq!(refused(week), Some(Refusal::BadTime));
    }

    #[test]
    fn who_says_otherwise_says_that_he_does() {
        let mut state = State::default();
        assert_eq!(done(&mut state, &ask(), at(0)), (None, 1));
        assert_eq!(done(&mut state, &answer(ApprovalWord::Deny, "ann"), at(1)), (None, 1));
        assert_eq!(done(&mut state, &answer(ApprovalWord::Deny, "bob"), at(2)), (None, 0));
        let mut allow = answer(ApprovalWord::Allow, "bob");
        let (by, word, until) = ("ann".to_owned(), ApprovalWord::Deny, at(61).now);
        let answered = Refusal::Answered { by, word, until };
        assert_eq!(done(&mut state, &allow, at(2)), (Some(answered), 0));
        if let Command::Answer { replace, .. } = &mut allow {
            *replace = true;
        }
        assert_eq!(done(&mut state, &allow, at(2)), (None, 1));
        assert!(state.allows_at(at(3).now));
    }
}
