//! Passwords are never shown: not in what is shown, not by `Debug`, not in what is wrong.

use std::collections::HashMap;

use posthaste_config::Config;

use crate::fixture::{Made, around, around_kafka, parse, problems};

const KAFKA: &str = "brokers: 'a:9092', sasl: { mechanism: PLAIN, user: ada, password: hunter2 }, \
                     tls: { key_password: hunter2 }, properties: { client.rack: hunter2 }";

#[test]
fn a_good_file_shows_no_secret() {
    for text in [around("database: { url: 'postgres://ada:hunter2@db/shop' }"), around_kafka(KAFKA)] {
        let config = parse(&text);
        let shown = format!("{}\n{config:?}\n{}", config.show(), config.subscriptions[0].destination);

        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("***"), "{shown}");
    }
}

#[test]
fn a_secret_from_outside_is_not_shown_either() {
    let made = Made(HashMap::from([("PW", "hunter2"), ("/pw", "hunter2\n")]));
    let text = around_kafka("brokers: 'a:9092', sasl: { mechanism: PLAIN, user: ada, password: 'file:/pw' }")
        .replace("sqlite://shop.db", "'postgres://ada:${PW}@db/shop'");
    let config = Config::parse(&text, &made).unwrap();

    assert_eq!(config.database.address.expose(), "postgres://ada:hunter2@db/shop");
    assert!(!format!("{}{config:?}", config.show()).contains("hunter2"));
}

#[test]
fn what_came_out_of_a_variable_is_wrong_and_not_shown() {
    let made = Made(HashMap::from([("PW", "hunter2")]));
    let problems = Config::parse(&around("relay: { lease: '${PW}' }"), &made).unwrap_err();
    let expected = "line 1: relay.lease is ${PW}; allowed is a time from 500ms to 1h";
    assert_eq!(problems.to_string(), expected);
}

#[test]
fn a_password_of_its_own_may_have_any_characters() {
    let made = Made(HashMap::from([("/pw", "p@ss/w:?#%41\n")]));
    let text =
        around("database: { url: 'postgres://ada@db:5432/shop?sslmode=require', password: 'file:/pw' }");
    let config = Config::parse(&text, &made).unwrap();

    let url = "postgres://ada:p%40ss%2Fw%3A%3F%23%2541@db:5432/shop?sslmode=require";
    assert_eq!(config.database.address.expose(), url);
    assert!(!format!("{}{config:?}", config.show()).contains("ss/w"));
}

#[test]
fn a_bad_file_shows_no_secret() {
    for text in [
        around("database: { url: 'postgres://ada:hunter2@db/shop', password: hunter2 }"),
        around("database: { url: 'sqlite://shop.db', password: hunter2 }"),
        around("database: { url: 'postgres://ada:hunter2@db:x/shop' }"),
        around("database: { url: 'postgress://ada:hunter2@db/shop' }"),
        around("database: { url: 'postgres://ada:hunter2' }"),
        around("database: { url: [hunter2] }"),
        around("database: { password: hunter2 }"),
        around("database: hunter2"),
        around("database: { url: 'hunter2"),
        around_kafka("brokers: 'a:9092', sasl: { mechanism: PLAIN, user: ada, password: [hunter2] }"),
        around_kafka("brokers: 'a:9092', sasl: { mechanism: PLAIN, user: ada, passwort: hunter2 }"),
        around_kafka("brokers: 'a:9092', sasl: hunter2"),
        around_kafka(
            "brokers: 'a:9092', properties: { sasl.password: hunter2, linger: hunter2, debug: hunter2 }",
        ),
    ] {
        let said = problems(&text).join("\n");
        assert!(!said.contains("hunter2"), "{text}\n{said}");
    }
}
