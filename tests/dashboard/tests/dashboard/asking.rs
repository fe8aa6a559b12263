//! What pages ask for, and what they do not wait for: in a long log some answers take their time.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, wait_until},
    devtools,
    program::Program,
};

/// Every choice of a subscription in the filter, and what is chosen in it and beside it.
const FILTER: &str = "const [names, status] = ['subscription', 'status'].map((name) => document.querySelector(`form select[name=${name}]`));
    return [[...names.options].map((option) => option.value), names.value, status.value]";
const RELEASE: &str = "window.release()";

#[tokio::test]
async fn events_are_there_before_the_names_of_the_subscriptions() {
    let program = Program::start();
    let names: Vec<Value> = program.get("subscriptions")["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["name"].clone())
        .collect();
    let mut all = vec![json!("")];
    all.extend(names.clone());
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    devtools::hold(&browser.driver, "/api/v1/subscriptions").await;

    // What the address has is chosen at once, and stays.
    browser.go("events?subscription=warehouse&status=delivered").await;
    browser.see("main td .badge", "delivered: warehouse").await;
    let chosen = browser.run(FILTER, &[]).await;
    assert_eq!(chosen, json!([["", "warehouse"], "warehouse", "delivered"]));
    browser.run(RELEASE, &[]).await;
    let learnt = json!([all, "warehouse", "delivered"]);
    wait_until("the names are there", async || browser.run(FILTER, &[]).await == learnt).await;

    // A status that is chosen before there are names gets its subscription with them.
    browser.go("events").await;
    browser.find("main td.lead a").await;
    browser.find("select[name=status]").await.send_keys("dead").await.unwrap();
    assert_eq!(browser.run(FILTER, &[]).await, json!([[""], "", "dead"]));
    browser.run(RELEASE, &[]).await;
    let learnt = json!([all, names[0], "dead"]);
    wait_until("the first is chosen", async || browser.run(FILTER, &[]).await == learnt).await;
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test]
async fn names_that_are_known_already_are_not_asked_for() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    browser.see("main td", "warehouse").await;

    browser.click("Events").await;
    browser.find("form select[name=subscription] option[value=warehouse]").await;
    browser.find("select[name=status]").await.send_keys("dead").await.unwrap();
    let filter = browser.run(FILTER, &[]).await;
    assert_eq!(filter[1], filter[0][1], "the first is chosen");
    assert_ne!(filter[1], "");
    let asked = "return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/subscriptions')).length";
    assert_eq!(browser.run(asked, &[]).await, 0);
    browser.close().await;
}

#[tokio::test]
async fn lanes_that_the_address_names_do_not_wait_for_the_status() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    devtools::hold(&browser.driver, "/api/v1/status").await;
    browser.go("relays?subscription=warehouse").await;
    let asked = "return performance.getEntriesByType('resource').filter(({ name, responseEnd }) => responseEnd > 0 && name.endsWith('/warehouse/lanes')).length";
    wait_until("the lanes are there", async || browser.run(asked, &[]).await != 0).await;

    browser.run(RELEASE, &[]).await;
    browser.see("main", "64 lanes are held").await;
    let chosen = "return document.querySelector('main select').value";
    assert_eq!(browser.run(chosen, &[]).await, "warehouse");
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());
    browser.close().await;
}
