//! A browser of its own for each test, and what a person does with it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use posthaste_services::{
    chromium::Installation,
    patience,
    process::{Process, Signal},
};
use serde_json::{Value, json};
use thirtyfour::{By, Capabilities, WebDriver, WebElement};
use tokio::time::timeout;

use crate::{devtools, program::Program};

pub(crate) struct Browser {
    pub(crate) driver: WebDriver,
    url: String,
    process: Child,
}

impl Browser {
    /// A browser that looks at the login of this program.
    pub(crate) async fn open(program: &Program) -> Self {
        let installation = Installation::given();
        let mut process =
            Command::new(&installation.driver).arg("--port=0").stdout(Stdio::piped()).spawn().unwrap();
        let port = port(&mut process);
        // Without a sandbox, because tests often run as root in a container, where there is none to be had.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"];
        let capabilities = json!({
            "goog:chromeOptions": { "binary": installation.browser, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), Capabilities::from(capabilities));
        let browser = Self { driver: driver.await.unwrap(), url: program.url.clone(), process };
        devtools::resize(&browser.driver, 1_360, 900).await;
        browser.go("").await;
        browser
    }

    /// Logs in by the form, as a person does.
    pub(crate) async fn log_in(&self, token: &str) {
        self.find("input[name=token]").await.send_keys(token).await.unwrap();
        self.click("Log in").await;
        self.see("h1", "Overview").await;
    }

    pub(crate) async fn go(&self, page: &str) {
        self.driver.goto(format!("{}{page}", self.url)).await.unwrap();
    }

    /// The element, once it is there.
    pub(crate) async fn find(&self, css: &str) -> WebElement {
        let mut found = None;
        wait_until(&format!("{css} is there"), async || {
            found = self.driver.find(By::Css(css)).await.ok();
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    /// Clicks on the button or link with this text.
    pub(crate) async fn click(&self, text: &str) {
        self.click_in("body", text).await;
    }

    /// Clicks on the button or link with this text inside of something.
    pub(crate) async fn click_in(&self, css: &str, text: &str) {
        // Found and clicked at once: a page that is live may draw itself anew in between.
        let script = "const [css, text] = arguments;
            const inside = document.querySelector(css);
            const found = [...(inside?.querySelectorAll('button, a, summary') ?? [])].find((e) => e.textContent.trim() === text && !e.disabled);
            found?.focus();
            found?.click();
            return Boolean(found);";
        wait_until(&format!("{text:?} can be clicked in {css}"), async || {
            self.run(script, &[json!(css), json!(text)]).await == true
        })
        .await;
    }

    /// Writes into the field of this name in a dialog, in place of what is there.
    pub(crate) async fn write(&self, name: &str, text: &str) {
        let control = self.find(&format!("dialog [name={name}]")).await;
        control.clear().await.unwrap();
        control.send_keys(text).await.unwrap();
    }

    /// Waits until an element says this.
    pub(crate) async fn see(&self, css: &str, text: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some((e) => e.textContent.includes(arguments[1]))";
        wait_until(&format!("{css} says {text:?}"), async || {
            self.run(script, &[json!(css), json!(text)]).await == true
        })
        .await;
    }

    /// Waits until a page has everything that it asked for.
    pub(crate) async fn settle(&self) {
        let script = "return !document.querySelector('.skeleton') && document.querySelector('main .card') !== null && document.querySelector('.pulse.is-live') !== null";
        wait_until("the page is whole", async || self.run(script, &[]).await == true).await;
    }

    pub(crate) async fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.driver.execute(script, arguments.to_vec()).await.unwrap().json().clone()
    }

    /// Everything that can be pressed in the page, by its text.
    pub(crate) async fn buttons(&self) -> Vec<String> {
        let script = "return [...document.querySelectorAll('main button')].map((e) => e.textContent.trim())";
        let found = self.run(script, &[]).await;
        found.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// Ends the browser in peace. One that is dropped instead is killed.
    pub(crate) async fn close(self) {
        self.driver.clone().quit().await.unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its client would ask a driver that is gone to quit, and wait two minutes for the answer.
        _ = self.driver.clone().leak();
        // A driver that is killed leaves its browser behind, so that goes first: a test that failed did not close it.
        let browsers =
            Process::find(self.process.id()).map(|driver| driver.descendants()).unwrap_or_default();
        _ = self.process.kill();
        _ = self.process.wait();
        browsers.iter().for_each(|browser| browser.signal(Signal::KILL));
    }
}

/// Where the driver says that it listens.
fn port(process: &mut Child) -> u16 {
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut ports = lines.filter_map(|line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        rest.trim_end_matches('.').parse().ok()
    });
    ports.next().unwrap()
}

pub(crate) async fn wait_until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !condition().await {
            // Waits for a condition.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(patience(), asking).await.unwrap_or_else(|_| panic!("waited too long until {what}"));
}
