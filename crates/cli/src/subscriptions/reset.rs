//! `posthaste subscriptions reset`: moves the cursor.

use clap::Args;
use posthaste::{Foreseen, OperatorAct, Position, ResetTo, Status};

use super::{
    consequences,
    idle::{Plan, Words},
};
use crate::{End, screen::parse_time};

const EXAMPLES: &str = "\
Examples:
  posthaste subscriptions reset mail --to beginning --dry-run --config relay.yaml
  posthaste subscriptions reset mail --to 2026-03-01T12:00:00Z --config relay.yaml
  posthaste subscriptions reset mail --to 2h --yes --config relay.yaml
  posthaste subscriptions reset mail --to now --config relay.yaml

Where to: beginning (of what is retained), now (past everything that is
committed), a time in UTC or how long ago (the first event that was written
then is the next one), or position:N.

It is paused, its relays give the lanes back, the cursor is moved, and it goes
on, if it was not paused before. What is parked, or dead and comes again by the
log, does not wait any more. You are asked first, unless --yes is there.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Where to: beginning, now, a time, how long ago, or position:N
    #[arg(long, value_name = "WHERE", value_parser = parse_place)]
    to: ResetTo,
    #[command(flatten)]
    plan: Plan,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let name = options.plan.name.clone();
    let act = OperatorAct::Reset { subscription: name.clone(), to: options.to };
    let words = |_: &Status, foreseen: &Foreseen| {
        let consequences = consequences(foreseen);
        let matters = foreseen.again + foreseen.skipped > 0;
        Words {
            would: format!("with a reset of {name} {consequences}\n"),
            question: matters.then(|| format!("With a reset of {name} {consequences}. Go on?")),
            done: format!("{name} is reset: {consequences}\n"),
        }
    };
    options.plan.carry_out(act, words).await
}

fn parse_place(text: &str) -> Result<ResetTo, String> {
    let position =
        text.strip_prefix("position:").and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    match (text, position) {
        ("beginning", _) => Ok(ResetTo::Beginning),
        ("now", _) => Ok(ResetTo::Now),
        (_, Some(position)) => Ok(ResetTo::Position(Position(position))),
        _ => parse_time(text)
            .map(ResetTo::Time)
            .map_err(|_| "allowed are beginning, now, a time in UTC such as 2026-03-01T12:00:00Z, how long ago such as 2h, or position:N".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use posthaste::Timestamp;

    use super::*;

    #[test]
    fn places_are_read_as_they_are_told() {
        assert_eq!(parse_place("beginning"), Ok(ResetTo::Beginning));
        assert_eq!(parse_place("now"), Ok(ResetTo::Now));
        assert_eq!(parse_place("position:42"), Ok(ResetTo::Position(Position(42))));
        let noon = ResetTo::Time(Timestamp(1_772_366_400_000_000));
        assert_eq!(parse_place("2026-03-01T12:00:00Z"), Ok(noon));
        assert!(matches!(parse_place("2h"), Ok(ResetTo::Time(_))));
        for bad in ["", "end", "position:0", "position:x", "42"] {
            assert!(parse_place(bad).unwrap_err().contains("beginning, now"), "{bad}");
        }
    }
}
