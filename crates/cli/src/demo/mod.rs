//! `posthaste demo`: a small shop on a temporary SQLite file, with what goes wrong in real life, and a summary
//! computed from what the subscribers received.

mod facts;
mod latency;
mod plan;
mod progress;
mod promises;
mod receipts;
mod shop;
mod showroom;
mod story;
mod subscribers;
mod summary;
mod till;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::{Args, value_parser};
use posthaste_server::DEFAULT_PORT;

use self::{plan::Plan, progress::Progress, showroom::Showroom, story::Story, summary::Summary};
use crate::{
    End,
    screen::{Look, print},
    signals::Signals,
};

const EXAMPLES: &str = "\
Examples:
  posthaste demo
  posthaste demo --rate 500 --duration 30s
  posthaste demo --keep    (then look at what it left with posthaste status)
  posthaste demo --dashboard

What happens: orders are placed, paid and shipped in transactions, some of
which are rolled back. Four subscriptions receive all of it: one is well, one
fails at times, one is down for a while, and one has a bug that an order brings
out. The exit code is 1 if a promise was broken. With --dashboard the shop stays
open until Ctrl-C, and is to be looked at in a browser.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// How many events the shop publishes a second
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// For how long the shop is open
    #[arg(long, value_name = "TIME", default_value = "12s", value_parser = parse_duration, conflicts_with = "dashboard")]
    duration: Duration,
    /// Keep the database file, to look at it afterwards
    #[arg(long, conflicts_with = "dashboard")]
    keep: bool,
    /// Make the same choices as an earlier run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Serve the dashboard with live traffic until Ctrl-C, instead of a summary
    #[arg(long)]
    dashboard: bool,
    /// Where the dashboard listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value_t = DASHBOARD, value_parser = parse_listen, requires = "dashboard")]
    listen: SocketAddr,
}

/// Where the dashboard listens unless told otherwise.
const DASHBOARD: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT);

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    /// A random seed has few digits, so that people can type it.
    const SEEDS: u64 = 100_000;
    let plan = Plan {
        rate: options.rate,
        duration: options.duration,
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..SEEDS)),
    };
    let mut signals = Signals::watch()?;
    let folder = tempfile::Builder::new()
        .prefix("posthaste-demo-")
        .tempdir()
        .context("cannot make a temporary folder; TMPDIR names another one")?;
    let path = folder.path().join("shop.db");
    if options.dashboard {
        let showroom = Showroom { rate: plan.rate, seed: plan.seed, listen: options.listen };
        return showroom.run(&path, signals).await;
    }
    let look = Look::of_stdout();
    print(&summary::heading(&plan, look))?;

    subscribers::silence_expected_panics();
    let story = Story::begin(&plan, &path).await?;
    let facts = tokio::select! {
        facts = story.tell(Progress::new(look)) => facts?,
        signal = signals.next() => bail!("stopped by {signal}; the demo's file is deleted"),
    };

    let promises = promises::judge(&facts);
    print(&Summary { facts: &facts, promises: &promises, plan: &plan, look }.text())?;
    if options.keep {
        print(&summary::what_was_kept(&folder.keep().join("shop.db"), look))?;
    } else {
        folder.close().with_context(|| format!("cannot delete {}", path.display()))?;
        print(&summary::what_was_deleted(&path, look))?;
    }
    Ok(promises::end(&promises))
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let example = "write for example 12s or 1m";
    let duration = humantime::parse_duration(text).map_err(|error| format!("{error}; {example}"))?;
    // Shorter, and nobody would notice the outage; longer, and receipts would fill the memory.
    if !(Duration::from_secs(1)..=Duration::from_secs(3_600)).contains(&duration) {
        return Err(format!("from 1s to 1h is possible; {example}"));
    }
    Ok(duration)
}

/// The demo is for this machine: what it shows is made up, but whoever gets in could fill the disk.
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let example = "write for example 127.0.0.1:0";
    let address: SocketAddr = text.parse().map_err(|error| format!("{error}; {example}"))?;
    if !address.ip().is_loopback() {
        return Err(format!("others could reach it there; {example}"));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_can_reach_the_dashboard() {
        assert_eq!(parse_listen("[::1]:80").map(|address| address.port()), Ok(80));
        for bad in ["", "8025", "localhost:8025", "0.0.0.0:8025", "10.0.0.1:1"] {
            assert!(parse_listen(bad).unwrap_err().contains("write for example"), "{bad}");
        }
    }

    #[test]
    fn durations_are_between_a_second_and_an_hour() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        for bad in ["", "12", "10ms", "2h", "fast"] {
            assert!(parse_duration(bad).unwrap_err().contains("write for example"), "{bad}");
        }
    }
}
