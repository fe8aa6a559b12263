//! `posthaste relay`: delivers one subscription by the command line, or several by a file, until it is told to stop, or until
//! nothing is left to do.
//!
//! By the command line the tables are created if they are missing, because a database in a file has no administrator who would
//! have done it; the file itself is not, because a typing error in its path must not look like an empty outbox. By a file it is the
//! file that says so.

mod answer;
mod idle;
mod job;
mod operate;
mod serve;
mod sink_option;
mod start;
mod tap;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(not(feature = "otlp"))]
#[path = "no_traces.rs"]
mod traces;
mod tune;

use std::time::Duration;

use clap::{Args, builder::NonEmptyStringValueParser};
use posthaste::{Filter, OnDead, Order, Pattern, RetryPolicy, Settings, Start, Subscription};
use posthaste_config::{Destination, Served};

use self::job::{Job, Patience};
use crate::{
    End,
    database::{self, read_config, read_environment},
    exit::Coded,
    features::built_in,
    logging,
    signals::{Hangups, Signals},
};

const EXAMPLES: &str = "\
Examples:
  posthaste relay --config relay.yaml
  posthaste relay --database sqlite://shop.db --sink stdout
  posthaste relay --database sqlite://shop.db --sink stdout --once | jq .type
  posthaste relay --database sqlite://shop.db --sink file:events.jsonl \\
      --subscription archive --types 'order.*,user.created' --from now
  posthaste relay --database postgres://relay:password@db/shop \\
      --sink 'kafka:localhost:9092/{topic}'

A file says more than options can, and serves several subscriptions at once:
`posthaste config init` prints one, `posthaste config check FILE` checks one.

Try it without writing a program:
  sqlite3 shop.db \"insert into outbox (topic, event_type, key, payload)
                   values ('users', 'user.created', '42', '{}')\"

Events are JSON lines (CloudEvents 1.0) on stdout and in files. Ctrl-C or
SIGTERM finishes what is under way and exits with 0; a second one stops at once.
Several relays may run on one database: they share the work.

With --config a database that cannot be reached is waited for. What does not go
away by waiting (a wrong password, a missing right, missing tables) exits with 3.
SIGHUP makes it read its file again: docs/configuration.md says what can change.

POSTHASTE_… variables count more than the file, and can replace it:
  POSTHASTE_DATABASE_URL=sqlite://shop.db POSTHASTE_SUBSCRIPTIONS_0_NAME=all \\
      POSTHASTE_SUBSCRIPTIONS_0_SINK_STDOUT={} posthaste relay";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    database: database::Options,
    /// Where events go: stdout, file:PATH to append to a file, or kafka:BROKERS/TOPIC
    #[arg(long, value_name = "SINK", value_parser = sink_option::parse, conflicts_with = "config")]
    sink: Option<Destination>,
    /// The name of the subscription; each has its own place in the log
    #[arg(long, value_name = "NAME", default_value = "default", conflicts_with = "config")]
    subscription: String,
    /// Only events of these types, separated by commas; * stands for any text
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), conflicts_with = "config")]
    types: Vec<String>,
    /// Only events of these topics, separated by commas; * stands for any text
    #[arg(long, value_name = "TOPICS", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), conflicts_with = "config")]
    topics: Vec<String>,
    /// Where a new subscription begins: beginning or now; one that is there goes on where it was
    #[arg(long, value_name = "START", default_value_t, conflicts_with = "config")]
    from: Start,
    /// Whether events of one key keep their order: key or none
    #[arg(long, value_name = "ORDER", default_value_t, conflicts_with = "config")]
    order: Order,
    /// What a key does when one of its events is given up: continue, or hold until a person has decided
    #[arg(long, value_name = "WHAT", default_value_t, conflicts_with = "config")]
    on_dead: OnDead,
    /// Stop when nothing is pending and nothing waits for a retry
    #[arg(long)]
    once: bool,
    /// How long the relay's lease lasts, for tests
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = true, conflicts_with = "config")]
    lease: Option<Duration>,
    /// How long stopping may take, for tests
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = true, conflicts_with = "config")]
    grace: Option<Duration>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let signals = Signals::watch()?;
    let once = options.once;
    let mut job = match &options.database.config {
        Some(file) => Job::of_config(built_in(read_config(file)?)?, Some(file.clone())),
        None if options.leaves_all_to_the_environment() => {
            Job::of_config(built_in(read_environment()?)?, None)
        }
        None => options.job()?,
    };
    let hangups = if job.file.is_some() { Hangups::watch()? } else { Hangups::ignored() };
    if let Some(config) = &job.config {
        logging::configure(&config.log);
    }
    if once {
        // What the filter skips must not look pending for a minute.
        job.settings.move_interval = Duration::from_millis(100);
    }
    serve::serve(job, (signals, hangups), once).await
}

impl Options {
    /// Whether neither a file nor the command line says anything, and variables do.
    fn leaves_all_to_the_environment(&self) -> bool {
        self.sink.is_none()
            && !self.database.is_named()
            && std::env::var_os("POSTHASTE_DATABASE_URL").is_some()
    }

    /// What the command line asks for.
    fn job(self) -> anyhow::Result<Job> {
        let Some(destination) = self.sink.clone() else {
            let text = "no sink: write --sink <SINK>, such as --sink stdout, or --config <FILE>";
            return Err(Coded::not_understood(text));
        };
        let served = Served::new(self.subscription(), destination);
        let settings = self.settings();
        let mut database = self.database.named()?.place;
        database.migrate = true;
        Ok(Job { settings, subscriptions: vec![served], ..Job::new(database, Patience::None) })
    }

    fn subscription(&self) -> Subscription {
        let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect();
        Subscription {
            name: self.subscription.clone(),
            filter: Filter { types: patterns(&self.types), topics: patterns(&self.topics) },
            order: self.order,
            on_dead: self.on_dead,
            start: self.from,
            retry: RetryPolicy::default(),
        }
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.lease = self.lease.unwrap_or(settings.lease);
        settings.grace = self.grace.unwrap_or(settings.grace);
        settings.settle_interval = settings.settle_interval.min(settings.lease / 2);
        settings
    }
}
