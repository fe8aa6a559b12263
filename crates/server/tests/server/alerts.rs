//! Alerts as their receiver gets them.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use posthaste::OnDead;
use posthaste_server::{Alerts, Secret, Settings, Webhook};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};

use crate::{
    caller::PATIENCE,
    fixture::{Fixture, serve, settings},
};

const KEY: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";

/// One request to the receiver, who answers with this status.
async fn receive(listener: &TcpListener, status: &str) -> (String, String) {
    timeout(PATIENCE, async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut part = [0; 4_096];
            let read = stream.read(&mut part).await.unwrap();
            bytes.extend(&part[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = header(head, "content-length").parse::<usize>().unwrap();
            if body.len() >= length {
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
                return (head.to_owned(), body.to_owned());
            }
        }
    })
    .await
    .expect("an alert comes in time")
}

fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.clone().find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

#[tokio::test]
async fn a_dead_letter_is_told_signed_and_again_if_it_was_not_taken() {
    let fixture = Fixture::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?x=1", listener.local_addr().unwrap());
    let secret = Secret::parse(&format!("whsec_{KEY}")).unwrap();
    let alerts = Alerts {
        quiet: Duration::from_secs(1),
        webhook: Some(Webhook::new(&url, secret).unwrap()),
        ..Alerts::default()
    };
    let public_url = Some("https://outbox.example".to_owned());
    let running = serve(fixture.server(Settings { alerts: Some(alerts), public_url, ..settings() })).await;
    // What was there before a server looked is no news, so that it has to see the subscription first.
    fixture.relay(crate::sinks::Taking).await.stop().await;
    crate::fixture::wait_until("it is seen", async || {
        let history = running.viewer.get("/api/v1/history").await.json();
        history["subscriptions"]["billing"].is_array()
    })
    .await;
    fixture.dead(&[json!(1)], OnDead::Continue).await;

    let (head, body) = receive(&listener, "500 Internal Server Error").await;
    let (again, same) = receive(&listener, "204 No Content").await;
    assert!(head.starts_with("POST /hook?x=1 HTTP/1.1"), "{head}");
    assert_eq!(header(&head, "webhook-id"), header(&again, "webhook-id"));
    assert_eq!(body, same);
    for (head, body) in [(&head, &body), (&again, &same)] {
        let (id, timestamp) = (header(head, "webhook-id"), header(head, "webhook-timestamp"));
        let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(KEY).unwrap()).unwrap();
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        assert_eq!(header(head, "webhook-signature"), expected);
    }
    let message: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&message["type"], &message["data"]["count"]), (&json!("posthaste.dead_letter"), &json!(1)));
    assert_eq!(message["data"]["link"], "https://outbox.example/dead-letters?subscription=billing");
}

#[tokio::test]
async fn of_two_relays_one_tells() {
    let fixture = Fixture::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let secret = || Secret::parse(&format!("whsec_{KEY}")).unwrap();
    let alerts = || Alerts {
        quiet: Duration::from_secs(1),
        webhook: Some(Webhook::new(&url, secret()).unwrap()),
        ..Alerts::default()
    };
    let (first, second) =
        (fixture.relay(crate::sinks::Taking).await, fixture.relay(crate::sinks::Taking).await);
    let server = |relay: &posthaste::Relay| {
        fixture.server(Settings { alerts: Some(alerts()), ..settings() }).relay(relay.pulse())
    };
    let running = [serve(server(&first)).await, serve(server(&second)).await];
    for running in &running {
        crate::fixture::wait_until("both relays are seen", async || {
            running.viewer.get("/api/v1/relays").await.json()["items"].as_array().unwrap().len() == 2
                && running.viewer.get("/api/v1/history").await.json()["subscriptions"]["billing"].is_array()
        })
        .await;
    }

    let by = &running[0].operator;
    for (act, state) in [("pause", "began"), ("resume", "ended"), ("pause", "began"), ("resume", "ended")] {
        by.post(&format!("/api/v1/subscriptions/billing/{act}"), &json!({})).await.json();
        let (_, body) = receive(&listener, "204 No Content").await;
        let message: Value = serde_json::from_str(&body).unwrap();
        // If both told, the second message of an act would come here for the first of the next.
        assert_eq!(
            (&message["type"], &message["data"]["state"]),
            (&json!("posthaste.paused"), &json!(state))
        );
        for running in &running {
            crate::fixture::wait_until("both have seen it", async || {
                let history = running.viewer.get("/api/v1/history?seconds=1").await.json();
                history["subscriptions"]["billing"][0]["paused"] == (act == "pause")
            })
            .await;
        }
    }
    first.stop().await;
    second.stop().await;
}
