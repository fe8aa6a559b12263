//! The dashboard: files that are part of the program. No build step, nothing from elsewhere.

use std::sync::LazyLock;

use axum::{
    http::{
        HeaderMap, Method, StatusCode, Uri,
        header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
    },
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// A file of the dashboard.
struct File {
    path: &'static str,
    bytes: &'static [u8],
}

macro_rules! files {
    ($($path:literal,)*) => { &[$(File { path: $path, bytes: include_bytes!(concat!("../dashboard/", $path)) },)*] };
}

/// Every file in the folder `dashboard`; a test holds the two against each other.
const FILES: &[File] = files![
    "index.html",
    "api.js",
    "app.js",
    "base.css",
    "chart.js",
    "dialog.js",
    "dom.js",
    "form.js",
    "format.js",
    "frame.css",
    "icon.svg",
    "live.js",
    "parts.css",
    "parts.js",
    "pretty.js",
    "theme.js",
    "pages/audit.js",
    "pages/configuration.js",
    "pages/dead-acts.js",
    "pages/dead-letter.js",
    "pages/dead-letters.js",
    "pages/drop.js",
    "pages/event.js",
    "pages/events.js",
    "pages/jobs.js",
    "pages/key.js",
    "pages/login.js",
    "pages/overview-news.js",
    "pages/overview.js",
    "pages/publish.js",
    "pages/relays.js",
    "pages/reset.js",
    "pages/subscriptions.js",
];

static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| FILES.iter().map(|file| tag(file.bytes)).collect());

fn tag(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// The kind of a file, by the ending of its name.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Answers with a file. A name that has no ending is a page of the dashboard, which finds its own way from the first one. No page is in
/// a folder: so its files are always beside it, also where a proxy serves everything below a path of its own.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Problem::wrong_method().into_response();
    }
    let path = uri.path().trim_start_matches('/');
    let is_page = !path.contains(['/', '.']);
    let path = if is_page { "index.html" } else { path };
    let Some(index) = FILES.iter().position(|file| file.path == path) else {
        return Problem::not_found("no such file").into_response();
    };
    let tag = TAGS[index].as_str();
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Asked for each time, and sent only if it has changed: an update of the program is seen at once.
    let fresh = [(ETAG, tag), (CACHE_CONTROL, "no-cache"), (CONTENT_TYPE, media_type(path))];
    if known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag) {
        return (StatusCode::NOT_MODIFIED, fresh).into_response();
    }
    (fresh, FILES[index].bytes).into_response()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard");
        let (mut folders, mut found) = (vec![root.clone()], BTreeSet::new());
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(folder).unwrap() {
                let path = item.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let embedded: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        assert_eq!(embedded, found);
        assert!(FILES.iter().all(|file| media_type(file.path) != "application/octet-stream"));
    }

    #[test]
    fn no_script_is_longer_than_300_lines_and_each_says_what_it_is() {
        for file in FILES.iter().filter(|file| file.path.ends_with(".js")) {
            let text = std::str::from_utf8(file.bytes).unwrap();
            assert!(text.starts_with("// "), "{} begins with what it is", file.path);
            assert!(text.lines().count() <= 300, "{} is too long", file.path);
        }
    }

    #[test]
    fn no_page_has_inline_code_or_asks_elsewhere() {
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            // The name of a namespace, which nobody asks for.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for bad in [
                "http://",
                "https://",
                "//cdn",
                "onclick=",
                "style=",
                "<script>",
                "<style",
                "eval(",
                "innerHTML",
            ] {
                // The policy forbids it as well, but a page that breaks is not noticed by it.
                assert!(!text.contains(bad), "{} has {bad}", file.path);
            }
        }
    }
}
