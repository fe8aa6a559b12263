//! `posthaste dlq show`: one dead letter.

use clap::Args;
use posthaste::{DeadLetter, Timestamp};

use super::find;
use crate::{
    End,
    desk::{self, Desk},
    events::{body, listed},
    screen::{counted, moment, tame, wrap},
};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq show 17 --database sqlite://shop.db
  posthaste dlq show 17 --config relay.yaml --json | jq -r .payload";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Its number, as `dlq list` tells it
    #[arg(value_name = "ID", value_parser = clap::value_parser!(i64).range(1..))]
    dead_id: i64,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let letter = find(&desk, options.dead_id).await?;
    let now = desk.status().await?.now;
    desk.answer(&letter, &render(&desk, &letter, now))?;
    Ok(End::Fine)
}

fn render(desk: &Desk, letter: &DeadLetter, now: Timestamp) -> String {
    let look = desk.look;
    let title = format!("dead letter {}", letter.dead_id);
    let holds = letter.holds && letter.resolution.is_none();
    let aggregate = letter
        .aggregate_id
        .as_ref()
        .map(|id| format!("{} {id}", letter.aggregate_type.as_deref().unwrap_or("?")));
    let facts = [
        ("event", Some(letter.id.to_string())),
        ("type", Some(letter.event_type.clone())),
        ("topic", Some(letter.topic.clone())),
        ("key", letter.key.clone()),
        ("aggregate", aggregate),
        ("tenant", letter.tenant_id.clone()),
        ("position", Some(letter.position.0.to_string())),
        ("content", Some(letter.content_type.clone())),
        ("died", Some(format!("{} in {}", moment(letter.moved_at, now), letter.subscription))),
        ("reason", Some(format!("{} after {}", letter.reason, counted(letter.attempts.into(), "attempt")))),
        ("holds", holds.then(|| "its key waits until somebody decides".to_owned())),
        ("resolved", resolution(letter, now)),
    ];
    let mut text = format!("{}\n{}", look.strong(title), listed(&facts, look));
    text.push_str(&format!("\n{}\n", look.faint("error")));
    for line in letter.error.lines().flat_map(|line| wrap(line, desk.columns.saturating_sub(2).max(20))) {
        text.push_str(&format!("  {}\n", look.bad(tame(&line))));
    }
    text.push_str(&body(&letter.headers, &letter.payload, look));
    if letter.resolution.is_none() {
        text.push_str(&hints(desk, letter.dead_id));
    }
    text
}

/// What a person did, when, and who.
pub(super) fn resolution(letter: &DeadLetter, now: Timestamp) -> Option<String> {
    let mut text = letter.resolution.clone()?;
    if let Some(by) = &letter.resolved_by {
        text.push_str(&format!(" by {by}"));
    }
    if let Some(at) = letter.resolved_at {
        text.push_str(&format!(", {}", moment(at, now)));
    }
    if let Some(id) = letter.new_id {
        text.push_str(&format!(", as {id}"));
    }
    Some(text)
}

fn hints(desk: &Desk, dead_id: i64) -> String {
    let command = |what: &str| desk.database.command(&format!("dlq {what} {dead_id}"));
    format!(
        "\nSend it again:   {}\nEdit it first:   {}\nGive it up:      {}\n",
        command("replay"),
        command("edit"),
        command("discard")
    )
}
