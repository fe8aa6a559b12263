//! PostgreSQL: a cluster in a folder, that can be stopped in every way and started again.

mod installation;

use std::{
    fs,
    io::Write,
    path::{self, Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

pub use installation::Installation;

use crate::{
    daemon::Daemon,
    ports,
    process::{Process, Signal, wait_until_forgotten},
    progress::run_logged,
    user::{command_as, create_folder_for, write_for},
};

/// The superuser, and its password.
pub(crate) const USER: &str = "postgres";
pub(crate) const PASSWORD: &str = "posthaste";

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Ends connections, then writes everything to disk.
    Fast,
    /// Ends at once; the next start recovers, as after a crash.
    Immediate,
    /// `kill -9` of the server's first process; the others see it and end by themselves.
    Kill,
}

impl StopMode {
    fn signal(self) -> Signal {
        match self {
            Self::Fast => Signal::INT,
            Self::Immediate => Signal::QUIT,
            Self::Kill => Signal::KILL,
        }
    }
}

/// A PostgreSQL server of one's own. It stops with its owner.
pub struct Postgres {
    installation: Installation,
    folder: PathBuf,
    port: u16,
    daemon: Option<Daemon>,
}

impl Postgres {
    /// Starts the cluster in the folder, and makes it first if there is none. An old one keeps its port.
    pub fn start(installation: &Installation, folder: &Path) -> Result<Self> {
        // The server stands in its folder, and from there a relative path leads elsewhere.
        let folder = path::absolute(folder)?;
        let port = match kept_port(&folder) {
            Some(port) => port,
            None => create(installation, &folder)?,
        };
        let mut server = Self { installation: installation.clone(), folder, port, daemon: None };
        server.start_again()?;
        Ok(server)
    }

    /// Where it is, as a superuser.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@{}/postgres", self.address())
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its process, while it runs: for tests that make it stand still.
    pub fn process(&self) -> Option<&Process> {
        self.daemon.as_ref().map(Daemon::process)
    }

    /// What it logs, over all its starts.
    pub fn log(&self) -> PathBuf {
        self.folder.join("postgres.log")
    }

    /// Stops the server; nothing happens if it does not run.
    pub fn stop(&mut self, mode: StopMode) -> Result<()> {
        match self.daemon.take() {
            Some(mut daemon) => daemon.stop(mode.signal()),
            None => Ok(()),
        }
    }

    /// Starts a server that was stopped or killed, with the same data at the same port, and waits until it answers.
    pub fn start_again(&mut self) -> Result<()> {
        self.stop(StopMode::Fast)?;
        // PostgreSQL would take a killed server that is not forgotten yet for one that runs.
        self.noted_pid().into_iter().for_each(wait_until_forgotten);
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.folder.join("data"));
        let daemon = Daemon::spawn("PostgreSQL", &mut command, &self.log(), Signal::QUIT)?;
        daemon.wait_until_ready(|_| self.select_one())?;
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Adds settings, and starts it again with them.
    pub fn configure(&mut self, settings: &[(&str, &str)]) -> Result<()> {
        self.stop(StopMode::Fast)?;
        let mut file =
            fs::OpenOptions::new().append(true).open(self.folder.join("data/postgresql.auto.conf"))?;
        for (name, value) in settings {
            writeln!(file, "{name} = '{value}'")?;
        }
        self.start_again()
    }

    /// Stops it in this way, and starts it again.
    pub fn restart(&mut self, mode: StopMode) -> Result<()> {
        self.stop(mode)?;
        self.start_again()
    }

    /// Lets the server live on after this program, and says which process it is.
    pub fn detach(mut self) -> Result<Process> {
        Ok(self.daemon.take().context("PostgreSQL does not run")?.detach())
    }

    /// The process that the cluster believes to be its server.
    fn noted_pid(&self) -> Option<u32> {
        let note = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        note.lines().next()?.trim().parse().ok()
    }

    fn command(&self, program: &str) -> Command {
        let user = self.installation.user.as_ref();
        command_as(user, &self.installation.program(program), &self.folder)
    }

    fn select_one(&self) -> Result<()> {
        select_one(&self.installation, &self.url())
    }
}

/// Asks the server at this URL for an answer.
pub(crate) fn select_one(installation: &Installation, url: &str) -> Result<()> {
    let mut psql = Command::new(installation.program("psql"));
    let psql = psql.args(["-X", "-A", "-t", "-q", "-c", "select 1", url]).env("PGCONNECT_TIMEOUT", "5");
    let output = psql.output().context("cannot start psql")?;
    if output.stdout != b"1\n" {
        bail!("psql: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Makes a cluster in the folder, and says which port it got.
fn create(installation: &Installation, folder: &Path) -> Result<u16> {
    let user = installation.user.as_ref();
    create_folder_for(user, folder)?;
    let data = folder.join("data");
    if data.exists() {
        // Left by somebody who was interrupted: a cluster that is whole has its settings.
        fs::remove_dir_all(&data)?;
    }
    let password = folder.join("password");
    write_for(user, &password, PASSWORD)?;
    let mut initdb = command_as(user, &installation.program("initdb"), folder);
    initdb.args(["-U", USER, "--auth=scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync", "-D"]);
    initdb.arg(&data).arg("--pwfile").arg(&password);
    run_logged(&mut initdb, &folder.join("initdb.log")).context("the cluster was not made")?;

    let [port] = ports::free()?;
    write_for(user, &data.join("postgresql.auto.conf"), &settings(port))?;
    write_for(user, &folder.join("port"), &port.to_string())?;
    Ok(port)
}

/// What differs from the defaults. `fsync` stays on: what was committed has to survive a crash.
fn settings(port: u16) -> String {
    let settings = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", String::new()),
        ("max_connections", "200".to_owned()),
        ("max_prepared_transactions", "64".to_owned()),
    ];
    settings.iter().map(|(name, value)| format!("{name} = '{value}'\n")).collect()
}

/// The port of the cluster that the folder has, if it is whole.
fn kept_port(folder: &Path) -> Option<u16> {
    fs::read_to_string(folder.join("port")).ok()?.trim().parse().ok()
}
