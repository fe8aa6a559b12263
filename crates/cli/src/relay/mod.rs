//! `posthaste relay`: delivers one subscription until it is told to stop, or until nothing is left to do.
//!
//! The tables are created if they are missing, because a database in a file has no administrator who would have
//! done it; the file itself is not, because a typing error in its path must not look like an empty outbox.

mod destination;
mod idle;
mod tap;

use std::{sync::Arc, time::Duration};

use clap::{Args, builder::NonEmptyStringValueParser};
use posthaste::{
    Filter, OnDead, Order, Outbox, Pattern, Relay, RetryPolicy, Settings, Start, Stopped, Subscription,
};
use tracing::{info, warn};

use self::{
    destination::Destination,
    tap::{Tap, Tapped},
};
use crate::{End, database::Database, signals::Signals};

const EXAMPLES: &str = "\
Examples:
  posthaste relay --database sqlite://shop.db --sink stdout
  posthaste relay --database sqlite://shop.db --sink stdout --once | jq .type
  posthaste relay --database sqlite://shop.db --sink file:events.jsonl \\
      --subscription archive --types 'order.*,user.created' --from now

Try it without writing a program:
  sqlite3 shop.db \"insert into outbox (topic, event_type, key, payload)
                   values ('users', 'user.created', '42', '{}')\"

Events are JSON lines (CloudEvents 1.0). Ctrl-C or SIGTERM finishes what is
under way and exits with 0; a second one stops at once. Several relays may run
on one database: they share the work.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,
    /// Where events go: stdout, or file:PATH to append to a file
    #[arg(long, value_name = "SINK")]
    sink: Destination,
    /// The name of the subscription; each has its own place in the log
    #[arg(long, value_name = "NAME", default_value = "default")]
    subscription: String,
    /// Only events of these types, separated by commas; * stands for any text
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    types: Vec<String>,
    /// Only events of these topics, separated by commas; * stands for any text
    #[arg(long, value_name = "TOPICS", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    topics: Vec<String>,
    /// Where a new subscription begins: beginning or now; one that is there goes on where it was
    #[arg(long, value_name = "START", default_value_t)]
    from: Start,
    /// Whether events of one key keep their order: key or none
    #[arg(long, value_name = "ORDER", default_value_t)]
    order: Order,
    /// What a key does when one of its events is given up: continue, or hold until a person has decided
    #[arg(long, value_name = "WHAT", default_value_t)]
    on_dead: OnDead,
    /// Stop when nothing is pending and nothing waits for a retry
    #[arg(long)]
    once: bool,
    /// How long the relay's lease lasts, for tests
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = true)]
    lease: Option<Duration>,
    /// How long stopping may take, for tests
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = true)]
    grace: Option<Duration>,
}

impl Options {
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
        if self.once {
            // What the filter skips must not look pending for a minute.
            settings.move_interval = Duration::from_millis(100);
        }
        settings
    }
}

/// Why a relay stops.
enum Reason {
    Signal(&'static str),
    NothingLeft,
    NobodyReads,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let mut signals = Signals::watch()?;
    let outbox = options.database.outbox().without_creation().open().await?;
    let tapped = Arc::new(Tapped::default());
    let sink = Tap::new(options.sink.open()?, &options.sink, Arc::clone(&tapped));
    let relay =
        outbox.relay().subscribe(options.subscription(), sink).settings(options.settings()).start().await?;
    info!(subscription = options.subscription, sink = %options.sink, "relay started");

    let reason = tokio::select! {
        signal = signals.next() => Reason::Signal(signal),
        () = tapped.abandoned() => Reason::NobodyReads,
        () = idle::wait(&outbox, &options.subscription), if options.once => Reason::NothingLeft,
    };
    let end = announce(&reason);
    let stopped = stop(relay, &mut signals).await;
    summarise(&outbox, &options.subscription, &tapped).await;
    Ok(match stopped {
        Stopped::Cleanly => end,
        Stopped::InTheMiddle => {
            warn!("stopped in the middle; what was under way is delivered again when the lease has ended");
            End::Bad
        }
    })
}

fn announce(reason: &Reason) -> End {
    match reason {
        Reason::Signal(signal) => info!(signal, "stopping"),
        Reason::NothingLeft => info!("nothing is pending; stopping"),
        Reason::NobodyReads => {
            warn!("standard output is closed; stopping");
            return End::Bad;
        }
    }
    End::Fine
}

/// Stops in peace; a second signal ends that.
async fn stop(relay: Relay, signals: &mut Signals) -> Stopped {
    tokio::select! {
        stopped = relay.stop() => stopped,
        _ = signals.next() => Stopped::InTheMiddle,
    }
}

/// The last line of the log: what came of it, and what a person should look at.
async fn summarise(outbox: &Outbox, subscription: &str, tapped: &Tapped) {
    let delivered = tapped.delivered();
    let Ok(status) = outbox.admin().status().await else {
        info!(delivered, "relay stopped");
        return;
    };
    let Some(found) = status.subscriptions.iter().find(|found| found.name == subscription) else { return };
    let (pending, delayed, dead) = (found.pending + found.failed, found.delayed, found.dead);
    info!(delivered, pending, delayed, dead, "relay stopped");
}
