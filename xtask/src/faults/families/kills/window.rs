//! SIGKILL of a window. Its journal must be complete up to the kill, and still exist after the next start.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::one::{fake_program, kill, missing, repeat};
use super::random::Rng;
use crate::faults::fake_program::{FakeProgramOptions, notes};
use crate::faults::keys;
use crate::faults::sandbox::Sandbox;
use crate::faults::screen::{Display, WINDOW, journal, opened_and_ended};

/// Kills a window that watches a program.
pub fn watching(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let display = Display::start(sandbox)?;
    let mut rng = Rng::of(sandbox, 3);
    repeat(sandbox, kills, |number| {
        // Each kill has a new user, because the next start offers the journal of the killed window.
        let fresh = Sandbox::new(sandbox.shared)?;
        let mut watch = display.watch(&fresh, &fake_program(&fresh)).start()?;
        watch.until_sent(1)?;
        if rng.below(4) != 0 {
            watch.until("the journal is begun", || journal(&fresh).is_some())?;
        }
        std::thread::sleep(rng.millis(900));
        let killed = kill(watch.process);
        ensure!(
            watch.wait()?.signal == Some(libc::SIGKILL),
            "it had ended before"
        );
        let before = fresh.sent();
        std::thread::sleep(Duration::from_millis(50));
        ensure!(fresh.sent() > before, "the program died with its window");
        fresh.end_all();
        let path = journal(&fresh);
        let Some(path) = path else {
            let first = notes(&fresh.notes()).first().map(|told| told.at);
            return Ok(first.map_or(Duration::ZERO, |first| killed.saturating_sub(first)));
        };
        if number % 10 == 1 {
            stays(&display, &fresh, &path)?;
        }
        missing(&fresh, &path, killed)
    })?;
    // The next start removes leftovers.
    let fake_program = FakeProgramOptions {
        heeds: true,
        ..fake_program(sandbox)
    };
    let mut watch = display
        .watch(sandbox, &fake_program)
        .deadline(WINDOW)
        .start()?;
    watch.until("the journal is begun", || journal(sandbox).is_some())?;
    watch.signal(libc::SIGTERM);
    watch.wait()?;
    sandbox.check_no_leftovers()
}

/// Fails unless the journal of a killed window still exists after another window was opened and closed.
fn stays(display: &Display, sandbox: &Sandbox, left: &Path) -> Result<()> {
    // Only a file with nothing but a header may be removed.
    if sandbox.facts(left)?.batches == 0 {
        return Ok(());
    }
    let bytes = fs::read(left)?;
    sandbox.recording()?;
    let next = display.window(sandbox, &["open", "sample.jsonl.zst"]);
    opened_and_ended(sandbox, next, libc::SIGTERM)?;
    sandbox.check_unchanged(left, &bytes)
}

/// Kills a window with a run of the embedded loader, which a key starts. The demo has fewer events than the measurement needs.
pub fn running(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let display = Display::start(sandbox)?;
    let mut rng = Rng::of(sandbox, 6);
    let options = r#"{"options": {"dataset": "synthetic:len=400000,cost_ms=1", "batch_size": 2, "num_workers": 1}}"#;
    repeat(sandbox, kills, |number| {
        let fresh = Sandbox::new(sandbox.shared)?;
        let preferences = fresh.home().join("data/loadscope/preferences.json");
        fs::create_dir_all(preferences.parent().context("a folder")?)?;
        fs::write(&preferences, options)?;
        let mut window = display.window(&fresh, &[]).start()?;
        let shown = || fs::read_to_string(&preferences).is_ok_and(|text| text != options);
        window.until("the window is open", shown)?;
        display.keys()?.press(&[keys::CONTROL, keys::R])?;
        window.until("the journal is begun", || journal(&fresh).is_some())?;
        let begun = SystemTime::now().duration_since(UNIX_EPOCH)?;
        std::thread::sleep(rng.millis(900));
        let killed = SystemTime::now().duration_since(UNIX_EPOCH)?;
        kill(window.process);
        ensure!(
            window.wait()?.signal == Some(libc::SIGKILL),
            "it had ended before"
        );
        let path = journal(&fresh).context("there is no journal of it")?;
        if number % 10 == 1 {
            stays(&display, &fresh, &path)?;
        }
        fs::rename(&path, fresh.at("left.jsonl.zst"))?;
        // After an immediate kill, the journal may contain only a header.
        let end = end_of_any(&fresh, "left.jsonl.zst")?.unwrap_or(begun);
        Ok(killed.saturating_sub(end))
    })?;
    sandbox.check_no_leftovers()
}

/// Returns the time of the last event of a recording, from its exported trace, as time since the Unix epoch. Returns `None` if it has no
/// events.
fn end_of_any(sandbox: &Sandbox, name: &str) -> Result<Option<Duration>> {
    let words = ["export", name, "--to", "chrome", "-o", "left.json"];
    sandbox.loadscope(&words).run()?.code(0)?;
    let trace: Value = serde_json::from_slice(&fs::read(sandbox.at("left.json"))?)?;
    let began = trace["otherData"]["started_unix_ns"].as_u64();
    let events = trace["traceEvents"].as_array().context("a trace")?;
    let end = |event: &Value| {
        let micros = |name: &str| event[name].as_f64().unwrap_or(0.0);
        micros("ts") + micros("dur")
    };
    let last = events.iter().map(end).fold(0.0, f64::max);
    let began = began.filter(|_| last > 0.0);
    Ok(began.map(|began| Duration::from_nanos(began) + Duration::from_secs_f64(last / 1e6)))
}
