//! A server from its settings to its end.

use std::{future::Future, net::SocketAddr, sync::Arc};

use posthaste::{Admin, Error, ErrorKind, Publisher, Pulse, Result, Sink};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};

use crate::{
    alert::{Watch, deliver},
    api,
    app::{App, Parts},
    backing::{Backing, Entrance},
    connections,
    exporter::Exporter,
    live::sampler::{self, Alarm},
    settings::Settings,
    tuned::Tunable,
};

/// Puts a server together.
#[must_use = "call bind()"]
pub struct Server {
    parts: Parts,
    backing: Option<Backing>,
}

impl Server {
    /// A server over what operators can ask and do.
    pub fn new(settings: Settings, admin: Arc<dyn Admin>) -> Self {
        Self { backing: Some(Backing::new(admin)), ..Self::waiting(settings) }
    }

    /// A server over what is not there yet: until it comes through the [`Entrance`] the server is alive, and not ready.
    pub fn waiting(settings: Settings) -> Self {
        Self { parts: Parts { settings, config: None, exporter: None, sinks: Vec::new() }, backing: None }
    }

    /// Lets operators publish events through this.
    pub fn publisher(self, publisher: Arc<dyn Publisher>) -> Self {
        self.over(|backing| backing.publisher(publisher))
    }

    /// Looks after the relay in this process: without it the server is not ready.
    pub fn relay(self, pulse: Pulse) -> Self {
        self.over(|backing| backing.relay(pulse))
    }

    /// Lets operators change what can change while the relay runs.
    pub fn tunable(self, tunable: Arc<dyn Tunable>) -> Self {
        self.over(|backing| backing.tunable(tunable))
    }

    fn over(self, change: impl FnOnce(Backing) -> Backing) -> Self {
        Self { backing: self.backing.map(change), ..self }
    }

    /// Shows this as the configuration. It must have no secrets.
    pub fn config(mut self, text: impl Into<String>) -> Self {
        self.parts.config = Some(text.into());
        self
    }

    /// Answers with these metrics, and makes the live figures of them.
    pub fn exporter(mut self, exporter: Exporter) -> Self {
        self.parts.exporter = Some(exporter);
        self
    }

    /// Asks a destination from time to time whether it answers.
    pub fn sink(mut self, subscription: impl Into<String>, sink: Arc<dyn Sink>) -> Self {
        self.parts.sinks.push((subscription.into(), sink));
        self
    }

    /// Checks the settings and takes the address. From here on callers may connect; they are answered when it runs.
    pub async fn bind(mut self) -> Result<Bound> {
        self.parts.settings.validate()?;
        let listen = self.parts.settings.listen;
        let taken = |error: std::io::Error| {
            let kind = match error.kind() {
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::AddrNotAvailable => {
                    ErrorKind::Refused
                }
                _ => ErrorKind::Unavailable,
            };
            Error::new(kind, format!("cannot listen on {listen}; set server.listen to a free address"))
                .with_source(error)
        };
        let listener = TcpListener::bind(listen).await.map_err(taken)?;
        // Port 0 is whatever was free.
        self.parts.settings.listen = listener.local_addr().map_err(taken)?;
        let bound = Bound { address: self.parts.settings.listen, app: App::new(self.parts), listener };
        if let Some(backing) = self.backing {
            bound.entrance().open(backing);
        }
        Ok(bound)
    }
}

/// A server that has its address.
#[must_use = "call run()"]
pub struct Bound {
    app: App,
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How what is to be served gets in, if it comes later.
    #[must_use]
    pub fn entrance(&self) -> Entrance {
        Entrance(self.app.clone())
    }

    /// Answers until `shutdown`, and then finishes what is under way.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Self { app, listener, .. } = self;
        // They end with the set, when nobody is answered any more.
        let _loops = start_loops(&app);
        let closing = app.clone();
        let shutdown = async move {
            shutdown.await;
            // A stream never ends by itself.
            closing.hub.close();
        };
        connections::serve(listener, api::router(app), shutdown).await;
    }
}

/// How many alerts may wait while one is sent.
const ALERTS: usize = 100;

fn start_loops(app: &App) -> JoinSet<()> {
    let mut loops = JoinSet::new();
    loops.spawn(sampler::ask_database(app.clone()));
    loops.spawn(sampler::look_for_damage(app.clone()));
    for (subscription, sink) in &app.sinks {
        loops.spawn(sampler::ask_sink(app.clone(), subscription.clone(), Arc::clone(sink)));
    }
    let alarm = app.settings.alerts.as_ref().map(|alerts| {
        let (sender, receiver) = mpsc::channel(ALERTS);
        loops.spawn(deliver(receiver, alerts.webhook.clone(), app.settings.public_url.clone()));
        Alarm { watch: Watch::new(alerts), alerts: sender }
    });
    loops.spawn(sampler::run(app.clone(), alarm));
    loops
}
