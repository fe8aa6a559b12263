//! PgBouncer in transaction mode: between a client and PostgreSQL, where a session is not one's own.

use std::{
    fs,
    path::{self, Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    daemon::Daemon,
    lookup::{self, dotted},
    packages::{Missing, SERVER_ELSEWHERE},
    ports, postgres,
    process::{Process, Signal},
    user::{User, command_as, create_folder_for, write_for},
    variables::PGBOUNCER,
};

const MISSING: Missing =
    Missing { name: "PgBouncer", packages: &["pgbouncer"], variable: PGBOUNCER, instead: SERVER_ELSEWHERE };

/// The program.
#[derive(Clone, Debug)]
pub struct Installation {
    program: PathBuf,
    version: Vec<u32>,
    user: Option<User>,
}

impl Installation {
    /// What is installed; if nothing is, installs it.
    pub fn find_or_install() -> Result<Self> {
        if lookup::program("pgbouncer").is_none() {
            MISSING.install()?;
        }
        let program = lookup::program("pgbouncer").context("PgBouncer was installed, but was not found")?;
        let version = lookup::version_of(&program, "--version").context("PgBouncer does not run")?;
        Ok(Self { program, version, user: User::for_servers()? })
    }

    /// Its version, such as `1.18.0`.
    pub fn version(&self) -> String {
        dotted(&self.version)
    }
}

/// A PgBouncer of one's own. It stops with its owner.
pub struct PgBouncer {
    folder: PathBuf,
    port: u16,
    behind: Behind,
    daemon: Daemon,
}

impl PgBouncer {
    /// Starts it in front of the PostgreSQL at this URL. Started again in the same folder it keeps its port.
    pub fn start(
        installation: &Installation,
        postgres: &postgres::Installation,
        folder: &Path,
        url: &str,
    ) -> Result<Self> {
        let behind = Behind::parse(url).with_context(|| {
            format!("set {PGBOUNCER} too: this is not postgres://user:password@host:port/database: {url}")
        })?;
        let user = installation.user.as_ref();
        // It stands in its folder, and from there a relative path leads elsewhere.
        let folder = path::absolute(folder)?;
        create_folder_for(user, &folder)?;
        let (port_file, config) = (folder.join("port"), folder.join("pgbouncer.ini"));
        let port = match fs::read_to_string(&port_file).ok().and_then(|text| text.trim().parse().ok()) {
            Some(port) => port,
            None => ports::free::<1>()?[0],
        };
        write_for(
            user,
            &folder.join("users.txt"),
            &format!("\"{}\" \"{}\"\n", behind.user, behind.password),
        )?;
        write_for(user, &config, &behind.settings(port, &installation.version, &folder))?;
        write_for(user, &port_file, &port.to_string())?;

        let mut command = command_as(user, &installation.program, &folder);
        let log = folder.join("pgbouncer.log");
        let daemon = Daemon::spawn("PgBouncer", command.arg(&config), &log, Signal::KILL)?;
        let server = Self { folder, port, behind, daemon };
        server.daemon.wait_until_ready(|_| postgres::select_one(postgres, &server.url()))?;
        Ok(server)
    }

    /// Where it is; every database of the PostgreSQL behind it can be reached under its name.
    pub fn url(&self) -> String {
        let Behind { user, password, database, .. } = &self.behind;
        format!("postgres://{user}:{password}@{}/{database}", self.address())
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What it logs.
    pub fn log(&self) -> PathBuf {
        self.folder.join("pgbouncer.log")
    }

    /// Lets it live on after this program, and says which process it is.
    pub fn detach(self) -> Process {
        self.daemon.detach()
    }
}

/// The PostgreSQL that is behind.
#[derive(Debug, PartialEq, Eq)]
struct Behind {
    user: String,
    password: String,
    host: String,
    port: u16,
    database: String,
}

impl Behind {
    /// Reads the plain form of a URL; whatever says more than that is not for PgBouncer.
    fn parse(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
        let (login, place) = rest.and_then(|rest| rest.rsplit_once('@')).context("no user")?;
        let (user, password) = login.split_once(':').context("no password")?;
        let (address, database) = place.split_once('/').context("no database")?;
        let (host, port) = address.rsplit_once(':').unwrap_or((address, "5432"));
        if url.contains(['%', '?', '"', ' ']) {
            bail!("it has escaped characters or options");
        }
        Ok(Self {
            user: user.to_owned(),
            password: password.to_owned(),
            host: host.to_owned(),
            port: port.parse().context("the port is not a number")?,
            database: database.to_owned(),
        })
    }

    fn settings(&self, port: u16, version: &[u32], folder: &Path) -> String {
        let mut settings = format!(
            "[databases]\n\
             * = host={} port={}\n\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = scram-sha-256\n\
             auth_file = {}\n\
             pool_mode = transaction\n\
             default_pool_size = 20\n\
             max_client_conn = 500\n\
             ignore_startup_parameters = extra_float_digits\n",
            self.host,
            self.port,
            folder.join("users.txt").display(),
        );
        // From this version on it can keep track of prepared statements. Without is the harder case for a client.
        if version >= &[1, 21][..] {
            settings.push_str("max_prepared_statements = 0\n");
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_url_of_what_is_behind() {
        let behind = Behind::parse("postgres://me:secret@127.0.0.1:25432/shop").unwrap();
        let expected = Behind {
            user: "me".to_owned(),
            password: "secret".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 25432,
            database: "shop".to_owned(),
        };
        assert_eq!(behind, expected);
        assert_eq!(Behind::parse("postgresql://me:secret@db/shop").unwrap().port, 5432);

        for wrong in [
            "postgres://db/shop",
            "postgres://me@db/shop",
            "postgres://a:b@db/x?sslmode=require",
            "mysql://a:b@c/d",
        ] {
            assert!(Behind::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn prepared_statements_are_not_tracked_by_any_version() {
        let behind = Behind::parse("postgres://a:b@h:1/d").unwrap();
        let settings = |version: &[u32]| behind.settings(2, version, Path::new("/f"));

        assert!(!settings(&[1, 18, 0]).contains("max_prepared_statements"));
        assert!(settings(&[1, 24, 1]).contains("max_prepared_statements = 0\n"));
        assert!(settings(&[1, 18]).contains("* = host=h port=1\n"));
        assert!(settings(&[1, 18]).contains("pool_mode = transaction\n"));
    }
}
