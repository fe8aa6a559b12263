//! `posthaste tail`: what is published, and what becomes of it, as it happens.

mod follow;
mod line;

use std::time::Duration;

use clap::Args;
use posthaste::{Clock, ErrorKind, EventFilter, EventSummary, Sort, SystemClock};

use self::follow::{Follow, Happened};
use crate::{
    End,
    desk::{self, Desk},
    exit::judged,
    screen::{print, remark},
    signals::Signals,
};

const EXAMPLES: &str = "\
Examples:
  posthaste tail --database sqlite://shop.db
  posthaste tail --config relay.yaml --subscription mail --type order.placed
  posthaste tail --config relay.yaml --lines 0 --json | jq -c 'select(.what == \"dead\")'

A line for each event that is published, and one each time its delivery to a
subscription comes to something: delivered, failed (and when it is tried
again), dead, delayed. Ctrl-C ends it.

It reads the log as others do and disturbs nobody. An event is followed while
it is among the last 1,000; one whose transaction stays open for longer than a
minute after others have committed is not shown.";

/// How long to wait between two looks: short while something happens.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// The largest page of a log.
const PAGE: u32 = 1_000;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Only what becomes of them in this subscription
    #[arg(long, value_name = "NAME")]
    subscription: Option<String>,
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only events of this topic
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only events of this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// With how many of the last events to begin, 0 to 1000
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=i64::from(PAGE)))]
    lines: u32,
}

/// Which events are shown.
struct Wanted {
    subscription: Option<String>,
    event_type: Option<String>,
    topic: Option<String>,
    key: Option<String>,
}

impl Wanted {
    fn fits(&self, event: &EventSummary) -> bool {
        let fits =
            |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        fits(&self.event_type, Some(&event.event_type))
            && fits(&self.topic, Some(&event.topic))
            && fits(&self.key, event.key.as_deref())
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let Options { desk, subscription, event_type, topic, key, lines } = options;
    let desk = desk.open().await?;
    desk.check_if_named(subscription.as_ref()).await?;
    let wanted = Wanted { subscription, event_type, topic, key };
    let mut signals = Signals::watch()?;
    tokio::select! {
        ended = follow(&desk, &wanted, lines) => ended?,
        _ = signals.next() => {}
    }
    Ok(End::Fine)
}

/// Looks again and again, until nobody reads any more.
async fn follow(desk: &Desk, wanted: &Wanted, lines: u32) -> anyhow::Result<()> {
    let mut follow = Follow::new(begin(desk, lines).await?);
    let mut wait = SHORTEST;
    loop {
        let told = match look(desk, wanted, &mut follow).await {
            Ok(told) => told,
            Err(error) if is_outage(&error) => {
                remark(&format!("the database does not answer: {error}; trying again\n"));
                0
            }
            Err(error) => return Err(error),
        };
        wait = if told > 0 { SHORTEST } else { (wait * 2).min(LONGEST) };
        tokio::time::sleep(wait).await;
    }
}

fn is_outage(error: &anyhow::Error) -> bool {
    error.downcast_ref::<posthaste::Error>().is_some_and(|error| error.kind() == ErrorKind::Unavailable)
}

/// The position behind which it begins.
async fn begin(desk: &Desk, lines: u32) -> anyhow::Result<i64> {
    let filter = EventFilter { limit: lines.max(1), ..EventFilter::default() };
    let newest = desk.admin().list(&filter).await.map_err(judged)?.items;
    let place = if lines == 0 { newest.first() } else { newest.last() };
    let behind = place.map_or(0, |event| event.position.0);
    Ok(if lines == 0 { behind } else { behind.saturating_sub(1) })
}

/// Reads what is new or not decided yet, and tells what has happened since. Answers how much that was.
async fn look(desk: &Desk, wanted: &Wanted, follow: &mut Follow) -> anyhow::Result<usize> {
    let now = SystemClock.now();
    let mut told = 0;
    let mut cursor = follow.begin(now);
    loop {
        let filter = EventFilter {
            subscription: wanted.subscription.clone(),
            sort: Sort::OldestFirst,
            // No page goes on at the very beginning.
            cursor: Some(cursor).filter(|cursor| *cursor > 0),
            limit: PAGE,
            ..EventFilter::default()
        };
        let page = desk.admin().list(&filter).await.map_err(judged)?;
        for event in &page.items {
            let happened: Vec<Happened<'_>> = follow.look(event, wanted.fits(event), now);
            told += happened.len();
            for one in &happened {
                print(&if desk.json { line::json(one)? } else { line::text(desk, one) })?;
            }
        }
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(told),
        }
    }
}
