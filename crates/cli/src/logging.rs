//! Logs: lines on standard error, so that standard output is for events and answers. As text for people or as JSON for programs; what is
//! logged, and how, can change while the program runs.

use std::{
    io::IsTerminal,
    sync::{Mutex, OnceLock, PoisonError},
};

use clap::{Args, ValueEnum};
use posthaste_config::LogFormat;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    layer::SubscriberExt,
    reload::{self, Handle},
    util::SubscriberInitExt,
};

use crate::screen;

#[derive(Args)]
pub(crate) struct Options {
    /// What to log on standard error: off, error, warn, info, debug or trace, also by module
    ///
    /// The relay logs at `info` unless told otherwise, the other commands nothing.
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        env = "RUST_LOG",
        hide_env_values = true,
        value_parser = parse_filter,
        display_order = 900
    )]
    log: Option<String>,
    /// What a line of the log looks like: text, or json for programs
    #[arg(long, global = true, value_name = "FORMAT", display_order = 901)]
    log_format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

type Lines = Box<dyn Layer<Filtered> + Send + Sync>;
type Filtered = tracing_subscriber::layer::Layered<reload::Layer<EnvFilter, Registry>, Registry>;

/// The log of this process, from its start on.
struct Log {
    filter: Handle<EnvFilter, Registry>,
    lines: Handle<Lines, Filtered>,
    /// What is logged now.
    level: Mutex<String>,
    /// What the command line says, which counts more than a file.
    level_is_given: bool,
    format_is_given: bool,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Logs from here on, as asked for or at the default level of the command.
pub(crate) fn start(options: &Options, default_level: &str) {
    let given = options.log.as_deref().filter(|filter| !filter.trim().is_empty());
    let level = given.unwrap_or(default_level);
    let format = match options.log_format {
        Some(Format::Json) => LogFormat::Json,
        Some(Format::Text) | None => LogFormat::Text,
    };
    let (filter, filter_handle) = reload::Layer::new(EnvFilter::new(level));
    let (lines, lines_handle) = reload::Layer::new(written_as(format));
    tracing_subscriber::registry().with(filter).with(lines).init();
    let log = Log {
        filter: filter_handle,
        lines: lines_handle,
        level: Mutex::new(level.to_owned()),
        level_is_given: given.is_some(),
        format_is_given: options.log_format.is_some(),
    };
    _ = LOG.set(log);
}

/// Takes over what a file says, as far as the command line says nothing else.
pub(crate) fn configure(logging: &posthaste_config::Logging) {
    let Some(log) = LOG.get() else { return };
    if !log.format_is_given {
        _ = log.lines.reload(written_as(logging.format));
    }
    if !log.level_is_given {
        set_level(&logging.level);
    }
}

/// Whether the command line says what is logged, so that no file can.
pub(crate) fn level_is_given() -> bool {
    LOG.get().is_some_and(|log| log.level_is_given)
}

/// What is logged now.
pub(crate) fn level() -> String {
    LOG.get().map_or_else(String::new, |log| log.level.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Logs something else from here on; what is no level changes nothing, and is answered with what is allowed.
pub(crate) fn set_level(level: &str) -> Option<String> {
    let filter: EnvFilter = match parse_filter(level).and_then(|level| level.parse().map_err(|_| level)) {
        Ok(filter) => filter,
        Err(wrong) => return Some(wrong),
    };
    let log = LOG.get()?;
    _ = log.filter.reload(filter);
    level.clone_into(&mut log.level.lock().unwrap_or_else(PoisonError::into_inner));
    None
}

fn written_as(format: LogFormat) -> Lines {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Json => lines.json().flatten_event(true).with_target(true).boxed(),
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal() && screen::colours_are_wanted();
            lines.with_ansi(colours).with_target(false).boxed()
        }
    }
}

/// Refuses here what the filter would ignore with a warning.
fn parse_filter(text: &str) -> Result<String, String> {
    match text.parse::<EnvFilter>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => {
            Err(format!("{error}; write a level such as info, or module=level, separated by commas"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_levels_and_modules_and_refuses_the_rest() {
        for good in ["", "info", "WARN", "posthaste_relay=debug,warn"] {
            assert!(parse_filter(good).is_ok(), "{good:?}");
        }
        assert!(parse_filter("posthaste=loud").unwrap_err().contains("write a level"));
    }
}
