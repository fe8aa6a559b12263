//! `posthaste token new`: a token for the API, shown once, and what the file of a relay keeps of it.

use clap::{Args, Subcommand};
use posthaste_server::{Role, generate};
use serde_json::json;

use crate::{
    End,
    screen::{Look, json_line, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste token new
  posthaste token new --name ada --role operator
  posthaste token new --json | jq -r .token";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make a token for the API and the dashboard
    #[command(
        after_help = "Examples:\n  posthaste token new --name grafana\n  posthaste token new --name ada --role operator\n\nThe token is shown once and kept nowhere. The file of the relay has only its\nhash: put that into server.tokens and start the relay again."
    )]
    New {
        /// What its owner may do: viewer (look) or operator (also act)
        #[arg(long, value_name = "ROLE", default_value = "viewer", value_parser = parse_role)]
        role: Role,
        /// Whose token it is: what the audit names
        #[arg(long, value_name = "NAME", default_value = "me")]
        name: String,
        /// Answer in JSON, for programs
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(options: Options) -> anyhow::Result<End> {
    let Action::New { role, name, json } = options.action;
    let (token, hash) = generate()?;
    let role = role.as_str();
    if json {
        let answer = json!({ "name": name, "role": role, "token": token, "sha256": hash.to_string() });
        print(&json_line(&answer)?)?;
        return Ok(End::Fine);
    }
    let look = Look::of_stdout();
    let name = serde_json::to_string(&name)?;
    print(&format!(
        "{}\n\nShown once: give it to its owner. In the file of the relay stands only its hash:\n\n\
         server:\n  tokens:\n    - name: {name}\n      role: {role}\n      sha256: {hash}\n",
        look.strong(token)
    ))?;
    Ok(End::Fine)
}

fn parse_role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.iter().find(|(name, _)| *name == text);
    found.map(|(_, role)| *role).ok_or_else(|| "allowed are viewer, operator".to_owned())
}
