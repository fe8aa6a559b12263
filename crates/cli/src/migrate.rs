//! `posthaste migrate`: creates the tables or brings them up to date, and says what was there and what is now.

use clap::{Args, Subcommand};
use posthaste::{Error, Status};
use posthaste_postgres::PostgresOptions;
use serde_json::json;

use crate::{
    End,
    database::{self, Database, wants_migration},
    exit::Coded,
    screen::{counted, json_line, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste migrate --database sqlite://shop.db
  posthaste migrate --database sqlite://shop.db --prefix billing --lanes 16
  posthaste migrate --database postgres://owner:password@db/shop --schema sales
  posthaste migrate --database postgres://db/shop --print > outbox.sql
  posthaste migrate --database postgres://owner:password@db/shop --adopt
  posthaste migrate --config relay.yaml
  posthaste migrate status --config relay.yaml

Running it again does nothing. A database file that is missing is created.
With --print nothing is opened: the SQL is for another tool to apply.
With --adopt tables that were restored into another PostgreSQL cluster, or came
there by an upgrade, become its own. Some events may come again; none is lost.";

const STATUS: &str = "\
Examples:
  posthaste migrate status --database sqlite://shop.db
  posthaste migrate status --config relay.yaml --json

Exit codes:
  0  the tables are there, and this program can use them
  1  they are missing, old or of a newer program, or cannot be looked at";

#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    database: database::Options,
    /// How many lanes a new log gets, 1 to 64; it can never change [default: 64]
    ///
    /// Lanes are what relays share among them: a log with 16 lanes can be delivered by 16 relays at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    lanes: Option<u8>,
    /// Print the SQL that creates everything, and do nothing (PostgreSQL)
    #[arg(long)]
    print: bool,
    /// Take over tables from another database cluster, after a restore or an upgrade (PostgreSQL)
    ///
    /// Run it once, while no relay runs. What a lane had delivered beyond its first gap comes again.
    #[arg(long, conflicts_with = "print")]
    adopt: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Tell whether the tables are there and up to date, and change nothing
    #[command(after_help = STATUS)]
    Status {
        #[command(flatten)]
        database: database::Options,
        /// Answer in JSON, for programs
        #[arg(long)]
        json: bool,
    },
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    match options.action {
        Some(Action::Status { database, json }) => tell_state(&database.database()?, json).await,
        None => apply(options).await,
    }
}

/// Says what is there, without changing it.
async fn tell_state(database: &Database, json: bool) -> anyhow::Result<End> {
    let (answer, text, end) = match database.status().await {
        Ok(now) => (
            json!({ "up_to_date": true, "schema_version": now.schema_version, "lanes": now.lanes, "problem": null }),
            format!("up to date: {}\n", state(&now)),
            End::Fine,
        ),
        Err(error) if wants_migration(error.kind()) => (
            json!({ "up_to_date": false, "schema_version": null, "lanes": null, "problem": fact(&error) }),
            format!("not up to date: {error}\n"),
            End::Bad,
        ),
        Err(error) => return Err(error.into()),
    };
    print(&if json { json_line(&answer)? } else { text })?;
    Ok(end)
}

async fn apply(options: Options) -> anyhow::Result<End> {
    let mut database = options.database.database()?;
    database.place.lanes = options.lanes.or(database.place.lanes);
    database.place.migrate = true;
    if options.print || options.adopt {
        demand_postgres(&database)?;
    }
    let text = match options {
        Options { print: true, .. } => sql(&database)?,
        Options { adopt: true, .. } => adopt(&database).await?,
        _ => migrate(&database).await?,
    };
    print(&text)?;
    Ok(End::Fine)
}

/// Migrates if that is needed, and answers what to say.
async fn migrate(database: &Database) -> anyhow::Result<String> {
    let problem = match database.status().await {
        // Nothing is written then, so that this works beside any load.
        Ok(now) => return Ok(report(database, None, &now)),
        Err(error) if wants_migration(error.kind()) => error,
        Err(error) => return Err(error.into()),
    };
    let now = database.place.outbox().open().await?.admin().status().await?;
    Ok(report(database, Some(&problem), &now))
}

/// The SQL of all migrations.
fn sql(database: &Database) -> anyhow::Result<String> {
    let place = &database.place;
    Ok(posthaste_postgres::migrations(place.schema.as_deref(), &place.prefix, place.lanes)?)
}

/// Makes the tables the present cluster's own, and answers what to say.
async fn adopt(database: &Database) -> anyhow::Result<String> {
    let place = &database.place;
    let options = PostgresOptions {
        schema: place.schema.clone(),
        prefix: place.prefix.clone(),
        lanes: place.lanes,
        pooler: place.pooler,
        ..PostgresOptions::default()
    };
    Ok(match posthaste_postgres::adopt(place.address.expose(), options).await? {
        0 => "the tables are this cluster's own; nothing to do\n".to_owned(),
        lanes => {
            let lanes = counted(lanes, "lane");
            format!("adopted {}\n  {lanes} begin anew; some events may come again\n", database.shown())
        }
    })
}

/// A database in a file has neither clusters nor administrators.
fn demand_postgres(database: &Database) -> anyhow::Result<()> {
    if database.place.address.expose().starts_with("postgres") {
        return Ok(());
    }
    Err(Coded::not_understood("--print and --adopt are for PostgreSQL; a database in a file needs neither"))
}

/// What to say, if this was the problem before and this is how the log stands now.
fn report(database: &Database, problem: Option<&Error>, now: &Status) -> String {
    let state = state(now);
    match problem {
        None => format!("up to date: {state}; nothing to do\n"),
        Some(error) => format!(
            "migrated {}\n  before  {}\n  now     {state}\n\nnext: {}\n",
            database.shown(),
            fact(error),
            database.relay_command()
        ),
    }
}

fn state(status: &Status) -> String {
    format!("schema version {}, {}", status.schema_version, counted(status.lanes.into(), "lane"))
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
    use crate::database::made_up;

    #[test]
    fn tells_what_was_there_and_what_is_there_now() {
        let database = made_up("sqlite://shop.db", "billing");
        let now = Status { schema_version: 3, lanes: 16, ..Status::default() };
        let before =
            Error::new(ErrorKind::Schema, "the tables have schema version 1; run `posthaste migrate`");

        let text = report(&database, Some(&before), &now);
        assert!(text.contains("before  the tables have schema version 1\n"), "{text}");
        assert!(text.contains("now     schema version 3, 16 lanes\n"), "{text}");
        assert!(text.contains("--database sqlite://shop.db --prefix billing"), "{text}");
        assert_eq!(report(&database, None, &now), "up to date: schema version 3, 16 lanes; nothing to do\n");
    }
}
