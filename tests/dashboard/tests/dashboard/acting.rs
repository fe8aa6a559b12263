//! What an operator does: watch, replay, edit, discard, pause, reset, resume.

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
