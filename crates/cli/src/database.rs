//! Which database: the options that every command about a log has, and what they come to.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use posthaste::{ErrorKind, Outbox, Result, Status};
use posthaste_config::{Address, Config, DEFAULT_PREFIX, Problems, System};

use crate::exit::{Coded, NOT_UNDERSTOOD};

/// The variable that stands for `--database`.
const VARIABLE: &str = "POSTHASTE_DATABASE";

/// The address is not checked by the parser of the command line, which would show it with its password.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Options {
    /// The database with the outbox, such as sqlite://shop.db or postgres://user:password@host/shop
    /// [env: POSTHASTE_DATABASE]
    #[arg(long = "database", value_name = "URL", conflicts_with = "config")]
    url: Option<String>,
    /// The schema of the tables, in PostgreSQL [default: as the search path says]
    #[arg(long, value_name = "SCHEMA", conflicts_with = "config")]
    schema: Option<String>,
    /// What the names of the tables begin with [default: outbox]
    #[arg(long, value_name = "PREFIX", conflicts_with = "config")]
    prefix: Option<String>,
    /// The address is that of a pooler in transaction mode, such as PgBouncer
    #[arg(long, conflicts_with = "config")]
    pooler: bool,
    /// The file of a relay, instead of all this
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// A database, and how it was named.
pub(crate) struct Database {
    /// Where it is.
    pub(crate) place: posthaste_config::Database,
    /// The largest payload, if the file says so.
    pub(crate) payload_limit: Option<usize>,
    /// The file that says so, if it was not the command line.
    file: Option<PathBuf>,
}

impl Options {
    /// Whether the command line, or the variable that stands for it, names a database.
    pub(crate) fn is_named(&self) -> bool {
        self.url.is_some() || std::env::var_os(VARIABLE).is_some_and(|url| !url.is_empty())
    }

    /// The database that is meant: by the file, the command line or the environment.
    pub(crate) fn database(self) -> anyhow::Result<Database> {
        match self.config {
            Some(file) => {
                let config = read_config(&file)?;
                let payload_limit = Some(config.payload_limit);
                Ok(Database { place: config.database, payload_limit, file: Some(file) })
            }
            None => self.named(),
        }
    }

    /// The database that the command line or the environment means.
    pub(crate) fn named(self) -> anyhow::Result<Database> {
        let from_environment = || std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
        let Some(url) = self.url.or_else(from_environment) else {
            let text = format!("no database: write --database <URL> or --config <FILE>, or set {VARIABLE}");
            return Err(Coded::not_understood(text));
        };
        let mut place = posthaste_config::Database::new("");
        place.address = Address::parse(&url).map_err(|problem| {
            Coded::not_understood(format!("--database: {problem}, for example sqlite://shop.db"))
        })?;
        place.schema = self.schema;
        place.prefix = self.prefix.unwrap_or(place.prefix);
        place.pooler = self.pooler;
        Ok(Database { place, payload_limit: None, file: None })
    }
}

impl Database {
    /// The outbox, if it can be used as it is.
    pub(crate) async fn open(&self) -> Result<Outbox> {
        let outbox = self.place.outbox().without_migration().without_creation();
        let outbox = match self.payload_limit {
            Some(limit) => outbox.payload_limit(limit),
            None => outbox,
        };
        outbox.open().await
    }

    /// How the log stands, if it can be used as it is.
    pub(crate) async fn status(&self) -> Result<Status> {
        self.open().await?.admin().status().await
    }

    /// The address as it may be shown: without a password.
    pub(crate) fn shown(&self) -> String {
        self.place.address.to_string()
    }

    /// A command that runs a relay on it and can be copied.
    pub(crate) fn relay_command(&self) -> String {
        match &self.file {
            Some(file) => format!("posthaste relay --config {}", quote(&file.display().to_string())),
            None => format!("posthaste relay {} --sink stdout", self.as_options()),
        }
    }

    /// The same for one subscription, where the command line has to name it.
    pub(crate) fn relay_command_for(&self, subscription: &str) -> String {
        match &self.file {
            Some(_) => self.relay_command(),
            None => format!("{} --subscription {subscription}", self.relay_command()),
        }
    }

    /// A command of another kind on it that can be copied: `what` is the command with its own words.
    pub(crate) fn command(&self, what: &str) -> String {
        let place = match &self.file {
            Some(file) => format!("--config {}", quote(&file.display().to_string())),
            None => self.as_options(),
        };
        format!("posthaste {what} {place}")
    }

    /// The options as they are written in a command that can be copied.
    fn as_options(&self) -> String {
        let mut options = format!("--database {}", quote(&self.shown()));
        if let Some(schema) = &self.place.schema {
            options.push_str(&format!(" --schema {}", quote(schema)));
        }
        if self.place.prefix != DEFAULT_PREFIX {
            options.push_str(&format!(" --prefix {}", quote(&self.place.prefix)));
        }
        if self.place.pooler {
            options.push_str(" --pooler");
        }
        options
    }

    /// A table of the log, as it is written in SQL.
    pub(crate) fn table(&self, ending: &str) -> String {
        let schema = self.place.schema.as_ref().map_or(String::new(), |schema| format!("{schema}."));
        format!("{schema}{}{ending}", self.place.prefix)
    }
}

/// Reads the file of a relay. Everything that is wrong with it is said at once.
pub(crate) fn read_config(file: &Path) -> anyhow::Result<Config> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Config::parse_bytes(&bytes, &System).map_err(|problems| refused(&file.display().to_string(), &problems))
}

/// Reads the environment alone, where there is no file.
pub(crate) fn read_environment() -> anyhow::Result<Config> {
    Config::of_environment(&System).map_err(|problems| refused("the environment", &problems))
}

fn refused(what: &str, problems: &Problems) -> anyhow::Error {
    let count = problems.count();
    let ending = if count == 1 { "" } else { "s" };
    let list: String = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    Coded::new(NOT_UNDERSTOOD, anyhow::Error::msg(format!("{what} has {count} problem{ending}{list}"))).into()
}

/// Whether opening failed because of what is, or is not, in the database: then migrating is worth a try.
pub(crate) fn wants_migration(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Schema)
}

/// The text as a shell takes it for one word.
pub(crate) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A database for tests.
#[cfg(test)]
pub(crate) fn made_up(url: &str, prefix: &str) -> Database {
    let mut place = posthaste_config::Database::new(url);
    place.prefix = prefix.to_owned();
    Database { place, payload_limit: None, file: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_can_be_copied_has_what_is_unusual_and_no_password() {
        let mut database = made_up("postgres://ada:secret@db/shop", "billing");
        database.place.schema = Some("sales".to_owned());
        let command = "posthaste relay --database 'postgres://ada:***@db/shop' --schema sales --prefix billing --sink stdout";
        assert_eq!(database.relay_command(), command);
        assert_eq!(database.table("_dead"), "sales.billing_dead");

        database.file = Some("my relay.yaml".into());
        assert_eq!(database.relay_command(), "posthaste relay --config 'my relay.yaml'");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quote("sqlite://shop.db"), "sqlite://shop.db");
        assert_eq!(quote("sqlite://my shop's.db"), r"'sqlite://my shop'\''s.db'");
    }
}
