//! What operators do to dead letters: replay, edit, discard, list.

use std::{collections::BTreeMap, time::Duration};

use posthaste_core::{
    DEFAULT_PAYLOAD_LIMIT, DeadFilter, DeadLetter, DeadReason, Edit, ErrorKind, Event, EventId, OperatorAct,
    Payload, Read, Retention, Subscription,
};

use super::{
    Damage, Subject,
    bench::{ADA, Bench, SOON, SUB, Sent, keyed, places, positions},
    changes::{dead, delivered, failed, held_dead, poison},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub async fn a_replay_sends_it_again_as_new<S: Subject>(subject: &S) {
    let (bench, sent, dead_id) = one_dead(subject).await;
    bench.advance(SOON);

    assert_eq!(replay(&bench, &[dead_id]).await, 1);

    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent]));
    assert_eq!((parked[0].attempts, &parked[0].event), (0, &sent.event));
    let letter = letter(&bench, dead_id).await;
    assert_eq!(letter.resolution.as_deref(), Some("replayed"));
    assert_eq!((letter.resolved_at, letter.resolved_by.as_deref()), (Some(bench.now()), Some(ADA)));
    assert_eq!(letter.new_id, None);
}

pub async fn replaying_twice_is_harmless<S: Subject>(subject: &S) {
    let (bench, sent, dead_id) = one_dead(subject).await;

    assert_eq!(replay(&bench, &[dead_id, dead_id]).await, 1);
    bench.settle(&sent, vec![failed(&sent, 1, SOON)]).await;
    assert_eq!(replay(&bench, &[dead_id]).await, 0);

    assert!(bench.page().await.parked.is_empty(), "it still waits for its retry");
    bench.settle(&sent, vec![delivered(&sent)]).await;
    assert_eq!(replay(&bench, &[dead_id]).await, 0);
    bench.advance(SOON);
    assert!(bench.page().await.parked.is_empty());
}

pub async fn ids_that_nobody_knows_are_left_alone<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    assert_eq!(replay(&bench, &[12_345]).await, 0);
    assert_eq!(bench.act(OperatorAct::Discard(vec![12_345])).await.expect("discard"), 0);
}

pub async fn replayed_events_keep_their_order<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a"), keyed("a")]).await;
    // They die in another order than they were published.
    for index in [2, 0, 1] {
        bench.settle(&sent[index], vec![dead(&sent[index])]).await;
    }

    let mut ids: Vec<i64> = letters(&bench).await.iter().map(|letter| letter.dead_id).collect();
    ids.reverse();
    assert_eq!(replay(&bench, &ids).await, 3);

    let page = bench.page().await;
    assert_eq!(positions(&page.parked), places(&[&sent[0], &sent[1], &sent[2]]));
    let next = page.entries.iter().find(|entry| entry.position == sent[3].position);
    assert!(next.is_some_and(|entry| entry.blocked), "they go before what is not yet sent");
}

pub async fn a_replay_concerns_one_subscription_only<S: Subject>(subject: &S) {
    let (bench, sent, dead_id) = one_dead(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    bench.settle_in("audit", &sent, vec![dead(&sent)]).await;

    replay(&bench, &[dead_id]).await;

    let audit = Read { subscription: "audit".to_owned(), ..bench.everything() };
    assert!(bench.read(&audit).await.parked.is_empty());
    assert_eq!(letters(&bench).await.len(), 1, "its dead letter there stays");
}

pub async fn the_timeline_of_a_replay_ends_with_its_delivery<S: Subject>(subject: &S) {
    let (bench, sent, dead_id) = one_dead(subject).await;
    bench.advance(SOON);
    replay(&bench, &[dead_id]).await;
    bench.advance(SOON);

    bench.settle(&sent, vec![delivered(&sent)]).await;

    let items = subject.admin().show(sent.id).await.expect("show").items;
    let told: Vec<&str> = items.iter().map(|item| item.what.as_str()).collect();
    assert_eq!(told, ["published", "dead", "replayed", "delivered"], "it had failed before");
    assert_eq!(items[2].by.as_deref(), Some(ADA));
    assert_eq!(items[3].at, bench.now());
}

pub async fn a_held_key_goes_on_behind_its_replay<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[0], vec![held_dead(&sent[0])]).await;
    let dead_id = letters(&bench).await[0].dead_id;

    replay(&bench, &[dead_id]).await;
    let page = bench.page_that_holds().await;
    assert_eq!(positions(&page.parked), places(&[&sent[0]]));
    assert!(page.entries[1].blocked, "now behind the parked event");

    bench.settle(&sent[0], vec![delivered(&sent[0])]).await;
    let page = bench.page_that_holds().await;
    assert!(!page.entries[1].blocked && page.troubled.is_empty());
}

pub async fn an_edited_one_goes_under_a_new_id<S: Subject>(subject: &S) {
    let (bench, sent, dead_id) = one_dead(subject).await;
    let new_id = bench.new_id();
    let headers = BTreeMap::from([("fixed".to_owned(), "yes".to_owned())]);
    let edit = Edit {
        payload: Some(r#"{"total":2}"#.to_owned()),
        headers: Some(headers.clone()),
        topic: Some("elsewhere".to_owned()),
    };

    assert_eq!(bench.act(OperatorAct::Edit { dead_id, edit, new_id }).await.expect("edit"), 1);

    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent]));
    let expected = Event {
        id: new_id,
        payload: Payload::Json(r#"{"total":2}"#.to_owned()),
        headers,
        topic: "elsewhere".to_owned(),
        ..sent.event.clone()
    };
    assert_eq!((parked[0].attempts, &parked[0].event), (0, &expected));
    let letter = letter(&bench, dead_id).await;
    assert_eq!((letter.resolution.as_deref(), letter.new_id), (Some("edited"), Some(new_id)));
    assert_eq!((letter.id, letter.payload.as_str()), (sent.id, r#"{"total":1}"#), "the old one is kept");
}

pub async fn what_is_not_edited_stays<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(Event::of("x").key("a").bytes("old", "text/plain").header("h", "v")).await;
    bench.settle(&sent, vec![dead(&sent)]).await;
    let dead_id = letters(&bench).await[0].dead_id;
    let new_id = bench.new_id();

    let edit = Edit { payload: Some("new, and no JSON".to_owned()), ..Edit::default() };
    bench.act(OperatorAct::Edit { dead_id, edit, new_id }).await.expect("edit");

    let payload = Payload::Bytes { bytes: b"new, and no JSON".to_vec(), content_type: "text/plain".into() };
    let expected = Event { id: new_id, payload, ..sent.event.clone() };
    assert_eq!(bench.page().await.parked[0].event, expected);
}

pub async fn an_edited_payload_must_be_json_again<S: Subject>(subject: &S) {
    let (bench, _, dead_id) = one_dead(subject).await;

    for bad in ["{\"total\":", "", "1 2"] {
        let edit = Edit { payload: Some(bad.to_owned()), ..Edit::default() };
        let act = OperatorAct::Edit { dead_id, edit, new_id: bench.new_id() };
        bench.refusal(act, ErrorKind::Invalid).await;
    }
    assert_eq!(letter(&bench, dead_id).await.resolution, None);
    assert!(bench.page().await.parked.is_empty());
}

pub async fn what_cannot_be_edited_says_why<S: Subject>(subject: &S) {
    let (bench, _, dead_id) = one_dead(subject).await;
    let edit = |dead_id: i64, new_id: EventId| OperatorAct::Edit { dead_id, edit: Edit::default(), new_id };

    let missing = bench.refusal(edit(dead_id + 99, bench.new_id()), ErrorKind::NotFound).await;
    assert!(missing.contains(&(dead_id + 99).to_string()), "{missing}");

    bench.act(OperatorAct::Discard(vec![dead_id])).await.expect("discard");
    let resolved = bench.refusal(edit(dead_id, bench.new_id()), ErrorKind::Refused).await;
    assert!(resolved.contains("discarded"), "{resolved}");
    assert!(bench.page().await.parked.is_empty());
}

pub async fn a_discard_releases_a_held_key<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("a")]).await;
    bench.settle(&sent[1], vec![held_dead(&sent[0]), failed(&sent[1], 1, Duration::ZERO)]).await;
    let dead_id = letters(&bench).await[0].dead_id;
    assert!(bench.page_that_holds().await.parked.is_empty());

    assert_eq!(bench.act(OperatorAct::Discard(vec![dead_id])).await.expect("discard"), 1);

    assert_eq!(positions(&bench.page_that_holds().await.parked), places(&[&sent[1]]));
    let letter = letter(&bench, dead_id).await;
    assert_eq!((letter.resolution.as_deref(), letter.resolved_by.as_deref()), (Some("discarded"), Some(ADA)));
    assert_eq!(replay(&bench, &[dead_id]).await, 0, "given up for good");
    assert_eq!(bench.act(OperatorAct::Discard(vec![dead_id])).await.expect("discard"), 0);
}

pub async fn dead_letters_are_listed_by_what_is_asked_for<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish([keyed("a"), keyed("b"), Event::of("other").key("a").bytes("", "b")]).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }
    bench.settle_in("audit", &sent[0], vec![dead(&sent[0])]).await;
    let first = letters(&bench).await[0].dead_id;
    bench.act(OperatorAct::Discard(vec![first])).await.expect("discard");

    let any = DeadFilter::default;
    let cases = [
        (any(), 3),
        (DeadFilter { resolved: true, ..any() }, 4),
        (DeadFilter { subscription: Some("audit".to_owned()), ..any() }, 1),
        (DeadFilter { event_type: Some("other".to_owned()), ..any() }, 1),
        (DeadFilter { key: Some("a".to_owned()), ..any() }, 2),
        (DeadFilter { reason: Some(DeadReason::PoisonMessage), ..any() }, 0),
    ];
    for (filter, expected) in cases {
        let found = subject.admin().dead(&filter).await.expect("dead");
        assert_eq!((found.items.len(), found.next), (expected, None), "{filter:?}");
    }
}

pub async fn dead_letters_come_oldest_first_a_page_at_a_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..5).map(|_| keyed("a"))).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }

    let mut filter = DeadFilter { limit: 2, ..DeadFilter::default() };
    let mut pages = Vec::new();
    loop {
        let page = subject.admin().dead(&filter).await.expect("dead");
        pages.push(page.items.iter().map(|letter| letter.position).collect::<Vec<_>>());
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }

    assert_eq!(pages.concat(), places(&sent.iter().collect::<Vec<_>>()));
    assert_eq!(pages.iter().map(Vec::len).max(), Some(2));
}

pub async fn what_was_too_large_to_be_read_is_kept_until_it_is_edited<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let size = DEFAULT_PAYLOAD_LIMIT + 1;
    let draft = Event::of("large").key("a").bytes(vec![b'x'; size], "text/plain");
    let sent = bench.publish_unlimited(draft).await;
    bench.settle(&sent, vec![poison(&bench.entry(&sent).await)]).await;
    // The copy is all there is of it.
    bench.advance(2 * DAY);
    let pruned =
        subject.log().prune(&Retention { events: DAY, ..Retention::default() }).await.expect("prune");
    assert_eq!(pruned.events, 1);

    let listed = letters(&bench).await;
    assert!(listed[0].payload.len() < 1_000, "a page of dead letters is for people to read");
    replay(&bench, &[listed[0].dead_id]).await;
    let parked = bench.page().await.parked;
    let defect = parked[0].defect.clone().unwrap_or_default();
    assert!(
        defect.contains(&size.to_string()),
        "nothing of it was lost, and it is as large as before: {defect:?}"
    );
    bench.settle(&sent, vec![poison(&parked[0])]).await;

    let edit = Edit { payload: Some("small".to_owned()), ..Edit::default() };
    let (dead_id, new_id) = (letters(&bench).await[0].dead_id, bench.new_id());
    bench.act(OperatorAct::Edit { dead_id, edit, new_id }).await.expect("edit");
    let parked = bench.page().await.parked;
    assert_eq!((parked[0].event.payload.as_bytes(), &parked[0].defect), (&b"small"[..], &None));
}

pub async fn what_could_not_be_understood_is_not_sent_again_as_it_was_read<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a").header("trace", "abc")).await;
    subject.damage(Damage::GarbleHeaders(sent.position)).await;
    bench.settle(&sent, vec![poison(&bench.entry(&sent).await)]).await;

    replay(&bench, &[letters(&bench).await[0].dead_id]).await;
    let parked = bench.page().await.parked;
    assert!(parked[0].defect.is_some(), "without its headers it would be another event");
    bench.settle(&sent, vec![poison(&parked[0])]).await;

    let headers = BTreeMap::from([("trace".to_owned(), "abc".to_owned())]);
    let edit = Edit { headers: Some(headers), ..Edit::default() };
    let (dead_id, new_id) = (letters(&bench).await[0].dead_id, bench.new_id());
    bench.act(OperatorAct::Edit { dead_id, edit, new_id }).await.expect("edit");
    let parked = bench.page().await.parked;
    let expected = Event { id: new_id, ..sent.event };
    assert_eq!((&parked[0].event, &parked[0].defect), (&expected, &None));
}

/// One event that is dead and does not hold its key.
async fn one_dead<S: Subject>(subject: &S) -> (Bench<'_, S>, Sent, i64) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![dead(&sent)]).await;
    let dead_id = letters(&bench).await[0].dead_id;
    (bench, sent, dead_id)
}

async fn replay<S: Subject>(bench: &Bench<'_, S>, ids: &[i64]) -> u64 {
    bench.act(OperatorAct::Replay(ids.to_vec())).await.expect("replay")
}

/// The unresolved dead letters.
async fn letters<S: Subject>(bench: &Bench<'_, S>) -> Vec<DeadLetter> {
    bench.subject.admin().dead(&DeadFilter::default()).await.expect("dead").items
}

async fn letter<S: Subject>(bench: &Bench<'_, S>, dead_id: i64) -> DeadLetter {
    let filter = DeadFilter { subscription: Some(SUB.to_owned()), resolved: true, ..DeadFilter::default() };
    let letters = bench.subject.admin().dead(&filter).await.expect("dead").items;
    letters.into_iter().find(|letter| letter.dead_id == dead_id).expect("it is listed")
}
