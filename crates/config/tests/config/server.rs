//! `server`: closed unless opened, and told so.

use std::time::Duration;

use posthaste_config::Role;

use crate::fixture::{around, check, parse, problems};

const HASH: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

#[test]
fn nothing_is_served_unless_it_is_written_and_then_it_is_closed() {
    assert!(parse(&around("")).server.is_none());
    let server = parse(&around("server: {}")).server.unwrap();
    assert_eq!((server.listen.to_string().as_str(), server.open), ("127.0.0.1:8025", false));
    assert!(
        server.tokens.is_empty() && server.alerts.is_none() && !server.public_metrics && server.dashboard
    );
}

#[test]
fn what_is_written_counts() {
    let text = format!(
        "server:
  listen: 0.0.0.0:80
  tokens:
    - {{ name: ada, role: operator, sha256: {HASH} }}
    - {{ name: grafana, role: viewer, sha256: '{}' }}
  redact: [card.number, '**.password']
  metrics: public
  health: {{ stalled: 5m, success_rate: 0.5 }}
  alerts: {{ quiet: 1m, dead_letters: 5, webhook: {{ url: 'https://hooks.example/x', secret: whsec_hunter2hunter2hunter2hunter2aaaa }} }}",
        HASH.to_uppercase()
    );
    let config = parse(&around(&text));
    let server = config.server.as_ref().unwrap();

    assert_eq!((server.tokens[0].role, server.tokens[1].role), (Role::Operator, Role::Viewer));
    assert_eq!(server.tokens[0].sha256, server.tokens[1].sha256);
    assert_eq!(server.redact, ["card.number", "**.password"]);
    assert_eq!((server.health.stalled, server.health.success_rate), (Duration::from_secs(300), 0.5));
    let alerts = server.alerts.as_ref().unwrap();
    assert_eq!(alerts.dead_letters, 5);
    assert_eq!(alerts.webhook.as_ref().unwrap().secret, "whsec_hunter2hunter2hunter2hunter2aaaa");
    assert!(!config.show().contains("hunter2") && !format!("{config:?}{server:?}").contains("hunter2"));
}

#[test]
fn everything_that_is_wrong_is_said() {
    check(
        "server:\n  listen: 0.0.0.0:80",
        &[
            "line 2: server.listen is 0.0.0.0:80, where others can reach it, and tokens is empty; add a token, or listen on 127.0.0.1",
        ],
    );
    check(
        "server:\n  listen: '[::]'\n  tokens: []",
        &[
            "line 2: server.listen is [::]; allowed is an address with a port, such as 127.0.0.1:8025 or 0.0.0.0:8025",
            "line 3: server.tokens is empty; at least one is needed",
        ],
    );
    check(
        &format!(
            "server:\n  open: true\n  tokens:\n    - {{ name: a, role: admin, sha256: {HASH} }}\n    - {{ name: b, role: viewer, sha256: {HASH} }}\n    - {{ name: b, role: viewer, sha256: hunter2 }}"
        ),
        &[
            "line 2: server.open is true, and there are tokens; leave one of the two out",
            "line 4: server.tokens[0].role is admin; allowed is viewer or operator",
            "line 6: server.tokens[2].sha256 is ***; allowed is the SHA-256 of the token, as 64 hexadecimal digits",
        ],
    );
    check(
        &format!(
            "server:\n  tokens:\n    - {{ name: b, role: viewer, sha256: {HASH} }}\n    - {{ name: b, role: viewer, sha256: {HASH} }}"
        ),
        &["line 2: server.tokens has two with the name b; each needs its own"],
    );
    check("server: { tokns: [] }", &["line 1: server.tokns is not known; did you mean tokens?"]);
    check(
        "server: { redact: ['a..b'] }",
        &[
            "line 1: server.redact[0] is a..b; allowed is the path of a field, such as card.number, *.password or **.password",
        ],
    );
}

#[test]
fn a_signing_secret_is_checked_here_and_not_only_at_the_start() {
    for secret in ["whsec_", "whsec_c2hvcnQ=", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0", "whsec_!!!!"] {
        check(
            &format!("server: {{ alerts: {{ webhook: {{ url: 'https://a', secret: '{secret}' }} }} }}"),
            &["line 1: server.alerts.webhook.secret is ***; allowed is whsec_ and 24 to 64 bytes in base 64"],
        );
    }
}

#[test]
fn no_secret_of_an_alert_is_shown() {
    for text in [
        "server: { alerts: { webhook: { url: 'https://ada:hunter2@hooks.example', secret: hunter2 } } }",
        "server: { alerts: { webhook: { url: 'hooks:hunter2@x', secret: whsec_x } } }",
        "server: { alerts: { webhook: { url: 'https://hooks.example', secret: [hunter2] } } }",
    ] {
        let said = problems(&around(text)).join("\n");
        assert!(!said.contains("hunter2"), "{said}");
    }
}
