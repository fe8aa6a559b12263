//! A server over a log in a file of its own, with somebody to ask it.

use std::{sync::Arc, time::Duration};

use posthaste::{
    Event, EventId, OnDead, Outbox, Relay, RetryPolicy, Settings as RelaySettings, Sink, Subscription,
    sqlite::{self, SqlitePool},
};
use posthaste_server::{Bound, Hash, Redaction, Role, Server, Settings, Through, Token};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinSet, time::timeout};

use crate::{
    caller::{Caller, PATIENCE},
    tuning::Knobs,
};

pub(crate) const VIEWER: &str = "a viewer's token";
pub(crate) const OPERATOR: &str = "an operator's token";

pub(crate) struct Fixture {
    pub(crate) outbox: Outbox,
    pub(crate) pool: SqlitePool,
    _folder: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with_prefix("outbox").await
    }

    /// With this prefix of the metrics' names.
    pub(crate) async fn with_prefix(prefix: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let outbox = Outbox::builder(&url).lanes(4).metrics_prefix(prefix).open().await.unwrap();
        let pool = sqlite::pool(&url).await.unwrap();
        Self { outbox, pool, _folder: folder }
    }

    /// A server over the log that can do everything.
    pub(crate) fn server(&self, settings: Settings) -> Server {
        let publisher = Through { outbox: self.outbox.clone(), pool: self.pool.clone() };
        Server::new(settings, self.outbox.driver())
            .publisher(Arc::new(publisher))
            .tunable(Arc::new(Knobs::new(None)))
            .config("lease: 15s\n")
    }

    /// A server with a viewer and an operator.
    pub(crate) async fn serve(&self) -> Running {
        serve(self.server(settings())).await
    }

    pub(crate) async fn publish(&self, event_type: &'static str, key: &str, payload: &Value) -> EventId {
        let event = Event::of(event_type).key(key).topic("orders").json(payload).unwrap();
        let mut tx = sqlite::begin(&self.pool).await.unwrap();
        let staged = self.outbox.publish(&mut tx, event).await.unwrap();
        let id = staged.id();
        self.outbox.commit(tx, staged).await.unwrap();
        id
    }

    /// A relay with one subscription, `billing`, which gives events up at their first failure.
    pub(crate) async fn relay(&self, sink: impl Sink) -> Relay {
        self.relay_with(sink, OnDead::Continue).await
    }

    pub(crate) async fn relay_with(&self, sink: impl Sink, on_dead: OnDead) -> Relay {
        let retry = RetryPolicy { max_attempts: 1, ..RetryPolicy::default() };
        let subscription = Subscription { retry, on_dead, ..Subscription::new("billing") };
        let settings = RelaySettings {
            lease: Duration::from_secs(2),
            poll_max: Duration::from_millis(20),
            settle_interval: Duration::ZERO,
            ..RelaySettings::default()
        };
        self.outbox.relay().settings(settings).subscribe(subscription, sink).start().await.unwrap()
    }

    /// Publishes events that all die in `billing`, one for each payload, and stops.
    pub(crate) async fn dead(&self, payloads: &[Value], on_dead: OnDead) {
        let relay = self.relay_with(crate::sinks::Failing::refusing(), on_dead).await;
        for payload in payloads {
            self.publish("order.placed", "order-7", payload).await;
        }
        wait_until("all are dead or wait", async || {
            let status = self.outbox.admin().status().await.unwrap();
            status.subscriptions.iter().any(|found| found.dead + found.failed >= payloads.len() as u64)
        })
        .await;
        relay.stop().await;
    }
}

/// A viewer, an operator, and a card number that nobody sees.
pub(crate) fn settings() -> Settings {
    let token = |name: &str, role, secret| Token { name: name.to_owned(), role, hash: Hash::of(secret) };
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        tokens: vec![token("vera", Role::Viewer, VIEWER), token("olaf", Role::Operator, OPERATOR)],
        redaction: Redaction::new(["card.number"]).unwrap(),
        ..Settings::default()
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) viewer: Caller,
    pub(crate) operator: Caller,
    pub(crate) stranger: Caller,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinSet<()>,
}

pub(crate) async fn serve(server: Server) -> Running {
    serve_bound(server.bind().await.unwrap())
}

pub(crate) fn serve_bound(bound: Bound) -> Running {
    let address = bound.address();
    let (stop, stopped) = oneshot::channel();
    let mut task = JoinSet::new();
    task.spawn(bound.run(async { _ = stopped.await }));
    let caller = |token: Option<&str>| Caller { address, token: token.map(str::to_owned) };
    Running {
        viewer: caller(Some(VIEWER)),
        operator: caller(Some(OPERATOR)),
        stranger: caller(None),
        stop: Some(stop),
        task,
    }
}

pub(crate) async fn wait_until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !condition().await {
            // Waits for a condition.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("waited too long until {what}"));
}

/// A payload with a card.
pub(crate) fn card() -> Value {
    json!({ "order": 7, "card": { "number": "4111", "owner": "<b>Ada</b>" } })
}
