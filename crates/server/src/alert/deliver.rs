//! Sending alerts: to the log, and to a webhook with some patience. No redirect is followed: the address is the operator's.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    http::{Request, StatusCode, header::CONTENT_TYPE},
};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use posthaste::{Clock, RetryPolicy, SystemClock, Timestamp};
use tokio::{sync::mpsc, time::timeout};
use uuid::Uuid;

use super::{Alert, Webhook};
use crate::time;

/// How often a message is tried.
const TRIES: u32 = 6;
/// How long one try may take.
const TRY_TIME: Duration = Duration::from_secs(10);

type Poster = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Sends alerts, one after the other, as they come.
pub(crate) async fn deliver(
    mut alerts: mpsc::Receiver<Alert>,
    webhook: Option<Webhook>,
    dashboard: Option<String>,
) {
    let poster = webhook.as_ref().and_then(|_| poster());
    while let Some(alert) = alerts.recv().await {
        let summary = alert.summary();
        tracing::warn!(kind = alert.kind.as_str(), subscription = alert.subscription, summary, "alert");
        if let (Some(webhook), Some(poster)) = (&webhook, &poster) {
            let message = alert.message(time::text(SystemClock.now()), dashboard.as_deref());
            send(poster, webhook, message).await;
        }
    }
}

/// With the system's certificates, and the same implementation of TLS as the program's other connections.
fn poster() -> Option<Poster> {
    let provider = rustls::crypto::ring::default_provider();
    let connector = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
    match connector {
        Ok(connector) => {
            let connector = connector.https_or_http().enable_http1().build();
            Some(Client::builder(TokioExecutor::new()).build(connector))
        }
        Err(error) => {
            tracing::error!(%error, "the system's certificates cannot be read; alerts go to the log only");
            None
        }
    }
}

/// Sends one message until it is taken, or until it has been tried often enough. Each try has the same id, so that the receiver knows
/// a repeat.
async fn send(poster: &Poster, webhook: &Webhook, message: String) {
    let id = format!("msg_{}", Uuid::now_v7().simple());
    let policy =
        RetryPolicy { base: Duration::from_secs(1), max: Duration::from_secs(60), ..RetryPolicy::default() };
    for attempt in 1..=TRIES {
        let error = match timeout(TRY_TIME, post(poster, webhook, &id, &message)).await {
            Ok(Ok(status)) if status.is_success() => return,
            Ok(Ok(status)) => format!("it answered {status}"),
            Ok(Err(error)) => error,
            Err(_) => format!("no answer within {TRY_TIME:?}"),
        };
        tracing::warn!(id, attempt, error, "an alert could not be sent");
        if attempt < TRIES {
            tokio::time::sleep(policy.delay(attempt, fastrand::f64())).await;
        }
    }
    tracing::error!(id, "an alert was given up");
}

async fn post(poster: &Poster, webhook: &Webhook, id: &str, message: &str) -> Result<StatusCode, String> {
    let Timestamp(micros) = SystemClock.now();
    let timestamp = u64::try_from(micros / 1_000_000).unwrap_or(0);
    let request = Request::post(webhook.url.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp)
        .header("webhook-signature", webhook.secret.sign(id, timestamp, message))
        .body(Full::from(message.to_owned()))
        .map_err(|error| error.to_string())?;
    let response = poster.request(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    // What it says besides is of no interest.
    drop(Body::new(response.into_body()));
    Ok(status)
}
