//! `posthaste config`: what can be done with the file of a relay without running it.

use std::{fmt::Write, path::PathBuf};

use clap::{Args, Subcommand};
use posthaste::Pattern;
use posthaste_config::{Config, EXAMPLE, Notes, Served, schema};

use crate::{
    End,
    database::{read_config, read_environment},
    features::built_in,
    screen::print,
};

const EXAMPLES: &str = "\
Examples:
  posthaste config init > relay.yaml
  posthaste config check relay.yaml
  posthaste config show relay.yaml
  posthaste config show --origins relay.yaml
  posthaste config schema > posthaste.schema.json

docs/configuration.md lists every key. Nothing is connected to. POSTHASTE_…
variables count more than the file, and without a file they are all there is.

Exit codes of check and show:
  0  the file is fine
  1  it cannot be read
  2  something in it is wrong; all of it was said";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say everything that is wrong with a file, or that it is fine and what a relay would do
    Check {
        /// The file; without one, the environment alone
        file: Option<PathBuf>,
    },
    /// Print everything that counts, defaults included, without secrets
    Show {
        /// The file; without one, the environment alone
        file: Option<PathBuf>,
        /// Say of each value where it comes from: a line, a variable or a default
        #[arg(long)]
        origins: bool,
    },
    /// Print a file to begin with
    Init,
    /// Print the JSON Schema of the file, for editors
    Schema,
}

pub(crate) fn run(options: Options) -> anyhow::Result<End> {
    let text = match options.action {
        Action::Check { file } => {
            let what = file.as_ref().map_or("the environment".to_owned(), |file| file.display().to_string());
            format!("{what} is fine\n{}", summary(&built_in(read(file)?)?))
        }
        Action::Show { file, origins } => {
            read(file)?.show_with(if origins { Notes::Origins } else { Notes::Defaults })
        }
        Action::Init => EXAMPLE.to_owned(),
        Action::Schema => schema(),
    };
    print(&text)?;
    Ok(End::Fine)
}

fn read(file: Option<PathBuf>) -> anyhow::Result<Config> {
    file.map_or_else(read_environment, |file| read_config(&file))
}

/// What a relay would do, in a few lines.
fn summary(config: &Config) -> String {
    let database = &config.database;
    let schema = database.schema.as_ref().map_or(String::new(), |schema| format!("{schema}."));
    let mut text = format!("\ndatabase  {}, table {schema}{}\n", database.address, database.prefix);
    let migrates = if database.migrate { "created or updated at the start" } else { "must be there" };
    _ = writeln!(text, "tables    {migrates}");
    for served in &config.subscriptions {
        _ = writeln!(text, "\n{}", subscription(served));
    }
    text
}

fn subscription(served: &Served) -> String {
    let subscription = &served.subscription;
    let list = |patterns: &[Pattern]| match patterns {
        [] => "all".to_owned(),
        patterns => patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    let retry = &subscription.retry;
    format!(
        "{} → {}\n  types {}; topics {}\n  order {}, from {} if new, on_dead {}; up to {} attempts",
        subscription.name,
        served.destination,
        list(&subscription.filter.types),
        list(&subscription.filter.topics),
        subscription.order,
        subscription.start,
        subscription.on_dead,
        retry.max_attempts,
    )
}
