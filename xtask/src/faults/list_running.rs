//! The faults of a relay that runs: what SIGHUP and the API change of it, what payloads have to be, and a server that is there before the
//! database.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const VALIDATION: &[Catcher] = &[some_tests("posthaste-validation", "--test validation")];
const TUNING: &[Catcher] = &[some_tests("posthaste-server", "--test server -- tuning::")];
const STARTING: &[Catcher] = &[some_tests("posthaste-server", "--test server -- starting::")];
const DROPPING: &[Catcher] = &[some_tests("posthaste-server", "--test server -- acting::a_subscription")];
const FILE: &[Catcher] = &[some_tests("posthaste-cli", "--test program -- tuned::a_file_that")];

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "hup-keeps-the-old-schema",
        breaks: "a schema that was written anew does not count when the file is read again",
        file: "crates/cli/src/relay/tune.rs",
        find: "        self.set_rules(&new.subscriptions);\n",
        replace: "",
        caught_by: &[some_tests("posthaste-cli", "--test program -- tuned::a_schema")],
    },
    Fault {
        name: "hup-does-not-look-into-schemas",
        breaks: "a schema that was written anew is no change",
        file: "crates/config/src/changes.rs",
        find: " || old.content != new.content",
        replace: "",
        caught_by: &[some_tests("posthaste-config", "--test config -- changes::")],
    },
    Fault {
        name: "hup-takes-a-broken-schema-for-none",
        breaks: "a schema that is none lets everything pass",
        file: "crates/config/src/validation.rs",
        find: "section.problem_with(\"schemas\", &format!(\".{} is {path}, which {reason}\", kind::plain(pattern)));",
        replace: "_ = reason;",
        caught_by: &[some_tests("posthaste-config", "--test config -- validation::")],
    },
    Fault {
        name: "hup-shows-what-does-not-count-yet",
        breaks: "what needs a restart is shown as if it counted, and named only once",
        file: "crates/cli/src/relay/tune.rs",
        find: "= old.with_hot(&new);",
        replace: "= new;",
        caught_by: FILE,
    },
    Fault {
        name: "hup-leaves-pauses-alone",
        breaks: "what the file wants paused goes on",
        file: "crates/cli/src/relay/tune.rs",
        find: "        set_pauses(admin, &old.subscriptions, &new.subscriptions).await;\n",
        replace: "",
        caught_by: FILE,
    },
    Fault {
        name: "hup-does-not-name-what-waits",
        breaks: "what needs a restart is not named",
        file: "crates/cli/src/relay/tune.rs",
        find: "for key in &changes.restart {",
        replace: "for key in changes.restart.iter().skip(9) {",
        caught_by: FILE,
    },
    Fault {
        name: "tuning-is-not-written-down",
        breaks: "an operator sets a relay otherwise, and nobody knows who",
        file: "crates/server/src/api/tuning.rs",
        find: "app.admin()?.act(&act, &who.name).await {",
        replace: "app.admin()?.foresee(&act).await {",
        caught_by: TUNING,
    },
    Fault {
        name: "tuning-takes-what-is-right",
        breaks: "of a change in which something is wrong the rest is done",
        file: "crates/server/src/api/tuning.rs",
        find: "    body.end_with_any()?;\n    Ok(wanted)\n",
        replace: "    _ = body.end_with_any();\n    Ok(wanted)\n",
        caught_by: TUNING,
    },
    Fault {
        name: "tuning-takes-nothing",
        breaks: "a change that was lost on the way is answered as if it were done",
        file: "crates/server/src/api/tuning.rs",
        find: "    body.end_with_any()?;",
        replace: "    body.end()?;",
        caught_by: TUNING,
    },
    Fault {
        name: "tuning-does-not-slow-down",
        breaks: "a limit that is set while a relay runs counts only for the next one",
        file: "crates/relay/src/machine/mod.rs",
        find: "        self.rate.set_limit(now, tuning.rate_limits.get(&self.subscription.name).copied());\n    }\n\n    /// Stop:",
        replace: "    }\n\n    /// Stop:",
        caught_by: &[
            some_tests("posthaste-relay", "--test machine -- tuning::"),
            some_tests("posthaste-server", "--test server -- tuning::a_limit"),
        ],
    },
    Fault {
        name: "validation-delivers-behind-a-fault",
        breaks: "an event is delivered although one of its key before it does not fit its schema (rule 5)",
        file: "sinks/validation/src/sink.rs",
        find: "                stopped.extend(key);\n                Some(Delivery::Failed(fault))\n",
        replace: "                Some(Delivery::Failed(fault))\n",
        caught_by: VALIDATION,
    },
    Fault {
        name: "validation-tells-the-payload",
        breaks: "what is wrong with a payload is told with parts of it",
        file: "sinks/validation/src/rules.rs",
        find: "error.masked()",
        replace: "error",
        caught_by: VALIDATION,
    },
    Fault {
        name: "late-start-without-a-relay",
        breaks: "while the database is waited for, health does not know that a relay is to run",
        file: "crates/server/src/health/facts.rs",
        find: "None => Some(RelayFact::default()),",
        replace: "None => None,",
        caught_by: STARTING,
    },
    Fault {
        name: "late-start-does-not-say-why",
        breaks: "health does not tell why the database is waited for",
        file: "crates/cli/src/relay/serve.rs",
        find: "start(&job, &taps, operating.as_ref()) => started?,",
        replace: "start(&job, &taps, None) => started?,",
        caught_by: &[some_tests("posthaste-cli", "--test program -- tuned::while_it_waits")],
    },
    Fault {
        name: "late-start-waits-for-ever",
        breaks: "a relay waits although that does not help",
        file: "crates/cli/src/relay/start.rs",
        find: "    error.kind() == ErrorKind::Unavailable\n",
        replace: "    error.kind() == ErrorKind::Unavailable || !error.to_string().is_empty()\n",
        caught_by: &[some_tests("posthaste-cli", "--bin posthaste -- start::")],
    },
    Fault {
        name: "api-dry-run-drops",
        breaks: "a dry run drops a subscription",
        file: "crates/server/src/api/subscriptions.rs",
        find: "    if dry_run {\n        app.admin()?.foresee(&drop).await?;\n",
        replace: "    if dry_run && !found.paused {\n        app.admin()?.foresee(&drop).await?;\n",
        caught_by: DROPPING,
    },
];
