//! A collector that is away, or says no: deliveries do not notice.

use std::time::{Duration, Instant};

use posthaste_core::Delivery;
use posthaste_traces::{Settings, Traces};
use tokio::net::TcpListener;

use crate::{
    collector::{Collector, attribute},
    destination::{Destination, PATIENCE, deliver, entry, sampled},
};

#[tokio::test]
async fn a_collector_that_is_away_changes_nothing_in_deliveries() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let endpoint = Some(format!("http://{nobody}"));
    let traces = Traces::start(&Settings { endpoint, ..Settings::default() }).unwrap();
    let destination = Destination::answering([]);
    let sink = destination.traced(&traces);
    let header = sampled();
    let batch: Vec<_> = (0..200).map(|number| entry(number, &[("traceparent", header.as_str())])).collect();

    // More than find room in the queue.
    for _ in 0..50 {
        let answers = deliver(&*sink, &batch).await;
        assert!(answers.iter().all(|answer| *answer == Delivery::Delivered));
    }
    let begun = Instant::now();
    traces.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(10), "stopping waited for {:?}", begun.elapsed());

    let answers = deliver(&*sink, &batch[..1]).await;
    assert_eq!(answers, [Delivery::Delivered], "also when nobody sends traces any more");
}

#[tokio::test]
async fn what_a_collector_refuses_is_dropped_and_the_next_is_sent() {
    let collector = Collector::start().await;
    let traces = Traces::start(&collector.settings()).unwrap();
    let destination = Destination::answering([]);
    let sink = destination.traced(&traces);
    let header = sampled();

    collector.answer(400);
    deliver(&*sink, &[entry(1, &[("traceparent", &header)])]).await;
    let end = Instant::now() + PATIENCE;
    while collector.posts().is_empty() {
        assert!(Instant::now() < end, "nothing was sent");
        // Waits for a condition.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    collector.answer(200);
    deliver(&*sink, &[entry(2, &[("traceparent", &header)])]).await;
    traces.stop().await;

    let taken: Vec<String> =
        collector.spans().iter().map(|span| attribute(&span.attributes, "posthaste.position")).collect();
    assert_eq!((taken, collector.posts().len()), (vec!["2".to_owned()], 2));
}

#[tokio::test]
async fn what_cannot_be_an_address_or_a_header_is_refused_at_once() {
    let bad = [
        Settings { endpoint: Some("collector:4318".to_owned()), ..Settings::default() },
        Settings { headers: vec![("a b".to_owned(), "c".to_owned())], ..Settings::default() },
    ];
    for settings in bad {
        let Err(error) = Traces::start(&settings) else { panic!("it was taken") };
        assert!(error.to_string().contains("allowed"), "{error}");
    }
}
