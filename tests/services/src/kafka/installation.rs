//! Kafka's jars and a Java to run them: found, or fetched with Maven into a folder that is kept.

use std::{
    fs,
    path::{self, Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::certificates::Certificates;
use crate::{
    lookup::{self, is_program},
    packages::{Missing, SERVER_ELSEWHERE},
    progress::{run_logged, step},
    variables::{KAFKA, KAFKA_LIB, given, kafka_lib},
};

/// The version of Kafka.
pub const VERSION: &str = "4.1.0";
/// The binding of its logger is not among the dependencies of its jars.
const LOG4J: &str = "2.24.3";
const OLDEST_JAVA: u32 = 17;
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

const JAVA: Missing = Missing {
    name: "Java 17",
    packages: &["openjdk-17-jre-headless", "openjdk-21-jre-headless", "default-jre-headless"],
    variable: KAFKA,
    instead: SERVER_ELSEWHERE,
};
const MAVEN: Missing =
    Missing { name: "Maven", packages: &["maven"], variable: KAFKA, instead: SERVER_ELSEWHERE };

/// Kafka's programs.
#[derive(Clone, Debug)]
pub struct Installation {
    pub(crate) java: PathBuf,
    /// The folder with the jars.
    pub lib: PathBuf,
    /// What its encrypted listener shows to clients.
    pub certificates: Certificates,
}

impl Installation {
    /// Runs the jars that [`KAFKA_LIB`] names, or else those of this folder. What is missing is installed and fetched.
    pub fn find_or_install(cache: &Path) -> Result<Self> {
        let lib = lib_in(cache);
        if !has_jars(&lib) {
            ensure!(given(KAFKA_LIB).is_none(), "{KAFKA_LIB} has no Kafka {VERSION}: {}", lib.display());
            let (java, maven) = (find_or_install_java()?, find_or_install_maven()?);
            step(&format!("fetching the jars of Kafka {VERSION} with Maven"), || fetch(&maven, &java, &lib))
                .with_context(|| {
                    format!(
                        "Kafka's jars could not be fetched (is there a network?); {KAFKA_LIB} may name a folder that \
                         has them, or {KAFKA} a broker that runs elsewhere (compose.yaml has one for Docker)"
                    )
                })?;
        }
        Self::with(find_or_install_java()?, lib)
    }

    /// The same, if all is there.
    pub fn find(cache: &Path) -> Result<Option<Self>> {
        let java = find_java().filter(|_| has_jars(&lib_in(cache)));
        java.map(|java| Self::with(java, lib_in(cache))).transpose()
    }

    /// What [`KAFKA_LIB`] names, for tests that start a broker of their own.
    ///
    /// # Panics
    ///
    /// If the variable is not set: a test must not pass in silence.
    pub fn given() -> Result<Self> {
        let lib = kafka_lib();
        Self::with(find_java().context("there is no Java of version 17 or later")?, lib)
    }

    fn with(java: PathBuf, lib: PathBuf) -> Result<Self> {
        let lib = path::absolute(lib)?;
        let certificates = Certificates::find_or_make(&java, &lib.with_file_name("certificates"))?;
        Ok(Self { java, lib, certificates })
    }

    /// A command that runs a class of Kafka, with the options of the Java machine before it.
    pub(crate) fn command(&self, folder: &Path, options: &[&str], class: &str) -> Command {
        let mut command = Command::new(&self.java);
        command.current_dir(folder).arg("-cp").arg(self.lib.join("*"));
        command.args(options).arg("-Dlog4j2.configurationFile=log4j2.properties").arg(class);
        command
    }
}

/// Where the jars are: in the folder that [`KAFKA_LIB`] names, or with what was fetched.
fn lib_in(cache: &Path) -> PathBuf {
    given(KAFKA_LIB).map_or_else(|| cache.join(format!("kafka-{VERSION}/lib")), PathBuf::from)
}

/// A Java that is new enough.
fn find_or_install_java() -> Result<PathBuf> {
    if let Some(java) = find_java() {
        return Ok(java);
    }
    JAVA.install()?;
    find_java().context("Java was installed, but none of version 17 or later was found")
}

fn find_java() -> Option<PathBuf> {
    let home = given("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    let debian = lookup::folders_newest_first(Path::new("/usr/lib/jvm"));
    let debian = debian.into_iter().map(|folder| folder.join("bin/java"));
    let mut all = home.into_iter().chain(lookup::program("java")).chain(debian);
    all.find(|java| {
        is_program(java) && lookup::version_of(java, "-version").is_some_and(|is| is[0] >= OLDEST_JAVA)
    })
}

fn find_or_install_maven() -> Result<PathBuf> {
    if lookup::program("mvn").is_none() {
        MAVEN.install()?;
    }
    lookup::program("mvn").context("Maven was installed, but was not found")
}

fn has_jars(lib: &Path) -> bool {
    lib.join(format!("kafka_2.13-{VERSION}.jar")).is_file()
}

/// Lets Maven copy the jars. They get their place only when all are there, so that half of them is not taken for all.
fn fetch(maven: &Path, java: &Path, lib: &Path) -> Result<()> {
    let folder = lib.parent().context("the folder of the jars is in no other")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(folder.join("pom.xml"), pom())?;
    let partial = lib.with_extension("partial");
    let mut command = Command::new(maven);
    command.current_dir(folder).args(["-B", COPY, "-DincludeScope=runtime"]);
    command.arg(format!("-DoutputDirectory={}", path::absolute(&partial)?.display()));
    if let Some(home) = java.canonicalize()?.parent().and_then(Path::parent) {
        command.env("JAVA_HOME", home);
    }
    run_logged(&mut command, &folder.join("maven.log"))?;
    fs::rename(&partial, lib).with_context(|| format!("cannot create {}", lib.display()))
}

fn pom() -> String {
    let dependency = |(group, artifact, version): (&str, &str, &str)| {
        format!(
            "    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version></dependency>\n"
        )
    };
    let dependencies: String = [
        ("org.apache.kafka", "kafka_2.13", VERSION),
        ("org.apache.kafka", "kafka-tools", VERSION),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", LOG4J),
    ]
    .map(dependency)
    .concat();
    format!(
        "<project>\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>posthaste</groupId><artifactId>kafka-for-tests</artifactId><version>1</version>\n  \
         <packaging>pom</packaging>\n  <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jars_are_named_with_their_versions() {
        let pom = pom();

        assert!(pom.contains("<artifactId>kafka_2.13</artifactId><version>4.1.0</version>"), "{pom}");
        assert!(pom.contains("<artifactId>kafka-tools</artifactId><version>4.1.0</version>"), "{pom}");
    }

    #[test]
    fn a_folder_without_the_jar_of_the_broker_is_not_complete() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_jars(folder.path()));

        fs::write(folder.path().join("kafka_2.13-4.1.0.jar"), "").unwrap();
        assert!(has_jars(folder.path()));
    }
}
