//! A server process: started with its output in a log, watched until it is ready, stopped with its owner.

use std::{
    fs::{self, OpenOptions},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{
    guard::Guard,
    process::{Process, Signal},
    progress::{Deadline, line, say, tail},
};

/// How long a server may take to start. A crashed one has its log to read first, on a machine that does other things.
const READY_WITHIN: Duration = Duration::from_secs(90);
/// How long a server may take to stop before it is killed.
const STOPPED_WITHIN: Duration = Duration::from_secs(15);

/// A running server.
pub(crate) struct Daemon {
    name: &'static str,
    child: Child,
    process: Process,
    log: PathBuf,
    /// Where the log stood at the start: what is above is of earlier runs.
    log_began: usize,
    /// What it gets when its owner goes; nothing, if it shall live on.
    last_signal: Option<Signal>,
    guard: Option<Guard>,
}

impl Daemon {
    /// Starts the server. It is in a group of its own, so that a Ctrl-C does not reach it before its clients.
    pub(crate) fn spawn(
        name: &'static str,
        command: &mut Command,
        log: &Path,
        last_signal: Signal,
    ) -> Result<Self> {
        let output = OpenOptions::new().create(true).append(true).open(log);
        let output = output.with_context(|| format!("cannot write {}", log.display()))?;
        let log_began = fs::metadata(log)?.len() as usize;
        command.process_group(0).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("cannot start {}", line(command)))?;
        let process = Process::of(&child)?;
        let mut daemon = Self {
            name,
            child,
            process,
            log: log.to_owned(),
            log_began,
            last_signal: Some(last_signal),
            guard: None,
        };
        daemon.guard = Some(Guard::over(&daemon.process, last_signal)?);
        Ok(daemon)
    }

    /// Waits until the check passes. It gets what the server logged since its start, and says what is missing.
    pub(crate) fn wait_until_ready(&self, check: impl Fn(&str) -> Result<()>) -> Result<()> {
        let deadline = Deadline::after(READY_WITHIN);
        loop {
            let Err(error) = check(&self.said()) else { return Ok(()) };
            let (name, log) = (self.name, tail(&self.log, 20));
            if !self.process.is_alive() {
                bail!("{name} ended while it started; its log says:\n{log}");
            }
            if deadline.is_over() {
                return Err(error.context(format!(
                    "{name} is not ready after {} s; its log says:\n{log}\nand the last check",
                    READY_WITHIN.as_secs()
                )));
            }
            // Waits for a condition: the server is ready.
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// What the server logged since its start.
    pub(crate) fn said(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(bytes.get(self.log_began..).unwrap_or_default()).into_owned()
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Sends the signal and waits for the end, also of the processes that the server had started.
    pub(crate) fn stop(&mut self, signal: Signal) -> Result<()> {
        self.last_signal = None;
        let started_by_it = self.process.descendants();
        self.process.stop(signal, STOPPED_WITHIN)?;
        self.guard = None;
        // It has ended, so this only frees its number.
        self.child.wait()?;
        // After a kill they notice by themselves. Until then they hold on to memory that the next start needs.
        started_by_it.iter().try_for_each(|process| process.wait_or_kill(STOPPED_WITHIN))
    }

    /// Lets the server live on after this program.
    pub(crate) fn detach(mut self) -> Process {
        self.last_signal = None;
        self.guard = None;
        self.process.clone()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(signal) = self.last_signal
            && let Err(error) = self.stop(signal)
        {
            say(&format!("{} was not stopped: {error:#}", self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, log: &Path) -> Daemon {
        Daemon::spawn("sh", Command::new("sh").args(["-c", script]), log, Signal::TERM).unwrap()
    }

    #[test]
    fn a_server_that_ends_while_it_starts_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = shell("echo no space left", &folder.path().join("log"));

        let error = daemon.wait_until_ready(|_| bail!("not yet")).unwrap_err();

        assert!(error.to_string().ends_with("no space left"), "{error:#}");
    }

    #[test]
    fn what_an_earlier_run_logged_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, "ready\n").unwrap();
        let daemon = shell("echo go; exec cat /dev/zero >/dev/null", &log);

        daemon.wait_until_ready(|said| said.contains("go").then_some(()).context("no go")).unwrap();

        assert_eq!(daemon.said(), "go\n");
    }

    #[test]
    fn ends_with_its_owner_unless_it_is_detached() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let owned = shell("exec cat /dev/zero >/dev/null", &log);
        let detached = shell("exec cat /dev/zero >/dev/null", &log);

        let process = owned.process.clone();
        drop(owned);
        assert!(!process.is_alive());

        let process = detached.detach();
        assert!(process.is_alive());
        process.stop(Signal::KILL, Duration::from_secs(60)).unwrap();
    }
}
