//! The files in `deploy/` fit the program: configurations pass its check, metrics exist, alerts lead to a page that says what to do.
//! Nothing else notices when that stops being true, because nothing that runs here uses them.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use posthaste::metric::{ALL, DEFAULT_PREFIX, Kind};
use posthaste_config::{Config, Environment};
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files of a folder with this extension, with those in its folders.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found
}

fn yaml(text: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(text).map_err(|error| error.to_string())
}

/// Surroundings in which every variable is set, and every file is there.
struct Everything;

impl Environment for Everything {
    fn variable(&self, name: &str) -> Option<String> {
        Some(made_up(name))
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        Ok(made_up(path.to_str().unwrap()))
    }
}

fn made_up(name: &str) -> String {
    if name.to_lowercase().contains("sha256") { "0a".repeat(32) } else { "secret".to_owned() }
}

#[test]
fn every_yaml_can_be_read() {
    let files = files("deploy", "yaml");
    let problems: Vec<_> = files
        .iter()
        .filter_map(|path| {
            let documents = yaml(&fs::read_to_string(path).unwrap());
            documents.err().map(|error| format!("{}: {error}", path.display()))
        })
        .collect();

    assert!(files.len() > 5, "{files:?}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_relays_that_are_deployed_have_files_that_pass_the_check() {
    let map = yaml(&read("deploy/kubernetes/config.yaml")).unwrap().remove(0);
    let in_kubernetes = map["data"]["relay.yaml"].as_str().unwrap();
    for text in [&read("deploy/relay.yaml"), in_kubernetes] {
        let config = Config::parse(text, &Everything).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        let server = config.server.unwrap();
        assert!(
            !server.listen.ip().is_loopback(),
            "nobody outside of the container reaches {}",
            server.listen
        );
        assert!(!server.tokens.is_empty(), "the server does not start on {} without tokens", server.listen);
        assert_eq!(server.listen.port(), 8025, "that is where probes and services look");
    }
}

/// The names after the prefix in an expression, each as it is in the program's list.
fn metrics_of(expression: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = expression.split(|letter| !is_part(letter));
    let names = words.filter_map(|word| word.strip_prefix(DEFAULT_PREFIX)?.strip_prefix('_'));
    names.map(|name| of_histogram(name).unwrap_or(name).to_owned()).collect()
}

/// The histogram that a series such as `x_bucket` belongs to.
fn of_histogram(series: &str) -> Option<&str> {
    let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| series.strip_suffix(end))?;
    ALL.iter().any(|(known, kind, _)| *known == name && *kind == Kind::Histogram).then_some(name)
}

#[track_caller]
fn assert_known(used: &BTreeSet<String>) {
    let unknown: Vec<_> = used.iter().filter(|name| !ALL.iter().any(|(known, ..)| known == name)).collect();
    assert!(unknown.is_empty(), "no relay exports {unknown:?} behind the prefix");
}

/// Everything that a value has under this name, however deep.
fn under<'a>(name: &str, value: &'a Value) -> Vec<&'a str> {
    match value {
        Value::Object(fields) => {
            let own = fields.get(name).and_then(Value::as_str);
            own.into_iter().chain(fields.values().flat_map(|value| under(name, value))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|value| under(name, value)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_grafana_dashboard_shows_every_metric_and_no_other() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/posthaste.json")).unwrap();
    let mut expressions = under("expr", &dashboard);
    let shown: BTreeSet<_> = expressions.iter().flat_map(|text| metrics_of(text)).collect();
    expressions.extend(under("definition", &dashboard));
    expressions.extend(under("query", &dashboard));
    assert_known(&expressions.iter().flat_map(|text| metrics_of(text)).collect());

    let missing: Vec<_> = ALL.iter().filter(|(name, ..)| !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "no panel shows {missing:?}");
}

#[test]
fn every_alert_is_of_metrics_that_exist_and_says_what_to_do() {
    let rules = yaml(&read("deploy/prometheus/alerts.yaml")).unwrap().remove(0);
    let operations = read("docs/operations.md");
    let anchors: BTreeSet<_> = operations.lines().filter_map(anchor).collect();
    let expressions = under("expr", &rules);
    assert!(expressions.len() >= 10, "{expressions:?}");
    assert_known(&expressions.iter().flat_map(|text| metrics_of(text)).collect());

    for rule in
        rules["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap())
    {
        let text = |name: &str| {
            let text = rule["annotations"][name].as_str().filter(|text| !text.is_empty());
            text.unwrap_or_else(|| panic!("{} has no {name}", rule["alert"]))
        };
        assert!(!metrics_of(rule["expr"].as_str().unwrap()).is_empty(), "{} is of no metric", rule["alert"]);
        assert!(text("summary").ends_with('.') && text("description").ends_with('.'), "{}", rule["alert"]);
        let place = text("runbook").strip_prefix("docs/operations.md#").unwrap();
        assert!(anchors.contains(place), "{}: docs/operations.md has no #{place}", rule["alert"]);
        let name = rule["alert"].as_str().unwrap();
        assert!(operations.contains(name), "docs/operations.md does not name {name}");
    }
}

/// The place that a heading can be linked at.
fn anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    Some(kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect())
}

#[test]
fn finds_metrics_and_anchors() {
    assert_eq!(metrics_of("rate(outbox_reads_total{a=\"b\"}[5m]) + x"), ["reads_total"]);
    assert_eq!(metrics_of("outbox_delivery_duration_seconds_bucket"), ["delivery_duration_seconds"]);
    assert_eq!(metrics_of("outbox_reads_total_bucket"), ["reads_total_bucket"]);
    assert_eq!(anchor("### Events are late, `always`").unwrap(), "events-are-late-always");
    assert_eq!(anchor("text"), None);
}
