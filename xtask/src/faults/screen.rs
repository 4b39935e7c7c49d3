//! Virtual displays, windows on them, and the journals of windows.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::fake_program::FakeProgramOptions;
use super::keys::Keys;
use super::launch::{Launch, Started, Stream};
use super::sandbox::{Sandbox, Skipped};

/// Timeout for a window to open on a busy host, and deadline of a command with a window.
pub const WINDOW: Duration = Duration::from_secs(60);

/// Virtual display, by Xvfb.
pub struct Display<'a> {
    server: Started<'a>,
    name: String,
}

impl<'a> Display<'a> {
    pub fn start(sandbox: &'a Sandbox<'a>) -> Result<Self> {
        let said = sandbox.output_folder().join("display");
        fs::write(&said, "")?;
        let mut launch = sandbox.loadscope(&[
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
        ]);
        launch.program("Xvfb");
        let launch = launch
            .output(Stream::File(said.clone()))
            .deadline(WINDOW * 20);
        let started = launch.start();
        let mut server = started.map_err(|_| Skipped("Xvfb is not installed".to_owned()))?;
        let number = || fs::read_to_string(&said).unwrap_or_default();
        server
            .until("the display has a number", || number().ends_with('\n'))
            .map_err(|e| Skipped(format!("no display could be made: {e:#}")))?;
        let name = format!(":{}", number().trim());
        Ok(Self { server, name })
    }

    pub fn kill(&self) {
        self.server.signal(libc::SIGKILL);
    }

    /// Prepares `loadscope` with these arguments on this display.
    pub fn window(&self, sandbox: &'a Sandbox<'a>, arguments: &[&str]) -> Launch<'a> {
        sandbox
            .loadscope(arguments)
            .env("DISPLAY", &self.name)
            .deadline(WINDOW)
    }

    /// Connects to the keyboard of this display.
    pub fn keys(&self) -> Result<Keys> {
        Keys::of(&self.name)
    }

    /// Prepares `loadscope watch` of the program `speak` on this display.
    pub fn watch(&self, sandbox: &'a Sandbox<'a>, fake_program: &FakeProgramOptions) -> Launch<'a> {
        let mut words = vec!["watch".into(), "--".into()];
        words.extend(sandbox.fake_program_command(fake_program));
        sandbox
            .loadscope(&words)
            .env("DISPLAY", &self.name)
            .deadline(WINDOW)
    }
}

/// Returns the journals of a case, the oldest first.
pub fn journals(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.home().join("data/loadscope/journal");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the newest journal, if it is not empty.
pub fn journal(sandbox: &Sandbox) -> Option<PathBuf> {
    let path = journals(sandbox).pop()?;
    let size = fs::metadata(&path).map_or(0, |found| found.len());
    (size > 0).then_some(path)
}

/// Opens a window, and sends it a signal as soon as it is open. The window must end by that signal.
pub fn opened_and_ended(sandbox: &Sandbox, launch: Launch, number: i32) -> Result<()> {
    let preferences = sandbox.home().join("data/loadscope/preferences.json");
    let _ = fs::remove_file(&preferences);
    let mut window = launch.start()?;
    window.until("the window is open", || preferences.exists())?;
    window.signal(number);
    let ended = window.wait()?;
    ended.check_no_panic()?;
    let is = ended.signal == Some(number) || ended.code == Some(128 + number);
    ended.require(is, &format!("exit code {} was expected", 128 + number))
}
