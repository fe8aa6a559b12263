//! `cargo xtask faults`: does the test suite bite?
//!
//! Each fault of the lists is put into a copy of the workspace, alone, and the tests that should notice
//! it are run there. One that survives is a promise that no test holds. The copy is kept under `target/faults`, and it is built
//! where everything else is, so that a fault costs only what it changes.

mod catcher;
mod list;
mod list_cli;
mod list_config;
mod list_dashboard;
mod list_jobs;
mod list_kafka;
mod list_log;
mod list_postgres;
mod list_publishing;
mod list_running;
mod list_server;
mod list_sqlite;
mod list_traces;
mod run;
mod share;
mod tree;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::workspace::Workspace;

use self::{
    catcher::Catcher,
    run::{Bench, Verdict},
    share::Share,
};

/// A deliberate fault: a change of one place, and who should notice it.
pub(crate) struct Fault {
    /// Its name, in words joined by hyphens.
    pub(crate) name: &'static str,
    /// What it breaks, in a sentence.
    pub(crate) breaks: &'static str,
    /// The file it changes, from the root of the workspace.
    pub(crate) file: &'static str,
    /// The text it replaces, which stands in the file exactly once.
    pub(crate) find: &'static str,
    /// What stands there instead.
    pub(crate) replace: &'static str,
    /// Who should notice, in the order they are asked.
    pub(crate) caught_by: &'static [Catcher],
}

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Only the faults whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only every N-th fault, beginning with number K, to be quick
    #[arg(long, value_name = "K/N")]
    share: Option<Share>,
    /// Only say which faults there are
    #[arg(long)]
    list: bool,
}

impl Options {
    /// A share of all, which is another one for another commit: all of them take longer than one waits for a check of everything.
    pub(crate) fn share_for(workspace: &Workspace) -> Self {
        let share = workspace.commit().map(|commit| Share::by(&commit, SHARES));
        Self { share, ..Self::default() }
    }

    fn wants(&self, index: usize, fault: &Fault) -> bool {
        self.only.as_ref().is_none_or(|only| fault.name.contains(only))
            && self.share.is_none_or(|share| share.has(index))
    }
}

/// Into so many shares the faults are cut for a check of everything.
const SHARES: usize = 12;

fn all_faults() -> impl Iterator<Item = &'static Fault> {
    const LISTS: &[&[Fault]] = &[
        list::FAULTS,
        list_log::FAULTS,
        list_sqlite::FAULTS,
        list_postgres::FAULTS,
        list_publishing::FAULTS,
        list_cli::FAULTS,
        list_dashboard::FAULTS,
        list_running::FAULTS,
        list_jobs::FAULTS,
        list_kafka::FAULTS,
        list_server::FAULTS,
        list_config::FAULTS,
        list_traces::FAULTS,
    ];
    LISTS.iter().copied().flatten()
}

/// Runs the faults, and fails if one survives or does not fit the code any more.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let wanted = all_faults().enumerate().filter(|(index, fault)| options.wants(*index, fault));
    let faults: Vec<&Fault> = wanted.map(|(_, fault)| fault).collect();
    if let Some(share) = options.share {
        println!("share {share} of {} faults; `cargo xtask faults` tries all", all_faults().count());
    }
    if faults.is_empty() {
        bail!("no fault is meant; `cargo xtask faults --list` shows their names");
    }
    if options.list {
        for fault in faults {
            println!("{:<44}{}", fault.name, fault.breaks);
        }
        return Ok(());
    }

    let bench = Bench::set_up(workspace)?;
    bench.pass_without_fault(&faults)?;
    let mut results = Vec::new();
    for fault in faults {
        let (verdict, took) = bench.try_fault(fault)?;
        println!("{}", row(fault, &verdict, took));
        results.push((fault, verdict, took));
    }
    conclude(&results)
}

/// The table once more, in one piece below all that cargo said.
fn conclude(results: &[(&Fault, Verdict, Duration)]) -> Result<()> {
    println!();
    for (fault, verdict, took) in results {
        println!("{}", row(fault, verdict, *took).lines().next().unwrap_or_default());
    }
    let bad: Vec<_> = results
        .iter()
        .filter(|(_, verdict, _)| !matches!(verdict, Verdict::Caught(_)))
        .map(|(fault, ..)| fault)
        .collect();
    println!("\n{} of {} faults caught", results.len() - bad.len(), results.len());
    if !bad.is_empty() {
        let names: Vec<_> = bad.iter().map(|fault| format!("{} ({})", fault.name, fault.breaks)).collect();
        bail!("not caught: {}", names.join("; "));
    }
    Ok(())
}

fn row(fault: &Fault, verdict: &Verdict, took: Duration) -> String {
    format!("{:<44}{:>6.1} s  {verdict}", fault.name, took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, fs, path::Path};

    use super::*;

    #[test]
    fn every_fault_has_a_name_of_its_own_and_fits_the_code() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut names = HashSet::new();
        for fault in all_faults() {
            assert!(names.insert(fault.name), "{} is there twice", fault.name);
            assert!(!fault.caught_by.is_empty(), "nobody should catch {}", fault.name);
            let text = fs::read_to_string(root.join(fault.file)).unwrap();
            tree::change(&text, fault).unwrap();
        }
    }
}
