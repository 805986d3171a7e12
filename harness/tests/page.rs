//! The report as a page, in a browser: what it shows is what the report says.
//!
//! Without Chromium the test is reported as ignored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{
    process::{Command, ExitCode},
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};

mod common;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn main() -> ExitCode {
    let browser = BROWSERS.into_iter().find(|browser| {
        let version = Command::new(browser).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    });
    let trial = Trial::test("a_browser_shows_the_numbers_of_the_report", move || {
        shows_the_numbers(browser.unwrap_or_default())
    });
    let trials = vec![trial.with_ignored_flag(browser.is_none())];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn shows_the_numbers(browser: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_node-architecture"))
        .current_dir(common::workspace())
        .args(["report", "examples/fleet/manifests", "--output", "html"])
        .args(["--replay", "examples/fleet/session.yml"])
        .output()?;
    std::fs::write(&page, &output.stdout)?;
    let shown = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().display()))
        .arg(format!(
            "--virtual-time-budget={}",
            Duration::from_secs(5).as_millis()
        ))
        .arg(format!("file://{}", page.display()))
        .output()?;
    let dom = String::from_utf8(shown.stdout)?;
    for expected in [
        "<h1>33 % of the workloads are ready for arm64</h1>",
        "<b id=\"ready\">2</b>",
        "<b id=\"pinned\">2</b>",
        "<b id=\"blocked\">2</b>",
        "<b id=\"unknown\">1</b>",
        // The script has run.
        "<span class=\"dim\" id=\"shown\">7 of 7</span>",
    ] {
        if !dom.contains(expected) {
            return Err(format!("the page lacks {expected}\n{dom}").into());
        }
    }
    Ok(())
}
