//! Every page in both themes and at both widths: nothing is cut off, nothing complains. The pictures are in `target/screenshots`.

use std::{fs, path::Path};

use serde_json::json;

use crate::{browser::Browser, devtools, program::Program};

/// Where a long page is cut off.
const HIGHEST: u64 = 4_000;
const WIDTHS: [(&str, u32, u32); 2] = [("wide", 1_360, 900), ("phone", 375, 812)];

#[tokio::test]
async fn every_page_is_whole_in_both_themes_and_at_phone_width() {
    let program = Program::start();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
    fs::create_dir_all(&folder).unwrap();
    let browser = Browser::open(&program).await;
    browser.find("input[name=token]").await;
    shoot(&browser, &folder, "login").await;
    browser.log_in(&program.operator).await;

    let pages = prepare(&program).await;
    for (name, page) in pages {
        browser.go(&page).await;
        browser.settle().await;
        shoot(&browser, &folder, name).await;
        let complaints = devtools::complaints(&browser.driver).await;
        assert_eq!(complaints, Vec::<String>::new(), "{name}");
    }
    for (name, page, button) in [
        ("dialog-reset", "subscriptions", "Reset cursor…"),
        ("dialog-discard", "dead-letters?key=seen", "Discard all that fit…"),
        ("dialog-edit", "dead-letter?id=1", "Edit and replay…"),
        ("dialog-drop", "subscriptions", "Drop…"),
        ("dialog-publish", "events", "Publish…"),
    ] {
        browser.go(page).await;
        browser.settle().await;
        browser.click(button).await;
        browser.find("dialog[open]").await;
        browser.run("document.querySelector('dialog [value=time]')?.click()", &[]).await;
        shoot(&browser, &folder, name).await;
    }
    browser.click_in("dialog", "Publish").await;
    browser.see(".wrong", "payload is missing").await;
    shoot(&browser, &folder, "dialog-publish-wrong").await;
    browser.go("events?key=nobody-has-this").await;
    browser.see("main", "No event fits").await;
    browser.click("More filters").await;
    browser.click("Menu").await;
    shoot(&browser, &folder, "menu").await;
    browser.go("nothing-here").await;
    browser.see("h1", "No such page").await;
    browser.close().await;
}

#[tokio::test]
async fn the_switch_of_colours_outlasts_the_page() {
    let program = Program::start();
    let browser = Browser::open(&program).await;
    browser.log_in(&program.viewer).await;
    devtools::prefer(&browser.driver, "light").await;
    let colour = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.run(colour, &[]).await;

    choose(&browser, "Dark").await;
    let dark = browser.run(colour, &[]).await;
    assert_ne!(light, dark);
    browser.go("audit").await;
    browser.see("h1", "Audit").await;
    assert_eq!(browser.run(colour, &[]).await, dark);
    choose(&browser, "As the system").await;
    assert_eq!(browser.run(colour, &[]).await, light);
    browser.close().await;
}

/// Chooses a theme, as who uses the keyboard does.
async fn choose(browser: &Browser, name: &str) {
    browser.find(".theme select").await.send_keys(name).await.unwrap();
}

/// Something to see on each page, also what is long and has no place to break.
async fn prepare(program: &Program) -> Vec<(&'static str, String)> {
    let long = "key-without-a-place-to-break-".repeat(6);
    program.publish(&"a.very.long.type".repeat(6), &long, &json!({ "text": "x".repeat(500), "number": 1 }));
    program.refused_payment("seen").await;
    let id =
        program.publish("order.placed", "seen", &json!({ "order": 7, "customer": "Ada", "address": null }));
    let dead_id = program.dead_letter("invoices", "seen").await;
    program.publish("order.shipped", "seen", &json!({ "order": 7 }));
    for (path, body) in [
        ("subscriptions/email/pause", json!({})),
        ("subscriptions/email/resume", json!({})),
        ("dead-letters/replay", json!({ "filter": { "subscription": "payments", "key": "seen" } })),
    ] {
        let (status, answer) = program.ask("POST", path, &body);
        assert_eq!(status, 200, "{path}: {answer}");
    }
    vec![
        ("overview", String::new()),
        ("events", "events".to_owned()),
        ("event", format!("event?id={id}")),
        ("key", "key?key=seen".to_owned()),
        ("long-key", format!("key?key={long}")),
        ("dead-letters", "dead-letters".to_owned()),
        ("dead-letter", format!("dead-letter?id={dead_id}")),
        ("subscriptions", "subscriptions".to_owned()),
        ("relays", "relays".to_owned()),
        ("configuration", "configuration".to_owned()),
        ("audit", "audit".to_owned()),
    ]
}

async fn shoot(browser: &Browser, folder: &Path, name: &str) {
    for (width_name, width, height) in WIDTHS {
        devtools::resize(&browser.driver, width, height).await;
        // What is too wide makes a phone show more than its width, so that the width itself is looked at as well.
        let script = "return [innerWidth, document.documentElement.scrollWidth,
            [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.table-box, pre, .unseen, thead')).slice(0, 3).map((e) => e.outerHTML.slice(0, 200))]";
        let found = browser.run(script, &[]).await;
        assert_eq!(found, json!([width, width, []]), "{name} at {width} is too wide");
        for theme in ["light", "dark"] {
            devtools::prefer(&browser.driver, theme).await;
            let picture = devtools::picture(&browser.driver, HIGHEST).await;
            fs::write(folder.join(format!("{name}-{width_name}-{theme}.png")), picture).unwrap();
        }
    }
}
