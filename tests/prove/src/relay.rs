//! Relays: the real program, as processes that can be killed, stopped and started again.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use posthaste_services::process::{Process, Signal};

/// The lease of the relays: short, so that take-overs happen while we watch.
pub(crate) const LEASE_SECONDS: u64 = 3;

/// The most entries of one lane in flight: what a crash can repeat.
pub(crate) const BATCH: u64 = 100;

pub(crate) struct Relay {
    program: PathBuf,
    config: PathBuf,
    output: PathBuf,
    child: Option<Child>,
}

impl Relay {
    pub(crate) fn start(program: &Path, config: &Path, output: PathBuf) -> Result<Self> {
        let mut relay = Self { program: program.to_owned(), config: config.to_owned(), output, child: None };
        relay.start_again()?;
        Ok(relay)
    }

    pub(crate) fn start_again(&mut self) -> Result<()> {
        let output = File::options().create(true).append(true).open(&self.output)?;
        let child = Command::new(&self.program)
            .arg("relay")
            .arg("--config")
            .arg(&self.config)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        self.child = Some(child);
        Ok(())
    }

    /// `kill -9`, and nothing else.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Asks it to hand over and end, and waits for that.
    pub(crate) fn hand_over(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            signal(&child, Signal::TERM);
            child.wait()?;
        }
        Ok(())
    }

    pub(crate) fn freeze(&self) {
        self.child.iter().for_each(|child| signal(child, Signal::STOP));
    }

    pub(crate) fn thaw(&self) {
        self.child.iter().for_each(|child| signal(child, Signal::CONT));
    }

    /// Whether it ended by itself, which no relay should.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        _ = self.kill();
    }
}

fn signal(child: &Child, signal: Signal) {
    if let Some(process) = Process::find(child.id()) {
        process.signal(signal);
    }
}
