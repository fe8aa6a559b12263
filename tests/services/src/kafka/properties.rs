//! The broker's settings. It is a cluster of one, with a listener for each way that clients connect.

use std::path::Path;

use anyhow::Result;

use super::certificates::{Certificates, STORE_PASSWORD};
use crate::{
    ports,
    variables::{KAFKA_SASL_PASSWORD, KAFKA_SASL_USER},
};

/// The mechanisms by which a user can log in.
pub(crate) const SCRAM: [&str; 2] = ["SCRAM-SHA-256", "SCRAM-SHA-512"];

/// One port for each listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) plain: u16,
    pub(crate) sasl: u16,
    pub(crate) ssl: u16,
    pub(crate) controller: u16,
}

impl Ports {
    pub(crate) fn free() -> Result<Self> {
        let [plain, sasl, ssl, controller] = ports::free()?;
        Ok(Self { plain, sasl, ssl, controller })
    }

    /// Reads them back out of the settings of a broker.
    pub(crate) fn parse(properties: &str) -> Option<Self> {
        let listeners = properties.lines().find_map(|line| line.strip_prefix("listeners="))?;
        let port = |name: &str| {
            let listener =
                listeners.split(',').find_map(|one| one.strip_prefix(name)?.strip_prefix("://"))?;
            listener.rsplit_once(':')?.1.parse().ok()
        };
        Some(Self {
            plain: port("PLAINTEXT")?,
            sasl: port("SASL_PLAINTEXT")?,
            ssl: port("SSL")?,
            controller: port("CONTROLLER")?,
        })
    }

    /// The listeners that clients use.
    fn for_clients(self) -> String {
        let Self { plain, sasl, ssl, .. } = self;
        format!("PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},SSL://127.0.0.1:{ssl}")
    }
}

/// The text of `server.properties`.
pub(crate) fn render(ports: Ports, certificates: &Certificates, data: &Path) -> String {
    [nodes(ports), security(certificates), topics(data)].concat()
}

fn nodes(ports: Ports) -> String {
    let controller = ports.controller;
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         controller.listener.names=CONTROLLER\n\
         listeners={clients},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners={clients}\n\
         listener.security.protocol.map=\
         PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT\n\
         inter.broker.listener.name=PLAINTEXT\n",
        clients = ports.for_clients(),
    )
}

fn security(certificates: &Certificates) -> String {
    let module = "org.apache.kafka.common.security";
    let listener = "listener.name.sasl_plaintext";
    let mut text = format!(
        "sasl.enabled.mechanisms=PLAIN,{}\n\
         {listener}.plain.sasl.jaas.config={module}.plain.PlainLoginModule required \
         user_{KAFKA_SASL_USER}=\"{KAFKA_SASL_PASSWORD}\";\n\
         ssl.keystore.type=PKCS12\n\
         ssl.keystore.location={}\n\
         ssl.keystore.password={STORE_PASSWORD}\n",
        SCRAM.join(","),
        certificates.store.display(),
    );
    for mechanism in SCRAM.map(str::to_lowercase) {
        text.push_str(&format!(
            "{listener}.{mechanism}.sasl.jaas.config={module}.scram.ScramLoginModule required;\n"
        ));
    }
    text
}

/// Topics are made by tests that want them: one that nobody made has to be unknown.
fn topics(data: &Path) -> String {
    let mut text = format!(
        "log.dirs={}\n\
         auto.create.topics.enable=false\n\
         num.partitions=8\n\
         group.initial.rebalance.delay.ms=0\n",
        data.display(),
    );
    // A cluster of one has one copy of everything; eight partitions of what it needs itself start faster than fifty.
    for own in ["offsets.topic", "transaction.state.log", "share.coordinator.state.topic"] {
        text.push_str(&format!("{own}.replication.factor=1\n{own}.num.partitions=8\n"));
    }
    text + "transaction.state.log.min.isr=1\nshare.coordinator.state.topic.min.isr=1\n"
}

/// Kafka's logger writes to its standard output, which is the log file.
pub(crate) const LOG4J: &str = "\
rootLogger.level=info
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %m (%c)%n
";

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(ports: Ports) -> String {
        let certificates = Certificates { authority: "/c/ca.pem".into(), store: "/c/broker.p12".into() };
        render(ports, &certificates, Path::new("/d/data"))
    }

    const PORTS: Ports = Ports { plain: 1, sasl: 2, ssl: 3, controller: 4 };

    #[test]
    fn settings_have_what_the_tests_rely_on() {
        let text = rendered(PORTS);

        for line in [
            "listeners=PLAINTEXT://127.0.0.1:1,SASL_PLAINTEXT://127.0.0.1:2,SSL://127.0.0.1:3,CONTROLLER://127.0.0.1:4",
            "controller.quorum.voters=1@127.0.0.1:4",
            "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "ssl.keystore.location=/c/broker.p12",
            "log.dirs=/d/data",
            "auto.create.topics.enable=false",
            "num.partitions=8",
            "group.initial.rebalance.delay.ms=0",
            "offsets.topic.replication.factor=1",
            "transaction.state.log.min.isr=1",
        ] {
            assert!(text.lines().any(|found| found == line), "no line {line} in\n{text}");
        }
    }

    #[test]
    fn no_setting_comes_twice() {
        let text = rendered(PORTS);
        let mut keys: Vec<_> = text.lines().map(|line| line.split_once('=').unwrap().0).collect();
        let all = keys.len();

        keys.sort_unstable();
        keys.dedup();

        assert_eq!(keys.len(), all);
    }

    #[test]
    fn a_broker_keeps_its_ports() {
        assert_eq!(Ports::parse(&rendered(PORTS)), Some(PORTS));
        assert_eq!(Ports::parse("listeners=PLAINTEXT://127.0.0.1:1\n"), None);
        assert_eq!(Ports::parse(""), None);
    }
}
