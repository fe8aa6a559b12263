//! What this program can do only if it was built so.

use posthaste_config::Config;

use crate::exit::Coded;

/// Whether traces can be sent.
const OTLP: bool = cfg!(feature = "otlp");

/// Refuses a configuration that asks for something that was not built in.
pub(crate) fn built_in(config: Config) -> anyhow::Result<Config> {
    match refusal(config.traces.is_some(), OTLP) {
        Some(text) => Err(Coded::not_understood(text)),
        None => Ok(config),
    }
}

fn refusal(traces: bool, otlp: bool) -> Option<&'static str> {
    (traces && !otlp).then_some(
        "there is a section traces, and this program is built without them; leave the section out, or build the program with \
         `cargo build --release --package posthaste-cli --features otlp`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_need_a_program_that_has_them() {
        assert!(refusal(true, false).is_some_and(|text| text.contains("--features otlp")));
        assert_eq!((refusal(true, true), refusal(false, false)), (None, None));
    }
}
