//! Who only looks, who has no token, and who has no mouse.

use serde_json::json;
use thirtyfour::Key;

use crate::{
    browser::{Browser, wait_until},
    devtools,
    program::Program,
};

/// What only operators have.
const ACTS: [&str; 9] =
    ["Pause", "Resume", "Reset", "Drop", "Publish", "Replay", "Discard", "Edit", "Cancel"];

#[tokio::test]
async fn a_viewer_sees_everything_but_what_he_may_not_do() {
    let program = Program::start();
    let (dead_id, _) = program.refused_payment("look-only").await;
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;

    let letter = format!("dead-letter?id={dead_id}");
    for page in
        ["", "events", "dead-letters", &letter, "subscriptions", "relays", "audit", "key?key=look-only"]
    {
        browser.go(page).await;
        browser.settle().await;
        let buttons = browser.buttons().await;
        let acts: Vec<_> =
            buttons.iter().filter(|text| ACTS.iter().any(|act| text.starts_with(act))).collect();
        assert!(acts.is_empty(), "{page} has {acts:?}");
        assert_eq!(browser.run("return document.querySelectorAll('td.pick').length", &[]).await, 0, "{page}");
    }
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new());

    // The buttons are a courtesy; who tries anyway is refused.
    let attempt = "const [token, dead_id, done] = arguments;
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const send = (method, path, body) => fetch(`api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) }).then((answer) => answer.status);
        Promise.all([
            send('POST', 'subscriptions/warehouse/pause', {}),
            send('POST', 'dead-letters/replay', { ids: [dead_id] }),
            send('POST', 'events', { event_type: 'a', payload: 1 }),
            send('DELETE', 'subscriptions/warehouse'),
        ]).then(done);";
    let arguments = vec![json!(program.viewer), json!(dead_id)];
    assert_eq!(
        browser.driver.execute_async(attempt, arguments).await.unwrap().json(),
        &json!([403, 403, 403, 403])
    );
    assert_eq!(program.get("subscriptions/warehouse")["paused"], false);
    browser.close().await;
}

#[tokio::test]
async fn what_happens_is_seen_as_it_happens() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    browser.settle().await;
    let row = "return [...document.querySelectorAll('main tr')].find((row) => row.textContent.includes('warehouse'))?.textContent ?? ''";
    let says = async |word: &str| browser.run(row, &[]).await.as_str().unwrap().contains(word);
    wait_until("it runs", async || says("running").await).await;

    // The past is asked for once; from there on only the stream tells.
    let (status, answer) = program.ask("POST", "subscriptions/warehouse/pause", &json!({}));
    assert_eq!(status, 200, "{answer}");
    wait_until("its row says so", async || says("paus").await).await;
    browser.see("main .list li", "pausedwarehouse").await;
    browser.close().await;
}

#[tokio::test]
async fn without_a_right_token_nobody_gets_in_and_who_leaves_is_out() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    assert_eq!(devtools::complaints(&browser.driver).await, Vec::<String>::new(), "asking is no error");
    browser.find("input[name=token]").await.send_keys("posthaste_wrong").await.unwrap();
    browser.click("Log in").await;
    browser.see("[role=alert]", "the token is not known").await;

    let token = browser.find("input[name=token]").await;
    token.clear().await.unwrap();
    browser.log_in(&program.viewer).await;
    browser.go("relays").await;
    browser.see("h1", "Relays and lanes").await;
    browser.click("Log out").await;
    browser.find("input[name=token]").await;
    assert_eq!(browser.run("return sessionStorage.length", &[]).await, 0);
    browser.go("events").await;
    browser.find("input[name=token]").await;
    browser.close().await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_told_of_and_what_was_seen_stays() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    browser.see(".pulse", "Live").await;
    drop(program);

    browser.see(".pulse", "Reconnecting").await;
    browser.see("#alerts, [role=alert]", "the server does not answer").await;
    browser.see("main", "warehouse").await;
    browser.click("Audit").await;
    browser.see("[role=alert]", "Try again").await;
    browser.close().await;
}

#[tokio::test]
async fn the_keyboard_is_enough() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.operator).await;
    browser.go("subscriptions").await;
    browser.settle().await;
    let focused =
        async |what: &str| browser.run(&format!("return document.activeElement?.{what} ?? ''"), &[]).await;
    let press = async |key: Key| {
        let element = browser.driver.active_element().await.unwrap();
        element.send_keys(key).await.unwrap();
    };

    press(Key::Tab).await;
    assert_eq!(focused("textContent").await, "Skip to the page");
    let seen = "return document.activeElement.getBoundingClientRect().top >= 0 && getComputedStyle(document.activeElement).outlineStyle !== 'none'";
    assert_eq!(browser.run(seen, &[]).await, true, "what has the focus is seen");

    browser.click_in("#subscription-email", "Pause…").await;
    browser.find("dialog[open]").await;
    assert_eq!(
        browser.run("return document.querySelector('dialog').contains(document.activeElement)", &[]).await,
        true
    );
    for _ in 0..5 {
        press(Key::Tab).await;
        // Past the last control the focus goes to the browser's own, never to the page behind.
        let inside = "const here = document.activeElement; return here === document.body || document.querySelector('dialog').contains(here)";
        assert_eq!(browser.run(inside, &[]).await, true);
    }
    press(Key::Escape).await;
    let gone = "return document.querySelector('dialog') === null";
    wait_until("the dialog is gone", async || browser.run(gone, &[]).await == true).await;
    assert_eq!(program.get("subscriptions/email")["paused"], false);

    browser.click("Events").await;
    browser.see("h1", "Events").await;
    assert_eq!(focused("tagName").await, "H1", "a new page begins at its heading");
    browser.close().await;
}
