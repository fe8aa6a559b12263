//! `cargo xtask bench`: `posthaste bench` on a PostgreSQL and a Kafka of its own, which end with it.

use std::process::Command;

use anyhow::Result;
use clap::Args;
use posthaste_services::{
    kafka::{self, Kafka},
    postgres::{self, Postgres},
};

use crate::{process, services::cache, workspace::Workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Passed on to `posthaste bench`: --only drain, --duration 60s, --json …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// PostgreSQL has its defaults, `fsync` among them, but for room: small buffers and checkpoints in between would be what is
/// measured.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "1GB"), ("max_wal_size", "8GB"), ("wal_level", "logical")];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    process::run(&mut workspace.cargo("build --release --package posthaste-cli"))?;
    let folder = tempfile::Builder::new().prefix("posthaste-bench-").tempdir()?;
    let mut postgres =
        Postgres::start(&postgres::Installation::find_or_install()?, &folder.path().join("postgres"))?;
    postgres.configure(&SETTINGS)?;
    let installation = kafka::Installation::find_or_install(&cache(workspace))?;
    let kafka = Kafka::start(&installation, &folder.path().join("kafka"))?;
    let mut bench = Command::new(workspace.target.join("release/posthaste"));
    bench.arg("bench").args(["--database", &postgres.url(), "--kafka", &kafka.bootstrap()]);
    bench.arg("--kafka-jars").arg(&installation.lib).args(&options.arguments);
    process::run(&mut bench)
}
