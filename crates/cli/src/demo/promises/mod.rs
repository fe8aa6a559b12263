//! The promises, judged by what was received. Pure: the same facts give the same verdict.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use posthaste::{DeadReason, EventId, StatusWord};
use posthaste_testkit::history::{Report, Rule, check};

use super::{
    facts::{Facts, SubscriberFacts},
    subscribers::{EMAIL, INVOICES, PAYMENTS},
};
use crate::{
    End,
    screen::{counted, grouped, seconds},
};

/// One promise, and whether it was kept.
#[derive(Debug)]
pub(crate) struct Promise {
    pub(crate) title: &'static str,
    /// The numbers behind it.
    pub(crate) detail: String,
    /// What broke it; nothing if it was kept.
    pub(crate) breaches: Vec<String>,
}

impl Promise {
    pub(crate) fn is_kept(&self) -> bool {
        self.breaches.is_empty()
    }
}

/// Judges all promises, in the order in which they are shown.
pub(crate) fn judge(facts: &Facts) -> Vec<Promise> {
    let court = Court { facts, report: check(&facts.history()) };
    vec![
        court.judge_delivery(),
        court.judge_rollbacks(),
        court.judge_order(),
        court.judge_retries(),
        court.judge_outage(),
        court.judge_dead_letter(),
        court.judge_replay(),
        court.judge_duplicates(),
    ]
}

/// How the demo ends: badly if one promise was broken.
pub(crate) fn end(promises: &[Promise]) -> End {
    if promises.iter().all(Promise::is_kept) { End::Fine } else { End::Bad }
}

struct Court<'f> {
    facts: &'f Facts,
    report: Report,
}

const ROLLBACK_RULES: &[Rule] = &[Rule::OnlyCommitted];
const ORDER_RULES: &[Rule] = &[Rule::KeyOrder, Rule::ReplayOrder, Rule::HeldKey];
const ATTEMPT_RULES: &[Rule] = &[Rule::OwnFailuresOnly];
const REPLAY_RULES: &[Rule] = &[Rule::NoReplayLost];
const REPEAT_RULES: &[Rule] = &[Rule::RepeatsBounded];

impl Court<'_> {
    fn judge_delivery(&self) -> Promise {
        let others = [ROLLBACK_RULES, ORDER_RULES, ATTEMPT_RULES, REPLAY_RULES, REPEAT_RULES].concat();
        // Whatever no other promise is about is counted here, so that no breach is overlooked.
        let mut breaches = self.breaches(|rule| !others.contains(&rule));
        let committed = self.facts.committed();
        for counts in &self.report.counts {
            if counts.delivered != committed && breaches.is_empty() {
                breaches
                    .push(format!("{}: {} of {committed} arrived", counts.subscription, counts.delivered));
            }
        }
        let counts = self.report.counts.iter();
        let each = counts.map(|counts| format!("{} {}", counts.subscription, grouped(counts.delivered)));
        let detail = format!("{} = {}", grouped(committed), each.collect::<Vec<_>>().join(", "));
        Promise { title: "committed = delivered", detail, breaches }
    }

    fn judge_rollbacks(&self) -> Promise {
        let mut breaches = self.breaches(|rule| ROLLBACK_RULES.contains(&rule));
        let (placed, in_table) = (self.facts.books.placed, self.facts.orders_in_table);
        if placed != in_table {
            breaches.push(format!("{placed} orders were placed, and the shop's table has {in_table}"));
        }
        let rolled_back = &self.facts.books.rolled_back;
        let receipts = self.facts.subscribers.iter().flat_map(|one| &one.seen.receipts);
        let seen = receipts.filter(|receipt| rolled_back.contains(&receipt.id)).count();
        let detail = format!(
            "{} in rolled back transactions, {seen} seen; {in_table} of {} in the shop's own table",
            counted(rolled_back.len() as u64, "event"),
            counted(placed, "order"),
        );
        Promise { title: "nothing from a rollback", detail, breaches }
    }

    fn judge_order(&self) -> Promise {
        let breaches = self.breaches(|rule| ORDER_RULES.contains(&rule));
        let keyed = self.facts.books.sold.iter().filter(|sold| sold.event.key.is_some()).count();
        let detail = format!(
            "{} of {}, placed, paid, shipped; {} out of order",
            counted(keyed as u64, "event"),
            counted(self.facts.books.placed, "order"),
            breaches.len()
        );
        Promise { title: "order kept in every key", detail, breaches }
    }

    fn judge_retries(&self) -> Promise {
        let mut breaches = self.breaches(|rule| ATTEMPT_RULES.contains(&rule));
        let email = self.subscriber(EMAIL, &mut breaches);
        let failed: Vec<_> = email.iter().flat_map(|email| &email.seen.failures).collect();
        let failures = failed.iter().map(|(_, count)| u64::from(**count)).sum();
        let arrived: HashSet<EventId> =
            email.iter().flat_map(|email| &email.seen.receipts).map(|receipt| receipt.id).collect();
        let came = failed.iter().filter(|(id, _)| arrived.contains(*id)).count();
        let detail = format!(
            "{EMAIL} failed {} with {}; {came} arrived then, at the latest on attempt {}",
            times(failures),
            counted(failed.len() as u64, "event"),
            email.map_or(0, most_attempts)
        );
        Promise { title: "failures are tried again", detail, breaches }
    }

    fn judge_outage(&self) -> Promise {
        let mut breaches = Vec::new();
        let payments = self.subscriber(PAYMENTS, &mut breaches);
        let attempts = payments.map_or(0, |payments| payments.attempts_during_outage);
        if attempts > 0 {
            breaches.push(format!(
                "the journal counts {attempts} failed attempts for what came during the outage"
            ));
        }
        if let Some(most) = payments.map(most_attempts).filter(|most| *most > 1) {
            breaches.push(format!(
                "something arrived only on attempt {most}, though it never failed by its own fault"
            ));
        }
        let outage = seconds(self.facts.outage.end - self.facts.outage.start);
        let waited = self.facts.committed_during_outage();
        let detail = format!(
            "{PAYMENTS} was down for {outage}, and {} waited; attempts counted: {attempts}",
            counted(waited, "event")
        );
        Promise { title: "an outage costs no attempts", detail, breaches }
    }

    fn judge_dead_letter(&self) -> Promise {
        let mut breaches = Vec::new();
        for other in self.facts.subscribers.iter().filter(|other| other.name != INVOICES) {
            if let Some(letter) = other.dead.first() {
                breaches.push(format!("{}: event {} died: {}", other.name, letter.id, letter.error));
            }
        }
        let invoices = self.subscriber(INVOICES, &mut breaches);
        let letters = invoices.map_or(&[][..], |invoices| &invoices.dead);
        let poison = self.facts.books.poison.as_ref();
        let (Some((id, order)), [letter]) = (poison, letters) else {
            breaches.push(format!(
                "{INVOICES} has {} instead of one",
                counted(letters.len() as u64, "dead letter")
            ));
            return Promise { title: "poison becomes a dead letter", detail: String::new(), breaches };
        };
        if letter.id != *id || letter.reason != DeadReason::PoisonMessage {
            breaches
                .push(format!("event {} died of {}, and not event {id} of poison", letter.id, letter.reason));
        }
        let said = letter.error.rsplit(": ").next().unwrap_or_default();
        let detail = format!("{order} in {INVOICES}: {}, it panicked: {said}", letter.reason);
        Promise { title: "poison becomes a dead letter", detail, breaches }
    }

    fn judge_replay(&self) -> Promise {
        let mut breaches = self.breaches(|rule| REPLAY_RULES.contains(&rule));
        let title = "a replay is delivered";
        let invoices = self.subscriber(INVOICES, &mut breaches);
        let letter = invoices.and_then(|invoices| invoices.dead.first());
        let resolved = letter.and_then(|letter| Some((letter, letter.resolved_at?)));
        let Some((letter, resolved_at)) = resolved else {
            breaches.push(format!("{INVOICES} has no dead letter that was replayed"));
            return Promise { title, detail: String::new(), breaches };
        };
        let mut receipts = invoices.iter().flat_map(|invoices| &invoices.seen.receipts);
        let arrived = receipts.find(|receipt| receipt.id == letter.id && receipt.at >= resolved_at);
        let Some(receipt) = arrived else {
            breaches.push(format!("event {} did not arrive after its replay", letter.id));
            return Promise { title, detail: String::new(), breaches };
        };
        let lay = seconds(resolved_at.since(letter.moved_at));
        let took = receipt.at.since(resolved_at);
        let word = StatusWord::Delivered.as_str();
        let detail =
            format!("{lay} later, with the bug fixed: {word} {} ms after the replay", took.as_millis());
        Promise { title, detail, breaches }
    }

    fn judge_duplicates(&self) -> Promise {
        let breaches = self.breaches(|rule| REPEAT_RULES.contains(&rule));
        let received = self.report.counts.iter().map(|counts| counts.received).sum();
        let repeats: u64 = self.report.counts.iter().map(|counts| counts.repeats).sum();
        let detail = format!("{repeats} in {}; only a crash may cause any", deliveries(received));
        Promise { title: "no duplicates", detail, breaches }
    }

    fn breaches(&self, is_meant: impl Fn(Rule) -> bool) -> Vec<String> {
        let meant = self.report.breaches.iter().filter(|breach| is_meant(breach.rule));
        meant.map(ToString::to_string).collect()
    }

    fn subscriber(&self, name: &str, breaches: &mut Vec<String>) -> Option<&SubscriberFacts> {
        let found = self.facts.subscriber(name);
        if found.is_none() {
            breaches.push(format!("nothing is known of {name}"));
        }
        found
    }
}

fn most_attempts(subscriber: &SubscriberFacts) -> u32 {
    subscriber.seen.receipts.iter().map(|receipt| receipt.attempt).max().unwrap_or(0)
}

fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", grouped(number)) }
}

fn deliveries(number: u64) -> String {
    if number == 1 { "1 delivery".to_owned() } else { format!("{} deliveries", grouped(number)) }
}
