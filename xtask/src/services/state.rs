//! Which servers run: a file for those of `services up`, and one for each `cargo xtask test` that started its own.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use posthaste_services::{
    KAFKA, PGBOUNCER, POSTGRES,
    process::{Process, Signal},
};
use serde::{Deserialize, Serialize};

/// The kinds of servers, in the order they are started: each needs only those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Postgres,
    PgBouncer,
    Kafka,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Postgres, Self::PgBouncer, Self::Kafka];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::PgBouncer => "PgBouncer",
            Self::Kafka => "Kafka",
        }
    }

    /// The variable that says where it is. Who sets it brings a server of their own.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Postgres => POSTGRES,
            Self::PgBouncer => PGBOUNCER,
            Self::Kafka => KAFKA,
        }
    }
}

/// Names and values for the environment of the tests.
pub(crate) type Variables = Vec<(String, String)>;

/// A server that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) version: String,
    pub(crate) address: String,
    pub(crate) process: Process,
    pub(crate) log: PathBuf,
    /// The PostgreSQL that it passes everything on to, if that is what it does.
    pub(crate) behind: Option<String>,
    /// What tests need to know of it.
    pub(crate) variables: Variables,
}

impl Server {
    /// Ends it in the quickest way that leaves nothing behind: its data goes next.
    fn stop(&self) -> Result<()> {
        let signal = match self.kind {
            // Killed, it would leave a piece of shared memory.
            Kind::Postgres => Signal::QUIT,
            Kind::PgBouncer | Kind::Kafka => Signal::KILL,
        };
        let name = self.kind.name();
        self.process.stop(signal, Duration::from_secs(15)).with_context(|| format!("{name} was not stopped"))
    }
}

/// What a state file says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The run of the tests that the servers belong to; those of `services up` belong to nobody.
    pub(crate) owner: Option<Process>,
    /// Where the servers have their data and their logs.
    pub(crate) folder: PathBuf,
    pub(crate) servers: Vec<Server>,
}

impl State {
    /// No servers yet, and a new temporary folder for them.
    pub(crate) fn new(owner: Option<Process>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("posthaste-services-").tempdir();
        let folder = folder.context("cannot create a temporary folder")?.keep();
        Ok(Self { owner, folder, servers: Vec::new() })
    }

    /// Reads the file, if there is one.
    pub(crate) fn load(file: &Path) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(file) else { return Ok(None) };
        let state = serde_json::from_str(&text);
        state
            .map(Some)
            .with_context(|| format!("{} cannot be read; end its processes and remove it", file.display()))
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn save(&self, file: &Path) -> Result<()> {
        let aside = file.with_extension("partial");
        let text = serde_json::to_string_pretty(self)?;
        let written = fs::write(&aside, text).and_then(|()| fs::rename(&aside, file));
        written.with_context(|| format!("cannot write {}", file.display()))
    }

    pub(crate) fn server(&self, kind: Kind) -> Option<&Server> {
        self.servers.iter().find(|server| server.kind == kind)
    }

    pub(crate) fn running(&self, kind: Kind) -> Option<&Server> {
        self.server(kind).filter(|server| server.process.is_alive())
    }

    /// The same, unless it stands in front of another PostgreSQL than this.
    pub(crate) fn usable(&self, kind: Kind, postgres: Option<&str>) -> Option<&Server> {
        self.running(kind).filter(|server| server.behind.is_none() || server.behind.as_deref() == postgres)
    }

    /// Notes a server, in place of one of its kind that has ended.
    pub(crate) fn put(&mut self, server: Server) {
        self.servers.retain(|other| other.kind != server.kind);
        self.servers.push(server);
    }

    /// Stops these servers and forgets them, the last first. Says which were running.
    pub(crate) fn stop(&mut self, kinds: &[Kind]) -> Result<Vec<Kind>> {
        let mut stopped = Vec::new();
        for server in self.servers.iter().rev().filter(|server| kinds.contains(&server.kind)) {
            stopped.extend(server.process.is_alive().then_some(server.kind));
            server.stop()?;
        }
        self.servers.retain(|server| !kinds.contains(&server.kind));
        Ok(stopped)
    }

    /// Removes the servers' data and the state file.
    pub(crate) fn remove(&self, file: &Path) -> Result<()> {
        if self.folder.exists() {
            let removed = fs::remove_dir_all(&self.folder);
            removed.with_context(|| format!("cannot remove {}", self.folder.display()))?;
        }
        fs::remove_file(file).or_else(|error| if file.exists() { Err(error) } else { Ok(()) })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(kind: Kind, process: Process) -> Server {
        Server {
            kind,
            version: "15.18".to_owned(),
            address: "127.0.0.1:1".to_owned(),
            process,
            log: "/f/log".into(),
            behind: (kind == Kind::PgBouncer).then(|| "postgres://here".to_owned()),
            variables: vec![("NAME".to_owned(), "value".to_owned())],
        }
    }

    fn own() -> Process {
        Process::own().unwrap()
    }

    /// Somebody else who has our number.
    fn ended() -> Process {
        Process { started: "long ago".to_owned(), ..own() }
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let state =
            State { owner: None, folder: "/f".into(), servers: vec![server(Kind::PgBouncer, ended())] };

        assert_eq!(State::load(&file).unwrap(), None);
        state.save(&file).unwrap();
        assert_eq!(State::load(&file).unwrap(), Some(state));

        fs::write(&file, "{").unwrap();
        assert!(State::load(&file).unwrap_err().to_string().contains("state.json cannot be read"));
    }

    #[test]
    fn a_server_whose_number_another_process_got_does_not_run_and_is_not_stopped() {
        let servers = vec![server(Kind::Postgres, ended()), server(Kind::Kafka, own())];
        let mut state = State { owner: None, folder: "/f".into(), servers };

        assert_eq!(state.running(Kind::Postgres), None);
        assert!(state.running(Kind::Kafka).is_some());
        // It has the number of this very test.
        assert_eq!(state.stop(&[Kind::Postgres]).unwrap(), []);
        assert_eq!(state.servers, [server(Kind::Kafka, own())]);
    }

    #[test]
    fn a_bouncer_in_front_of_another_postgres_is_of_no_use() {
        let servers = vec![server(Kind::Postgres, own()), server(Kind::PgBouncer, own())];
        let state = State { owner: None, folder: "/f".into(), servers };

        assert!(state.usable(Kind::PgBouncer, Some("postgres://here")).is_some());
        assert_eq!(state.usable(Kind::PgBouncer, Some("postgres://there")), None);
        assert!(state.usable(Kind::Postgres, None).is_some());
    }

    #[test]
    fn a_server_takes_the_place_of_one_that_ended() {
        let mut state =
            State { owner: None, folder: "/f".into(), servers: vec![server(Kind::Kafka, ended())] };

        state.put(server(Kind::Kafka, own()));

        assert_eq!(state.servers, [server(Kind::Kafka, own())]);
    }

    #[test]
    fn removing_what_is_gone_already_is_fine() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let file = folder.path().join("state.json");
        fs::create_dir(&data).unwrap();
        let state = State { owner: None, folder: data.clone(), servers: Vec::new() };
        state.save(&file).unwrap();

        state.remove(&file).unwrap();
        state.remove(&file).unwrap();

        assert!(!data.exists() && !file.exists());
    }
}
