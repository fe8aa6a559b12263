//! The configuration of a relay: a YAML file that is read whole, so that everything that is wrong with it is said at once.
//!
//! ```
//! use posthaste_config::{Config, System};
//!
//! let text = "
//! database: { url: sqlite://shop.db }
//! subscriptions:
//!   - name: archive
//!     filter: { types: ['order.*'] }
//!     sink: { file: { path: archive.jsonl } }
//! ";
//! let config = Config::parse(text, &System)?;
//! assert_eq!(config.subscriptions[0].subscription.name, "archive");
//!
//! let problems = Config::parse(&text.replace("filter", "filtre"), &System).unwrap_err();
//! assert_eq!(problems.to_string(), "line 5: subscriptions[0].filtre is not known; did you mean filter?");
//! # Ok::<(), posthaste_config::Problems>(())
//! ```
//!
//! A file is parsed into a tree (`tree`), which is asked for its values (`section`) by one module a section. What is asked for
//! exists, everything else is unknown; what was asked for is noted (`field`), and the notes are the list of keys that the
//! documentation is held against. No module but `secret` decides what is shown of a password.

mod database;
mod destination;
mod environment;
mod field;
mod kafka;
mod kind;
mod problem;
mod relay;
mod retry;
mod secret;
mod section;
mod server;
mod show;
mod subscription;
mod suggest;
mod tree;

use std::fmt;

use posthaste::{RetryPolicy, Settings};

pub use self::{
    database::{DEFAULT_PREFIX, Database},
    destination::{DEFAULT_SOURCE, Destination},
    environment::{Environment, System},
    field::Key,
    problem::{Problem, Problems},
    secret::Address,
    server::{Alerts, Health, Role, Server, Token, Webhook},
    subscription::Served,
    suggest::nearest,
};
use self::{
    field::Field,
    retry::Origin,
    section::{Reader, Section},
};

/// A file to begin with, with comments. It passes the check.
pub const EXAMPLE: &str = include_str!("example.yaml");

/// What a relay is to do.
#[derive(Clone)]
pub struct Config {
    /// Where the outbox is.
    pub database: Database,
    /// How the engine works, and what it keeps.
    pub settings: Settings,
    /// The largest payload that is delivered, in bytes.
    pub payload_limit: usize,
    /// What is delivered where.
    pub subscriptions: Vec<Served>,
    /// What the names of the metrics begin with.
    pub metrics_prefix: String,
    /// The operators' API and what else is served; nothing unless written.
    pub server: Option<Server>,
    fields: Vec<Field>,
}

impl Config {
    /// Reads a text, or says everything that is wrong with it.
    pub fn parse(text: &str, environment: &dyn Environment) -> Result<Self, Problems> {
        let tree = tree::parse(text).map_err(|problem| Problems::new(vec![problem]))?;
        let reader = Reader::new(environment);
        let draft = Draft::read(Section::root(&reader, &tree));
        let (problems, fields) = reader.into_parts();
        match draft.finish(fields) {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(Problems::new(problems)),
        }
    }

    /// Everything that counts, defaults included, as a file; without secrets.
    #[must_use]
    pub fn show(&self) -> String {
        show::yaml(&self.fields)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("database", &self.database)
            .field("subscriptions", &self.subscriptions)
            .finish_non_exhaustive()
    }
}

/// What was read, as far as it was there.
struct Draft {
    database: Option<Database>,
    relay: relay::Relay,
    subscriptions: Vec<Served>,
    metrics_prefix: String,
    server: Option<Server>,
}

impl Draft {
    fn read(root: Section<'_>) -> Self {
        let database = database::read(root.section("database"));
        let mut relay = relay::read(root.section("relay"));
        relay.settings.retention = relay::read_retention(root.section("retention"));
        let policy = retry::read(root.section("retry"), &RetryPolicy::default(), Origin::Program);
        let subscriptions = subscription::read_all(&root, &policy);
        let metrics_prefix = read_metrics(root.section("metrics"));
        let server = root.section_if_written("server").map(server::read);
        root.end();
        Self { database, relay, subscriptions, metrics_prefix, server }
    }

    fn finish(self, fields: Vec<Field>) -> Option<Config> {
        let Self { database, relay, subscriptions, metrics_prefix, server } = self;
        let relay::Relay { settings, payload_limit } = relay;
        let database = database?;
        Some(Config { database, settings, payload_limit, subscriptions, metrics_prefix, server, fields })
    }
}

fn read_metrics(section: Section<'_>) -> String {
    let kind = kind::matching("a letter, then letters, digits or _", |text| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let prefix = section.or("prefix", &kind, posthaste::metric::DEFAULT_PREFIX.to_owned());
    section.end();
    prefix
}

/// Every key there is, in the order in which the documentation has them.
#[must_use]
pub fn keys() -> Vec<Key> {
    /// Has every section that is not read unless it is written, once.
    const WHOLE: &str = include_str!("whole.yaml");
    struct Nothing;
    impl Environment for Nothing {
        fn variable(&self, _: &str) -> Option<String> {
            None
        }

        fn file(&self, _: &std::path::Path) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    let config = Config::parse(WHOLE, &Nothing);
    let fields = config.map(|config| config.fields).unwrap_or_default();
    let mut keys: Vec<Key> = Vec::new();
    for key in fields.iter().map(Field::key) {
        // Each kind of sink needs a subscription of its own, and all have the same keys besides.
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
