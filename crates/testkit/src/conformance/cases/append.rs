//! The chain of lines: who finds a number taken has been overtaken, and changes nothing.

use std::time::Duration;

use posthaste_core::{
    Act, ActKind, Appended, Change, Cursor, DeadFilter, ErrorKind, Lane, Position, RelayId,
};

use super::{
    Damage, Subject,
    bench::{Bench, LEASE, SOON, SUB, Sent, act, keyed, places, positions, relay},
    changes::{dead, delivered, failed},
};

pub async fn a_line_follows_on_the_last<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;

    for (n, kind, cursor) in [
        (2, ActKind::Taken, 0),
        (3, ActKind::Settled, 5),
        (4, ActKind::Settled, 9),
        (5, ActKind::GivenBack, 9),
    ] {
        assert_eq!(bench.append_one("a", act(Lane(0), n, kind, Position(cursor))).await, Appended::Done);
        let line = bench.line(Lane(0)).await;
        assert_eq!((line.n, line.cursor.after), (n, Position(cursor)));
        assert_eq!(line.holder, kind.holds().then(|| relay("a")));
    }
    assert_eq!(bench.line(Lane(1)).await.n, 1, "lanes do not depend on each other");
}

pub async fn an_append_of_nothing_answers_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    assert_eq!(bench.append("a", &[]).await, []);
}

pub async fn refuses_an_act_whose_number_is_taken<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.take("a", Lane(0)).await;

    let late = act(Lane(0), 2, ActKind::Taken, Position(0));
    assert_eq!(bench.append_one("b", late).await, Appended::Fenced);

    bench.enrol("a").await;
    assert_eq!(bench.line(Lane(0)).await.holder, Some(relay("a")));
}

pub async fn refuses_a_line_without_the_one_before<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    for n in [3, 7, 1_000_000] {
        let act = act(Lane(0), n, ActKind::Taken, Position(0));
        assert_eq!(bench.append_one("a", act).await, Appended::Fenced, "line {n} after line 1");
    }
    assert_eq!(bench.line(Lane(0)).await.n, 1);
}

pub async fn refuses_what_is_for_nobody<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let acts = [act(Lane(0), 2, ActKind::Taken, Position(0))];

    let answers = subject.log().append("nobody", &relay("a"), &acts).await.expect("it is no error");

    assert_eq!(answers, [Appended::Fenced]);
    assert_eq!(bench.line(Lane(0)).await.n, 1);
}

pub async fn answers_done_again_and_changes_nothing_twice<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    let changes = vec![dead(&sent[0]), failed(&sent[1], 1, SOON)];
    let settled = Act { changes, delivered: 7, ..act(sent[0].lane, 2, ActKind::Settled, sent[1].position) };

    assert_eq!(bench.append_one("a", settled.clone()).await, Appended::Done);
    bench.advance(SOON);
    assert_eq!(bench.append_one("a", settled).await, Appended::Done);

    assert_eq!(dead_positions(&bench).await, places(&[&sent[0]]));
    let page = bench.page().await;
    assert_eq!(positions(&page.parked), places(&[&sent[1]]), "the due time is that of the first append");
    assert_eq!(bench.line(sent[0].lane).await.n, 2);
    let status = subject.admin().status().await.expect("status");
    assert_eq!(status.subscriptions[0].delivered, 7);
}

pub async fn a_repeat_is_known_only_while_it_is_the_last_line<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.take("a", Lane(0)).await;
    bench.take("b", Lane(0)).await;

    let repeated = act(Lane(0), 2, ActKind::Taken, Position(0));
    assert_eq!(bench.append_one("a", repeated).await, Appended::Fenced, "the lane is not its own any more");

    bench.enrol("b").await;
    let line = bench.line(Lane(0)).await;
    assert_eq!((line.n, line.holder), (3, Some(relay("b"))));
}

pub async fn another_act_under_a_number_of_its_own_is_fenced<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    let lane = sent.lane;
    let first = Act { delivered: 3, ..act(lane, 2, ActKind::Settled, Position(5)) };
    assert_eq!(bench.append_one("a", first.clone()).await, Appended::Done);

    let others = [
        Act { kind: ActKind::Taken, ..first.clone() },
        Act { kind: ActKind::GivenBack, ..first.clone() },
        Act { cursor: Cursor::at(Position(6)), ..first.clone() },
        Act { delivered: 2, ..first.clone() },
    ];
    for other in others {
        let other = Act { changes: vec![dead(&sent)], ..other };
        assert_eq!(bench.append_one("a", other.clone()).await, Appended::Fenced, "{other:?}");
    }
    assert_eq!(bench.append_one("a", first).await, Appended::Done, "this is the very act");
    assert_eq!(bench.line(lane).await.cursor.after, Position(5));
    assert_eq!(dead_positions(&bench).await, []);
}

pub async fn one_lane_is_fenced_and_another_is_done<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(3).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;
    bench.take("b", sent[1].lane).await;
    let park = |sent: &Sent, n| Act {
        changes: vec![failed(sent, 1, Duration::ZERO)],
        ..act(sent.lane, n, ActKind::Settled, sent.position)
    };

    let answers = bench.append("a", &[park(&sent[0], 2), park(&sent[1], 2), park(&sent[2], 3)]).await;
    assert_eq!(answers, [Appended::Done, Appended::Fenced, Appended::Fenced]);
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0]]));

    let answers = bench.append("a", &[park(&sent[2], 2), park(&sent[0], 2), park(&sent[1], 3)]).await;
    assert_eq!(answers, [Appended::Done; 3], "in the order of the acts, a repeat among them");
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0], &sent[1], &sent[2]]));
}

pub async fn settles_without_a_lease_if_nobody_took_the_lane<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    let n = bench.take("a", Lane(0)).await;

    bench.advance(LEASE * 2);
    bench.enrol("b").await;
    let settled = act(Lane(0), n + 1, ActKind::Settled, Position(3));

    assert_eq!(bench.append_one("a", settled).await, Appended::Done, "the number says so, not the lease");
}

pub async fn a_zombie_settles_nothing<S: Subject>(subject: &S) {
    let (bench, sent) = overtaken(subject).await;

    let settled = act(sent.lane, 4, ActKind::Settled, sent.position);
    assert_eq!(bench.append_one("zombie", settled).await, Appended::Fenced);

    assert_untouched(&bench, &sent).await;
}

pub async fn a_zombie_gives_nothing_back<S: Subject>(subject: &S) {
    let (bench, sent) = overtaken(subject).await;

    let given_back = act(sent.lane, 4, ActKind::GivenBack, Position(0));
    assert_eq!(bench.append_one("zombie", given_back).await, Appended::Fenced);

    assert_untouched(&bench, &sent).await;
}

pub async fn a_zombie_parks_nothing<S: Subject>(subject: &S) {
    let (bench, sent) = overtaken(subject).await;

    assert_eq!(zombie_settles(&bench, &sent, failed(&sent, 9, Duration::ZERO)).await, Appended::Fenced);

    assert_untouched(&bench, &sent).await;
}

pub async fn a_zombie_unparks_nothing<S: Subject>(subject: &S) {
    let (bench, sent) = overtaken(subject).await;

    assert_eq!(zombie_settles(&bench, &sent, delivered(&sent)).await, Appended::Fenced);

    assert_untouched(&bench, &sent).await;
}

pub async fn a_zombie_buries_nothing<S: Subject>(subject: &S) {
    let (bench, sent) = overtaken(subject).await;

    assert_eq!(zombie_settles(&bench, &sent, dead(&sent)).await, Appended::Fenced);

    assert_untouched(&bench, &sent).await;
}

pub async fn an_append_that_the_database_refuses_changes_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;
    let settle = |sent: &Sent, change| Act {
        changes: vec![change],
        ..act(sent.lane, 2, ActKind::Settled, sent.position)
    };
    let acts = [settle(&sent[0], failed(&sent[0], 1, Duration::ZERO)), settle(&sent[1], dead(&sent[1]))];
    subject.damage(Damage::RefuseDead).await;

    for refused in [&acts[..], &acts[1..]] {
        let error =
            subject.log().append(SUB, &relay("a"), refused).await.expect_err("no dead letter is taken");
        let told = error.chain();
        assert_ne!(
            error.kind(),
            ErrorKind::Unavailable,
            "the log is there, and says what it does not take: {told}"
        );
    }
    assert_eq!((bench.line(sent[0].lane).await.n, bench.line(sent[1].lane).await.n), (1, 1));
    assert!(bench.page().await.parked.is_empty());

    assert_eq!(bench.append("a", &acts[..1]).await, [Appended::Done], "by itself the other one is taken");
    assert_eq!(positions(&bench.page().await.parked), places(&[&sent[0]]));
}

/// A lane with a parked event in which a relay was overtaken: it knows line 3, and line 4 is not its own.
async fn overtaken<S: Subject>(subject: &S) -> (Bench<'_, S>, Sent) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    assert_eq!(bench.take("zombie", sent.lane).await, 2);
    let parked = Act {
        changes: vec![failed(&sent, 1, Duration::ZERO)],
        ..act(sent.lane, 3, ActKind::Settled, sent.position)
    };
    assert_eq!(bench.append_one("zombie", parked).await, Appended::Done);
    assert_eq!(bench.take("heir", sent.lane).await, 4);
    bench.enrol("heir").await;
    (bench, sent)
}

async fn zombie_settles<S: Subject>(bench: &Bench<'_, S>, sent: &Sent, change: Change) -> Appended {
    let settled = Act { changes: vec![change], ..act(sent.lane, 4, ActKind::Settled, Position(99)) };
    bench.append_one("zombie", settled).await
}

async fn assert_untouched<S: Subject>(bench: &Bench<'_, S>, sent: &Sent) {
    let line = bench.line(sent.lane).await;
    let heir: Option<RelayId> = Some(relay("heir"));
    assert_eq!((line.n, line.holder, line.cursor.after), (4, heir, sent.position));
    let page = bench.page().await;
    assert_eq!(positions(&page.parked), places(&[sent]));
    assert_eq!(page.parked[0].attempts, 1);
    assert_eq!(dead_positions(bench).await, []);
    let timeline = bench.subject.admin().show(sent.id).await.expect("show");
    let told: Vec<&str> = timeline.items.iter().map(|item| item.what.as_str()).collect();
    assert_eq!(told, ["published", "failed"], "the journal tells nothing of what was void");
}

async fn dead_positions<S: Subject>(bench: &Bench<'_, S>) -> Vec<Position> {
    let filter = DeadFilter { subscription: Some(SUB.to_owned()), resolved: true, ..DeadFilter::default() };
    let letters = bench.subject.admin().dead(&filter).await.expect("dead").items;
    letters.iter().map(|letter| letter.position).collect()
}
