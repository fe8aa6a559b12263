//! What the program does on a terminal, and nowhere else: it asks, opens an editor, and draws in colours.

use std::fs::File;

use crate::{
    fixture::{Fixture, live_relays, wait_until},
    terminal::Terminal,
};

fn on_terminal(fixture: &Fixture, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
    Terminal::start(command(fixture, arguments, variables))
}

fn command(fixture: &Fixture, arguments: &[&str], variables: &[(&str, &str)]) -> std::process::Command {
    let mut command = fixture.command(&[arguments, &["--database", "sqlite://shop.db"]].concat());
    for variable in ["COLUMNS", "VISUAL", "EDITOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    command
}

fn unresolved(fixture: &Fixture) -> i64 {
    fixture.number("select count(*) from outbox_dead where resolution is null")
}

#[test]
fn a_subscription_is_dropped_or_reset_only_after_a_yes() {
    let fixture = Fixture::migrated();
    fixture.publish(3, 1);
    fixture.deliver_once("mail");
    fixture.publish(2, 1);
    let drop = ["subscriptions", "drop", "mail"];
    let question = "mail is dropped, and with it 2 pending events and 0 parked events. Go on? [y/N] ";
    // Enter alone, and the end of what is typed, are no yes either.
    for keys in ["n\n", "\n", "yeah\n", "\u{4}"] {
        let mut terminal = on_terminal(&fixture, &drop, &[]);
        terminal.see(question);
        terminal.press(keys);
        let (code, screen) = terminal.end();
        assert!(code == Some(1) && screen.contains("nothing was done"), "{keys:?}: {code:?} {screen}");
        let mail = &fixture.status()["subscriptions"][0];
        assert_eq!((&mail["name"], &mail["paused"]), (&"mail".into(), &false.into()), "{keys:?}");
    }

    let mut terminal = on_terminal(&fixture, &["subscriptions", "reset", "mail", "--to", "beginning"], &[]);
    terminal.see("With a reset of mail 3 events come again. Go on? [y/N] ");
    terminal.answer("n");
    assert_eq!(terminal.end().0, Some(1));
    assert_eq!(fixture.status()["subscriptions"][0]["pending"], 2);

    let mut terminal = on_terminal(&fixture, &drop, &[]);
    terminal.see(question);
    terminal.answer("y");
    let (code, screen) = terminal.end();
    assert!(code == Some(0) && screen.contains("mail is dropped; its dead letters stay"), "{screen}");
    assert_eq!(fixture.status()["subscriptions"], serde_json::json!([]));
}

#[test]
fn many_dead_letters_are_given_up_only_after_a_yes() {
    let fixture = Fixture::migrated();
    fixture.bury(101);
    let discard = ["dlq", "discard", "--all"];
    let question = "101 dead letters (all) are given up for good. Go on? [y/N] ";
    let mut terminal = on_terminal(&fixture, &discard, &[]);
    terminal.see(question);
    terminal.answer("n");
    let (code, screen) = terminal.end();
    assert!(code == Some(1) && screen.contains("nothing was done"), "{screen}");
    assert_eq!(fixture.number("select count(*) from outbox_jobs"), 0);

    // Who does not see the question is not asked, although he could answer.
    let err = File::create(fixture.path("err")).unwrap();
    let (code, _) = Terminal::start_but(command(&fixture, &discard, &[]), Some(err)).end();
    let said = std::fs::read_to_string(fixture.path("err")).unwrap();
    assert!(code == Some(2) && said.contains("Go on? Write --yes"), "{code:?} {said}");
    assert_eq!(fixture.number("select count(*) from outbox_jobs"), 0);

    let mut terminal = on_terminal(&fixture, &discard, &[]);
    terminal.see(question);
    terminal.answer("yes");
    let (code, screen) = terminal.end();
    assert!(code == Some(0) && screen.contains("job 1 is started for 101 dead letters"), "{screen}");
}

#[test]
fn what_the_editor_saves_is_sent_again() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    // Its first try is broken; the second begins with that.
    fixture.configure(
        "editor.sh",
        "cat \"$1\" >> opened\nif [ -e tried ]; then printf '{\\n  \"n\": 7\\n}\\n' > \"$1\"; else touch tried; echo '{\"n\": 7' > \"$1\"; fi\n",
    );
    // $VISUAL counts more, and may have options.
    let variables = [("VISUAL", "sh ./editor.sh"), ("EDITOR", "false")];
    let mut terminal = on_terminal(&fixture, &["dlq", "edit", "1"], &variables);
    terminal.see("the new payload is not JSON: ");
    terminal.see("Edit it again? [y/N] ");
    terminal.answer("y");
    let (code, screen) = terminal.end();
    assert!(code == Some(0) && screen.contains("dead letter 1 is sent again as "), "{code:?} {screen}");

    assert_eq!(std::fs::read_to_string(fixture.path("opened")).unwrap(), "{\"n\":1\n{\"n\": 7\n");
    fixture.deliver_once("mail");
    let arrived = fixture.lines("mail.jsonl");
    assert!(arrived.len() == 1 && arrived[0]["data"] == serde_json::json!({ "n": 7 }), "{arrived:?}");
}

#[test]
fn an_editor_that_changes_nothing_breaks_it_or_fails_leaves_it_as_it_is() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    let edit = ["dlq", "edit", "1"];
    let (code, screen) = on_terminal(&fixture, &edit, &[("EDITOR", "true")]).end();
    assert!(code == Some(0) && screen.contains("nothing was changed, so nothing was sent"), "{screen}");

    let (code, screen) = on_terminal(&fixture, &edit, &[("EDITOR", "false")]).end();
    assert!(code == Some(1) && screen.contains("the editor \"false\" failed; nothing was sent"), "{screen}");

    let mut terminal = on_terminal(&fixture, &edit, &[("EDITOR", "echo '{' >")]);
    terminal.see("Edit it again? [y/N] ");
    terminal.answer("n");
    let (code, screen) = terminal.end();
    assert!(code == Some(2) && screen.contains("error: the new payload is not JSON: "), "{code:?} {screen}");
    assert_eq!(unresolved(&fixture), 1);
    assert_eq!(fixture.number("select count(*) from outbox_parked"), 0);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    const COLOUR: &str = "\u{1b}[";
    let fixture = Fixture::migrated();
    fixture.bury(1);
    let wishes: [(&[(&str, &str)], bool); 3] =
        [(&[], true), (&[("NO_COLOR", "")], true), (&[("NO_COLOR", "1")], false)];
    for arguments in [&["dlq", "list"][..], &["status"], &["dlq", "list", "--help"], &["dlq", "show", "7"]] {
        for (variables, wanted) in wishes {
            let (_, screen) = on_terminal(&fixture, arguments, variables).end();
            // An error is told as it is, without any.
            let wanted = wanted && !arguments.contains(&"7");
            assert_eq!(screen.contains(COLOUR), wanted, "{arguments:?} {variables:?}: {screen:?}");
        }
        let ran = fixture.on_shop(arguments);
        assert!(!ran.out.contains(COLOUR) && !ran.err.contains(COLOUR), "{ran:?}");
    }
}

#[test]
fn a_bar_is_drawn_where_it_can_move() {
    let fixture = Fixture::migrated();
    fixture.bury(4);
    let mut relay = fixture.start_relay(&["--sink", "file:mail.jsonl", "--subscription", "mail"]);
    drop(relay.read_aside());
    wait_until("the relay is there", || live_relays(&fixture.status()) == 1);
    let discard = |key| ["dlq", "discard", "--key", key];
    let is_drawn = |text: &str| text.contains('█') || text.contains('░');

    let (code, screen) = on_terminal(&fixture, &discard("order-1"), &[("NO_COLOR", "1")]).end();
    assert!(code == Some(0) && is_drawn(&screen), "{screen:?}");
    let last = screen.rsplit('\r').find(|line| !line.trim().is_empty()).unwrap();
    assert_eq!(
        last, "\u{1b}[2Kjob 1 is done: 1 dead letter discarded",
        "it leaves nothing behind: {screen:?}"
    );

    let (_, screen) = on_terminal(&fixture, &discard("order-2"), &[("TERM", "dumb")]).end();
    assert!(!is_drawn(&screen) && screen.contains("job 2 is done"), "{screen:?}");
    let err = File::create(fixture.path("err")).unwrap();
    let (_, screen) = Terminal::start_but(command(&fixture, &discard("order-3"), &[]), Some(err)).end();
    assert!(!is_drawn(&screen) && screen.contains("job 3 is done"), "{screen:?}");
    assert_eq!(std::fs::read_to_string(fixture.path("err")).unwrap(), "");
    let ran = fixture.on_shop(&discard("order-4")).succeeded();
    assert!(!is_drawn(&ran.out) && ran.err.is_empty(), "{ran:?}");
}
