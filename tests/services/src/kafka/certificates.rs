//! An authority of our own and a certificate of the broker, made with Java's `keytool`.
//!
//! Two, because clients are right to refuse a server that shows the certificate of an authority as its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::progress::{run_logged, step};

/// It guards nothing: the keys are made for tests, on the machine that runs them.
pub(crate) const STORE_PASSWORD: &str = "posthaste";

/// What a broker needs for TLS, and its clients to trust it.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The authority's certificate, in PEM.
    pub authority: PathBuf,
    /// The broker's key and certificate, in PKCS #12.
    pub(crate) store: PathBuf,
}

impl Certificates {
    /// Those of the folder, made first if there are none.
    pub(crate) fn find_or_make(java: &Path, folder: &Path) -> Result<Self> {
        if !folder.exists() {
            step("making the certificates of Kafka's broker", || make(java, folder))?;
        }
        Ok(Self { authority: folder.join("ca.pem"), store: folder.join("broker.p12") })
    }
}

/// Makes them aside, and puts them into their place when all is done: another program may do the same at this moment.
fn make(java: &Path, folder: &Path) -> Result<()> {
    let keytool = java.canonicalize()?.with_file_name("keytool");
    let partial = folder.with_extension(format!("{}.partial", std::process::id()));
    fs::create_dir_all(&partial)?;
    for words in commands() {
        let mut command = Command::new(&keytool);
        command.current_dir(&partial).args(words.split(' '));
        command.args(["-keystore", "broker.p12", "-storetype", "PKCS12", "-storepass", STORE_PASSWORD]);
        run_logged(&mut command, &partial.join("keytool.log")).context("keytool failed")?;
    }
    match fs::rename(&partial, folder) {
        Err(error) if !folder.exists() => {
            Err(error).with_context(|| format!("cannot create {}", folder.display()))
        }
        Err(_) => Ok(fs::remove_dir_all(&partial)?),
        Ok(()) => Ok(()),
    }
}

fn commands() -> [&'static str; 4] {
    [
        "-genkeypair -alias ca -dname CN=posthaste-tests -keyalg EC -groupname secp256r1 -validity 3650 \
         -ext bc:c=ca:true -ext ku:c=keyCertSign,cRLSign",
        "-exportcert -rfc -alias ca -file ca.pem",
        "-genkeypair -alias broker -signer ca -dname CN=localhost -keyalg EC -groupname secp256r1 -validity 3650 \
         -ext san=ip:127.0.0.1,dns:localhost -ext eku=serverAuth",
        // Otherwise the broker might show the authority's certificate as its own.
        "-delete -alias ca",
    ]
}
