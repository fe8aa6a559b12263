//! What operators did.

use serde::{Deserialize, Serialize};

use super::{check_page, check_texts};
use crate::{Result, Timestamp};

/// Which acts of operators to list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditFilter {
    /// Only by this operator.
    pub by: Option<String>,
    /// Only such acts: a word of [`AuditEntry::what`].
    pub what: Option<String>,
    /// Only what concerned this subscription.
    pub subscription: Option<String>,
    /// Where the last page ended.
    pub cursor: Option<i64>,
    /// How many at most; 50 if 0, and 1,000 is the most.
    pub limit: u32,
}

impl AuditFilter {
    /// Says what is wrong with the filter.
    pub fn validate(&self) -> Result<()> {
        check_page(self.cursor, self.limit)?;
        check_texts([("by", &self.by), ("what", &self.what), ("the subscription", &self.subscription)])
    }
}

/// Something that an operator did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its own number.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// What: `replayed`, `edited`, `discarded`, `paused`, `resumed`, `reset`, `dropped`, `tuned`; and of jobs `started`, `cancelled`, `finished`.
    pub what: String,
    /// In which subscription; none if in several, or in any.
    pub subscription: Option<String>,
    /// How many dead letters, subscriptions or lanes it concerned.
    pub concerned: u64,
    /// More about it.
    pub detail: Option<String>,
}
