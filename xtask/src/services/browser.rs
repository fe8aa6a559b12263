//! The browser among the servers: installed if it is missing, and named by variables. It is not started; each test starts its own.

use anyhow::Result;
use posthaste_services::{CHROMEDRIVER, CHROMIUM, chromium::Installation, given, say};

use super::state::Variables;

/// Whether the environment names it already.
pub(crate) fn is_given() -> bool {
    given(CHROMIUM).is_some() && given(CHROMEDRIVER).is_some()
}

/// What the environment does not say of it, installed first if there is none.
pub(crate) fn variables() -> Result<Variables> {
    if is_given() {
        say(&format!("  Chromium: given by {CHROMIUM}"));
        return Ok(Variables::new());
    }
    let found = Installation::find_or_install()?;
    say(&format!("  Chromium {} at {}", found.version, found.browser.display()));
    Ok(named(&found).into_iter().filter(|(name, _)| given(name).is_none()).collect())
}

/// The variables that `up` has set in this shell: those that say what would be found without them.
pub(crate) fn variables_of_up() -> Result<Variables> {
    let Some(found) = Installation::find()? else { return Ok(Variables::new()) };
    Ok(named(&found).into_iter().filter(|(name, value)| given(name).as_ref() == Some(value)).collect())
}

/// Where it is, in words.
pub(crate) fn describe() -> Result<String> {
    Ok(match Installation::find()? {
        Some(found) => format!("installed  {}  version {}", found.browser.display(), found.version),
        None => "missing".to_owned(),
    })
}

fn named(found: &Installation) -> Variables {
    let pair = |name: &str, path: &std::path::Path| (name.to_owned(), path.display().to_string());
    vec![pair(CHROMIUM, &found.browser), pair(CHROMEDRIVER, &found.driver)]
}
