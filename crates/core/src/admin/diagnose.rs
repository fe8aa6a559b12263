//! What a database says about itself: whether it suits an outbox, and what to do where it does not.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Result;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Fine,
    /// It works, and somebody should look at it.
    Warning,
    /// It does not work, or a promise does not hold.
    Failing,
}

impl Verdict {
    /// The verdict as it is shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Fine => "fine",
            Verdict::Warning => "warning",
            Verdict::Failing => "failing",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was looked at, in one or two words; the same words each time.
    pub check: String,
    /// How bad it is.
    pub verdict: Verdict,
    /// What was found.
    pub detail: String,
    /// What to do; none if it is fine.
    pub advice: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn fine(check: &str, detail: impl Into<String>) -> Self {
        Self { check: check.to_owned(), verdict: Verdict::Fine, detail: detail.into(), advice: None }
    }

    /// Somebody should look at it.
    pub fn warning(check: &str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warning, advice: Some(advice.into()), ..Self::fine(check, detail) }
    }

    /// It does not work.
    pub fn failing(check: &str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Failing, advice: Some(advice.into()), ..Self::fine(check, detail) }
    }
}

/// A log that can say how its database is. Nothing in here changes anything.
#[async_trait]
pub trait Diagnose: Send + Sync + 'static {
    /// Looks at the database: version, rights, settings, indexes, size, and whatever else it knows of itself. A log without a database
    /// has nothing to say.
    async fn diagnose(&self) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }
}

/// The names of all indexes that migrations leave, by their SQL: those that are created, without those that are dropped later.
#[must_use]
pub fn index_names<'m>(migrations: impl IntoIterator<Item = &'m str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in migrations.into_iter().flat_map(str::lines) {
        let words = line.trim_start();
        let is_created =
            ["create index ", "create unique index "].iter().any(|start| words.starts_with(start));
        if is_created {
            names.extend(words.split('"').nth(1).map(str::to_owned));
        } else if words.starts_with("drop index ") {
            // A name with its schema has that in quotes before it.
            let is_name = |part: &&str| !part.trim().is_empty() && !part.starts_with([';', '.']);
            let dropped = words.split('"').rfind(is_name).unwrap_or_default();
            names.retain(|name| name != dropped);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_those_that_were_not_dropped_again() {
        let first = "create index \"a_key\" on \"a\" (key);\n-- create index \"no\"\ncreate unique index \"a_id\" on a (id);";
        let then = "drop index \"sales\".\"a_key\";\n  create index \"a_new\" on \"a\" (\"x\");\ndrop index \"a_none\";";
        assert_eq!(index_names([first, then]), ["a_id", "a_new"]);
    }

    #[test]
    fn the_worst_is_the_largest() {
        assert!(Verdict::Fine < Verdict::Warning && Verdict::Warning < Verdict::Failing);
        assert_eq!(serde_json::to_string(&Verdict::Failing).unwrap(), "\"failing\"");
    }
}
