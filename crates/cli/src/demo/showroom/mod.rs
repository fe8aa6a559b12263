//! `posthaste demo --dashboard`: the same small shop without an end, for looking at it in the dashboard.
//!
//! Whatever a page can show happens here by itself: retries, dead letters, a key that waits for a person, a destination that goes down
//! and comes back, events for later, and two relays that share the lanes.

mod business;
mod destinations;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use posthaste::{
    Filter, OnDead, Outbox, Pattern, Relay, RetryPolicy, Settings, Subscription, metric,
    sqlite::{self, SqlitePool},
};
use posthaste_server::{Alerts, Bound, Exporter, Hash, Redaction, Role, Server, Through, Token, generate};
use tokio::sync::oneshot;

use self::{
    business::Business,
    destinations::{Destination, Kind, Town},
};
use super::subscribers::{EMAIL, INVOICES, PAYMENTS, WAREHOUSE};
use crate::{
    End,
    exit::{Coded, REFUSED},
    screen::{Look, print},
    signals::Signals,
};

/// How busy it is, and where it can be seen.
pub(super) struct Showroom {
    pub(super) rate: u32,
    pub(super) seed: u64,
    pub(super) listen: SocketAddr,
}

/// What is delivered is kept for so long: it may run for days.
const KEPT: Duration = Duration::from_secs(30 * 60);
/// How many relays share the lanes.
const RELAYS: usize = 2;

impl Showroom {
    /// Runs until somebody stops it.
    pub(super) async fn run(self, path: &Path, mut signals: Signals) -> Result<End> {
        let url = format!("sqlite://{}", path.display());
        let exporter = Exporter::install(metric::DEFAULT_PREFIX)?;
        let outbox = Outbox::open(&url).await?;
        let pool = sqlite::pool(&url).await?;
        let town = Arc::new(Town::new(self.seed));
        let mut relays = Vec::new();
        for _ in 0..RELAYS {
            relays.push(start_relay(&outbox, &town).await?);
        }
        let tokens = Tokens::new()?;
        let server = self
            .server(&outbox, &pool, &tokens)
            .exporter(exporter)
            .relay(relays[0].pulse())
            .config(config(&url));
        let server = Kind::ALL
            .iter()
            .fold(server, |server, kind| server.sink(kind.name(), Arc::new(Destination::new(*kind, &town))));
        let bound = server.bind().await.map_err(|error| {
            Coded::new(
                REFUSED,
                anyhow::Error::new(error).context("write --listen 127.0.0.1:0 to take a free port"),
            )
        })?;
        print(&greeting(&bound, &tokens, Look::of_stdout()))?;

        let (stop, stopped) = oneshot::channel::<()>();
        let serving = bound.run(async {
            // Whoever is gone has said so as well.
            _ = stopped.await;
        });
        let until = async move {
            let business = Business::new(&outbox, &pool, self.seed);
            let ended = tokio::select! {
                ended = business.run(self.rate) => ended,
                () = town.live() => Ok(()),
                _ = signals.next() => Ok(()),
            };
            for relay in relays {
                _ = relay.stop().await;
            }
            pool.close().await;
            _ = stop.send(());
            ended
        };
        let ((), ended) = tokio::join!(serving, until);
        ended.context("the shop could not write")?;
        print("\nStopped; the demo's file is deleted.\n")?;
        Ok(End::Fine)
    }

    fn server(&self, outbox: &Outbox, pool: &SqlitePool, tokens: &Tokens) -> Server {
        let token =
            |name: &str, role, secret: &str| Token { name: name.to_owned(), role, hash: Hash::of(secret) };
        let settings = posthaste_server::Settings {
            listen: self.listen,
            tokens: vec![
                token("viewer", Role::Viewer, &tokens.viewer),
                token("operator", Role::Operator, &tokens.operator),
            ],
            redaction: Redaction::new(["card.number"]).unwrap_or_default(),
            alerts: Some(Alerts::default()),
            ..posthaste_server::Settings::default()
        };
        let publisher = Through { outbox: outbox.clone(), pool: pool.clone() };
        Server::new(settings, outbox.driver()).publisher(Arc::new(publisher))
    }
}

async fn start_relay(outbox: &Outbox, town: &Arc<Town>) -> Result<Relay> {
    let mut settings = Settings { prune_interval: Duration::from_secs(30), ..Settings::default() };
    (settings.retention.events, settings.retention.lines) = (KEPT, KEPT);
    let relay = Kind::ALL.iter().fold(outbox.relay().settings(settings), |relay, kind| {
        relay.subscribe(subscription(*kind), Destination::new(*kind, town))
    });
    Ok(relay.start().await?)
}

fn subscription(kind: Kind) -> Subscription {
    let usual = Subscription::new(kind.name());
    match kind {
        Kind::Warehouse => usual,
        Kind::Email => {
            let retry =
                RetryPolicy { base: Duration::from_secs(2), max_attempts: 5, ..RetryPolicy::default() };
            Subscription { retry, ..usual }
        }
        Kind::Payments => {
            let filter = Filter { types: vec![Pattern::new("order.*")], ..Filter::default() };
            Subscription { filter, ..usual }
        }
        Kind::Invoices => Subscription { on_dead: OnDead::Hold, ..usual },
    }
}

struct Tokens {
    viewer: String,
    operator: String,
}

impl Tokens {
    fn new() -> Result<Self> {
        Ok(Self { viewer: generate()?.0, operator: generate()?.0 })
    }
}

fn greeting(bound: &Bound, tokens: &Tokens, look: Look) -> String {
    let address = bound.address();
    format!(
        "{}\n\n  address         {}\n  operator token  {}\n  viewer token    {}\n\n{}\n",
        look.strong("Posthaste demo: a small shop, with its dashboard"),
        look.strong(format!("http://{address}/")),
        tokens.operator,
        tokens.viewer,
        look.faint("It runs until Ctrl-C. Only this machine can reach it.")
    )
}

/// What a file would say. There is none, and the page says so.
fn config(url: &str) -> String {
    format!(
        "# posthaste demo --dashboard has no file; this is what one would say.
database:
  url: {url}
relay:
  lease: 15s  # default
retention:
  events: 30m
  lines: 30m
subscriptions:  # each is a function in this process
  - name: {WAREHOUSE}
    on_dead: continue  # default
  - name: {EMAIL}
    retry:
      max_attempts: 5
      base: 2s
  - name: {PAYMENTS}
    types: [order.*]
  - name: {INVOICES}
    on_dead: hold
server:
  tokens:
    - name: viewer
      role: viewer
      sha256: ***
    - name: operator
      role: operator
      sha256: ***
  redact: [card.number]
  alerts: {{}}
"
    )
}
