//! What all sources say about versions of packages, ready to be asked.
//!
//! [`set::AdvisorySet`] is folded from the log alone and answers for one package in
//! microseconds; [`difference::Difference`] tells what of a source's records is news.

pub mod called;
pub mod difference;
pub mod digest;
pub mod finding;
pub mod release;
pub mod set;
mod shelf;
mod statement;
mod summary;
mod table;
