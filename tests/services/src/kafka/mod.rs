//! Kafka: a cluster of one broker in a folder, that can be killed and started again.

mod certificates;
mod greeting;
mod installation;
mod properties;

use std::{
    fs,
    path::{self, Path, PathBuf},
};

use anyhow::{Context, Result};

pub use certificates::Certificates;
pub use installation::{Installation, VERSION};

use crate::{
    daemon::Daemon,
    process::{Process, Signal},
    progress::run_logged,
    variables::{KAFKA_SASL_PASSWORD, KAFKA_SASL_USER},
};
use properties::{LOG4J, Ports, SCRAM, render};

/// Any 16 bytes in base 64. Clusters that never meet may have the same.
const CLUSTER: &str = "cG9zdGhhc3RlLXRlc3RzIQ";
/// A test broker holds little, and several may run at once: it begins with little, and has room for a benchmark.
const BROKER_MEMORY: [&str; 2] = ["-Xms256m", "-Xmx1g"];
const STARTED: &str = "Kafka Server started";

/// A Kafka broker of one's own. It stops with its owner.
pub struct Kafka {
    installation: Installation,
    folder: PathBuf,
    ports: Ports,
    daemon: Option<Daemon>,
}

impl Kafka {
    /// Starts the broker in the folder, and makes it first if there is none. An old one keeps its ports and its data.
    pub fn start(installation: &Installation, folder: &Path) -> Result<Self> {
        // The broker stands in its folder, and from there a relative path leads elsewhere.
        let folder = path::absolute(folder)?;
        let ports = match kept_ports(&folder) {
            Some(ports) => ports,
            None => create(installation, &folder)?,
        };
        let mut broker = Self { installation: installation.clone(), folder, ports, daemon: None };
        broker.start_again()?;
        Ok(broker)
    }

    /// `host:port`, without encryption or authentication.
    pub fn bootstrap(&self) -> String {
        address(self.ports.plain)
    }

    /// `host:port`, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
    pub fn sasl(&self) -> String {
        address(self.ports.sasl)
    }

    /// `host:port`, with TLS.
    pub fn ssl(&self) -> String {
        address(self.ports.ssl)
    }

    /// Its process, while it runs: for tests that make it stand still.
    pub fn process(&self) -> Option<&Process> {
        self.daemon.as_ref().map(Daemon::process)
    }

    /// What it logs, over all its starts.
    pub fn log(&self) -> PathBuf {
        self.folder.join("kafka.log")
    }

    /// Stops the broker in order; nothing happens if it does not run.
    pub fn stop(&mut self) -> Result<()> {
        self.end(Signal::TERM)
    }

    /// `kill -9`.
    pub fn kill(&mut self) -> Result<()> {
        self.end(Signal::KILL)
    }

    /// Starts a broker that was stopped or killed, with the same data at the same ports, and waits until it answers.
    pub fn start_again(&mut self) -> Result<()> {
        self.stop()?;
        let mut command = self.installation.command(&self.folder, &BROKER_MEMORY, "kafka.Kafka");
        command.arg("server.properties");
        // Nothing that it holds is needed once its owner is gone, and in order it takes seconds.
        let daemon = Daemon::spawn("Kafka", &mut command, &self.log(), Signal::KILL)?;
        daemon.wait_until_ready(|said| {
            said.contains(STARTED)
                .then_some(())
                .with_context(|| format!("it has not logged \"{STARTED}\""))?;
            greeting::greet(&self.bootstrap())
        })?;
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Lets the broker live on after this program, and says which process it is.
    pub fn detach(mut self) -> Result<Process> {
        Ok(self.daemon.take().context("Kafka does not run")?.detach())
    }

    fn end(&mut self, signal: Signal) -> Result<()> {
        match self.daemon.take() {
            Some(mut daemon) => daemon.stop(signal),
            None => Ok(()),
        }
    }
}

fn address(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// The ports of the broker that the folder has, if it is whole.
fn kept_ports(folder: &Path) -> Option<Ports> {
    // Formatting ends with this file.
    let whole = folder.join("data/meta.properties").is_file();
    let properties = fs::read_to_string(folder.join("server.properties")).ok()?;
    Ports::parse(&properties).filter(|_| whole)
}

/// Makes a broker in the folder, with its user, and says which ports it got.
fn create(installation: &Installation, folder: &Path) -> Result<Ports> {
    let data = folder.join("data");
    if data.exists() {
        // Left by somebody who was interrupted.
        fs::remove_dir_all(&data)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let ports = Ports::free()?;
    fs::write(folder.join("server.properties"), render(ports, &installation.certificates, &data))?;
    fs::write(folder.join("log4j2.properties"), LOG4J)?;

    let mut format = installation.command(folder, &["-Xmx128m"], "kafka.tools.StorageTool");
    format.args(["format", "-t", CLUSTER, "-c", "server.properties"]);
    for mechanism in SCRAM {
        let login = format!("{mechanism}=[name={KAFKA_SASL_USER},password={KAFKA_SASL_PASSWORD}]");
        format.args(["--add-scram", &login]);
    }
    run_logged(&mut format, &folder.join("format.log")).context("Kafka's folder was not made")?;
    Ok(ports)
}
