//! `cargo xtask services`: the servers that tests need, started and stopped.
//!
//! `up` leaves them running and notes them in a state file, `status` and `down` read it. `cargo xtask test` uses those
//! that run, and starts and stops what is missing. Variables go to the standard output, for the shell; everything
//! else goes to the error output.

mod browser;
mod session;
mod start;
mod state;

use std::{
    env,
    fs::{self, File, TryLockError},
    ops::ControlFlow,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use posthaste_services::{POSTGRES, given, kafka, postgres, process::Process, say};

use self::{
    session::Session,
    start::{Place, address_of, check_given, kafka_programs, postgres_programs},
    state::{Kind, Server, State, Variables},
};
use crate::workspace::Workspace;

#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Action {
    /// Install what is missing, start what does not run, and print the variables: eval "$(cargo xtask services up)"
    Up,
    /// Stop what `up` started and remove its data: eval "$(cargo xtask services down)" also unsets the variables
    Down,
    /// Say for each server whether it runs, and where
    Status,
}

/// Carries out the command.
pub(crate) fn run(workspace: &Workspace, action: Action) -> Result<()> {
    let files = Files::of(workspace)?;
    match action {
        Action::Up => up(&files),
        Action::Down => down(&files),
        Action::Status => status(&files),
    }
}

/// Runs this very command again with the servers of the tests in its environment, and stops those that it started.
/// If the environment has everything already, nothing is done, and it is for this command to continue.
pub(crate) fn run_with_servers(workspace: &Workspace) -> Result<ControlFlow<()>> {
    let files = Files::of(workspace)?;
    if environment_is_complete(&files)? {
        return Ok(ControlFlow::Continue(()));
    }
    println!("=== servers");
    let lock = files.lock()?;
    files.sweep()?;
    let session = Session::open(&files.own(), Process::own())?;
    let variables = start_missing(&session, State::load(&files.shared)?.as_ref(), &files)?;
    drop(lock);

    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).envs(variables).stdin(Stdio::null());
    // A Ctrl-C shall reach only this process, which then ends all of that one's children, wherever they are.
    let status = command.process_group(0).status().context("cannot run this program again")?;
    session.stop()?;
    if !status.success() {
        bail!("what failed is said above; the servers are stopped");
    }
    Ok(ControlFlow::Break(()))
}

/// Whether every server and the browser are named by the environment, and with them what could be found of their programs.
fn environment_is_complete(files: &Files) -> Result<bool> {
    let shared = State::load(&files.shared)?;
    let postgres = given(POSTGRES);
    for kind in Kind::ALL {
        let Some(value) = given(kind.variable()) else { return Ok(false) };
        if is_given(kind, shared.as_ref()) {
            check_given(kind, &value)?;
        } else if shared.as_ref().and_then(|state| state.usable(kind, postgres.as_deref())).is_none() {
            return Ok(false);
        }
        if !programs_beside_given(kind, files)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(browser::is_given())
}

fn up(files: &Files) -> Result<()> {
    let _lock = files.lock()?;
    files.sweep()?;
    let session = Session::open(&files.shared, None)?;
    let state = State::load(&files.shared)?;
    let variables = start_missing(&session, state.as_ref(), files)?;
    for (name, value) in variables {
        println!("export {name}={}", quoted(&value));
    }
    for server in Kind::ALL.iter().filter_map(|kind| session.running(*kind)) {
        println!("# {}: log in {}", server.kind.name(), server.log.display());
    }
    session.keep();
    Ok(())
}

/// Starts what is neither given nor running. Says the variables of everything that is not given.
fn start_missing(session: &Session, shared: Option<&State>, files: &Files) -> Result<Variables> {
    let place = Place { folder: session.folder(), cache: files.cache.clone() };
    let mut variables = Variables::new();
    for kind in Kind::ALL {
        let postgres = value_of(POSTGRES, &variables).or_else(|| given(POSTGRES));
        if let Some(value) = given(kind.variable()).filter(|_| is_given(kind, shared)) {
            check_given(kind, &value)?;
            say(&format!("  {}: given by {}", kind.name(), kind.variable()));
            variables.extend(programs_beside_given(kind, files)?);
        } else if let Some(server) = shared.and_then(|state| state.usable(kind, postgres.as_deref())) {
            say(&format!("  {} {} at {}: runs already", kind.name(), server.version, server.address));
            variables.extend(server.variables.clone());
        } else {
            session.make_room_for(kind)?;
            let server = start::start(kind, &place, postgres.as_deref())?;
            variables.extend(server.variables.clone());
            session.add(server)?;
        }
    }
    variables.extend(browser::variables()?);
    Ok(variables)
}

/// Whether the environment names a server that is not one of `up`. One of ours that has ended is started again.
fn is_given(kind: Kind, shared: Option<&State>) -> bool {
    let ours = shared.and_then(|state| value_of(kind.variable(), &state.server(kind)?.variables));
    given(kind.variable()).is_some_and(|value| ours != Some(value))
}

/// A server that is given may still have its programs here, for tests that start one of their own. Says of them what
/// the environment does not.
fn programs_beside_given(kind: Kind, files: &Files) -> Result<Variables> {
    let mut found = match kind {
        Kind::Postgres => postgres::Installation::find()?.as_ref().map(postgres_programs),
        Kind::PgBouncer => None,
        Kind::Kafka => kafka::Installation::find(&files.cache)?.as_ref().map(kafka_programs),
    }
    .unwrap_or_default();
    found.retain(|(name, _)| given(name).is_none());
    Ok(found)
}

fn value_of(variable: &str, variables: &Variables) -> Option<String> {
    variables.iter().find(|(name, _)| name == variable).map(|(_, value)| value.clone())
}

/// The value as a shell reads it.
fn quoted(value: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./:@,+".contains(character);
    if value.chars().all(is_plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}

fn down(files: &Files) -> Result<()> {
    let _lock = files.lock()?;
    files.sweep()?;
    let Some(mut state) = State::load(&files.shared)? else {
        say("nothing was started by `cargo xtask services up`");
        return Ok(());
    };
    let names: Vec<_> = state.servers.iter().flat_map(|server| server.variables.clone()).collect();
    let stopped = state.stop(&Kind::ALL)?;
    state.remove(&files.shared)?;
    for kind in Kind::ALL {
        let was = if stopped.contains(&kind) { "stopped" } else { "did not run" };
        say(&format!("  {}: {was}", kind.name()));
    }
    for (name, _) in names.into_iter().chain(browser::variables_of_up()?) {
        println!("unset {name}");
    }
    Ok(())
}

fn status(files: &Files) -> Result<()> {
    let shared = State::load(&files.shared)?;
    for kind in Kind::ALL {
        let text = match given(kind.variable()).filter(|_| is_given(kind, shared.as_ref())) {
            Some(value) => {
                let answers = if check_given(kind, &value).is_ok() { "" } else { ", where nothing listens" };
                format!("given by {} ({}{answers})", kind.variable(), address_of(&value))
            }
            None => describe(shared.as_ref().and_then(|state| state.server(kind))),
        };
        println!("{:<12}{text}", kind.name());
    }
    println!("{:<12}{}", "Chromium", browser::describe()?);
    Ok(())
}

fn describe(server: Option<&Server>) -> String {
    let Some(server) = server else { return "stopped".to_owned() };
    let Server { address, version, log, process, .. } = server;
    if !process.is_alive() {
        return format!("stopped  ended by itself or was killed; its log is {}", log.display());
    }
    format!("running  {address}  version {version}  pid {}  log {}", process.pid, log.display())
}

/// What this command keeps.
struct Files {
    /// For what is fetched once.
    cache: PathBuf,
    /// The servers of `up`.
    shared: PathBuf,
}

impl Files {
    fn of(workspace: &Workspace) -> Result<Self> {
        let cache = cache(workspace);
        fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
        Ok(Self { shared: cache.join("state.json"), cache })
    }

    /// The servers of this process.
    fn own(&self) -> PathBuf {
        self.cache.join(format!("test-{}.json", std::process::id()))
    }

    /// Two that start servers at the same time would start them twice. Released when the file is closed.
    fn lock(&self) -> Result<File> {
        let path = self.cache.join("lock");
        let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            say("  waiting for another `cargo xtask` that starts or stops servers");
            file.lock()?;
        }
        Ok(file)
    }

    /// Stops the servers of runs that were killed, and so could not do it themselves.
    fn sweep(&self) -> Result<()> {
        for item in fs::read_dir(&self.cache)? {
            let file = item?.path();
            if is_of_a_run(&file)
                && let Some(mut state) = State::load(&file)?
                && !state.owner.as_ref().is_some_and(Process::is_alive)
            {
                say(&format!("  stopping servers that a killed run has left: {}", state.folder.display()));
                state.stop(&Kind::ALL)?;
                state.remove(&file)?;
            }
        }
        Ok(())
    }
}

fn is_of_a_run(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("test-") && name.ends_with(".json")
}

/// Where fetched files of servers are kept.
pub(crate) fn cache(workspace: &Workspace) -> PathBuf {
    workspace.target.join("services")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_values_as_they_are() {
        assert_eq!(quoted("postgres://a:b@127.0.0.1:1/c"), "postgres://a:b@127.0.0.1:1/c");
        assert_eq!(quoted("/a b/$c's"), r"'/a b/$c'\''s'");
    }

    #[test]
    fn state_files_of_runs_are_told_from_the_others() {
        assert!(is_of_a_run(Path::new("/t/test-42.json")));
        assert!(!is_of_a_run(Path::new("/t/state.json")));
        assert!(!is_of_a_run(Path::new("/t/test-42.partial")));
    }
}
