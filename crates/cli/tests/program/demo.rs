//! `posthaste demo`.

use crate::fixture::Fixture;

#[test]
fn keeps_every_promise_and_leaves_nothing_behind() {
    let fixture = Fixture::empty();
    let folder = fixture.path("");
    let output = fixture
        .command(&["demo", "--duration", "3s", "--rate", "50"])
        .env("TMPDIR", &folder)
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();

    assert_eq!(output.status.code(), Some(0), "{out}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "the panic of the show is not seen");
    assert_eq!((out.matches('✓').count(), out.matches('✗').count()), (8, 0), "{out}");
    for part in
        ["All 8 promises kept", "poison_message", "attempts counted: 0", "and is deleted", "Try next:"]
    {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(!out.contains('\x1b'), "no colours where there is no terminal");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn what_it_keeps_can_be_looked_at() {
    let fixture = Fixture::empty();
    let arguments = ["demo", "--duration", "1s", "--rate", "20", "--seed", "7", "--keep"];
    let output = fixture.command(&arguments).env("TMPDIR", fixture.path("")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}");
    let (_, rest) = out.split_once("export POSTHASTE_DATABASE=").unwrap();
    let url = rest.lines().next().unwrap();

    let status = fixture.run(&["status", "--database", url]).succeeded();
    status.says(&["warehouse", "email", "payments", "invoices", "0 relays"]);
    let audit = ["relay", "--database", url, "--sink", "stdout", "--subscription", "audit", "--once"];
    let events = fixture.run(&audit).succeeded().out.lines().count();
    assert!(out.contains(&format!("{events} = warehouse {events}")), "{events} in {out}");
}
