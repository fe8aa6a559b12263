//! Whether destinations answer. Nothing is sent to them, and nothing is made.

use std::{fs::OpenOptions, path::Path, time::Duration};

use posthaste::Finding;
use posthaste_config::{Destination, Served};

/// How long a destination may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks each of them.
pub(super) async fn examine(all: &[Served]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for served in all {
        let name = format!("{} → {}", served.subscription.name, served.destination);
        findings.push(match &served.destination {
            Destination::Stdout { .. } => Finding::fine("sink", name),
            Destination::File { path, .. } => file(&name, path),
            destination => ask(&name, destination).await,
        });
    }
    findings
}

async fn ask(name: &str, destination: &Destination) -> Finding {
    let sink = match destination.open() {
        Ok(sink) => sink,
        Err(error) => {
            return Finding::failing("sink", format!("{name}: {}", error.chain()), "change its settings");
        }
    };
    let advice =
        "check that it runs, the address, and what it lets this program do; its events wait meanwhile";
    match tokio::time::timeout(PATIENCE, sink.ping()).await {
        Ok(Ok(())) => Finding::fine("sink", format!("{name} answers{}", promises(destination))),
        Ok(Err(fault)) => Finding::failing("sink", format!("{name}: {}", fault.message), advice),
        Err(_) => Finding::failing("sink", format!("{name} does not answer within {PATIENCE:?}"), advice),
    }
}

/// What a destination says for sure when it has taken an event.
fn promises(destination: &Destination) -> String {
    match destination {
        Destination::Kafka(options) => {
            let topic = options.topic.fixed().map(|topic| format!(", topic {topic} is there"));
            format!("{}; acks=all, idempotent", topic.unwrap_or_default())
        }
        _ => String::new(),
    }
}

fn file(name: &str, path: &Path) -> Finding {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !path.exists() {
        return match folder.is_dir() {
            true => Finding::fine("sink", format!("{name} is made when the first event comes")),
            false => Finding::failing(
                "sink",
                format!("{name}: there is no folder {}", folder.display()),
                "create the folder",
            ),
        };
    }
    match OpenOptions::new().append(true).open(path) {
        Ok(_) => Finding::fine("sink", format!("{name} can be written")),
        Err(error) => {
            Finding::failing("sink", format!("{name}: {error}"), "give this user the right to write the file")
        }
    }
}
