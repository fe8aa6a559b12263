//! Servers from their start on: noted in a state file as soon as they run, and stopped if what comes next fails or is
//! interrupted.

use std::{
    path::{Path, PathBuf},
    process::exit,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use posthaste_services::{
    process::{Process, Signal},
    say,
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use super::state::{Kind, Server, State};

/// Stops, when it goes, the servers that it added and nobody kept.
pub(crate) struct Session {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    file: PathBuf,
    state: State,
    /// What this session started itself.
    added: Vec<Kind>,
}

impl Session {
    /// Goes on from what the file says; if there is none, in a new temporary folder.
    pub(crate) fn open(file: &Path, owner: Option<Process>) -> Result<Self> {
        let mut state = State::load(file)?;
        // Whoever cleans up temporary folders has taken the servers' data, and without it they are of no use.
        if let Some(lost) = state.take_if(|state| !state.folder.exists()).as_mut() {
            lost.stop(&Kind::ALL)?;
        }
        let state = match state {
            Some(state) => state,
            None => State::new(owner)?,
        };
        state.save(file)?;
        let inner = Inner { file: file.to_owned(), state, added: Vec::new() };
        let session = Self { inner: Arc::new(Mutex::new(inner)) };
        session.stop_on_signals()?;
        Ok(session)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.lock().state.folder.clone()
    }

    pub(crate) fn running(&self, kind: Kind) -> Option<Server> {
        self.lock().state.running(kind).cloned()
    }

    /// Stops a server that is to be replaced.
    pub(crate) fn make_room_for(&self, kind: Kind) -> Result<()> {
        self.lock().state.stop(&[kind]).map(drop)
    }

    /// Notes a server that this session started.
    pub(crate) fn add(&self, server: Server) -> Result<()> {
        let mut inner = self.lock();
        inner.added.push(server.kind);
        inner.state.put(server);
        inner.state.save(&inner.file)
    }

    /// Lets the servers live on.
    pub(crate) fn keep(self) {
        self.lock().added.clear();
    }

    /// Stops what was added. Also done when the session is dropped, but then nobody hears of an error.
    pub(crate) fn stop(self) -> Result<()> {
        self.lock().stop_added()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A signal ends the program, but first everything that it started.
    fn stop_on_signals(&self) -> Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen to signals")?;
        let inner = Arc::clone(&self.inner);
        thread::spawn(move || {
            let Some(signal) = signals.forever().next() else { return };
            say("\ninterrupted: stopping what was started");
            // Held until the end, so that the main thread, which sees its children die, waits in `drop`.
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            end_descendants(&inner.state);
            if let Err(error) = inner.stop_added() {
                say(&format!("error: {error:#}"));
            }
            exit(128 + signal);
        });
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Err(error) = self.lock().stop_added() {
            say(&format!("error: {error:#}"));
        }
    }
}

impl Inner {
    fn stop_added(&mut self) -> Result<()> {
        let added = std::mem::take(&mut self.added);
        let begun = Instant::now();
        let stopped = self.state.stop(&added)?;
        for kind in &stopped {
            say(&format!("  stopped {}", kind.name()));
        }
        if !stopped.is_empty() {
            say(&format!("  all stopped: {:.1} s", begun.elapsed().as_secs_f64()));
        }
        if self.state.servers.is_empty() {
            self.state.remove(&self.file)
        } else {
            self.state.save(&self.file)
        }
    }
}

/// Ends what this program started and what that started, except the servers: they have their own way to end.
fn end_descendants(state: &State) {
    let Some(own) = Process::own() else { return };
    let is_server = |process: &Process| state.servers.iter().any(|server| server.process == *process);
    let of_servers: Vec<_> = state.servers.iter().flat_map(|server| server.process.descendants()).collect();
    let others = || {
        let mut others = own.descendants();
        others.retain(|process| !is_server(process) && !of_servers.contains(process));
        others
    };
    // Again, because the main thread may have started something more in the meantime.
    for patience in [Duration::from_secs(5), Duration::ZERO] {
        let ending = others();
        ending.iter().for_each(|process| process.signal(Signal::TERM));
        for process in ending {
            // One that cannot be ended is nothing that can be helped here.
            let _ = process.wait_or_kill(patience);
        }
    }
}
