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

mod changes;
mod database;
mod destination;
mod environment;
mod field;
mod former;
mod kafka;
mod kind;
mod log;
mod overrides;
mod problem;
mod relay;
mod retry;
mod schema;
mod secret;
mod section;
mod server;
mod show;
mod subscription;
mod suggest;
mod traces;
mod tree;
mod validation;

use std::fmt;

use posthaste::{RetryPolicy, Settings};

pub use self::{
    changes::{Changes, HOT},
    database::{DEFAULT_PREFIX, Database},
    destination::{DEFAULT_SOURCE, Destination},
    environment::{Environment, System},
    field::Key,
    former::{FORMER, Former},
    log::{DEFAULT_LEVEL, LogFormat, Logging, is_level},
    problem::{Place, Problem, Problems},
    schema::schema,
    secret::Address,
    server::{Alerts, Health, Role, Server, Token, Webhook},
    show::Notes,
    subscription::Served,
    suggest::nearest,
    traces::Traces,
};
use self::{
    field::Field,
    retry::Origin,
    section::{Reader, Section},
    tree::{Node, Value},
    validation::Wanted,
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
    /// What the program says of itself.
    pub log: Logging,
    /// Where traces go; nothing is traced unless written.
    pub traces: Option<Traces>,
    /// The operators' API and what else is served; nothing unless written.
    pub server: Option<Server>,
    fields: Vec<Field>,
}

impl Config {
    /// Reads a text and the variables over it, or says everything that is wrong.
    pub fn parse(text: &str, environment: &dyn Environment) -> Result<Self, Problems> {
        let tree = tree::parse(text).map_err(|problem| Problems::new(vec![problem]))?;
        Self::of_tree(tree, environment)
    }

    /// Reads bytes, which ought to be a text.
    pub fn parse_bytes(bytes: &[u8], environment: &dyn Environment) -> Result<Self, Problems> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text, environment),
            Err(error) => {
                let line =
                    1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u64;
                let text = "this is not UTF-8; allowed is a text in UTF-8".to_owned();
                Err(Problems::new(vec![Problem { place: Place::Line(line), text }]))
            }
        }
    }

    /// Reads the variables alone.
    pub fn of_environment(environment: &dyn Environment) -> Result<Self, Problems> {
        Self::of_tree(Node { place: Place::Environment, value: Value::Nothing }, environment)
    }

    fn of_tree(mut tree: Node, environment: &dyn Environment) -> Result<Self, Problems> {
        let mut all = overrides::apply(&mut tree, environment);
        let reader = Reader::new(environment);
        let draft = Draft::read(Section::root(&reader, &tree));
        let (problems, fields) = reader.into_parts();
        all.extend(problems);
        match draft.finish(fields) {
            Some(config) if all.is_empty() => Ok(config),
            _ => Err(Problems::new(all)),
        }
    }

    /// Everything that counts, defaults included, as a file; without secrets.
    #[must_use]
    pub fn show(&self) -> String {
        self.show_with(Notes::Defaults)
    }

    /// The same with these notes.
    #[must_use]
    pub fn show_with(&self, notes: Notes) -> String {
        show::yaml(&self.fields, notes)
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
    log: Logging,
    traces: Option<Traces>,
    server: Option<Server>,
}

impl Draft {
    fn read(root: Section<'_>) -> Self {
        let database = database::read(root.section("database"));
        let mut relay = relay::read(root.section("relay"));
        relay.settings.retention = relay::read_retention(root.section("retention"));
        let policy = retry::read(root.section("retry"), &RetryPolicy::default(), Origin::Program);
        let validation = validation::read(root.section("validation"), &Wanted::default(), Origin::Program);
        let subscriptions = subscription::read_all(&root, &policy, &validation);
        relay.settings.rate_limits = subscription::rate_limits(&subscriptions);
        let metrics_prefix = read_metrics(root.section("metrics"));
        let log = log::read(root.section("log"));
        let traces = root.section_if_written("traces").map(traces::read);
        let server = root.section_if_written("server").map(server::read);
        root.end();
        Self { database, relay, subscriptions, metrics_prefix, log, traces, server }
    }

    fn finish(self, fields: Vec<Field>) -> Option<Config> {
        let Self { database, relay, subscriptions, metrics_prefix, log, traces, server } = self;
        let relay::Relay { settings, payload_limit } = relay;
        Some(Config {
            database: database?,
            settings,
            payload_limit,
            subscriptions,
            metrics_prefix,
            log,
            traces,
            server,
            fields,
        })
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
    let mut keys: Vec<Key> = Vec::new();
    for key in whole().iter().map(Field::key) {
        // Each kind of sink needs a subscription of its own, and all have the same keys besides.
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// What is noted when a file is read in which everything is written.
fn whole() -> Vec<Field> {
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
    config.map(|config| config.fields).unwrap_or_default()
}
