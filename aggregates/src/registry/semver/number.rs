//! Numbers of any length, as versions have them.

use std::cmp::Ordering;

/// A number, ordered by its value. Declared in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    /// It fits a machine word, as all honest ones do.
    Short(u64),
    /// It does not.
    Long(Digits),
}

/// Digits that begin with no zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digits(Box<str>);

impl Ord for Digits {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Digits {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Number {
    pub(super) const ZERO: Self = Self::Short(0);

    /// Reads digits, at least one and nothing else.
    pub(super) fn parse(digits: &str) -> Self {
        digits
            .parse()
            .map_or_else(|_| Self::Long(Digits(digits.trim_start_matches('0').into())), Self::Short)
    }

    /// The number after it.
    pub(super) fn next(&self) -> Self {
        let digits = match self {
            Self::Short(number) => match number.checked_add(1) {
                Some(next) => return Self::Short(next),
                None => number.to_string(),
            },
            Self::Long(Digits(digits)) => digits.to_string(),
        };
        let mut next = digits.trim_end_matches('9').to_owned();
        let n_nines = digits.len() - next.len();
        let raised = next.pop().and_then(|last| char::from_digit(last.to_digit(10)? + 1, 10));
        next.push(raised.unwrap_or('1'));
        next.push_str(&"0".repeat(n_nines));
        Self::parse(&next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_and_have_a_next_one() {
        let n = Number::parse;
        assert_eq!(n("007"), n("7"));
        assert!(n("18446744073709551615") < n("18446744073709551616"));
        assert!(n("99999999999999999999") < n("100000000000000000000"));
        assert_eq!(n("00018446744073709551616"), n("18446744073709551616"));
        for (number, next) in [
            ("0", "1"),
            ("9", "10"),
            ("18446744073709551615", "18446744073709551616"),
            ("18446744073709551619", "18446744073709551620"),
            ("99999999999999999999", "100000000000000000000"),
        ] {
            assert_eq!(n(number).next(), n(next));
        }
    }
}
