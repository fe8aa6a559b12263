//! An operator's desk: a log that is open, who acts, and how answers are given. What every operator's command shares.

use clap::Args;
use posthaste::{Admin, ErrorKind, Foreseen, OperatorAct, Outbox, Status};
use posthaste_config::nearest;
use serde::Serialize;

use crate::{
    database::{self, Database},
    exit::judged,
    screen::{Look, columns, json_line, print},
};

#[derive(Args)]
#[group(skip)]
pub(crate) struct Options {
    #[command(flatten)]
    database: database::Options,
    /// Answer in JSON, for programs: one object a line
    #[arg(long)]
    json: bool,
}

/// Who acts.
#[derive(Args)]
#[group(skip)]
pub(crate) struct By {
    /// Who does it, for the audit [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl By {
    fn name(&self) -> String {
        let variable = |name: &&str| std::env::var(name).ok();
        let user = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(variable);
        let given = self.by.clone().or_else(user).filter(|name| !name.trim().is_empty());
        given.unwrap_or_else(|| "cli".to_owned())
    }
}

/// A log that is open, and how answers are given.
pub(crate) struct Desk {
    pub(crate) database: Database,
    pub(crate) outbox: Outbox,
    pub(crate) json: bool,
    pub(crate) look: Look,
    pub(crate) columns: usize,
}

impl Options {
    /// Opens the log that is meant. Its tables must be there.
    pub(crate) async fn open(self) -> anyhow::Result<Desk> {
        let database = self.database.database()?;
        let outbox = database.open().await?;
        Ok(Desk { database, outbox, json: self.json, look: Look::of_stdout(), columns: columns() })
    }
}

impl Desk {
    pub(crate) fn admin(&self) -> &dyn Admin {
        self.outbox.admin()
    }

    pub(crate) async fn status(&self) -> anyhow::Result<Status> {
        self.admin().status().await.map_err(judged)
    }

    /// Does it in the name of whoever asked.
    pub(crate) async fn act(&self, act: &OperatorAct, by: &By) -> anyhow::Result<u64> {
        self.admin().act(act, &by.name()).await.map_err(judged)
    }

    pub(crate) async fn foresee(&self, act: &OperatorAct) -> anyhow::Result<Foreseen> {
        self.admin().foresee(act).await.map_err(judged)
    }

    /// Answers with this for programs, or with that for people.
    pub(crate) fn answer(&self, for_programs: &impl Serialize, for_people: &str) -> anyhow::Result<()> {
        if self.json {
            print(&json_line(for_programs)?)?
        } else {
            print(for_people)?
        }
        Ok(())
    }

    /// The subscription of this name as it stands; if there is none, which one may be meant.
    pub(crate) async fn check_subscription(&self, name: &str) -> anyhow::Result<Status> {
        let status = self.status().await?;
        if status.subscriptions.iter().any(|found| found.name == name) {
            return Ok(status);
        }
        Err(unknown_subscription(name, &status).into())
    }

    /// As above for one that may not be named at all.
    pub(crate) async fn check_if_named(&self, name: Option<&String>) -> anyhow::Result<()> {
        if let Some(name) = name {
            self.check_subscription(name).await?;
        }
        Ok(())
    }
}

fn unknown_subscription(name: &str, status: &Status) -> posthaste::Error {
    let names: Vec<&str> = status.subscriptions.iter().map(|found| found.name.as_str()).collect();
    let known = match (names.as_slice(), nearest(name, names.iter().copied())) {
        ([], _) => "there are none yet; a relay makes its own when it starts".to_owned(),
        (_, Some(near)) => format!("did you mean {near}?"),
        (names, None) => format!("known are {}", names.join(", ")),
    };
    posthaste::Error::new(ErrorKind::NotFound, format!("no subscription is called {name:?}; {known}"))
}

#[cfg(test)]
mod tests {
    use posthaste::SubscriptionStatus;

    use super::*;

    #[test]
    fn an_unknown_subscription_is_answered_with_what_may_be_meant() {
        let named = |name: &str| SubscriptionStatus { name: name.to_owned(), ..Default::default() };
        let status = |names: &[&str]| Status {
            subscriptions: names.iter().map(|name| named(name)).collect(),
            ..Status::default()
        };
        let text = |name, names: &[&str]| unknown_subscription(name, &status(names)).to_string();

        assert!(text("biling", &["mail", "billing"]).ends_with("did you mean billing?"));
        assert!(text("search", &["mail", "billing"]).ends_with("known are mail, billing"));
        assert!(text("mail", &[]).contains("there are none yet"));
    }
}
