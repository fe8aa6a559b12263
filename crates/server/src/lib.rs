//! The operators' side of Posthaste over HTTP: an API with its OpenAPI document, live figures, metrics, health, alerts and a dashboard.
//!
//! Everything is done through [`posthaste::Admin`]; the server has no query of its own. It is closed by default: it listens on a
//! loopback address, refuses one that others can reach without tokens, and without tokens nobody gets in.
//!
//! ```no_run
//! # async fn serve(outbox: posthaste::Outbox) -> posthaste::Result<()> {
//! use posthaste_server::{Hash, Role, Server, Settings, Token};
//!
//! let (secret, hash) = posthaste_server::generate()?;
//! let token = Token { name: "ada".to_owned(), role: Role::Operator, hash };
//! let settings = Settings { tokens: vec![token], ..Settings::default() };
//! let server = Server::new(settings, outbox.driver()).bind().await?;
//! println!("http://{} with the token {secret}", server.address());
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```

mod alert;
mod api;
mod app;
mod backing;
mod connections;
pub mod cursor;
mod dashboard;
mod exporter;
mod guard;
mod health;
mod input;
mod live;
mod lockout;
mod problem;
mod redact;
mod server;
mod settings;
pub mod time;
mod token;
mod tuned;

pub use posthaste::{Publisher, Through};

pub use self::{
    alert::{Alerts, Secret, Webhook},
    api::document,
    backing::{Backing, Entrance},
    exporter::Exporter,
    health::Limits,
    redact::{Redaction, is_path},
    server::{Bound, Server},
    settings::{Access, DEFAULT_PORT, Settings},
    token::{Hash, Role, Token, generate},
    tuned::{Tunable, Tuned},
};
