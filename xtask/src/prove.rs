//! `cargo xtask prove`: real publishers, relays, PostgreSQL and Kafka, with everything killed that can be, judged by the history checker.

use anyhow::Result;
use clap::Args;

use crate::{process, services::cache, workspace::Workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// For how long to disturb; 40 seconds if not given
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Repeats the same choices, though not the same timing
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Keep all logs and records, also if all is well
    #[arg(long)]
    keep: bool,
}

impl Options {
    /// As long as a check of everything can afford.
    pub(crate) const SHORT: Self = Self { minutes: None, seed: None, keep: false };
}

/// Builds what is needed and runs the proof. It starts servers of its own, because it kills them.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    workspace.build("--bin posthaste --bin posthaste-prove")?;
    let programs = workspace.target.join("debug");
    let mut command = std::process::Command::new(programs.join("posthaste-prove"));
    command.arg("direct").arg("--program").arg(programs.join("posthaste"));
    command.arg("--cache").arg(cache(workspace));
    if let Some(minutes) = options.minutes {
        command.arg("--seconds").arg((minutes * 60).to_string());
    }
    if let Some(seed) = options.seed {
        command.arg("--seed").arg(seed.to_string());
    }
    if options.keep {
        command.arg("--keep");
    }
    process::run(&mut command)
}
