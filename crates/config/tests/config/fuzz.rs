//! Whatever is in a file, the program says what is wrong with it: no panic, a line and what is allowed for each problem.

use std::time::{Duration, Instant};

use fastrand::Rng;
use posthaste_config::{Config, EXAMPLE, Place};

use crate::fixture::Made;

const FULL: &str = "database:\n  url: postgres://relay@db:5432/shop\n  password: ${DB_PASSWORD:-x}\n  prefix: outbox\n\
relay: { lease: 15s, page: { entries: 10, bytes: 8MiB }, poll_min: 2ms }\n\
retry:\n  jitter: [0.75, 1.25]\n  base: 200ms\n\
validation: { json: true, schemas: { order.*: s.json } }\n\
subscriptions:\n  - &first\n    name: orders\n    filter: { types: ['order.*', \"user.*\"] }\n    rate_limit: 100\n    sink:\n      kafka:\n        brokers: a:9092\n        properties: { client.rack: eu }\n\
  - name: archive\n    retry: { max_attempts: 3 }\n    sink: { file: { path: archive.jsonl, sync: no } }\n\
server:\n  tokens:\n    - { name: a, role: viewer, sha256: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb }\n  redact: [card.number]\n  alerts: {}\nlog: { level: info, format: json }\n";

/// What is put into files: signs that YAML knows, values that are no values, keys of elsewhere.
const SCRAPS: [&str; 34] = [
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "\t",
    " ",
    "#",
    "&a",
    "*a",
    "<<: *a",
    "!!",
    "!!binary ",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "\\",
    "${",
    "${X}",
    "file:/no",
    "\u{feff}",
    "\u{0}",
    "\u{2028}",
    "---\n",
    "...\n",
    "? ",
    "-1",
    "1e999",
    ".nan",
    "outbox:\n  publisher: { batch_size: 1 }\n",
    "null",
];

fn mutate(rng: &mut Rng, text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..rng.usize(1..6) {
        let place = |rng: &mut Rng, text: &str| {
            let mut at = rng.usize(..=text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (place(rng, &text), place(rng, &text));
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 40));
        let to = (0..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from).max(from);
        match rng.u8(..6) {
            0 => text.insert_str(from, SCRAPS[rng.usize(..SCRAPS.len())]),
            1 => text.replace_range(from..to, ""),
            2 => text.replace_range(from..to, SCRAPS[rng.usize(..SCRAPS.len())]),
            3 => {
                let copy = text[from..to].to_owned();
                text.insert_str(from, &copy);
            }
            4 => {
                let mut lines: Vec<&str> = text.lines().collect();
                rng.shuffle(&mut lines[..]);
                text = lines.join("\n");
            }
            _ => text.truncate(to),
        }
    }
    text
}

#[track_caller]
fn look(text: &str) {
    let Err(problems) = Config::parse(text, &Made::default()) else { return };
    assert!(problems.count() > 0);
    let lines = text.lines().count() as u64 + 1;
    for problem in problems.iter() {
        let Place::Line(line) = problem.place else { panic!("{problem}\n{text}") };
        assert!((1..=lines).contains(&line), "{problem} of {lines}\n{text}");
        let helps = [
            "allowed",
            "did you mean",
            "known here",
            "is needed",
            "needs",
            "this is no YAML",
            "leave",
            "write",
            "are written",
            "cannot be read",
            "set both",
            "may not be",
            "nothing has to be set",
            "lists every key",
        ];
        assert!(helps.iter().any(|help| problem.text.contains(help)), "{problem}\n{text}");
        assert!(problem.text.chars().count() < 600 && !problem.text.contains('\0'), "{problem:?}");
    }
}

#[test]
fn thousands_of_broken_files_are_all_explained() {
    let files = [EXAMPLE, FULL, include_str!("../../src/whole.yaml")];
    for seed in 0..6_000 {
        let mut rng = Rng::with_seed(seed);
        let file = files[rng.usize(..files.len())];
        let text = mutate(&mut rng, file);
        look(&text);
    }
}

#[test]
fn bytes_that_are_no_text_are_explained() {
    let said = |bytes: &[u8]| Config::parse_bytes(bytes, &Made::default()).unwrap_err().to_string();
    assert_eq!(said(b"relay:\n  lease: \xff\n"), "line 2: this is not UTF-8; allowed is a text in UTF-8");
    assert!(said(b"\xff\xfer\x00e\x00").contains("not UTF-8"), "UTF-16");
    let marked = [b"\xef\xbb\xbf".as_slice(), EXAMPLE.as_bytes()].concat();
    assert!(Config::parse_bytes(&marked, &Made::default()).is_ok(), "with a byte order mark");
    let windows = EXAMPLE.replace('\n', "\r\n");
    assert!(Config::parse_bytes(windows.as_bytes(), &Made::default()).is_ok());
}

#[test]
fn what_would_take_for_ever_is_refused_soon() {
    let began = Instant::now();
    let bomb: String = (1..30).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("{text}a{level}: &a{level} [{below}]\n")
    });
    let deep = [
        format!("a: {}", "[".repeat(100_000)),
        "{a: ".repeat(100_000),
        (0..5_000).map(|depth| format!("{:depth$}a:\n", "")).collect(),
    ];
    let long = [
        "x".repeat(2 << 20),
        format!("relay: {{ lease: {} }}", "1".repeat(900_000)),
        "a: 1\n".repeat(2_000),
        format!("{}: 1", "k".repeat(100_000)),
    ];
    for text in deep.iter().chain(&long).chain([&bomb]) {
        let said = Config::parse(text, &Made::default()).unwrap_err();
        assert!(said.to_string().len() < 100_000, "short enough to be read");
    }
    let said = Config::parse(&format!("#{}", "x".repeat(1 << 20)), &Made::default()).unwrap_err().to_string();
    assert_eq!(said, "line 1: the file has 1048577 bytes; allowed are up to 1048576");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn what_yaml_does_not_have_is_explained() {
    for (text, said) in [
        ("relay:\n\tlease: 15s\n", "line 2: this is no YAML"),
        ("relay: {}\nrelay: {}\n", "line 2: relay is written twice; once is allowed"),
        ("relay: &a { page: *a }\n", "line 1: "),
        ("? [a, b]\n: c\n", "line 1: "),
        ("!!set {a}\n", "line 1: "),
        ("\u{0}", "line 1: "),
    ] {
        let problems = Config::parse(text, &Made::default()).unwrap_err().to_string();
        assert!(problems.starts_with(said), "{text:?}: {problems}");
        look(text);
    }
}
