//! Which listeners run, in which order, and what becomes of the event however they end.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use posthaste_core::{
    DeadReason, Delivery, Entry, Event, EventId, EventRules, Fault, FaultKind, Lane, Origin, Position, Sink,
    Stamp, Timestamp,
};
use posthaste_listeners::{ListenerError, Listeners, Received};
use tokio::time::{Instant, advance};

posthaste_core::event_types! { enum UserEvent { Created = "user.created", Deleted = "user.deleted" } }

const SECOND: Duration = Duration::from_secs(1);

/// What was called, in order.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    /// A listener that writes down its name and the event's payload, and succeeds.
    fn note(
        &self,
        name: &'static str,
    ) -> impl Fn(Received) -> std::future::Ready<Result<(), ListenerError>> + use<> {
        let calls = self.clone();
        move |event| {
            calls.push(format!("{name} {}", text(&event)));
            std::future::ready(Ok(()))
        }
    }

    fn push(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn text(event: &Event) -> String {
    event.json().unwrap()
}

fn entry(event_type: &'static str, key: &str, payload: &str) -> Entry {
    let draft = Event::of(event_type).json(&payload).unwrap();
    let draft = if key.is_empty() { draft } else { draft.key(key) };
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
    Entry {
        position: Position(7),
        lane: Lane(0),
        event: draft.build(&EventRules::default(), stamp).unwrap(),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

async fn deliver(listeners: &Listeners, batch: &[Entry]) -> Vec<Delivery> {
    listeners.deliver(batch, (Instant::now() + 10 * SECOND).into_std()).await
}

/// Delivers one event to one listener and tells the fault.
async fn fault_of(listeners: Listeners) -> Fault {
    match deliver(&listeners, &[entry("a", "", "1")]).await.remove(0) {
        Delivery::Failed(fault) => fault,
        other => panic!("expected a fault, not {other:?}"),
    }
}

#[tokio::test]
async fn exact_listeners_run_first_then_wildcards_each_in_registration_order() {
    let calls = Calls::default();
    let listeners = Listeners::new()
        .on_all(calls.note("all 1"))
        .on("user.created", calls.note("exact 1"))
        .on("user.*", calls.note("pattern"))
        .on("user.deleted", calls.note("other"))
        .on("*", calls.note("all 2"))
        .on("user.created", calls.note("exact 2"));

    let answers = deliver(&listeners, &[entry("user.created", "k", "x"), entry("order", "k", "y")]).await;

    assert_eq!(answers, [Delivery::Delivered, Delivery::Delivered]);
    assert_eq!(
        calls.take(),
        ["exact 1 x", "exact 2 x", "all 1 x", "pattern x", "all 2 x", "all 1 y", "all 2 y"]
    );
}

#[tokio::test]
async fn an_enum_and_its_text_name_the_same_type() {
    let calls = Calls::default();
    let listeners = Listeners::new()
        .on(UserEvent::Created, calls.note("enum"))
        .on("user.created", calls.note("text"))
        .on(String::from("user.created"), calls.note("owned text"))
        .on(UserEvent::Deleted, calls.note("other"));

    deliver(&listeners, &[entry("user.created", "", "x")]).await;

    assert_eq!(calls.take(), ["enum x", "text x", "owned text x"]);
}

#[tokio::test]
async fn an_event_that_nobody_wants_is_delivered() {
    let listeners = Listeners::new().on("a", |_| async { panic!("not mine") });

    assert_eq!(deliver(&listeners, &[entry("b", "k", "x")]).await, [Delivery::Delivered]);
    assert_eq!(listeners.ping().await, Ok(()));
}

#[tokio::test]
async fn a_listener_sees_the_event_its_position_and_its_attempt() {
    let listeners = Listeners::new().on_all(|event| async move {
        assert_eq!((event.position(), event.attempt(), event.key.as_deref()), (Position(7), 3, Some("k")));
        Ok(())
    });
    let third = Entry { attempts: 2, ..entry("a", "k", "x") };

    assert_eq!(deliver(&listeners, &[third]).await, [Delivery::Delivered]);
}

#[tokio::test]
async fn an_error_is_transient_unless_it_says_otherwise() {
    let any_error = fault_of(Listeners::new().on("a", |event| async move {
        let _: u32 = event.json()?;
        Ok(())
    }));
    assert_eq!(any_error.await.kind, FaultKind::Transient);

    let permanent =
        fault_of(Listeners::new().on("a", |_| async { Err(ListenerError::permanent("refused")) }));
    assert_eq!(permanent.await, Fault::permanent("refused"));
}

#[tokio::test]
async fn a_panic_is_poison_before_and_after_the_first_await() {
    let before = fault_of(Listeners::new().on("a", |event| {
        assert!(event.event_type != "a", "too early");
        async { Ok(()) }
    }));
    let after = fault_of(Listeners::new().on("a", |_| async {
        tokio::task::yield_now().await;
        panic!("number {}", 5)
    }));

    for (fault, message) in [(before.await, "too early"), (after.await, "number 5")] {
        assert_eq!((fault.kind, fault.reason), (FaultKind::Permanent, DeadReason::PoisonMessage));
        assert!(fault.message.ends_with(message), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_is_a_processing_timeout() {
    let for_all = Listeners::new().time_limit(SECOND).on("a", |_| pending());
    let for_one = Listeners::new().time_limit(SECOND).on_within("a", 2 * SECOND, |_| pending());
    let for_a_wildcard = Listeners::new().on_all_within(3 * SECOND, |_| pending());

    for (listeners, seconds) in [(for_all, 1), (for_one, 2), (for_a_wildcard, 3)] {
        let started = Instant::now();
        let fault = fault_of(listeners).await;

        assert_eq!((fault.kind, fault.reason), (FaultKind::Transient, DeadReason::ProcessingTimeout));
        assert!(fault.message.contains(&format!("limit of {seconds}s")), "{fault}");
        assert_eq!(started.elapsed().as_secs(), seconds);
    }
}

#[tokio::test]
async fn the_first_failing_listener_ends_the_turn_of_its_event() {
    let calls = Calls::default();
    let listeners = Listeners::new()
        .on("a", calls.note("first"))
        .on("a", |_| async { Err("failed")? })
        .on_all(calls.note("never"));

    let answers = deliver(&listeners, &[entry("a", "", "x")]).await;

    assert_eq!(answers, [Delivery::Failed(Fault::transient("failed"))]);
    assert_eq!(calls.take(), ["first x"]);
}

/// A listener that takes this long by the paused clock.
fn lasts(time: Duration) -> impl Fn(Received) -> BoxFuture<'static, Result<(), ListenerError>> {
    move |_| advance(time).map(Ok).boxed()
}

/// Fails for the payload `bad`, says that something is down for `down`, and notes the rest.
fn picky(calls: &Calls) -> Listeners {
    let calls = calls.clone();
    Listeners::new().on_all(move |event| {
        let calls = calls.clone();
        async move {
            tokio::task::yield_now().await;
            match text(&event).as_str() {
                "bad" => Err("bad")?,
                "down" => Err(ListenerError::unavailable("down")),
                payload => {
                    calls.push(payload.to_owned());
                    Ok(())
                }
            }
        }
    })
}

#[tokio::test]
async fn after_a_fault_the_rest_of_its_key_is_not_sent() {
    let batch = [
        entry("a", "k", "k1"),
        entry("a", "l", "l1"),
        entry("a", "k", "bad"),
        entry("a", "", "bad"),
        entry("a", "k", "k3"),
        entry("a", "l", "l2"),
        entry("a", "", "free"),
    ];
    for concurrency in [1, 2, 100] {
        let calls = Calls::default();
        let answers = deliver(&picky(&calls).concurrency(concurrency), &batch).await;

        use Delivery::{Delivered, NotSent};
        let bad = || Delivery::Failed(Fault::transient("bad"));
        assert_eq!(
            answers,
            [Delivered, Delivered, bad(), bad(), NotSent, Delivered, Delivered],
            "{concurrency}"
        );
        let mut called = calls.take();
        called.sort();
        assert_eq!(called, ["free", "k1", "l1", "l2"], "{concurrency}");
    }
}

#[tokio::test]
async fn an_outage_ends_the_batch() {
    let batch = [entry("a", "k", "1"), entry("a", "l", "down"), entry("a", "m", "2"), entry("a", "", "3")];
    let calls = Calls::default();

    let answers = deliver(&picky(&calls), &batch).await;

    assert_eq!(answers[..2], [Delivery::Delivered, Delivery::Failed(Fault::unavailable("down"))]);
    assert_eq!(answers[2..], [Delivery::NotSent, Delivery::NotSent]);
    assert_eq!(calls.take(), ["1"]);
}

#[tokio::test]
async fn keys_run_at_the_same_time_only_up_to_the_concurrency() {
    let running = Arc::new(Mutex::new((0, 0)));
    let batch: Vec<_> = (0..20).map(|n| entry("a", "", &n.to_string())).collect();
    for concurrency in [0, 1, 3] {
        let gauge = Arc::clone(&running);
        let listeners = Listeners::new().concurrency(concurrency).on_all(move |_| {
            let gauge = Arc::clone(&gauge);
            async move {
                {
                    let (now, most) = &mut *gauge.lock().unwrap();
                    *now += 1;
                    *most = (*most).max(*now);
                }
                tokio::task::yield_now().await;
                gauge.lock().unwrap().0 -= 1;
                Ok(())
            }
        });

        deliver(&listeners, &batch).await;

        assert_eq!(std::mem::take(&mut *running.lock().unwrap()), (0, concurrency.max(1)));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_begun_after_the_deadline() {
    let calls = Calls::default();
    let note = calls.note("late");
    let listeners = Listeners::new().on_all(lasts(9 * SECOND)).on_all(note);
    let until = (Instant::now() + 10 * SECOND).into_std();
    let batch = [entry("a", "k", "1"), entry("a", "k", "2"), entry("a", "l", "3")];

    let answers = listeners.deliver(&batch, until).await;

    // The second one began a second before the end: it came late, which is not its fault.
    assert_eq!(answers, [Delivery::Delivered, Delivery::NotSent, Delivery::NotSent]);
    assert_eq!(calls.take(), ["late 1"]);
    assert_eq!(listeners.deliver(&batch[..1], until).await, [Delivery::NotSent]);
}

#[tokio::test(start_paused = true)]
async fn who_runs_into_the_deadline_fails_only_if_he_had_the_time() {
    let listeners = Listeners::new().on("quick", lasts(6 * SECOND)).on("stuck", |_| pending());

    let answers = deliver(&listeners, &[entry("stuck", "k", "1"), entry("quick", "l", "2")]).await;
    let Delivery::Failed(fault) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((fault.kind, fault.reason), (FaultKind::Transient, DeadReason::ProcessingTimeout));
    assert!(fault.message.contains("lease"), "{fault}");
    assert_eq!(answers[1], Delivery::NotSent);

    let answers = deliver(&listeners, &[entry("quick", "k", "1"), entry("stuck", "l", "2")]).await;
    assert_eq!(answers, [Delivery::Delivered, Delivery::NotSent]);
}
