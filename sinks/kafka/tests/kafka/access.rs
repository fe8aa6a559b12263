//! Who may connect: passwords, their proofs, and encryption.

use std::time::Instant;

use posthaste_core::{FaultKind, Sink};
use posthaste_kafka::{KafkaOptions, Sasl, SaslMechanism, Tls};
use posthaste_services::{KAFKA_SASL_PASSWORD, KAFKA_SASL_USER, kafka, kafka_ca, kafka_sasl, kafka_ssl};

use crate::fixture::{
    PATIENCE, assert_outage, consume, deliver, deliver_all, fault, letters, sink, small, topic,
};

fn with_password(mechanism: SaslMechanism, password: &str) -> KafkaOptions {
    let sasl = Sasl { mechanism, user: KAFKA_SASL_USER.to_owned(), password: password.into() };
    KafkaOptions { sasl: Some(sasl), timeout: PATIENCE, ..KafkaOptions::new(kafka_sasl()) }
}

#[tokio::test]
async fn every_mechanism_lets_us_in() {
    let topic = topic(&kafka(), 1, &[]).await;
    for mechanism in [SaslMechanism::Plain, SaslMechanism::ScramSha256, SaslMechanism::ScramSha512] {
        let sink = sink(&with_password(mechanism, KAFKA_SASL_PASSWORD));
        deliver_all(&sink, &[small(1, "k", &topic)]).await;
        assert_eq!(sink.ping().await, Ok(()));
    }
    assert_eq!(consume(&kafka(), &topic).len(), 3);
}

#[tokio::test]
async fn a_wrong_password_is_an_outage_that_names_the_setting() {
    let topic = topic(&kafka(), 1, &[]).await;
    for mechanism in [SaslMechanism::Plain, SaslMechanism::ScramSha512] {
        let sink = sink(&with_password(mechanism, "wrong"));
        let began = Instant::now();

        let batch = [small(1, "k", &topic), small(2, "l", &topic)];
        let answers = deliver(&sink, &batch).await;

        assert_outage(&batch, &answers);
        let message = &fault(&answers[0]).message;
        assert!(message.contains("sasl") && !message.contains("wrong"), "{message}");
        assert!(began.elapsed() < PATIENCE / 2, "it is said at once");
        assert_eq!(sink.ping().await.unwrap_err().kind, FaultKind::Unavailable);
    }
    assert_eq!(consume(&kafka(), &topic).len(), 0);
}

// pitfall X8: TLS to the broker.
#[tokio::test]
async fn tls_with_the_right_authority_is_believed_and_with_none_is_not() {
    let topic = topic(&kafka(), 1, &[]).await;
    let trusting = KafkaOptions {
        tls: Some(Tls { ca: Some(kafka_ca()), ..Tls::default() }),
        ..KafkaOptions::new(kafka_ssl())
    };
    let doubting = KafkaOptions { tls: Some(Tls::default()), ..KafkaOptions::new(kafka_ssl()) };

    deliver_all(&sink(&trusting), &[small(1, "k", &topic)]).await;
    let answers = deliver(&sink(&doubting), &[small(2, "k", &topic)]).await;

    assert_eq!(letters(&answers), "u");
    assert!(fault(&answers[0]).message.contains("tls"), "{:?}", answers[0]);
    assert_eq!(consume(&kafka(), &topic).len(), 1);
}
