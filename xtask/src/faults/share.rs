//! A share of the faults: every so-manieth of them.

use std::{fmt, str::FromStr};

use anyhow::{Context, Result, ensure};

/// Every `of`-th, beginning with number `number`, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// One of so many, by a text that is always another one.
    pub(crate) fn by(text: &str, of: usize) -> Self {
        let sum: usize = text.bytes().map(usize::from).sum();
        Self { number: sum % of + 1, of }
    }

    /// Whether the one at this place, from 0, belongs to it.
    pub(crate) fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}

impl FromStr for Share {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, of) = text.split_once('/').context("write it as 1/4")?;
        let share = Self { number: number.parse()?, of: of.parse()? };
        ensure!((1..=share.of).contains(&share.number), "write it as 1/4: a number up to the second one");
        Ok(share)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_together_are_everything_once() {
        let shares: Vec<Share> = ["1/3", "2/3", "3/3"].map(|text| text.parse().unwrap()).to_vec();

        for index in 0..10 {
            assert_eq!(shares.iter().filter(|share| share.has(index)).count(), 1, "{index}");
        }
        assert_eq!(shares[1].to_string(), "2/3");
    }

    #[test]
    fn a_commit_has_one_of_them() {
        let numbers: Vec<usize> =
            ["0a", "0b", "0c", "0d"].iter().map(|commit| Share::by(commit, 4).number).collect();

        assert_eq!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["", "1", "0/4", "5/4", "a/b", "1/0"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
