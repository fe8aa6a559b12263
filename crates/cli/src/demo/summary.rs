//! What the demo says before and after, at 80 columns.

use std::{fmt::Write, path::Path, time::Duration};

use super::{
    facts::Facts,
    latency::{self, Latency},
    plan::Plan,
    promises::Promise,
    subscribers::{EMAIL, INVOICES, PAYMENTS, WAREHOUSE},
};
use crate::{
    database::quote,
    screen::{Look, counted, cut, grouped, seconds, wrap},
};

const WIDTH: usize = 80;
/// Where the details of a promise begin.
const DETAIL: usize = 33;
/// So many breaches of one promise are told; more say no more.
const BREACHES: usize = 3;

/// What is about to happen.
pub(super) fn heading(plan: &Plan, look: Look) -> String {
    let title = "Posthaste demo: a small shop on SQLite";
    let outage = plan.outage();
    let cast = [
        (WAREHOUSE, "is well".to_owned()),
        (EMAIL, "fails at times".to_owned()),
        (PAYMENTS, format!("is down from {} to {}", seconds(outage.start), seconds(outage.end))),
        (INVOICES, format!("has a bug, which is fixed after {}", seconds(plan.repair()))),
    ];
    let mut text = format!(
        "{}\n{}\n\n",
        look.strong(title),
        look.faint(format!("{} events/s for {}, seed {}", plan.rate, seconds(plan.duration), plan.seed))
    );
    for (name, what) in cast {
        _ = writeln!(text, "  {name:<10} {what}");
    }
    text.push('\n');
    text
}

/// What came out.
pub(super) struct Summary<'a> {
    pub(super) facts: &'a Facts,
    pub(super) promises: &'a [Promise],
    pub(super) plan: &'a Plan,
    pub(super) look: Look,
}

impl Summary<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = String::from("\n");
        for promise in self.promises {
            self.write_promise(&mut text, promise);
        }
        text.push_str(&self.latencies());
        let broken = self.promises.iter().filter(|promise| !promise.is_kept()).count();
        let kept = self.promises.len() - broken;
        let took = seconds(self.facts.took);
        let verdict = if broken == 0 {
            self.look.good(format!("All {kept} promises kept"))
        } else {
            self.look.bad(format!("{broken} of {} promises broken", self.promises.len()))
        };
        _ = writeln!(text, "\n{verdict} in {took}{}", self.look.faint(self.pace()));
        text
    }

    fn write_promise(&self, text: &mut String, promise: &Promise) {
        let mark = if promise.is_kept() { self.look.good("✓") } else { self.look.bad("✗") };
        let lines = wrap(&promise.detail, WIDTH - DETAIL);
        let title = format!("{:<width$}", promise.title, width = DETAIL - 4);
        let first = lines.first().map_or("", String::as_str);
        _ = writeln!(text, "  {mark} {}{}", self.look.strong(title), self.look.faint(first));
        for line in lines.iter().skip(1) {
            _ = writeln!(text, "{:DETAIL$}{}", "", self.look.faint(line));
        }
        for breach in promise.breaches.iter().take(BREACHES) {
            for line in wrap(breach, WIDTH - 6) {
                _ = writeln!(text, "      {}", self.look.bad(line));
            }
        }
        if promise.breaches.len() > BREACHES {
            _ = writeln!(text, "      and {} more", grouped((promise.breaches.len() - BREACHES) as u64));
        }
    }

    fn latencies(&self) -> String {
        let Some(warehouse) = self.facts.subscriber(WAREHOUSE) else { return String::new() };
        let (unkeyed, keyed) = latency::measure(self.facts, warehouse);
        let mut text = format!("\n  From commit to listener ({WAREHOUSE}), in this process\n");
        for (what, latency) in [("without a key, from memory", unkeyed), ("with a key, from the log", keyed)]
        {
            if let Some(Latency { events, p50, p99 }) = latency {
                let events = counted(events, "event");
                let line = format!("    {what:<29}p50 {:<10}p99 {:<10}{events}", millis(p50), millis(p99));
                _ = writeln!(text, "{}", self.look.faint(line));
            }
        }
        text
    }

    /// Whether the machine kept up with what was asked for.
    fn pace(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "shown without digits behind the point")]
        let steps = (self.facts.committed() + self.facts.books.rolled_back.len() as u64) as f64;
        let rate = steps / self.facts.took.min(self.plan.duration).as_secs_f64();
        let wanted = f64::from(self.plan.rate);
        if rate < wanted * 0.9 && self.plan.rate > 10 {
            return format!(" (this machine managed {rate:.0} of {wanted:.0} events/s)");
        }
        String::new()
    }
}

/// Where the file is, and what can be done with it.
pub(super) fn what_was_kept(path: &Path, look: Look) -> String {
    let path = path.display().to_string();
    let commands = [
        format!("export POSTHASTE_DATABASE={}", quote(&format!("sqlite://{path}"))),
        "posthaste status".to_owned(),
        "posthaste relay --sink stdout --subscription audit --once".to_owned(),
    ];
    next(&format!("The database is kept: {path}"), &commands, look)
}

/// Where the file was, and what can be done without it.
pub(super) fn what_was_deleted(path: &Path, look: Look) -> String {
    let commands = [
        "posthaste demo --keep".to_owned(),
        "posthaste migrate --database sqlite://shop.db".to_owned(),
        "posthaste relay --database sqlite://shop.db --sink stdout".to_owned(),
    ];
    let first = cut(&format!("The database was {}, and is deleted.", path.display()), WIDTH);
    next(&first, &commands, look)
}

fn next(first: &str, commands: &[String], look: Look) -> String {
    let mut text = format!("{first}\n\nTry next:\n");
    for command in commands {
        _ = writeln!(text, "  {}", look.strong(command));
    }
    text
}

/// Milliseconds with three digits that matter.
fn millis(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1_000.0;
    let digits = if millis < 10.0 { 2 } else { 0 };
    format!("{millis:.digits$} ms")
}
