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

#[test]
#[cfg(unix)]
fn the_dashboard_is_served_until_it_is_told_to_stop() {
    use std::{
        io::{BufRead, BufReader, Read},
        net::TcpStream,
        process::Stdio,
    };

    let fixture = Fixture::empty();
    let folder = fixture.path("");
    let arguments = ["demo", "--dashboard", "--listen", "127.0.0.1:0", "--rate", "5"];
    let mut child =
        fixture.command(&arguments).env("TMPDIR", &folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("until Ctrl-C") {
        assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let (_, rest) = said.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap().to_owned();
    assert!(said.contains("operator token") && said.contains("viewer token"), "{said}");
    assert!(TcpStream::connect(&address).is_ok());

    assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    out.read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.contains("is deleted")), (Some(0), true), "{said}");
    assert!(TcpStream::connect(&address).is_err(), "nobody listens any more");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn the_dashboard_is_for_this_machine_and_has_no_end() {
    let fixture = Fixture::empty();
    fixture.run(&["demo", "--dashboard", "--listen", "0.0.0.0:1"]).failed(2, &["others could reach it"]);
    fixture.run(&["demo", "--dashboard", "--duration", "5s"]).failed(2, &["cannot be used with"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    fixture.run(&["demo", "--dashboard", "--listen", &listen]).failed(3, &["cannot listen on", "--listen"]);
}
