//! Logs: text lines on standard error, so that standard output is for events and answers.

use std::io::IsTerminal;

use clap::Args;
use tracing_subscriber::EnvFilter;

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
}

/// Logs from here on, as asked for or at the default level of the command.
pub(crate) fn start(options: &Options, default_level: &str) {
    let wanted = options.log.as_deref().filter(|filter| !filter.trim().is_empty()).unwrap_or(default_level);
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(wanted))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && screen::colours_are_wanted())
        .with_target(false)
        .init();
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
