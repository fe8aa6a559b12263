//! `posthaste dlq`: looking at dead letters, and deciding about them one by one.

use crate::fixture::{Fixture, Ran};

fn dlq(fixture: &Fixture, arguments: &[&str]) -> Ran {
    fixture.on_shop(&[&["dlq"], arguments].concat())
}

#[test]
fn dead_letters_are_grouped_listed_shown_and_exported() {
    let fixture = Fixture::migrated();
    fixture.bury(3);

    let group = dlq(&fixture, &["groups", "--json"]).json();
    assert_eq!((&group["count"], &group["subscription"]), (&3.into(), &"mail".into()));
    let reason = group["reason"].as_str().unwrap().to_owned();
    dlq(&fixture, &["groups"]).succeeded().says(&[
        "3  mail",
        &reason,
        "posthaste dlq replay --subscription mail",
    ]);

    let letters =
        dlq(&fixture, &["list", "--subscription", "mail", "--reason", &reason, "--json"]).json_lines();
    assert_eq!(
        letters.iter().map(|letter| letter["dead_id"].as_i64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    dlq(&fixture, &["list", "--limit", "2"]).succeeded().says(&["order.broken", "order-", "just now"]);
    let second = dlq(&fixture, &["list", "--key", "order-2", "--json"]).json()["dead_id"].to_string();
    dlq(&fixture, &["list", "--key", "none"]).succeeded().says(&["No dead letter fits"]);

    let shown = dlq(&fixture, &["show", &second]).succeeded();
    shown.says(&[
        &format!("dead letter {second}"),
        "order-2",
        &reason,
        "error",
        "payload",
        "{\"n\":2",
        &format!("posthaste dlq edit {second} --database"),
    ]);

    let exported = dlq(&fixture, &["export", "--output", "dead.jsonl"]).succeeded();
    assert_eq!(exported.err, "exported 3 dead letters to dead.jsonl\n");
    assert_eq!(fixture.lines("dead.jsonl"), letters);
    dlq(&fixture, &["export", "--output", "dead.jsonl"]).failed(1, &["cannot create dead.jsonl"]);
    assert_eq!(dlq(&fixture, &["export", "--key", "order-2"]).json_lines().len(), 1);
}

#[test]
fn named_ones_are_replayed_or_discarded_at_once_all_or_none() {
    let fixture = Fixture::migrated();
    fixture.bury(4);

    dlq(&fixture, &["replay", "1", "2", "--dry-run"]).succeeded().says(&["2 dead letters would be replayed"]);
    assert_eq!(fixture.status()["subscriptions"][0]["dead"], 4);
    dlq(&fixture, &["replay", "2", "1", "1", "--by", "ada"]).succeeded().says(&["2 dead letters replayed"]);
    let answer = dlq(&fixture, &["discard", "3", "--json", "--by", "ada"]).json();
    assert_eq!((&answer["concerned"], &answer["dry_run"]), (&1.into(), &false.into()));
    assert_eq!(fixture.status()["subscriptions"][0]["dead"], 1);

    dlq(&fixture, &["replay", "1"])
        .failed(3, &["dead letter 1 is resolved already: replayed by ada", "nothing was done"]);
    dlq(&fixture, &["discard", "4", "3"]).failed(3, &["dead letter 3 is resolved already: discarded by ada"]);
    assert_eq!(fixture.status()["subscriptions"][0]["dead"], 1, "not even the other one");
    dlq(&fixture, &["replay", "4", "99"]).failed(1, &["there is no dead letter 99"]);

    let audit = fixture.on_shop(&["audit", "--of", "ada", "--json"]).json_lines();
    let what: Vec<_> = audit.iter().map(|entry| entry["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["discarded", "replayed"]);
    fixture.on_shop(&["audit"]).succeeded().says(&["ada", "dead letters 1, 2", "UTC"]);
    assert_eq!(dlq(&fixture, &["list", "--resolved", "--json"]).json_lines().len(), 4);
}

#[test]
fn an_edited_one_is_sent_again_under_a_new_id() {
    let fixture = Fixture::migrated();
    fixture.bury(2);

    dlq(&fixture, &["edit", "1", "--payload", "{\"n\":"]).failed(2, &["the new payload is not JSON"]);
    dlq(&fixture, &["edit", "1"]).failed(2, &["nothing to change: write --payload"]);
    dlq(&fixture, &["edit", "1", "--remove-header", "a"]).failed(2, &["no such header; it has none"]);
    dlq(&fixture, &["edit", "99", "--payload", "1"]).failed(1, &["there is no dead letter 99"]);
    dlq(&fixture, &["edit", "1", "--payload", "1", "--dry-run"]).succeeded().says(&["would be sent again"]);
    let edited = dlq(
        &fixture,
        &["edit", "1", "--payload", "{\"n\": 1}", "--header", "by=hand", "--topic", "fixed", "--json"],
    );
    let id = edited.json()["new_id"].as_str().unwrap().to_owned();
    std::fs::write(fixture.path("two.json"), "{\"n\": 2}\n").unwrap();
    dlq(&fixture, &["edit", "2", "--payload-file", "two.json"]).succeeded().says(&["is sent again as"]);
    dlq(&fixture, &["edit", "1", "--payload", "2"]).failed(3, &["dead letter 1 is resolved already: edited"]);

    fixture.deliver_once("mail");
    let arrived = fixture.lines("mail.jsonl");
    assert_eq!(arrived.len(), 2);
    let first = arrived.iter().find(|event| event["id"] == id.as_str()).unwrap();
    assert_eq!((&first["data"]["n"], &first["type"]), (&1.into(), &"order.broken".into()));
    dlq(&fixture, &["show", "1"]).succeeded().says(&["edited by", &id]);
}

#[test]
#[cfg(unix)]
fn a_terminal_is_needed_for_questions_and_editors() {
    let fixture = Fixture::migrated();
    fixture.bury(101);
    let many = dlq(&fixture, &["discard", "--all"]);
    many.failed(2, &["101 dead letters (all) are given up for good", "--yes"]);
    assert_eq!(fixture.status()["subscriptions"][0]["dead"], 101);
    let ids: Vec<String> = (1..=101).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    dlq(&fixture, &[&["replay"], &ids[..]].concat()).failed(2, &["are sent again. Go on? Write --yes"]);
    dlq(&fixture, &[&["replay", "--yes"], &ids[..]].concat())
        .succeeded()
        .says(&["101 dead letters replayed"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    dlq(&fixture, &["replay"]).failed(2, &["which dead letters? write their numbers, a filter such as"]);
    dlq(&fixture, &["replay", "1", "--key", "a"]).failed(2, &["exclude each other"]);
    dlq(&fixture, &["replay", "1", "--all"]).failed(2, &["cannot be used with"]);
    dlq(&fixture, &["replay", "1", "--rate", "5"]).failed(2, &["cannot be used with"]);
    dlq(&fixture, &["discard", "--all", "--rate", "0"]).failed(2, &["0 is not in 1..=1000000"]);
    dlq(&fixture, &["replay", "zero"]).failed(2, &["invalid value 'zero'"]);
    dlq(&fixture, &["show", "0"]).failed(2, &["0 is not in 1.."]);
    dlq(&fixture, &["show", "7"]).failed(1, &["there is no dead letter 7", "posthaste dlq list"]);
    dlq(&fixture, &["list", "--reason", "bad_luck"]).failed(2, &["max_retries_exceeded, poison_message"]);
    dlq(&fixture, &["list", "--cursor", "x"]).failed(2, &["none of this listing"]);
    dlq(&fixture, &["list", "--since", "then"]).failed(2, &["how long ago"]);
    dlq(&fixture, &["list", "--subscription", "mial"]).failed(1, &["did you mean mail?"]);
    dlq(&fixture, &["replay", "--subscription", "mial"]).failed(1, &["did you mean mail?"]);
    let many: Vec<String> = (1..=501).map(|id| id.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    dlq(&fixture, &[&["replay"], &many[..]].concat()).failed(1, &["there is no dead letter 2"]);
    dlq(&fixture, &["replay", "--key", "none"]).succeeded().says(&["No dead letter fits"]);
}
