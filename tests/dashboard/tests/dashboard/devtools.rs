//! What WebDriver itself does not have: how the page is shown, and what the console says.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use thirtyfour::WebDriver;

async fn devtools(driver: &WebDriver, command: &str, parameters: Value) -> Value {
    driver.cdp().send_raw(command, parameters).await.unwrap()
}

/// As wide and as high as this.
pub(crate) async fn resize(driver: &WebDriver, width: u32, height: u32) {
    let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
    devtools(driver, "Emulation.setDeviceMetricsOverride", size).await;
}

/// As if the system had this theme.
pub(crate) async fn prefer(driver: &WebDriver, theme: &str) {
    let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
    devtools(driver, "Emulation.setEmulatedMedia", features).await;
}

/// A picture of the whole page, up to this height.
pub(crate) async fn picture(driver: &WebDriver, highest: u64) -> Vec<u8> {
    let script = "return [innerWidth, document.documentElement.scrollHeight]";
    let size = driver.execute(script, Vec::new()).await.unwrap().json().clone();
    let height = size[1].as_u64().unwrap().min(highest);
    let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": height, "scale": 1 });
    let how = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
    let answer = devtools(driver, "Page.captureScreenshot", how).await;
    STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

/// Holds back what pages that are opened from now on ask for at this path, until they are told to `release()` it.
pub(crate) async fn hold(driver: &WebDriver, path: &str) {
    let script = format!(
        "{{ const ask = window.fetch;
            const held = new Promise((resolve) => (window.release = resolve));
            window.fetch = async (url, options) => (new URL(url).pathname === {path:?} && (await held), ask(url, options)); }}"
    );
    devtools(driver, "Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
}

/// The errors and warnings that the console has told of since it was asked last.
pub(crate) async fn complaints(driver: &WebDriver) -> Vec<String> {
    let entries = driver.browser_log().await.unwrap();
    let bad = entries.into_iter().filter(|entry| matches!(entry.level.as_str(), "SEVERE" | "WARNING"));
    bad.map(|entry| entry.message).collect()
}
