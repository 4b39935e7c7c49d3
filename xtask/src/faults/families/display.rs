//! The window: without a display, with a crashing display, with an unwritable data folder, and ended by signals.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::fake_program::FakeProgramOptions;
use crate::faults::launch::{Ended, Started, Stream};
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::sandbox::Sandbox;
use crate::faults::screen::{Display, journal, opened_and_ended};

fn fake_program(sandbox: &Sandbox) -> FakeProgramOptions {
    FakeProgramOptions {
        batches: 0,
        every: 5000,
        heeds: true,
        ..sandbox.fake_program()
    }
}

/// Fails unless the message is about the window, and contains no path of the host that built the program.
fn says_no_display(ended: &Ended) -> Result<()> {
    ended.check_error_message(&["window"])?;
    for path in [
        ".cargo",
        "/registry/",
        "/rustc/",
        env!("CARGO_MANIFEST_DIR"),
        ".rs:",
    ] {
        ended.require(
            !ended.err.contains(path),
            "no path of the host that built it was expected",
        )?;
    }
    Ok(())
}

fn no_display(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Result<()> {
    sandbox.recording()?;
    for words in [&[][..], &["open", "sample.jsonl.zst"]] {
        let mut launch = sandbox.loadscope(words);
        for (name, value) in variables {
            launch = launch.env(name, value);
        }
        let ended = launch.run()?;
        ended.code(2)?;
        says_no_display(&ended)?;
    }
    sandbox.check_no_leftovers()
}

/// Checks that the program is not started.
fn watch_without_display(sandbox: &Sandbox) -> Result<()> {
    let mut words = vec!["watch".into(), "--".into()];
    words.extend(sandbox.fake_program_command(&sandbox.fake_program()));
    let ended = sandbox.loadscope(&words).run()?;
    ended.code(2)?;
    ended.check_error_message(&["not started", "record"])?;
    says_no_display(&ended)?;
    ensure!(sandbox.sent() == 0, "the program ran");
    sandbox.check_no_leftovers()
}

fn watch_with_a_display_of_nothing(sandbox: &Sandbox) -> Result<()> {
    let mut words = vec!["watch".into(), "--".into()];
    words.extend(sandbox.fake_program_command(&sandbox.fake_program()));
    let ended = sandbox.loadscope(&words).env("DISPLAY", ":4567").run()?;
    ended.code(7)?;
    says_no_display(&ended)?;
    let path = journal(sandbox).context("there is no journal of it")?;
    sandbox.check_whole(&path, 20)?;
    sandbox.check_no_leftovers()
}

/// Kills the display while a program is watched.
fn display_dies(sandbox: &Sandbox, errors: Stream) -> Result<()> {
    let display = Display::start(sandbox)?;
    let launch = display
        .watch(sandbox, &fake_program(sandbox))
        .errors(errors);
    let mut watch = launch.start()?;
    watch.until("the journal is begun", || journal(sandbox).is_some())?;
    std::thread::sleep(Duration::from_millis(500));
    display.kill();
    let before = sandbox.sent();
    watch.until_sent(before + 100)?;
    end_program(sandbox, &watch, libc::SIGTERM)?;
    let ended = watch.wait()?;
    ended.code(7)?;
    all_told(sandbox)?;
    sandbox.check_no_leftovers()
}

/// Sends a signal to the watched program, not to the window.
fn end_program(sandbox: &Sandbox, watch: &Started, number: i32) -> Result<()> {
    for process in sandbox.alive() {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let speaks = line.split(|b| *b == 0).nth(1) == Some(b"speak");
        if speaks && process != watch.process {
            // SAFETY: kill accesses no memory of this process.
            unsafe { libc::kill(process, number) };
        }
    }
    Ok(())
}

/// Fails unless the journal contains everything that the program sent.
fn all_told(sandbox: &Sandbox) -> Result<()> {
    let path = journal(sandbox).context("there is no journal of it")?;
    let told = sandbox.sent();
    let facts = sandbox.facts(&path)?;
    ensure!(
        facts.batches >= told && !facts.cut,
        "the program sent {told} batches, and the journal holds {facts:?}"
    );
    Ok(())
}

/// Sends a signal to a window that watches a program.
fn watch_signal(sandbox: &Sandbox, number: i32) -> Result<()> {
    let display = Display::start(sandbox)?;
    let mut watch = display.watch(sandbox, &fake_program(sandbox)).start()?;
    watch.until("the journal is begun", || journal(sandbox).is_some())?;
    watch.signal(number);
    let ended = watch.wait()?;
    ended.code(7)?;
    all_told(sandbox)?;
    sandbox.check_no_leftovers()
}

/// Sends a signal to a window with a recording.
fn window_signal(sandbox: &Sandbox, number: i32) -> Result<()> {
    let display = Display::start(sandbox)?;
    sandbox.recording()?;
    let launch = display.window(sandbox, &["open", "sample.jsonl.zst"]);
    opened_and_ended(sandbox, launch, number)?;
    sandbox.check_no_leftovers()
}

/// Checks that a program is watched although the data folder is unusable.
fn useless_data(
    sandbox: &Sandbox,
    spoil: fn(&Sandbox) -> Result<()>,
    rule: Option<fn(&Sandbox) -> Rule>,
) -> Result<()> {
    let display = Display::start(sandbox)?;
    spoil(sandbox)?;
    let mut launch = display.watch(sandbox, &fake_program(sandbox));
    if let Some(rule) = rule {
        sandbox.supervises()?;
        launch = launch.rule(rule(sandbox));
    }
    let mut watch = launch.start()?;
    watch.until_sent(400)?;
    watch.signal(libc::SIGTERM);
    watch.wait()?.code(7)?;
    sandbox.check_no_leftovers()
}

fn data(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("data")
}

fn is_file(sandbox: &Sandbox) -> Result<()> {
    fs::remove_dir_all(data(sandbox))?;
    fs::write(data(sandbox), "")?;
    Ok(())
}

fn is_locked(sandbox: &Sandbox) -> Result<()> {
    if sandbox.shared.is_root {
        // Root can write to every folder, but not to `/proc/self`.
        fs::remove_dir_all(data(sandbox))?;
        std::os::unix::fs::symlink("/proc/self", data(sandbox))?;
        return Ok(());
    }
    fs::set_permissions(data(sandbox), fs::Permissions::from_mode(0o500))?;
    Ok(())
}

/// Checks that old preferences stay if new ones cannot be written.
fn preferences(sandbox: &Sandbox) -> Result<()> {
    sandbox.supervises()?;
    let display = Display::start(sandbox)?;
    let path = data(sandbox).join("loadscope/preferences.json");
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let old = br#"{"of":"another version"}"#;
    fs::write(&path, old)?;
    let rule = Rule::new(
        Call::Write,
        On::Named("preferences".to_owned()),
        When::From(1),
        Act::Fail(libc::ENOSPC),
    );
    let mut window = display.window(sandbox, &[]).rule(rule).start()?;
    window.until_injected()?;
    // By then, the window has removed its partial file.
    let is_given_up = || sandbox.leftovers().is_ok_and(|left| left.is_empty());
    window.until("the attempt is given up", is_given_up)?;
    window.signal(libc::SIGTERM);
    let ended = window.wait()?;
    ended.check_no_panic()?;
    ended.check_injected()?;
    sandbox.check_unchanged(&path, old)?;
    sandbox.check_no_leftovers()
}

const REFUSES: &str = "exit code 2 with a sentence, without a path of the host that built it";
const GOES_ON: &str =
    "the program ends as it would have; all that it sent is in the journal; nothing is left";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row::new("no display", "neither DISPLAY nor WAYLAND_DISPLAY is set", REFUSES, |sandbox| no_display(sandbox, &[])).fast(),
    Row::new("a display of nothing", "DISPLAY names one that is not there", REFUSES, |sandbox| no_display(sandbox, &[("DISPLAY",
        ":4567")])),
    Row::new("a Wayland of nothing", "WAYLAND_DISPLAY names one that is not there", REFUSES, |sandbox| no_display(sandbox,
        &[("WAYLAND_DISPLAY", "wayland-77")])),
    Row::new("watch without a display", "neither DISPLAY nor WAYLAND_DISPLAY is set",
        "exit code 2 with a sentence; the program is not started", watch_without_display).fast(),
    Row::new("watch with a display of nothing", "DISPLAY names one that is not there", GOES_ON, watch_with_a_display_of_nothing).fast(),
    Row::new("the display dies", "kill -9 of the X server while a program is watched", GOES_ON, |sandbox| display_dies(sandbox,
        Stream::Kept)).fast(),
    Row::new("the display dies, standard error has no reader",
        "kill -9 of the X server while a program is watched; standard error is a pipe whose reader is gone", GOES_ON,
        |sandbox| display_dies(sandbox, Stream::Broken)),
    Row::new("the display dies, standard error is stuck",
        "kill -9 of the X server while a program is watched; standard error is a full pipe that is read after 3 s", GOES_ON,
        |sandbox| display_dies(sandbox, Stream::Stuck(Duration::from_secs(3)))).fast(),
    Row::new("preferences, full disk", "ENOSPC at every write of the preferences", "the old ones stay", preferences).fast(),
    Row::new("SIGTERM", "SIGTERM to a window with a recording", "exit code 143; nothing is left", |sandbox| window_signal(sandbox,
        libc::SIGTERM)).fast(),
    Row::new("watch, SIGTERM", "SIGTERM to a window with a program", GOES_ON, |sandbox| watch_signal(sandbox, libc::SIGTERM)).fast(),
    Row::new("watch, SIGHUP", "SIGHUP to a window with a program", GOES_ON, |sandbox| watch_signal(sandbox, libc::SIGHUP)),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = table("window", ROWS).collect();
    let unaffected = "the program is watched, and ends as it would have; no panic";
    let full: fn(&Sandbox) -> Rule = |sandbox| {
        Rule::new(
            Call::Write,
            On::Within(data(sandbox)),
            When::From(3),
            Act::Fail(libc::ENOSPC),
        )
    };
    let readonly: fn(&Sandbox) -> Rule = |sandbox| {
        Rule::new(
            Call::Create,
            On::Within(data(sandbox)),
            When::From(1),
            Act::Fail(libc::EROFS),
        )
    };
    for (k, (name, injected, spoil, rule)) in [
        (
            "the data folder is a file",
            "XDG_DATA_HOME is a file",
            is_file as fn(&Sandbox) -> Result<()>,
            None,
        ),
        (
            "the data folder is not writable",
            "no folder can be made in XDG_DATA_HOME",
            is_locked,
            None,
        ),
        (
            "the journal's disk is full",
            "ENOSPC from the third write to the data folder on",
            |_| Ok(()),
            Some(full),
        ),
        (
            "the journal's disk is read-only",
            "EROFS at every file that is created in the data folder",
            |_| Ok(()),
            Some(readonly),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let check = move |sandbox: &Sandbox| useless_data(sandbox, spoil, rule);
        let case = Case::new("window", name, injected, unaffected, check);
        cases.push(case.fast_if(k % 2 == 0));
    }
    cases
}
