//! The engine of Posthaste: it holds lanes, reads entries, delivers them in order and settles the outcomes.
//!
//! What a relay does is decided by the [`machine`], pure code without I/O or clock, which a simulation drives as well
//! as production does. The shell around it carries its commands out against a real log and a real sink.

pub mod machine;
pub mod metric;
mod moment;
mod settings;
mod shell;
mod tuning;

pub use moment::Moment;
pub use settings::Settings;
pub use shell::{Hot, Pulse, Relay, RelayBuilder, Stopped};
pub use tuning::{Tuner, Tuning};
