//! `validation`, `rate_limit`, `paused` and `log`.

use posthaste_config::{Config, LogFormat};

use crate::fixture::{Made, around, check, parse};

fn made() -> Made {
    Made(
        [
            ("order.json", r#"{ "required": ["id"] }"#),
            ("broken.json", "{"),
            ("odd.json", r#"{ "type": "order" }"#),
        ]
        .into(),
    )
}

#[test]
fn rules_are_inherited_by_subscriptions_that_do_not_say_otherwise() {
    let text = around(
        "validation: { json: true, schemas: { order.*: order.json } }
subscriptions:
  - { name: a, sink: { stdout: {} } }
  - { name: b, validation: { schemas: {} }, sink: { file: { path: b } } }
  - { name: c, validation: { json: false, schemas: {} }, sink: { file: { path: c } } }",
    );
    let config = Config::parse(&text, &made()).unwrap();
    let rules: Vec<String> =
        config.subscriptions.iter().map(|served| format!("{:?}", served.rules)).collect();
    assert_eq!(
        rules,
        [
            r#"Rules { json: true, schemas: ["order.*"] }"#,
            "Rules { json: true, schemas: [] }",
            "Rules { json: false, schemas: [] }",
        ]
    );
    assert!(config.subscriptions[2].rules.is_empty());
}

#[test]
fn schemas_that_are_none_are_found_before_anything_is_delivered() {
    let text =
        around("validation:\n  schemas: { a: missing.json, b: broken.json, c: odd.json, d: order.json }");
    let problems = Config::parse(&text, &made()).unwrap_err();
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    // Once for the file, and once for each subscription that inherits it would be too much: only the file is blamed.
    assert_eq!(said.len(), 3, "{said:#?}");
    assert_eq!(
        said[0],
        "line 2: validation.schemas.a is missing.json, which cannot be read: entity not found; allowed is a file with a JSON Schema"
    );
    assert!(
        said[1].starts_with("line 2: validation.schemas.b is broken.json, which is no JSON Schema: "),
        "{}",
        said[1]
    );
    assert!(
        said[2].starts_with("line 2: validation.schemas.c is odd.json, which is no JSON Schema: "),
        "{}",
        said[2]
    );
}

#[test]
fn limits_pauses_and_logs_are_read() {
    let config = parse(&around(
        "log: { level: 'warn,posthaste_relay=debug', format: json }
subscriptions:
  - { name: a, rate_limit: 50, paused: true, sink: { stdout: {} } }
  - { name: b, sink: { file: { path: b } } }",
    ));
    assert_eq!(
        (config.log.level.as_str(), config.log.format),
        ("warn,posthaste_relay=debug", LogFormat::Json)
    );
    assert_eq!(config.settings.rate_limits, [("a".to_owned(), 50)].into());
    let paused: Vec<Option<bool>> = config.subscriptions.iter().map(|served| served.paused).collect();
    assert_eq!(paused, [Some(true), None]);

    check(
        "log:\n  level: loud\n  format: xml\nsubscriptions:\n  - { name: a, rate_limit: 0, paused: yes, sink: { stdout: {} } }",
        &[
            "line 2: log.level is loud; allowed is off, error, warn, info, debug or trace, also by module as in warn,posthaste_relay=debug",
            "line 3: log.format is xml; allowed is text or json",
            "line 5: subscriptions[0].rate_limit is 0; allowed is a whole number from 1 to 10000000",
            "line 5: subscriptions[0].paused is yes; allowed is true or false",
        ],
    );
}
