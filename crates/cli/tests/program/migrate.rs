//! `posthaste migrate`.

use crate::fixture::Fixture;

#[test]
fn creates_the_file_and_the_tables_and_does_nothing_the_second_time() {
    let fixture = Fixture::empty();
    let first = fixture.run(&["migrate", "--database", "sqlite://shop.db"]).succeeded();
    let second = fixture.run(&["migrate", "--database", "sqlite://shop.db"]).succeeded();

    first.says(&[
        "before  there is no database file shop.db",
        "now     schema version",
        "64 lanes",
        "next: posthaste",
    ]);
    second.says(&["up to date: schema version", "64 lanes; nothing to do"]);
    assert_eq!(fixture.number("select count(*) from outbox"), 0);
}

#[test]
fn puts_its_tables_beside_those_of_an_application() {
    let fixture = Fixture::empty();
    std::fs::write(fixture.path("shop.db"), "").unwrap();
    fixture.sql("create table orders (number integer)").unwrap();

    let ran =
        fixture.run(&["migrate", "--database", "sqlite://shop.db", "--prefix", "billing", "--lanes", "16"]);
    ran.succeeded().says(&[
        "before  there are no tables with the prefix \"billing\"",
        "16 lanes",
        "--prefix billing",
    ]);
    assert_eq!(fixture.number("select count(*) from orders"), 0);
    assert_eq!(fixture.number("select count(*) from billing"), 0);
}

#[test]
fn the_database_may_be_named_in_the_environment() {
    let fixture = Fixture::empty();
    let output =
        fixture.command(&["migrate"]).env("POSTHASTE_DATABASE", "sqlite://shop.db").output().unwrap();

    assert!(output.status.success(), "{output:?}");
    assert!(fixture.path("shop.db").exists());
}
