//! The cases, one file for each part of the contract. Each runs against a fresh log, and its name is a sentence.

mod bench;
mod changes;

pub mod append;
pub mod changes_apply;
pub mod dead_letters;
pub mod foresee;
pub mod hold;
pub mod jobs;
pub mod listing;
pub mod operate;
pub mod overview;
pub mod prune;
pub mod publish;
pub mod read_blocked;
pub mod read_log;
pub mod read_parked;
pub mod search;
pub mod subscribe;

use super::{Damage, Subject};

#[cfg(test)]
mod tests {
    /// A case that is written but not listed would never run, and nobody would notice.
    #[test]
    fn every_case_is_listed() {
        let list = include_str!("../mod.rs");
        let modules = [
            include_str!("append.rs"),
            include_str!("changes_apply.rs"),
            include_str!("dead_letters.rs"),
            include_str!("foresee.rs"),
            include_str!("hold.rs"),
            include_str!("jobs.rs"),
            include_str!("listing.rs"),
            include_str!("operate.rs"),
            include_str!("overview.rs"),
            include_str!("prune.rs"),
            include_str!("publish.rs"),
            include_str!("read_blocked.rs"),
            include_str!("read_log.rs"),
            include_str!("read_parked.rs"),
            include_str!("search.rs"),
            include_str!("subscribe.rs"),
        ];
        let written: Vec<&str> = modules
            .iter()
            .flat_map(|module| module.lines())
            .filter_map(|line| Some(line.strip_prefix("pub async fn ")?.split_once('<')?.0))
            .collect();

        let missing: Vec<_> = written.iter().filter(|name| !list.contains(&format!(" {name},\n"))).collect();

        assert!(written.len() > 100, "only {} cases were found", written.len());
        assert!(missing.is_empty(), "not listed in log_conformance!: {missing:?}");
    }
}
