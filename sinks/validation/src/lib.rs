//! A step before a sink: an event whose payload is not what it has to be is a dead letter, `schema_validation_failed`, and never
//! reaches the destination.
//!
//! ```
//! use posthaste_core::Pattern;
//! use posthaste_validation::Rules;
//!
//! let mut rules = Rules::new(true);
//! rules.add(Pattern::new("order.*"), r#"{ "required": ["id"] }"#)?;
//! # Ok::<(), posthaste_core::Error>(())
//! ```
//!
//! Deliberately absent: a registry. A relay that needs one to deliver would stand still with it; and a schema in a file changes when
//! the relay is told so: [`ValidatedSink::set_rules`].

mod rules;
mod sink;

pub use self::{rules::Rules, sink::ValidatedSink};
