//! Accounts: what they have, what is set aside, what they have paid. Stream `mint/<account>`.
//!
//! The rule: nothing is owed that was not set aside before, and nothing is set aside that is not there.
//! What a request costs is known when it is over, so the most it may cost is set aside, tax included;
//! then that much or less is paid, once, and the rest is free again. A transfer has one id: settling
//! or releasing it again changes nothing, and nothing is set aside again for what was paid.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use weir_events::{
    kind::Subsystem,
    mint::{Event, SparkGranted, SparkReleased, SparkReserved, SparkTransferred, TREASURY},
};

use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// The longest reason, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// The most spark an account holds.
pub const MAX_BALANCE: u64 = 1 << 53;

/// What may be set aside at once, of one account.
pub const MAX_RESERVATIONS: usize = 1_024;

/// How many transfers that were paid an account remembers: the last ones.
pub const MAX_PAID: usize = 4_096;

/// The machine of one account.
#[derive(Debug)]
pub struct Account;

/// What comes on top of a transfer: `max(1, percent)`, and nothing for a transfer of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tax {
    /// In percent; 0 is no tax at all.
    pub percent: u32,
}

impl Tax {
    /// The tax on an amount: rounded down, but at least 1.
    #[must_use]
    pub const fn on(self, amount: u64) -> u64 {
        if self.percent == 0 || amount == 0 {
            return 0;
        }
        let tax = amount.saturating_mul(self.percent as u64) / 100;
        if tax == 0 { 1 } else { tax }
    }

    /// An amount, and the tax on it.
    #[must_use]
    pub const fn with(self, amount: u64) -> u64 {
        amount.saturating_add(self.on(amount))
    }
}

/// Where an account stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// What it has, with what is set aside.
    pub balance: u64,
    /// What is set aside, by transfer.
    reserved: BTreeMap<String, u64>,
    /// What was paid last. States are copied for every judgement; this is, when something is paid.
    paid: Arc<Paid>,
}

/// The last transfers that were paid, [`MAX_PAID`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Paid {
    in_order: VecDeque<Arc<str>>,
    all: BTreeSet<Arc<str>>,
}

impl Paid {
    fn has(&self, transfer: &str) -> bool {
        self.all.contains(transfer)
    }

    fn remember(&mut self, transfer: &str) {
        let transfer: Arc<str> = transfer.into();
        if !self.all.insert(Arc::clone(&transfer)) {
            return;
        }
        self.in_order.push_back(transfer);
        if self.in_order.len() > MAX_PAID
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

impl State {
    /// What may still be set aside.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.balance.saturating_sub(self.set_aside())
    }

    /// What is set aside.
    #[must_use]
    pub fn set_aside(&self) -> u64 {
        self.reserved.values().fold(0, |sum: u64, amount| sum.saturating_add(*amount))
    }

    /// The transfers that something is set aside for.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        self.reserved.keys().map(String::as_str)
    }
}

/// What can be asked of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Give spark to it.
    Grant {
        /// Which account it is.
        account: String,
        /// How much.
        amount: u64,
        /// What for.
        reason: String,
    },
    /// Set spark aside.
    Reserve {
        /// Which account it is.
        account: String,
        /// For which transfer.
        transfer: String,
        /// The most that may come to be owed, without tax.
        amount: u64,
        /// What comes on top.
        tax: Tax,
    },
    /// Pay what is owed out of what was set aside; nothing, where nothing is.
    Settle {
        /// Which account it is.
        account: String,
        /// Which transfer.
        transfer: String,
        /// How much is owed, without tax.
        amount: u64,
        /// What comes on top.
        tax: Tax,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is too little.
    #[error("insufficient spark: {needed} are needed and {free} are free")]
    Insufficient {
        /// What would have to be set aside.
        needed: u64,
        /// What is free.
        free: u64,
    },
    /// An account that holds too much, or a grant of nothing.
    #[error("a grant is of 1 spark or more, and an account holds at most {MAX_BALANCE}")]
    BadAmount,
    /// Nobody says why.
    #[error(
        "a reason has 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadReason,
    /// The treasury pays for nothing.
    #[error("`{TREASURY}` is where charges go; it is not granted anything and pays for nothing")]
    Treasury,
    /// More is owed than was set aside.
    #[error("{owed} are owed for this transfer, and {reserved} were set aside for it")]
    Beyond {
        /// What is owed, tax included.
        owed: u64,
        /// What was set aside.
        reserved: u64,
    },
    /// It was paid before: whoever asks again must not get it for nothing.
    #[error("transfer `{0}` is paid and over")]
    Over(String),
    /// Too much is going on at once.
    #[error("{MAX_RESERVATIONS} transfers of this account are pending already")]
    TooMany,
}

impl Machine for Account {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Mint;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Grant { account, amount, reason } => {
                let room = MAX_BALANCE.saturating_sub(state.balance);
                if account == TREASURY {
                    Decision::refuse(Refusal::Treasury)
                } else if *amount == 0 || *amount > room {
                    Decision::refuse(Refusal::BadAmount)
                } else if !are_plain(reason, MAX_REASON_CHARS) {
                    Decision::refuse(Refusal::BadReason)
                } else {
                    let (account, reason) = (account.clone(), reason.clone());
                    Decision::accept(SparkGranted { account, amount: *amount, reason })
                }
            }
            Command::Reserve { account, transfer, amount, tax } => {
                let (needed, free) = (tax.with(*amount), state.free());
                if account == TREASURY {
                    Decision::refuse(Refusal::Treasury)
                } else if needed == 0 || state.reserved.contains_key(transfer) {
                    // What costs nothing needs nothing, and what is set aside already is.
                    Decision::nothing()
                } else if state.paid.has(transfer) {
                    Decision::refuse(Refusal::Over(transfer.clone()))
                } else if needed > free {
                    Decision::refuse(Refusal::Insufficient { needed, free })
                } else if state.reserved.len() >= MAX_RESERVATIONS {
                    Decision::refuse(Refusal::TooMany)
                } else {
                    let (account, transfer) = (account.clone(), transfer.clone());
                    Decision::accept(SparkReserved { account, transfer, amount: needed })
                }
            }
            Command::Settle { account, transfer, amount, tax } => {
                let Some(reserved) = state.reserved.get(transfer).copied() else {
                    return Decision::nothing();
                };
                let owed = tax.with(*amount);
                let (account, transfer) = (account.clone(), transfer.clone());
                if owed > reserved {
                    Decision::refuse(Refusal::Beyond { owed, reserved })
                } else if owed == 0 {
                    Decision::accept(SparkReleased { account, transfer, reserved })
                } else {
                    Decision::accept(SparkTransferred {
                        transfer,
                        from: account,
                        to: TREASURY.to_owned(),
                        amount: *amount,
                        tax: tax.on(*amount),
                        reserved,
                    })
                }
            }
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::SparkGranted(granted) => {
                state.balance = state.balance.saturating_add(granted.amount);
            }
            Event::SparkReserved(reserved) => {
                state.reserved.insert(reserved.transfer.clone(), reserved.amount);
            }
            Event::SparkTransferred(paid) => {
                state.reserved.remove(&paid.transfer);
                Arc::make_mut(&mut state.paid).remember(&paid.transfer);
                let owed = paid.amount.saturating_add(paid.tax);
                state.balance = state.balance.saturating_sub(owed);
            }
            Event::SparkReleased(released) => {
                state.reserved.remove(&released.transfer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::fold;

    const TAX: Tax = Tax { percent: 5 };
    const NOW: Context = Context { now: weir_events::timestamp::Timestamp::EPOCH };

    fn ann() -> String {
        "ann".to_owned()
    }

    fn grant(amount: u64) -> Command {
        Command::Grant { account: ann(), amount, reason: "a new month".to_owned() }
    }

    fn reserve(transfer: &str, amount: u64) -> Command {
        Command::Reserve { account: ann(), transfer: transfer.to_owned(), amount, tax: TAX }
    }

    fn settle(transfer: &str, amount: u64) -> Command {
        Command::Settle { account: ann(), transfer: transfer.to_owned(), amount, tax: TAX }
    }

    fn done(state: &mut State, command: &Command) -> Option<Refusal> {
        let decision = Account::decide(state, command, &NOW);
        for event in &decision.events {
            Account::apply(state, event);
        }
        decision.refusal
    }

    #[test]
    fn the_tax_is_at_least_one_and_nothing_on_nothing() {
        let on = |percent, amount| Tax { percent }.on(amount);
        assert_eq!(
            [on(5, 0), on(5, 1), on(5, 3), on(5, 39), on(5, 40), on(5, 100)],
            [0, 1, 1, 1, 2, 5]
        );
        assert_eq!([on(0, 100), on(100, 7), on(5, u64::MAX)], [0, 7, u64::MAX / 100]);
        assert_eq!(Tax { percent: 5 }.with(u64::MAX), u64::MAX);
    }

    #[test]
    fn what_is_owed_was_set_aside_and_the_rest_is_free_again() {
        let mut state = State::default();
        let insufficient = Refusal::Insufficient { needed: 4, free: 0 };
        assert_eq!(done(&mut state, &reserve("a", 3)), Some(insufficient));
        assert_eq!(done(&mut state, &grant(10)), None);
        assert_eq!(done(&mut state, &reserve("a", 3)), None);
        assert_eq!(done(&mut state, &reserve("a", 3)), None, "once is enough");
        assert_eq!((state.balance, state.free()), (10, 6));
        assert_eq!(state.pending().collect::<Vec<_>>(), ["a"]);
        assert_eq!(done(&mut state, &settle("a", 1)), None);
        assert_eq!((state.balance, state.free()), (8, 8), "1 and a tax of 1");
        assert_eq!(done(&mut state, &settle("a", 1)), None);
        assert_eq!((state.balance, state.free()), (8, 8), "paid once");
        assert_eq!(done(&mut state, &reserve("b", 7)), None);
        assert_eq!(
            done(&mut state, &settle("b", 9)),
            Some(Refusal::Beyond { owed: 10, reserved: 8 })
        );
        assert_eq!(done(&mut state, &settle("b", 0)), None);
        assert_eq!((state.balance, state.free()), (8, 8), "nothing was owed");
    }

    #[test]
    fn a_charge_says_who_paid_what_to_whom() {
        let mut state = State::default();
        assert_eq!(done(&mut state, &grant(100)), None);
        assert_eq!(done(&mut state, &reserve("a", 40)), None);
        let decision = Account::decide(&state, &settle("a", 40), &NOW);
        let paid = SparkTransferred {
            transfer: "a".to_owned(),
            from: ann(),
            to: TREASURY.to_owned(),
            amount: 40,
            tax: 2,
            reserved: 42,
        };
        assert_eq!(decision, Decision::accept(paid));
        let refused = |command| Account::decide(&State::default(), &command, &NOW).refusal;
        let treasury = Command::Grant { account: TREASURY.to_owned(), amount: 1, reason: ann() };
        assert_eq!(refused(treasury), Some(Refusal::Treasury));
        assert_eq!(refused(grant(0)), Some(Refusal::BadAmount));
        assert_eq!(refused(grant(MAX_BALANCE + 1)), Some(Refusal::BadAmount));
        for reason in [
            String::new(),
            " ".to_owned(),
            "a\n".to_owned(),
            "a\u{202e}".to_owned(),
            "x".repeat(501),
        ] {
            let grant = Command::Grant { account: ann(), amount: 1, reason };
            assert_eq!(refused(grant), Some(Refusal::BadReason));
        }
    }

    #[test]
    fn only_so_much_is_pending_at_once() {
        let mut state = State::default();
        assert_eq!(done(&mut state, &grant(MAX_BALANCE)), None);
        for nth in 0..MAX_RESERVATIONS {
            assert_eq!(done(&mut state, &reserve(&nth.to_string(), 1)), None);
        }
        assert_eq!(done(&mut state, &reserve("one more", 1)), Some(Refusal::TooMany));
        assert_eq!(done(&mut state, &settle("0", 1)), None);
        assert_eq!(done(&mut state, &reserve("one more", 1)), None);
    }

    #[test]
    fn what_was_paid_is_neither_set_aside_nor_paid_again_and_what_was_released_was_not_paid() {
        let mut state = State::default();
        assert_eq!(done(&mut state, &grant(MAX_BALANCE)), None);
        for (transfer, owed) in [("paid", 3), ("released", 0)] {
            assert_eq!(done(&mut state, &reserve(transfer, 3)), None);
            assert_eq!(done(&mut state, &settle(transfer, owed)), None);
            assert_eq!(Account::decide(&state, &settle(transfer, 3), &NOW), Decision::nothing());
        }
        let again = done(&mut state, &reserve("paid", 3));
        assert_eq!(again, Some(Refusal::Over("paid".to_owned())));
        let before = state.balance;
        assert_eq!(done(&mut state, &reserve("released", 3)), None);
        assert_eq!(done(&mut state, &settle("released", 3)), None);
        assert_eq!(state.balance, before - 4, "it is paid for, once");
        state.paid = Arc::default();
        for nth in 0..=MAX_PAID {
            assert_eq!(done(&mut state, &reserve(&nth.to_string(), 1)), None);
            assert_eq!(done(&mut state, &settle(&nth.to_string(), 1)), None);
        }
        assert_eq!((state.paid.in_order.len(), state.paid.all.len()), (MAX_PAID, MAX_PAID));
        assert!(!state.paid.has("0") && state.paid.has("1"), "the oldest is forgotten first");
    }

    proptest! {
        #[test]
        fn no_order_of_commands_spends_what_is_not_there(
            commands in prop::collection::vec((0_u8..3, 0_u8..6, 0_u64..60), 0..120),
        ) {
            let (mut state, mut granted, mut history) = (State::default(), 0, Vec::new());
            for (which, transfer, amount) in commands {
                let transfer = transfer.to_string();
                let command = match which {
                    0 => grant(amount),
                    1 => reserve(&transfer, amount),
                    _ => settle(&transfer, amount),
                };
                let decision = Account::decide(&state, &command, &NOW);
                for event in decision.events {
                    Account::apply(&mut state, &event);
                    history.push(event);
                }
                prop_assert!(state.set_aside() <= state.balance);
            }
            let (mut paid, mut transfers) = (0, BTreeSet::new());
            for event in &history {
                match event {
                    Event::SparkGranted(grant) => granted += grant.amount,
                    Event::SparkTransferred(charge) => {
                        paid += charge.amount + charge.tax;
                        prop_assert!(transfers.insert(&charge.transfer), "paid once");
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(state.balance, granted - paid);
            prop_assert_eq!(fold::<Account>(&history), state);
        }
    }
}
