//! `posthaste doctor`: whether everything around the outbox is as it should be, and what to do where it is not.

mod log;
mod sinks;

use clap::Args;
use posthaste::{ErrorKind, Finding, Outbox, Verdict};

use crate::{
    End,
    database::{self, Database, read_config},
    features::built_in,
    screen::{Look, columns, counted, json_line, print, tame, wrap},
};

const EXAMPLES: &str = "\
Examples:
  posthaste doctor --config relay.yaml
  posthaste doctor --database postgres://relay:password@db/shop
  posthaste doctor --config relay.yaml --json | jq 'select(.verdict != \"fine\")'

Looks at the file (--config), the database (version, rights, clock, isolation,
autovacuum, pooler, what holds its rows, indexes, size, durability), the tables,
the subscriptions and relays, and each destination of the file. Nothing is
changed, and nothing is sent.

Exit codes:
  0  all is fine, or only warnings
  1  something is failing";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    database: database::Options,
    /// Answer in JSON, for programs: one object a line
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let findings = examine(options.database).await?;
    let text = match options.json {
        true => findings.iter().map(json_line).collect::<anyhow::Result<String>>()?,
        false => render(&findings, Look::of_stdout(), columns()),
    };
    print(&text)?;
    let is_failing = findings.iter().any(|finding| finding.verdict == Verdict::Failing);
    Ok(if is_failing { End::Bad } else { End::Fine })
}

/// Looks at everything; what cannot be looked at without something that is failing is left out.
async fn examine(options: database::Options) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut served = None;
    if let Some(file) = &options.config {
        match read_config(file).and_then(built_in) {
            Ok(config) => {
                let count = counted(config.subscriptions.len() as u64, "subscription");
                findings.push(Finding::fine("config", format!("{} is fine: {count}", file.display())));
                served = Some(config.subscriptions);
            }
            Err(error) => {
                let advice = "change the file; docs/configuration.md lists every key";
                findings.push(Finding::failing("config", error.to_string(), advice));
                return Ok(findings);
            }
        }
    }
    let database = options.database()?;
    match database.open().await {
        Ok(outbox) => findings.extend(database_findings(&outbox, &database, served.as_deref()).await),
        Err(error) => findings.push(unopened(&database, &error)),
    }
    findings.extend(sinks::examine(served.as_deref().unwrap_or_default()).await);
    Ok(findings)
}

async fn database_findings(
    outbox: &Outbox,
    database: &Database,
    served: Option<&[posthaste_config::Served]>,
) -> Vec<Finding> {
    let mut findings = vec![Finding::fine("database", format!("{} answers", database.shown()))];
    match outbox.admin().diagnose().await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(unopened(database, &error)),
    }
    match outbox.admin().status().await {
        Ok(status) => findings.extend(log::examine(&status, database, served)),
        Err(error) => findings.push(unopened(database, &error)),
    }
    findings
}

/// An error says what to do behind its first semicolon, if it knows.
fn unopened(database: &Database, error: &posthaste::Error) -> Finding {
    let check = if matches!(error.kind(), ErrorKind::Schema) { "tables" } else { "database" };
    let text = error.chain();
    match text.split_once("; ") {
        Some((detail, advice)) => Finding::failing(check, format!("{}: {detail}", database.shown()), advice),
        None => Finding::failing(
            check,
            format!("{}: {text}", database.shown()),
            "check the address, and that it runs",
        ),
    }
}

fn render(findings: &[Finding], look: Look, columns: usize) -> String {
    let width = findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat("warning".len() + 2 + width + 2);
    let room = columns.saturating_sub(indent.len()).max(30);
    let mut text = String::new();
    for finding in findings {
        let verdict = format!("{:<7}", finding.verdict.as_str());
        let verdict = match finding.verdict {
            Verdict::Fine => look.good(verdict),
            Verdict::Warning => look.warning(verdict),
            Verdict::Failing => look.bad(verdict),
        };
        let detail = finding.detail.lines().flat_map(|line| wrap(&tame(line), room)).collect::<Vec<_>>();
        let advice = finding.advice.iter().flat_map(|advice| wrap(&format!("→ {}", tame(advice)), room));
        let lines: Vec<String> = detail.into_iter().chain(advice).collect();
        text.push_str(&format!(
            "{verdict}  {:<width$}  {}\n",
            finding.check,
            lines.join(&format!("\n{indent}"))
        ));
    }
    format!("{text}\n{}\n", summary(findings))
}

fn summary(findings: &[Finding]) -> String {
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count() as u64;
    let (fine, warnings, failing) = (count(Verdict::Fine), count(Verdict::Warning), count(Verdict::Failing));
    match (warnings, failing) {
        (0, 0) => "All is fine.".to_owned(),
        _ => format!("{fine} fine, {}, {failing} failing.", counted(warnings, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::made_up;

    #[test]
    fn findings_fit_the_screen_and_say_what_to_do() {
        let findings = [
            Finding::fine("version", "PostgreSQL 15.6"),
            Finding::warning(
                "held rows",
                "a transaction is open for 120 minutes: process 7 of ada, idle",
                "end it",
            ),
        ];
        let text = render(&findings, Look::Plain, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("→ end it") && text.ends_with("1 fine, 1 warning, 0 failing.\n"), "{text}");
        assert!(render(&findings[..1], Look::Plain, 60).ends_with("All is fine.\n"));
    }

    #[test]
    fn what_an_error_advises_is_the_advice() {
        let error = posthaste::Error::new(ErrorKind::Schema, "there are no tables; run `posthaste migrate`");
        let finding = unopened(&made_up("sqlite://shop.db", "outbox"), &error);
        assert_eq!(
            (finding.check.as_str(), finding.advice.as_deref()),
            ("tables", Some("run `posthaste migrate`"))
        );
    }
}
