//! The log, by what it promises.

mod conflicts;
mod eventually;
mod idempotency;
mod order;
mod outage;
mod pages;
mod resends;
mod seals;
mod tails;
