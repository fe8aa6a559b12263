//! `posthaste subscriptions reset`: moves the cursor.

use clap::Args;
use posthaste::{OperatorAct, Position, ResetTo};

use super::{
    consequences,
    idle::{Idle, Patience},
    told,
};
use crate::{
    End, desk,
    screen::{confirm, parse_time, remark},
};

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
    #[command(flatten)]
    desk: desk::Options,
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Where to: beginning, now, a time, how long ago, or position:N
    #[arg(long, value_name = "WHERE", value_parser = parse_place)]
    to: ResetTo,
    /// Only say what it would do
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    by: desk::By,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let name = options.name;
    desk.check_subscription(&name).await?;
    let act = OperatorAct::Reset { subscription: name.clone(), to: options.to };
    let foreseen = desk.foresee(&act).await?;
    let consequences = consequences(&foreseen);
    if options.dry_run {
        desk.answer(&told(&name, &foreseen, true), &format!("with a reset of {name} {consequences}\n"))?;
        return Ok(End::Fine);
    }
    let matters = foreseen.again + foreseen.skipped > 0;
    if matters && !options.yes && !confirm(&format!("With a reset of {name} {consequences}. Go on?"))? {
        remark("nothing was done\n");
        return Ok(End::Bad);
    }
    let idle = Idle { desk: &desk, by: &options.by, name: &name, patience: options.patience.timeout };
    idle.act(&act).await?;
    desk.answer(&told(&name, &foreseen, false), &format!("{name} is reset: {consequences}\n"))?;
    Ok(End::Fine)
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
