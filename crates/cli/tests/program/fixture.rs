//! A folder with a database, and the program run in it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use posthaste_services::patience;
use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Fixture {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with the tables in `shop.db`.
    pub(crate) fn migrated() -> Self {
        let fixture = Self::empty();
        fixture.run(&["migrate", "--database", "sqlite://shop.db"]).succeeded();
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posthaste"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        for variable in ["RUST_LOG", "POSTHASTE_DATABASE", "NO_COLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command on `shop.db`.
    pub(crate) fn on_shop(&self, arguments: &[&str]) -> Ran {
        self.run(&[arguments, &["--database", "sqlite://shop.db"]].concat())
    }

    /// Runs the program to its end, with this as its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        std::fs::write(self.path("stdin"), input).unwrap();
        let mut command = self.command(arguments);
        let output = command.stdin(File::open(self.path("stdin")).unwrap()).output().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Makes so many dead letters in subscription `mail`, one a key: their payloads are no JSON.
    pub(crate) fn bury(&self, letters: u32) {
        let statement = format!(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < {letters})
             insert into outbox (topic, event_type, key, payload)
             select 'orders', 'order.broken', 'order-' || i, '{{\"n\":' || i from n"
        );
        self.sql(&statement).unwrap();
        self.deliver_once("mail");
    }

    /// Delivers all there is to `NAME.jsonl`.
    pub(crate) fn deliver_once(&self, subscription: &str) {
        let sink = format!("file:{subscription}.jsonl");
        self.on_shop(&["relay", "--sink", &sink, "--subscription", subscription, "--once"]).succeeded();
    }

    /// Starts `posthaste relay` on `shop.db`, with standard output for the test to read.
    pub(crate) fn start_relay(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(&["relay", "--database", "sqlite://shop.db"]);
        Running(command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Writes the file of a relay.
    pub(crate) fn configure(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Starts `posthaste relay --config FILE`, with standard output for the test to read and its log in `FILE.log`.
    pub(crate) fn start_configured(&self, file: &str) -> Running {
        let log = File::options().append(true).create(true).open(self.path(&format!("{file}.log"))).unwrap();
        let mut command = self.command(&["relay", "--config", file]);
        Running(command.stdout(Stdio::piped()).stderr(log).spawn().unwrap())
    }

    /// What relays of this file have logged.
    pub(crate) fn log(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(&format!("{file}.log"))).unwrap_or_default()
    }

    /// Runs statements on `shop.db`, as any other program would.
    pub(crate) fn sql(&self, statements: &str) -> sqlx::Result<()> {
        self.with_connection(async |connection| {
            sqlx::raw_sql(AssertSqlSafe(statements)).execute(connection).await.map(drop)
        })
    }

    /// The one number that a query answers.
    pub(crate) fn number(&self, query: &str) -> i64 {
        let answer = self.with_connection(async |connection| {
            sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(connection).await
        });
        answer.unwrap()
    }

    /// The one text that a query answers.
    pub(crate) fn text(&self, query: &str) -> String {
        let answer = self.with_connection(async |connection| {
            sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(connection).await
        });
        answer.unwrap()
    }

    /// Publishes so many events by plain SQL, of so many keys.
    pub(crate) fn publish(&self, events: u32, keys: u32) {
        let statement = format!(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < {events})
             insert into outbox (topic, event_type, key, payload)
             select 'orders', 'order.changed', 'order-' || (i % {keys}), json_object('n', i) from n"
        );
        self.sql(&statement).unwrap();
    }

    /// The events in a file of JSON lines.
    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        parse_lines(&std::fs::read_to_string(self.path(name)).unwrap_or_default())
    }

    pub(crate) fn status(&self) -> Value {
        let ran = self.run(&["status", "--database", "sqlite://shop.db", "--json"]);
        serde_json::from_str(&ran.succeeded().out).unwrap()
    }

    fn with_connection<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let options = SqliteConnectOptions::new().filename(self.path("shop.db"));
            let mut connection = options.busy_timeout(patience()).connect().await?;
            let answer = work(&mut connection).await;
            connection.close().await?;
            answer
        })
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Ended with this code, and a message that has all of these parts.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} in {self:#?}");
        }
        self
    }

    /// The one JSON object that it printed.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let ran = self.succeeded();
        let mut lines = parse_lines(&ran.out);
        assert_eq!(lines.len(), 1, "{ran:#?}");
        lines.remove(0)
    }

    /// The JSON lines that it printed.
    #[track_caller]
    pub(crate) fn json_lines(self) -> Vec<Value> {
        parse_lines(&self.succeeded().out)
    }

    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "{part:?} in {self:#?}");
        }
        self
    }
}

/// A program that runs beside the test, and ends with it.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Reads its standard output beside the test, so that it never waits for its reader. Answers with all of it at its end.
    pub(crate) fn read_aside(&mut self) -> thread::JoinHandle<String> {
        let mut out = self.0.stdout.take().unwrap();
        thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).unwrap();
            text
        })
    }

    /// Waits for its end and answers with the exit code; none if a signal ended it.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let mut code = None;
        wait_until("the program ends", || {
            code = self.0.try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience();
    while !condition() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        // Waits for a condition.
        thread::sleep(Duration::from_millis(10));
    }
}

/// Complete lines as JSON; a torn last one is left out.
pub(crate) fn parse_lines(text: &str) -> Vec<Value> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Panics unless each key's events came in the order of the log at their first delivery.
#[track_caller]
pub(crate) fn assert_ordered(events: &[Value]) {
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for event in events.iter().filter(|event| seen.insert(event["id"].as_str().unwrap())) {
        let sequence = event["sequence"].as_str().unwrap();
        let before = last.insert(event["partitionkey"].as_str().unwrap(), sequence);
        assert!(before.is_none_or(|before| before < sequence), "{event} came after {before:?}");
    }
}

/// How many different events these are.
pub(crate) fn distinct(events: &[Value]) -> usize {
    events.iter().map(|event| event["id"].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>().len()
}

/// How many relays a status tells of.
pub(crate) fn live_relays(status: &serde_json::Value) -> usize {
    status["relays"].as_array().unwrap().len()
}
