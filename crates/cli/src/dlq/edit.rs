//! `posthaste dlq edit`: one dead letter, sent again with something changed.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use posthaste::{DeadLetter, Edit, EventId, OperatorAct};
use serde::de::IgnoredAny;
use serde_json::json;
use uuid::Uuid;

use super::{editor, find, show::resolution};
use crate::{End, desk, exit::Coded, screen::compact};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq edit 17 --config relay.yaml
  posthaste dlq edit 17 --config relay.yaml --payload '{\"order\":7}'
  posthaste dlq edit 17 --config relay.yaml --payload-file fixed.json --dry-run
  jq .order=7 bad.json | posthaste dlq edit 17 --config relay.yaml --payload-file -
  posthaste dlq edit 17 --config relay.yaml --topic orders-v2 --header retry=manual

It goes to the subscription in which it died, under a new id, which is told.
Without any change on the command line $VISUAL or $EDITOR is opened with the
payload; leaving it as it was sends nothing.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Its number, as `dlq list` tells it
    #[arg(value_name = "ID", value_parser = clap::value_parser!(i64).range(1..))]
    dead_id: i64,
    /// The new payload
    #[arg(long, value_name = "TEXT", conflicts_with = "payload_file")]
    payload: Option<String>,
    /// A file with the new payload; - is standard input
    #[arg(long, value_name = "FILE")]
    payload_file: Option<PathBuf>,
    /// Sets a header, as NAME=VALUE; can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::publish::parse_header)]
    header: Vec<(String, String)>,
    /// Removes a header; can be repeated
    #[arg(long, value_name = "NAME")]
    remove_header: Vec<String>,
    /// The new topic
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only check the change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    by: desk::By,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let (dead_id, dry_run) = (options.dead_id, options.dry_run);
    let payload = options.payload.clone().map(Ok).or_else(|| options.payload_file.as_deref().map(read));
    let payload = payload.transpose()?;
    let Options { desk, header, remove_header, topic, by, .. } = options;
    let desk = desk.open().await?;
    let letter = find(&desk, dead_id).await?;
    if let Some(how) = resolution(&letter, desk.status().await?.now) {
        return Err(Coded::refused(format!(
            "dead letter {dead_id} is resolved already: {how}; nothing was done"
        )));
    }
    let headers = headers(&letter, &header, &remove_header)?;
    let payload = match payload {
        None if headers.is_none() && topic.is_none() => write_anew(&letter)?,
        payload => payload,
    };
    let edit = Edit { payload, headers, topic };
    if edit == Edit::default() {
        desk.answer(
            &json!({ "dry_run": dry_run, "new_id": null }),
            "nothing was changed, so nothing was sent\n",
        )?;
        return Ok(End::Fine);
    }
    check(&letter, &edit)?;
    let new_id = EventId::from(Uuid::now_v7());
    let act = OperatorAct::Edit { dead_id, edit, new_id };
    if dry_run {
        desk.foresee(&act).await?;
        let text = format!("dead letter {dead_id} would be sent again, changed\n");
        desk.answer(&json!({ "dry_run": true, "new_id": null }), &text)?;
        return Ok(End::Fine);
    }
    desk.act(&act, &by).await?;
    let text = format!("dead letter {dead_id} is sent again as {new_id}\n");
    desk.answer(&json!({ "dry_run": false, "new_id": new_id }), &text)?;
    Ok(End::Fine)
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("cannot read the payload from standard input")?;
        return Ok(trimmed(text));
    }
    Ok(trimmed(fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?))
}

/// The line end that every editor puts behind the last line is not meant.
fn trimmed(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

/// All headers as they are to be, if they are to change.
fn headers(
    letter: &DeadLetter,
    set: &[(String, String)],
    removed: &[String],
) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let mut headers = letter.headers.clone();
    for name in removed {
        if headers.remove(name).is_none() {
            let names: Vec<&str> = letter.headers.keys().map(String::as_str).collect();
            let known = if names.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", names.join(", "))
            };
            return Err(Coded::not_understood(format!(
                "--remove-header {name:?}: there is no such header; {known}"
            )));
        }
    }
    headers.extend(set.iter().cloned());
    Ok((headers != letter.headers).then_some(headers))
}

/// Lets a person change the payload. None if it stays as it was.
fn write_anew(letter: &DeadLetter) -> anyhow::Result<Option<String>> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let text = "nothing to change: write --payload, --payload-file, --header, --remove-header or --topic";
        return Err(Coded::not_understood(text));
    }
    let is_json = is_json(letter);
    let check = |text: &str| if is_json { check_json(text) } else { Ok(()) };
    let changed = editor::edit(&letter.payload, is_json, check)?;
    Ok(changed.map(|text| if is_json { compact(&text) } else { text }))
}

fn is_json(letter: &DeadLetter) -> bool {
    letter.content_type == "application/json"
}

fn check_json(text: &str) -> anyhow::Result<()> {
    let parsed = serde_json::from_str::<IgnoredAny>(text);
    parsed.map(drop).map_err(|error| Coded::not_understood(format!("the new payload is not JSON: {error}")))
}

fn check(letter: &DeadLetter, edit: &Edit) -> anyhow::Result<()> {
    match &edit.payload {
        Some(payload) if is_json(letter) => check_json(payload),
        _ => Ok(()),
    }
}
