//! Who gets a span, what it says, and what the consumer is told.

use std::{sync::Arc, time::Duration};

use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use posthaste_core::{Delivery, Fault, RetryPolicy, Subscription, SystemClock, memory::MemoryLog};
use posthaste_relay::{RelayBuilder, Stopped};
use posthaste_traces::{Settings, Traces};

use crate::{
    collector::{Collector, attribute, hex},
    destination::{Destination, PUBLISHER, TRACE, deliver, entry, event, sampled},
};

/// The header that names a span.
fn names(span: &Span) -> Option<String> {
    Some(format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id)))
}

#[tokio::test]
async fn a_delivery_is_the_child_of_its_publisher_and_the_parent_of_its_consumer() {
    let collector = Collector::start().await;
    let headers = vec![("Authorization".to_owned(), "Bearer hunter2".to_owned())];
    let settings = Settings { headers, service_name: Some("shop".to_owned()), ..collector.settings() };
    let traces = Traces::start(&settings).unwrap();
    let destination = Destination::answering([]);

    let batch = [entry(7, &[("traceparent", &sampled()), ("tracestate", "a=1, b=2,")])];
    let answers = deliver(&*destination.traced(&traces), &batch).await;
    traces.stop().await;

    let (posts, spans) = (collector.posts(), collector.spans());
    assert_eq!((answers, spans.len()), (vec![Delivery::Delivered], 1));
    let span = &spans[0];
    assert_eq!((hex(&span.trace_id).as_str(), hex(&span.parent_span_id).as_str()), (TRACE, PUBLISHER));
    assert_ne!(hex(&span.span_id), PUBLISHER);
    assert_eq!(destination.headers("traceparent"), [names(span)]);
    assert_eq!(destination.headers("tracestate"), [Some("a=1, b=2,".to_owned())], "passed on untouched");
    assert_eq!((span.name.as_str(), span.kind()), ("deliver shop.orders", SpanKind::Producer));
    assert!(span.start_time_unix_nano > 0 && span.end_time_unix_nano >= span.start_time_unix_nano);
    assert_eq!(
        (span.trace_state.as_str(), span.status.clone().unwrap_or_default().code()),
        ("a=1,b=2", StatusCode::Unset)
    );
    for (name, value) in [
        ("messaging.system", "kafka"),
        ("messaging.operation.type", "send"),
        ("messaging.destination.name", "shop.orders"),
        ("messaging.message.id", "07070707-0707-0707-0707-070707070707"),
        ("posthaste.subscription", "orders"),
        ("posthaste.sink", "kafka:a:9092/shop.{topic}"),
        ("posthaste.event_type", "order.placed"),
        ("posthaste.position", "7"),
        ("posthaste.attempt", "1"),
        ("posthaste.delivery", "delivered"),
        ("error.type", ""),
    ] {
        assert_eq!(attribute(&span.attributes, name), value, "{name}");
    }
    assert_eq!(
        (posts[0].path.as_str(), posts[0].headers["authorization"].to_str().unwrap()),
        ("/v1/traces", "Bearer hunter2")
    );
    let resource = posts[0].request.resource_spans[0].resource.clone().unwrap();
    assert_eq!(attribute(&resource.attributes, "service.name"), "shop");
}

#[tokio::test]
async fn only_events_that_are_sampled_have_a_span_and_the_others_are_passed_on_as_they_are() {
    let collector = Collector::start().await;
    let traces = Traces::start(&collector.settings()).unwrap();
    let destination = Destination::answering([]);
    let unsampled = sampled().replace("-01", "-00");

    let batch = [
        entry(1, &[]),
        entry(2, &[("traceparent", &unsampled)]),
        entry(3, &[("traceparent", "00-ab-cd-01")]),
        entry(4, &[("Traceparent", &sampled())]),
        entry(5, &[("traceparent", &sampled()), ("x", "y")]),
    ];
    deliver(&*destination.traced(&traces), &batch).await;
    traces.stop().await;

    let spans = collector.spans();
    let positions: Vec<String> =
        spans.iter().map(|span| attribute(&span.attributes, "posthaste.position")).collect();
    assert_eq!(positions, ["4", "5"]);
    let broken = Some("00-ab-cd-01".to_owned());
    assert_eq!(destination.headers("traceparent"), [None, Some(unsampled), broken, None, names(&spans[1])]);
    assert_eq!(destination.headers("Traceparent")[3], names(&spans[0]), "under the name that it had");
    assert_eq!(destination.headers("x")[4].as_deref(), Some("y"));
}

#[tokio::test]
async fn a_batch_without_traces_is_passed_on_without_a_copy() {
    let collector = Collector::start().await;
    let traces = Traces::start(&Settings { sampling_ratio: 0.0, ..collector.settings() }).unwrap();
    let destination = Destination::answering([]);
    let sink = destination.traced(&traces);

    for headers in [&[][..], &[("traceparent", sampled().as_str())]] {
        let batch = [entry(1, headers), entry(2, &[("x", "y")])];
        deliver(&*sink, &batch).await;
        assert_eq!(*destination.place.lock().unwrap(), batch.as_ptr() as usize, "{headers:?}");
    }
    traces.stop().await;

    assert_eq!(destination.headers("traceparent")[2], Some(sampled()), "as it was");
    assert!(collector.posts().is_empty());
}

#[tokio::test]
async fn each_attempt_of_a_relay_has_a_span_of_its_own() {
    let collector = Collector::start().await;
    let traces = Traces::start(&collector.settings()).unwrap();
    let destination = Destination::answering([Delivery::Failed(Fault::transient("not today"))]);
    let retry = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() };
    let log = MemoryLog::new(4, Arc::new(SystemClock));
    let relay = RelayBuilder::new(Arc::new(log.clone()))
        .subscribe(Subscription { retry, ..Subscription::new("orders") }, destination.traced(&traces))
        .start()
        .await
        .unwrap();

    log.publish(&[event(1, &[("traceparent", &sampled())])]).await.unwrap();
    destination.has(1).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    traces.stop().await;

    let spans = collector.spans();
    let told =
        |name: &str| -> Vec<String> { spans.iter().map(|span| attribute(&span.attributes, name)).collect() };
    assert_eq!(told("posthaste.attempt"), ["1", "2"]);
    assert_eq!(told("posthaste.delivery"), ["failed", "delivered"]);
    assert_eq!(told("error.type"), ["transient", ""]);
    let status = spans[0].status.clone().unwrap();
    assert_eq!((status.code(), status.message.as_str()), (StatusCode::Error, "not today"));
    assert!(spans.iter().all(|span| hex(&span.parent_span_id) == PUBLISHER), "not the child of the first");
    assert_eq!(destination.headers("traceparent"), [names(&spans[0]), names(&spans[1])]);
    assert_ne!(spans[0].span_id, spans[1].span_id);
}

#[tokio::test]
async fn what_was_not_sent_has_no_span_and_what_was_cut_off_says_so() {
    let collector = Collector::start().await;
    let traces = Traces::start(&collector.settings()).unwrap();
    let down = Delivery::Failed(Fault::unavailable("down"));
    let destination = Destination::answering([down, Delivery::NotSent]);
    let header = sampled();
    let batch = [entry(1, &[("traceparent", &header)]), entry(2, &[("traceparent", &header)])];
    deliver(&*destination.traced(&traces), &batch).await;

    let hanging = Destination::hanging().traced(&traces);
    let given_up = tokio::time::timeout(Duration::from_millis(1), deliver(&*hanging, &batch[..1])).await;
    assert!(given_up.is_err());
    traces.stop().await;

    let spans = collector.spans();
    let errors: Vec<String> = spans.iter().map(|span| attribute(&span.attributes, "error.type")).collect();
    assert_eq!(errors, ["unavailable", "no_answer"]);
}
