//! What is served beside the relay: the operators' API, metrics, health, alerts and the dashboard.

use std::sync::Arc;

use posthaste::Result;
use posthaste_config::Role;
use posthaste_server::{
    Access, Alerts, Backing, Entrance, Exporter, Hash, Limits, Redaction, Secret, Server, Settings, Token,
    Webhook,
};
use tokio::{sync::oneshot, task::JoinSet};
use tracing::{info, warn};

use super::{job::Job, start::Started, tap::Tap, tune::Controls};

/// A server that runs until it is told to stop.
pub(super) struct Operating {
    task: JoinSet<()>,
    stop: oneshot::Sender<()>,
    entrance: Entrance,
}

impl Operating {
    /// Why there is nothing to serve yet.
    pub(super) fn waits(&self, reason: String) {
        self.entrance.waits(reason);
    }

    /// Serves a relay that has started.
    pub(super) async fn open(&self, job: &Job, started: &Started, controls: Controls) -> Result<()> {
        let url = job.database.address.expose();
        let publisher = posthaste::publisher(url, &started.outbox).await?;
        let backing = Backing::new(started.outbox.driver())
            .relay(started.relay.pulse())
            .publisher(publisher)
            .tunable(Arc::new(controls));
        self.entrance.open(backing);
        Ok(())
    }

    /// Finishes what is being answered.
    pub(super) async fn stop(mut self) {
        _ = self.stop.send(());
        while self.task.join_next().await.is_some() {}
    }
}

/// Records metrics, if they are to be served: before the relay starts, which looks them up once.
pub(super) fn record(job: &Job) -> Result<Option<Exporter>> {
    job.server.as_ref().map(|_| Exporter::install(&job.metrics_prefix)).transpose()
}

/// Starts serving, if that is configured: before the database answers, so that it can be seen that it is waited for.
pub(super) async fn start(job: &Job, taps: &[Tap], exporter: Option<Exporter>) -> Result<Option<Operating>> {
    let Some(config) = &job.server else { return Ok(None) };
    let mut server = Server::waiting(settings(config)?);
    if let Some(exporter) = exporter {
        server = server.exporter(exporter);
    }
    for (name, tap) in job.names().zip(taps) {
        server = server.sink(name, Arc::new(tap.clone()));
    }
    if let Some(config) = &job.config {
        server = server.config(config.show());
    }
    let bound = server.bind().await?;
    tell(config, &bound.address().to_string());
    let (entrance, (stop, stopped)) = (bound.entrance(), oneshot::channel());
    let mut task = JoinSet::new();
    task.spawn(bound.run(async {
        // A relay that is gone has dropped its end.
        _ = stopped.await;
    }));
    Ok(Some(Operating { task, stop, entrance }))
}

fn tell(config: &posthaste_config::Server, address: &str) {
    info!(%address, tokens = config.tokens.len(), open = config.open, "serving the API");
    if config.tokens.is_empty() && !config.open {
        warn!("nobody can log in to the API: there are no tokens, and server.open is not set");
    }
    let webhook = config.alerts.as_ref().is_some_and(|alerts| alerts.webhook.is_some());
    if webhook && config.public_url.is_none() {
        warn!("alerts have no link to the dashboard: server.public_url is not set");
    }
}

/// The settings that a file asks for.
pub(super) fn settings(config: &posthaste_config::Server) -> Result<Settings> {
    let tokens: Option<Vec<Token>> = config.tokens.iter().map(token).collect();
    let health = config.health;
    let settings = Settings {
        listen: config.listen,
        tokens: tokens
            .ok_or_else(|| posthaste::Error::invalid("a token's sha256 is not 64 hexadecimal digits"))?,
        open: config.open,
        public_url: config.public_url.clone(),
        redaction: Redaction::new(config.redact.iter().map(String::as_str))?,
        metrics: if config.public_metrics { Access::Public } else { Access::Token },
        dashboard: config.dashboard,
        limits: Limits {
            lag: health.lag,
            retry_depth: health.retry_depth,
            success_rate: health.success_rate,
            dead_per_hour: health.dead_per_hour,
            stalled: health.stalled,
        },
        alerts: config.alerts.as_ref().map(alerts).transpose()?,
    };
    settings.validate()?;
    Ok(settings)
}

fn token(config: &posthaste_config::Token) -> Option<Token> {
    let role = match config.role {
        Role::Viewer => posthaste_server::Role::Viewer,
        Role::Operator => posthaste_server::Role::Operator,
    };
    Some(Token { name: config.name.clone(), role, hash: Hash::parse(&config.sha256)? })
}

fn alerts(config: &posthaste_config::Alerts) -> Result<Alerts> {
    let webhook = config.webhook.as_ref().map(|webhook| {
        let secret = Secret::parse(&webhook.secret).ok_or_else(|| {
            posthaste::Error::invalid(
                "server.alerts.webhook.secret is not whsec_ and 24 to 64 bytes in base 64",
            )
        })?;
        Webhook::new(&webhook.url, secret)
    });
    Ok(Alerts {
        quiet: config.quiet,
        lag: config.lag,
        dead_letters: config.dead_letters,
        webhook: webhook.transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use posthaste_config::{Config, System};

    use super::*;

    #[test]
    fn what_a_file_says_is_what_the_server_does() {
        let text = format!(
            "database: {{ url: sqlite://shop.db }}
server:
  listen: 0.0.0.0:1
  tokens: [{{ name: ada, role: operator, sha256: '{}' }}]
  public_url: https://outbox.example
  metrics: public
  redact: [card]
  health: {{ lag: 5s }}
  alerts: {{ webhook: {{ url: 'https://a', secret: whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0 }} }}
subscriptions: [{{ name: a, sink: {{ stdout: {{}} }} }}]
",
            Hash::of("x")
        );
        let config = Config::parse(&text, &System).unwrap().server.unwrap();
        let settings = settings(&config).unwrap();

        assert_eq!(settings.tokens[0].hash, Hash::of("x"));
        assert_eq!((settings.metrics, settings.limits.lag.as_secs()), (Access::Public, 5));
        assert!(settings.alerts.unwrap().webhook.is_some());
    }

    #[test]
    fn the_defaults_of_the_file_are_those_of_the_server() {
        let text = "database: { url: sqlite://shop.db }\nserver: { alerts: {} }\nsubscriptions: [{ name: a, sink: { stdout: {} } }]\n";
        let settings = settings(&Config::parse(text, &System).unwrap().server.unwrap()).unwrap();
        let usual = Settings::default();

        assert_eq!((settings.listen, settings.metrics), (usual.listen, usual.metrics));
        assert_eq!(
            (settings.limits, settings.dashboard, settings.open),
            (usual.limits, usual.dashboard, usual.open)
        );
        let (alerts, usual) = (settings.alerts.unwrap(), Alerts::default());
        assert_eq!(
            (alerts.quiet, alerts.lag, alerts.dead_letters),
            (usual.quiet, usual.lag, usual.dead_letters)
        );
    }
}
