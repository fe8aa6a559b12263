//! What an operator does: watch, publish, replay, edit, discard, pause, reset, resume, drop.

use serde_json::json;

use crate::{
    browser::{Browser, wait_until},
    devtools,
    program::Program,
};

#[tokio::test]
async fn an_event_is_seen_as_it_arrives_and_markup_in_it_is_text() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;

    browser.go("events?key=markup").await;
    browser.see("main", "No event fits").await;
    let markup = "<b id=\"evil\">bold</b><img src=x onerror=\"window.evil = true\">";
    let id = program.publish("note.<i>written</i>", "markup", &json!({ "note": markup, "number": 12 }));
    // Nobody asks for it: the page is live.
    browser.see("td.lead a", "note.<i>written</i>").await;
    browser.click_in("td.lead", "note.<i>written</i>").await;

    browser.see("h1", "note.<i>written</i>").await;
    browser.see("pre", "<b id=\\\"evil\\\">bold</b><img src=x").await;
    browser.see(".timeline", "delivered").await;
    let evil = browser.run("return [document.querySelector('#evil, main i:not([class])') !== null, window.evil === true, location.search]", &[]).await;
    assert_eq!(evil, json!([false, false, format!("?id={id}")]));

    browser.driver.back().await.unwrap();
    browser.see("h1", "Events").await;
    browser.driver.forward().await.unwrap();
    browser.see("h1", "note.").await;
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test]
async fn dead_letters_are_replayed_edited_and_discarded() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;

    // Some, chosen by hand.
    let (_, id) = program.refused_payment("replay-me").await;
    browser.go("dead-letters?key=replay-me").await;
    browser.see("main", "the bank refuses the card").await;
    browser.find("td.pick input").await.click().await.unwrap();
    browser.see(".selection", "1 dead letter selected").await;
    browser.click_in(".selection", "Replay…").await;
    browser.see("dialog h2", "Replay 1 dead letter?").await;
    browser.click_in("dialog", "Replay").await;
    browser.see("#toasts", "1 dead letter replayed").await;
    wait_until("it is delivered", async || program.status(&id, "payments") == "delivered").await;
    browser.see("main", "No dead letter fits").await;

    // One, changed.
    program.publish("order.placed", "edit-me", &json!({ "customer": "<b>Ada</b>", "address": null }));
    let dead_id = program.dead_letter("invoices", "edit-me").await;
    browser.go(&format!("dead-letter?id={dead_id}")).await;
    browser.see(".error-block", "an invoice for <b>Ada</b> needs an address").await;
    browser.click("Edit and replay…").await;
    browser.see("dialog h2", "Edit and replay").await;
    let change = "const box = document.querySelector('dialog textarea[name=payload]'); box.value = box.value.replace('null', '\"Post Office Lane\"')";
    browser.run(change, &[]).await;
    browser.click_in("dialog", "Replay with changes").await;
    browser.see(".calm", "edited").await;
    let letter = program.get(&format!("dead-letters/{dead_id}"));
    assert_eq!((&letter["resolution"], &letter["resolved_by"]), (&json!("edited"), &json!("operator")));

    // All that fit.
    program.refused_payment("discard-me").await;
    browser.go("dead-letters?key=discard-me").await;
    browser.click("Discard all that fit…").await;
    browser.see("dialog h2", "Discard 1 dead letter?").await;
    browser.click_in("dialog", "Discard 1").await;
    browser.see("main", "discard 1 of 1").await;
    browser.see("main", "No dead letter fits").await;

    browser.go("audit?by=operator").await;
    for act in ["replayed", "edited", "started", "finished"] {
        browser.see("main td .badge", act).await;
    }
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test]
async fn a_subscription_is_paused_and_goes_on() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;
    browser.go("subscriptions?subscription=warehouse").await;
    let card = "#subscription-warehouse";
    browser.see(&format!("{card} h2"), "running").await;

    browser.click_in(card, "Pause…").await;
    browser.see("dialog h2", "Pause warehouse?").await;
    browser.click_in("dialog", "Pause").await;
    browser.see(&format!("{card} h2"), "paused").await;
    assert_eq!(program.get("subscriptions/warehouse")["paused"], true);

    browser.click_in(card, "Reset cursor…").await;
    browser.click_in("dialog", "What would it do?").await;
    browser.see(".foreseen", "It would move 64 lanes").await;
    browser.click_in("dialog", "Cancel").await;
    let gone = "return document.querySelector('dialog') === null";
    wait_until("the dialog is gone", async || browser.run(gone, &[]).await == true).await;

    let id = program.publish("order.placed", "while-paused", &json!({ "address": "here" }));
    browser.click_in(card, "Resume").await;
    browser.see(&format!("{card} h2"), "running").await;
    wait_until("what waited is delivered", async || program.status(&id, "warehouse") == "delivered").await;
    browser.go("audit?subscription=warehouse").await;
    for act in ["paused", "resumed"] {
        browser.see("main td .badge", act).await;
    }
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test]
async fn a_subscription_is_dropped_once_it_is_paused_and_its_name_was_typed() {
    let program = Program::start();
    program.publish("order.placed", "drop-me", &json!({ "address": null }));
    program.dead_letter("invoices", "drop-me").await;
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;
    browser.go("subscriptions").await;
    let card = "#subscription-invoices";

    browser.click_in(card, "Drop…").await;
    browser.see("dialog", "Pause it first").await;
    browser.write("name", "invoices").await;
    browser.click_in("dialog", "Drop").await;
    browser.see("dialog .trouble", "is not paused; pause it first").await;
    browser.click_in("dialog", "Cancel").await;
    browser.click_in(card, "Pause…").await;
    browser.click_in("dialog", "Pause").await;
    browser.see(&format!("{card} h2"), "paused").await;
    program.publish("order.placed", "drop-me-too", &json!({ "address": "here" }));
    let found = program.get("subscriptions/invoices");

    browser.click_in(card, "Drop…").await;
    browser.see("dialog .foreseen", &format!("{} stay", counted(&found["dead"], "dead letter"))).await;
    browser.see("dialog", "It is paused, so that it can be dropped").await;
    browser.write("name", "invoice").await;
    browser.click_in("dialog", "Drop").await;
    browser.see("dialog .wrong", "name is not invoices; nothing was dropped").await;
    assert_eq!(program.get("subscriptions/invoices")["paused"], true);
    browser.write("name", "invoices").await;
    browser.click_in("dialog", "Drop").await;
    browser.see("#toasts", "invoices is dropped; its dead letters stay").await;

    let gone = format!("return document.querySelector('{card}') === null");
    wait_until("its card is gone", async || browser.run(&gone, &[]).await == true).await;
    assert_eq!(program.ask("GET", "subscriptions/invoices", &json!({})).0, 404);
    assert_ne!(program.get("dead-letters?subscription=invoices")["items"], json!([]));
    browser.go("audit?subscription=invoices").await;
    browser.see("main td .badge", "dropped").await;
    browser.close().await;
}

#[tokio::test]
async fn an_event_is_published_and_what_is_wrong_with_it_is_said_at_its_field() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;
    browser.go("events").await;
    browser.click("Publish…").await;

    browser.click_in("dialog", "Publish").await;
    let wrong = "return [...document.querySelectorAll('dialog .wrong')].map((e) => [e.closest('.field').querySelector('[name]').name, e.textContent])";
    browser.see("dialog .wrong", "is missing").await;
    let missing = json!([
        ["event_type", "event_type is missing; needed is a text"],
        ["payload", "payload is missing; needed is any JSON"]
    ]);
    assert_eq!(browser.run(wrong, &[]).await, missing);
    let focused = "return [document.activeElement.name, document.activeElement.getAttribute('aria-invalid')]";
    assert_eq!(browser.run(focused, &[]).await, json!(["event_type", "true"]));

    browser.write("event_type", "order.placed").await;
    browser.write("topic", "orders").await;
    browser.write("key", "by-hand").await;
    browser.write("headers", r#"{ "trace": 7 }"#).await;
    browser.write("payload", "{ \"order\": ").await;
    browser.click_in("dialog", "Publish").await;
    browser.see("dialog .wrong", "payload is not JSON").await;
    browser.write("payload", r#"{ "address": "<b>here</b>", "number": 9007199254740993 }"#).await;
    browser.click_in("dialog", "Publish").await;
    browser.see("dialog .wrong", "headers is an object; allowed are names with texts").await;
    assert_eq!(browser.run("return document.querySelectorAll('dialog .wrong').length", &[]).await, 1);
    browser.write("headers", r#"{ "trace": "x" }"#).await;
    browser.click_in("dialog", "Publish").await;

    browser.see("#toasts", "Published as ").await;
    browser.see("h1", "order.placed").await;
    browser.see("pre", "9007199254740993").await;
    browser.see("main", "posthaste-published-by").await;
    let id = browser.run("return new URLSearchParams(location.search).get('id')", &[]).await;
    let event = program.get(&format!("events/{}", id.as_str().unwrap()));
    assert_eq!(event["payload"], r#"{"address":"<b>here</b>","number":9007199254740993}"#);
    assert_eq!(event["headers"], json!({ "trace": "x", "posthaste-published-by": "operator" }));
    assert_eq!((&event["event"]["topic"], &event["event"]["key"]), (&json!("orders"), &json!("by-hand")));
    browser.close().await;
}

fn counted(number: &serde_json::Value, one: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{number} {one}{many}")
}
