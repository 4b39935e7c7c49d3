//! Displays without a screen, windows on them, and what windows keep for the next start.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::keys::Keys;
use super::launch::{Launch, Started, Stream};
use super::note::NotTried;
use super::place::Place;
use super::speak::Speech;

/// So long a window has to open on a busy host, and a case that has one.
pub const WINDOW: Duration = Duration::from_secs(60);

/// A display of its own, without a screen.
pub struct Display<'a> {
    server: Started<'a>,
    name: String,
}

impl<'a> Display<'a> {
    pub fn start(place: &'a Place<'a>) -> Result<Self> {
        let said = place.said().join("display");
        fs::write(&said, "")?;
        let mut launch = place.loadscope(&[
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
        let mut server = started.map_err(|_| NotTried("Xvfb is not installed".to_owned()))?;
        let number = || fs::read_to_string(&said).unwrap_or_default();
        server
            .until("the display has a number", || number().ends_with('\n'))
            .map_err(|e| NotTried(format!("no display could be made: {e:#}")))?;
        let name = format!(":{}", number().trim());
        Ok(Self { server, name })
    }

    pub fn kill(&self) {
        self.server.signal(libc::SIGKILL);
    }

    /// `loadscope` with these arguments, on this display.
    pub fn window(&self, place: &'a Place<'a>, arguments: &[&str]) -> Launch<'a> {
        place
            .loadscope(arguments)
            .env("DISPLAY", &self.name)
            .deadline(WINDOW)
    }

    /// The keyboard of this display.
    pub fn keys(&self) -> Result<Keys> {
        Keys::of(&self.name)
    }

    /// `loadscope watch` of a program that speaks, on this display.
    pub fn watch(&self, place: &'a Place<'a>, speech: &Speech) -> Launch<'a> {
        let mut words = vec!["watch".into(), "--".into()];
        words.extend(place.spoken(speech));
        place
            .loadscope(&words)
            .env("DISPLAY", &self.name)
            .deadline(WINDOW)
    }
}

/// The journals of a case, the oldest first.
pub fn journals(place: &Place) -> Vec<PathBuf> {
    let folder = place.home().join("data/loadscope/journal");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The only journal, once something is in it.
pub fn journal(place: &Place) -> Option<PathBuf> {
    let path = journals(place).pop()?;
    let size = fs::metadata(&path).map_or(0, |found| found.len());
    (size > 0).then_some(path)
}

/// A window that opens, and is ended by a signal as soon as it shows something.
pub fn opened_and_ended(place: &Place, launch: Launch, number: i32) -> Result<()> {
    let preferences = place.home().join("data/loadscope/preferences.json");
    let _ = fs::remove_file(&preferences);
    let mut window = launch.start()?;
    window.until("the window is open", || preferences.exists())?;
    window.signal(number);
    let ended = window.wait()?;
    ended.sound()?;
    let is = ended.signal == Some(number) || ended.code == Some(128 + number);
    ended.must(is, &format!("exit code {} was expected", 128 + number))
}
