//! The program with encryption to PostgreSQL and to Kafka, by two libraries in one process.

use std::{path::Path, process::Command};

use posthaste_services::{
    kafka_ca, kafka_ssl,
    postgres::{Installation, Postgres, StopMode},
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;

use crate::{
    fixture::Fixture,
    kafka::{new_topic, records},
};

/// A PostgreSQL server that speaks TLS, with the certificate of Kafka's broker: the same authority vouches for both.
struct Encrypted {
    postgres: Postgres,
    // Last, so that it goes when the server has gone.
    _folder: TempDir,
}

impl Encrypted {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::given().unwrap();
        // One folder down: root's temporary folders are closed to the user that PostgreSQL runs as.
        let postgres = Postgres::start(&installation, &folder.path().join("postgres")).unwrap();
        let mut server = Self { postgres, _folder: folder };
        let store = kafka_ca().with_file_name("broker.p12");
        server.write("server.key", &pem(&store, "-nocerts"));
        server.write("server.crt", &pem(&store, "-nokeys"));
        server.sql("alter system set ssl = on");
        server.postgres.restart(StopMode::Fast).unwrap();
        server
    }

    /// Writes a file beside the data, as the server's own user, and for nobody else to read.
    fn write(&self, name: &str, text: &str) {
        self.sql(&format!(
            "copy (select unnest(string_to_array('{text}', e'\\n'))) to program 'umask 077 && cat > {name}'"
        ));
    }

    fn sql(&self, statement: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut connection = PgConnection::connect(&self.postgres.url()).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        });
    }
}

/// The key or the certificate in a store of Java's.
fn pem(store: &Path, part: &str) -> String {
    let mut openssl = Command::new("openssl");
    openssl.args(["pkcs12", "-nodes", "-passin", "pass:posthaste", part, "-in"]).arg(store);
    let output = openssl.output().expect("this test needs the program openssl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

// pitfalls X8, U9
#[test]
fn both_ends_may_be_encrypted_and_a_server_that_nobody_vouches_for_is_refused() {
    let (server, folder, topic) = (Encrypted::start(), Fixture::empty(), new_topic());
    let ca = kafka_ca().canonicalize().unwrap().display().to_string();
    let relay = |query: &str| {
        format!(
            "database: {{ url: '{}?sslmode=verify-full{query}', migrate: true }}
subscriptions:
  - name: orders
    sink: {{ kafka: {{ brokers: '{}', topic: '{topic}', tls: {{ ca: '{ca}' }} }} }}
",
            server.postgres.url(),
            kafka_ssl()
        )
    };
    folder.configure("doubting.yaml", &relay(""));
    folder.configure("trusting.yaml", &relay(&format!("&sslrootcert={ca}")));

    let doubting = folder.run(&["relay", "--config", "doubting.yaml", "--once"]);
    doubting.failed(3, &["no secure connection; check sslmode and the certificates"]);
    folder.run(&["relay", "--config", "trusting.yaml", "--once"]).succeeded();
    let insert = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1')";
    server.sql(&format!("{insert}, ('t', 'e', 'k', '2'), ('t', 'e', 'l', '3')"));
    folder.run(&["relay", "--config", "trusting.yaml", "--once"]).succeeded();

    assert_eq!(records(&topic, 3).len(), 3);
}
