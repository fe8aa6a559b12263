//! `posthaste migrate`: creates the tables or brings them up to date, and says what was there and what is now.

use clap::Args;
use posthaste::{Error, Status};

use crate::{
    End,
    database::{Database, wants_migration},
    screen::{counted, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste migrate --database sqlite://shop.db
  posthaste migrate --database sqlite://shop.db --prefix billing --lanes 16

Running it again does nothing. A database file that is missing is created.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,
    /// How many lanes a new log gets, 1 to 64; it can never change [default: 64]
    ///
    /// Lanes are what relays share among them: a log with 16 lanes can be delivered by 16 relays at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    lanes: Option<u8>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let problem = match options.database.status().await {
        // Nothing is written then, so that this works beside any load.
        Ok(now) if options.lanes.is_none_or(|lanes| lanes == now.lanes) => {
            print(&report(&options.database, None, &now))?;
            return Ok(End::Fine);
        }
        Ok(_) => None,
        Err(error) if wants_migration(error.kind()) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let mut builder = options.database.outbox();
    if let Some(lanes) = options.lanes {
        builder = builder.lanes(lanes);
    }
    let now = builder.open().await?.admin().status().await?;
    print(&report(&options.database, problem.as_ref(), &now))?;
    Ok(End::Fine)
}

/// What to say, if this was the problem before and this is how the log stands now.
fn report(database: &Database, problem: Option<&Error>, now: &Status) -> String {
    let state = format!("schema version {}, {}", now.schema_version, counted(now.lanes.into(), "lane"));
    match problem {
        None => format!("up to date: {state}; nothing to do\n"),
        Some(error) => format!(
            "migrated {}\n  before  {}\n  now     {state}\n\nnext: posthaste relay {} --sink stdout\n",
            database.shown(),
            fact(error),
            database.as_options()
        ),
    }
}

/// What an error says there is, without the advice behind its semicolon: that is being followed.
fn fact(error: &Error) -> String {
    let text = error.to_string();
    text.split("; ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use posthaste::ErrorKind;

    use super::*;

    #[test]
    fn tells_what_was_there_and_what_is_there_now() {
        let database = Database { url: "sqlite://shop.db".to_owned(), prefix: "billing".to_owned() };
        let now = Status { schema_version: 2, lanes: 16, ..Status::default() };
        let before =
            Error::new(ErrorKind::Schema, "the tables have schema version 1; run `posthaste migrate`");

        let text = report(&database, Some(&before), &now);
        assert!(text.contains("before  the tables have schema version 1\n"), "{text}");
        assert!(text.contains("now     schema version 2, 16 lanes\n"), "{text}");
        assert!(text.contains("--database sqlite://shop.db --prefix billing"), "{text}");
        assert_eq!(report(&database, None, &now), "up to date: schema version 2, 16 lanes; nothing to do\n");
    }
}
