//! Alerts: when something dies, a subscription pauses, a destination goes down or events are late, somebody hears of it.

mod deliver;
mod signature;
mod watch;

use std::time::Duration;

use posthaste::{Error, Result};
use serde::Serialize;
use url::Url;

pub use self::signature::Secret;
pub(crate) use self::{deliver::deliver, watch::Watch};

/// How alerts are sent.
#[derive(Clone, Debug)]
pub struct Alerts {
    /// How long nothing more is said of the same thing in the same subscription. What happens meanwhile is gathered.
    pub quiet: Duration,
    /// How old the oldest event may be that is pending or failed.
    pub lag: Duration,
    /// How many dead letters of a subscription since its last alert it takes for another one.
    pub dead_letters: u64,
    /// Where alerts go besides the log.
    pub webhook: Option<Webhook>,
}

impl Default for Alerts {
    fn default() -> Self {
        Self { quiet: Duration::from_secs(300), lag: Duration::from_secs(60), dead_letters: 1, webhook: None }
    }
}

/// Where alerts are sent to.
#[derive(Clone, Debug)]
pub struct Webhook {
    url: Url,
    secret: Secret,
}

impl Webhook {
    /// A webhook at this address, signed with this secret.
    pub fn new(url: &str, secret: Secret) -> Result<Self> {
        let parsed =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        match parsed {
            Some(url) => Ok(Self { url, secret }),
            // Not shown: there may be a password in it.
            None => Err(Error::invalid(
                "the address of the webhook does not begin with https:// or http:// and a host",
            )),
        }
    }
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    DeadLetter,
    Paused,
    CircuitOpen,
    Lag,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::DeadLetter => "dead_letter",
            Kind::Paused => "paused",
            Kind::CircuitOpen => "circuit_open",
            Kind::Lag => "lag",
        }
    }
}

/// Something that somebody should hear of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alert {
    pub(crate) kind: Kind,
    pub(crate) subscription: String,
    pub(crate) news: News,
}

/// What is new about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// It happened so many times since it was told last.
    Happened(u64),
    /// It is so now; with the figure, where there is one.
    Began(Option<f64>),
    /// It is over.
    Ended,
}

/// An alert as its receiver sees it.
#[derive(Serialize)]
struct Message<'a> {
    /// `posthaste.dead_letter`, `posthaste.paused`, `posthaste.circuit_open` or `posthaste.lag`.
    #[serde(rename = "type")]
    kind: String,
    timestamp: String,
    data: Detail<'a>,
}

#[derive(Serialize)]
struct Detail<'a> {
    subscription: &'a str,
    /// `happened`, `began` or `ended`.
    state: &'static str,
    count: Option<u64>,
    lag_seconds: Option<f64>,
    summary: String,
    /// Where to look.
    link: Option<String>,
}

impl Alert {
    /// In words.
    pub(crate) fn summary(&self) -> String {
        let name = &self.subscription;
        match (self.kind, self.news) {
            (Kind::DeadLetter, News::Happened(1)) => format!("an event of {name} became a dead letter"),
            (Kind::DeadLetter, News::Happened(count)) => {
                format!("{count} events of {name} became dead letters")
            }
            (Kind::Paused, News::Ended) => format!("{name} goes on"),
            (Kind::Paused, _) => format!("{name} is paused"),
            (Kind::CircuitOpen, News::Ended) => format!("the destination of {name} answers again"),
            (Kind::CircuitOpen, _) => format!("the destination of {name} is down; its events wait"),
            (Kind::Lag, News::Ended) => format!("{name} has caught up"),
            (Kind::Lag, News::Began(Some(lag))) => format!("the oldest event of {name} is {lag:.0} s old"),
            (Kind::Lag | Kind::DeadLetter, _) => format!("{name} is behind"),
        }
    }

    /// As its receiver sees it.
    pub(crate) fn message(&self, at: String, dashboard: Option<&str>) -> String {
        let (state, count, lag_seconds) = match self.news {
            News::Happened(count) => ("happened", Some(count), None),
            News::Began(lag) => ("began", None, lag),
            News::Ended => ("ended", None, None),
        };
        let place = if self.kind == Kind::DeadLetter { "dead-letters" } else { "subscriptions" };
        let link = dashboard
            .map(|base| format!("{}/{place}?subscription={}", base.trim_end_matches('/'), self.subscription));
        let data = Detail {
            subscription: &self.subscription,
            state,
            count,
            lag_seconds,
            summary: self.summary(),
            link,
        };
        let message = Message { kind: format!("posthaste.{}", self.kind.as_str()), timestamp: at, data };
        serde_json::to_string(&message).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_says_what_happened_and_where_to_look() {
        let alert =
            Alert { kind: Kind::DeadLetter, subscription: "billing".to_owned(), news: News::Happened(3) };
        let message = alert.message("2026-03-01T12:00:00Z".to_owned(), Some("https://outbox.example/"));
        assert_eq!(
            message,
            r#"{"type":"posthaste.dead_letter","timestamp":"2026-03-01T12:00:00Z","data":{"subscription":"billing","state":"happened","count":3,"lag_seconds":null,"summary":"3 events of billing became dead letters","link":"https://outbox.example/dead-letters?subscription=billing"}}"#
        );
    }

    #[test]
    fn a_webhook_is_somewhere_on_the_web() {
        let secret = || Secret::parse("whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0").unwrap();
        for bad in ["", "hook", "ftp://a/b", "https://", "file:///etc/passwd", "https:/a b"] {
            let error = Webhook::new(bad, secret());
            assert!(error.is_err() || bad == "https:/a b", "{bad}");
        }
        assert!(Webhook::new("https://ada:hunter2@hooks.example/x", secret()).is_ok());
    }
}
