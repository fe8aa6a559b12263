//! Position order: whatever transaction ids say, and whenever somebody looks.

use crate::{
    fixture::{Fixture, keyed, run},
    walk::{Walk, positions},
};

const INSERT: &str = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";

#[tokio::test]
async fn a_transaction_that_began_first_and_inserts_last_comes_last() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut first = fixture.connect().await;
    run(&mut first, "begin; select pg_current_xact_id()").await.unwrap();
    fixture.publish([keyed("k"), keyed("k")]).await;
    run(&mut first, &format!("{INSERT}; commit")).await.unwrap();
    fixture.publish([keyed("k")]).await;

    assert_eq!(walk.drain().await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn what_is_late_does_not_go_before_what_was_inserted_before_it() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut late = fixture.connect().await;
    run(&mut late, "begin; select pg_current_xact_id()").await.unwrap();
    fixture.publish([keyed("k")]).await;
    assert_eq!(walk.drain().await, [1]);

    fixture.publish([keyed("k"), keyed("k")]).await;
    run(&mut late, &format!("{INSERT}; commit")).await.unwrap();
    fixture.publish([keyed("k")]).await;

    assert_eq!(walk.drain().await, [2, 3, 4, 5]);
}

#[tokio::test]
async fn what_commits_while_a_window_is_read_comes_in_the_next_one() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    fixture.publish((0..4).map(|_| keyed("k"))).await;
    let (late, _) = fixture.publish_and_wait("k").await;
    fixture.publish((0..2).map(|_| keyed("k"))).await;
    let page = walk.read(2).await;
    assert_eq!(positions(&page.entries), [1, 2]);
    walk.settle(&page.end).await;

    late.commit().await.unwrap();

    assert_eq!(
        walk.drain().await,
        [3, 4, 6, 7, 5],
        "5 was not there when the window was opened, and comes once"
    );
}

#[tokio::test]
async fn sessions_that_take_turns_are_numbered_in_turn() {
    let fixture = Fixture::subscribed().await;
    let mut walk = Walk::take(&fixture.log, "a").await;
    let mut sessions = [fixture.connect().await, fixture.connect().await];
    for turn in 0..6 {
        run(
            &mut sessions[turn % 2],
            &format!("{INSERT}; update outbox set tenant_id = '{turn}' where tenant_id is null"),
        )
        .await
        .unwrap();
    }

    let page = walk.read(1_000).await;
    let turns: Vec<&str> =
        page.entries.iter().map(|entry| entry.event.tenant_id.as_deref().unwrap()).collect();
    assert_eq!(turns, ["0", "1", "2", "3", "4", "5"], "no session draws numbers in advance");
    walk.settle(&page.end).await;
    assert_eq!(walk.drain().await, [0; 0]);
}
