//! `server`: the operators' API, metrics, health, alerts and the dashboard. What is not written is not served.

use std::{net::SocketAddr, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    kind::{self, Kind},
    section::Section,
};

/// What `server` says. Closed unless opened: without tokens nobody gets in.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may log in.
    pub tokens: Vec<Token>,
    /// Whether everybody who can reach it is an operator.
    pub open: bool,
    /// Under which address people reach it, if that is another.
    pub public_url: Option<String>,
    /// The fields of payloads that are never shown.
    pub redact: Vec<String>,
    /// Whether metrics need no token.
    pub public_metrics: bool,
    /// Whether the dashboard is served.
    pub dashboard: bool,
    /// From where on something counts as bad.
    pub health: Health,
    /// Who hears of what is bad; nobody unless written.
    pub alerts: Option<Alerts>,
}

/// Somebody who may log in.
#[derive(Clone, Debug)]
pub struct Token {
    /// Who.
    pub name: String,
    /// What he may do.
    pub role: Role,
    /// The SHA-256 of the token, as 64 hexadecimal digits.
    pub sha256: String,
}

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Look at everything.
    Viewer,
    /// Also change things.
    Operator,
}

/// From where on something counts as bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Health {
    /// How old the oldest event may be that is not delivered.
    pub lag: Duration,
    /// How many events may wait for a retry.
    pub retry_depth: u64,
    /// How large a share of the deliveries has to succeed.
    pub success_rate: f64,
    /// How many events may die in an hour.
    pub dead_per_hour: u64,
    /// How long a subscription with work may stand still.
    pub stalled: Duration,
}

/// Who hears of what is bad.
#[derive(Clone, Debug)]
pub struct Alerts {
    /// How long nothing more is said of the same thing.
    pub quiet: Duration,
    /// From where on events are late.
    pub lag: Duration,
    /// How many dead letters it takes for an alert.
    pub dead_letters: u64,
    /// Where alerts are sent to, besides the log.
    pub webhook: Option<Webhook>,
}

/// Where alerts are sent to.
#[derive(Clone)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// What they are signed with.
    pub secret: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

const ROLES: [(&str, Role); 2] = [("viewer", Role::Viewer), ("operator", Role::Operator)];
const ACCESS: [(&str, bool); 2] = [("token", false), ("public", true)];
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads `server`.
pub(crate) fn read(section: Section<'_>) -> Server {
    let usual = SocketAddr::from(([127, 0, 0, 1], 8025));
    let server = Server {
        listen: section.or("listen", &address(), usual),
        tokens: section.sections_or_none("tokens").filter_map(read_token).collect(),
        open: section.or("open", &kind::switch(), false),
        public_url: section.optional("public_url", &kind::url("https://outbox.example")),
        redact: section.list("redact", &path()),
        public_metrics: section.or("metrics", &kind::word(&ACCESS), false),
        dashboard: section.or("dashboard", &kind::switch(), true),
        health: read_health(section.section("health")),
        alerts: section.section_if_written("alerts").map(read_alerts),
    };
    agree(&section, &server);
    section.end();
    server
}

fn read_token(section: Section<'_>) -> Option<Token> {
    let name = section.required("name", &name());
    let role = section.required("role", &kind::word(&ROLES));
    let sha256 = section.required("sha256", &hash());
    section.end();
    Some(Token { name: name?, role: role?, sha256: sha256? })
}

fn read_health(section: Section<'_>) -> Health {
    let health = Health {
        lag: section.or("lag", &kind::time(SECOND..=30 * DAY), 60 * SECOND),
        retry_depth: section.or("retry_depth", &kind::number(0..=1_000_000_000), 1_000),
        success_rate: section.or("success_rate", &kind::fraction(0.0..=1.0), 0.95),
        dead_per_hour: section.or("dead_per_hour", &kind::number(0..=1_000_000_000), 10),
        stalled: section.or("stalled", &kind::time(SECOND..=DAY), 120 * SECOND),
    };
    section.end();
    health
}

fn read_alerts(section: Section<'_>) -> Alerts {
    let alerts = Alerts {
        quiet: section.or("quiet", &kind::time(SECOND..=DAY), 300 * SECOND),
        lag: section.or("lag", &kind::time(SECOND..=30 * DAY), 60 * SECOND),
        dead_letters: section.or("dead_letters", &kind::number(1..=1_000_000_000), 1),
        webhook: section.section_if_written("webhook").and_then(read_webhook),
    };
    section.end();
    alerts
}

fn read_webhook(section: Section<'_>) -> Option<Webhook> {
    let url = section.required("url", &kind::url("https://hooks.example/posthaste"));
    let secret = section.required("secret", &signing_secret());
    section.end();
    Some(Webhook { url: url?, secret: secret? })
}

/// A secret as Standard Webhooks writes it.
fn signing_secret() -> Kind<String> {
    let is_secret = |text: &str| {
        let bytes = text.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
        bytes.is_some_and(|bytes| (24..=64).contains(&bytes.len()))
    };
    let kind = kind::secret("whsec_ and 24 to 64 bytes in base 64");
    kind.that(is_secret)
}

/// What each value allows by itself may still not fit together.
fn agree(section: &Section<'_>, server: &Server) {
    if !server.listen.ip().is_loopback() && server.tokens.is_empty() && section.is_fine() {
        let text = format!(
            "is {}, where others can reach it, and tokens is empty; add a token, or listen on 127.0.0.1",
            server.listen
        );
        section.problem("listen", text);
    }
    if server.open && !server.tokens.is_empty() {
        section.problem("open", "is true, and there are tokens; leave one of the two out");
    }
    for (index, token) in server.tokens.iter().enumerate() {
        if server.tokens[..index].iter().any(|other| other.name == token.name) {
            section.problem("tokens", format!("has two with the name {}; each needs its own", token.name));
        }
    }
}

fn address() -> Kind<SocketAddr> {
    let allowed = "an address with a port, such as 127.0.0.1:8025 or 0.0.0.0:8025";
    Kind::new("text", allowed, |text| text.parse().map_err(|_| None), ToString::to_string)
}

fn name() -> Kind<String> {
    kind::matching("1 to 100 letters, digits, -, _, @ or .", |text| {
        let good = |c: char| c.is_alphanumeric() || "-_@.".contains(c);
        (1..=100).contains(&text.chars().count()) && text.chars().all(good)
    })
}

/// A hash is no secret: it says nothing of the token. What was written by mistake instead of it may be one.
fn hash() -> Kind<String> {
    let is_hash = |text: &str| text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
    let parse = move |text: &str| if is_hash(text) { Ok(text.to_ascii_lowercase()) } else { Err(None) };
    kind::hidden_if_wrong(Kind::new(
        "text",
        "the SHA-256 of the token, as 64 hexadecimal digits",
        parse,
        Clone::clone,
    ))
}

fn path() -> Kind<String> {
    kind::matching("the path of a field, such as card.number, *.password or **.password", |text| {
        text.split('.').all(|step| !step.is_empty()) && !text.ends_with("**")
    })
}
