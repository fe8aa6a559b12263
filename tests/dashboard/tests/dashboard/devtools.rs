//! What WebDriver itself does not have: how the page is shown, and what the console says.

use base64::{Engine, engine::general_purpose::STANDARD};
use fantoccini::{Client, wd::WebDriverCompatibleCommand};
use hyper::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command of the browser's own: where below the session, and with what.
#[derive(Debug)]
struct Own {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

async fn devtools(client: &Client, cmd: &str, params: Value) -> Value {
    let body = json!({ "cmd": cmd, "params": params });
    client.issue_cmd(Own { path: "goog/cdp/execute", body }).await.unwrap()
}

/// As wide and as high as this.
pub(crate) async fn resize(client: &Client, width: u32, height: u32) {
    let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
    devtools(client, "Emulation.setDeviceMetricsOverride", size).await;
}

/// As if the system had this theme.
pub(crate) async fn prefer(client: &Client, theme: &str) {
    let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
    devtools(client, "Emulation.setEmulatedMedia", features).await;
}

/// A picture of the whole page.
pub(crate) async fn picture(client: &Client) -> Vec<u8> {
    let size =
        client.execute("return [innerWidth, document.documentElement.scrollHeight]", Vec::new()).await.unwrap();
    let height = size[1].as_u64().unwrap().min(4_000);
    let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": height, "scale": 1 });
    let how = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
    let answer = devtools(client, "Page.captureScreenshot", how).await;
    STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

/// The errors and warnings that the console has told of since it was asked last.
pub(crate) async fn complaints(client: &Client) -> Vec<String> {
    let entries = client.issue_cmd(Own { path: "se/log", body: json!({ "type": "browser" }) }).await.unwrap();
    let bad = entries.as_array().unwrap().iter().filter(|entry| {
        let level = entry["level"].as_str().unwrap_or_default();
        level == "SEVERE" || level == "WARNING"
    });
    bad.map(|entry| entry["message"].to_string()).collect()
}
