//! The window: without a display, with a crashing display, with an unwritable data folder, and ended by signals.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::launch::{Ended, Started, Stream};
use crate::faults::place::Place;
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::screen::{Display, journal, opened_and_ended};
use crate::faults::speak::{Speech, notes};

fn speech(place: &Place) -> Speech {
    Speech {
        batches: 0,
        every: 5000,
        heeds: true,
        ..place.speech()
    }
}

/// Fails unless the message is about the window, and contains no path of the host that built the program.
fn says_no_display(ended: &Ended) -> Result<()> {
    ended.complained(&["window"])?;
    for path in [
        ".cargo",
        "/registry/",
        "/rustc/",
        env!("CARGO_MANIFEST_DIR"),
        ".rs:",
    ] {
        ended.must(
            !ended.err.contains(path),
            "no path of the host that built it was expected",
        )?;
    }
    Ok(())
}

fn no_display(place: &Place, variables: &[(&str, &str)]) -> Result<()> {
    place.recording()?;
    for words in [&[][..], &["open", "sample.jsonl.zst"]] {
        let mut launch = place.loadscope(words);
        for (name, value) in variables {
            launch = launch.env(name, value);
        }
        let ended = launch.run()?;
        ended.code(2)?;
        says_no_display(&ended)?;
    }
    place.clean()
}

/// Checks that the program is not started.
fn watch_without_display(place: &Place) -> Result<()> {
    let mut words = vec!["watch".into(), "--".into()];
    words.extend(place.spoken(&place.speech()));
    let ended = place.loadscope(&words).run()?;
    ended.code(2)?;
    ended.complained(&["not started", "record"])?;
    says_no_display(&ended)?;
    ensure!(notes(&place.notes()).is_empty(), "the program ran");
    place.clean()
}

fn watch_with_a_display_of_nothing(place: &Place) -> Result<()> {
    let mut words = vec!["watch".into(), "--".into()];
    words.extend(place.spoken(&place.speech()));
    let ended = place.loadscope(&words).env("DISPLAY", ":4567").run()?;
    ended.code(7)?;
    says_no_display(&ended)?;
    let path = journal(place).context("there is no journal of it")?;
    place.whole(&path, 20)?;
    place.clean()
}

/// Kills the display while a program is watched.
fn display_dies(place: &Place, errors: Stream) -> Result<()> {
    let display = Display::start(place)?;
    let launch = display.watch(place, &speech(place)).errors(errors);
    let mut watch = launch.start()?;
    watch.until("the journal is begun", || journal(place).is_some())?;
    std::thread::sleep(Duration::from_millis(500));
    display.kill();
    let before = notes(&place.notes()).len();
    watch.until("the program goes on", || {
        notes(&place.notes()).len() >= before + 100
    })?;
    end_program(place, &watch, libc::SIGTERM)?;
    let ended = watch.wait()?;
    ended.code(7)?;
    all_told(place)?;
    place.clean()
}

/// Sends a signal to the watched program, not to the window.
fn end_program(place: &Place, watch: &Started, number: i32) -> Result<()> {
    for process in place.alive() {
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
fn all_told(place: &Place) -> Result<()> {
    let path = journal(place).context("there is no journal of it")?;
    let told = notes(&place.notes()).len() as u64;
    let facts = place.facts(&path)?;
    ensure!(
        facts.batches >= told && !facts.cut,
        "the program sent {told} batches, and the journal holds {facts:?}"
    );
    Ok(())
}

/// Sends a signal to a window that watches a program.
fn watch_signal(place: &Place, number: i32) -> Result<()> {
    let display = Display::start(place)?;
    let mut watch = display.watch(place, &speech(place)).start()?;
    watch.until("the journal is begun", || journal(place).is_some())?;
    watch.signal(number);
    let ended = watch.wait()?;
    ended.code(7)?;
    all_told(place)?;
    place.clean()
}

/// Sends a signal to a window with a recording.
fn window_signal(place: &Place, number: i32) -> Result<()> {
    let display = Display::start(place)?;
    place.recording()?;
    let launch = display.window(place, &["open", "sample.jsonl.zst"]);
    opened_and_ended(place, launch, number)?;
    place.clean()
}

/// Checks that a program is watched although the data folder is unusable.
fn useless_data(
    place: &Place,
    spoil: fn(&Place) -> Result<()>,
    rule: Option<fn(&Place) -> Rule>,
) -> Result<()> {
    let display = Display::start(place)?;
    spoil(place)?;
    let mut launch = display.watch(place, &speech(place));
    if let Some(rule) = rule {
        place.supervises()?;
        launch = launch.rule(rule(place));
    }
    let mut watch = launch.start()?;
    watch.until("the program yields batches", || {
        notes(&place.notes()).len() >= 400
    })?;
    watch.signal(libc::SIGTERM);
    watch.wait()?.code(7)?;
    place.clean()
}

fn data(place: &Place) -> PathBuf {
    place.home().join("data")
}

fn is_file(place: &Place) -> Result<()> {
    fs::remove_dir_all(data(place))?;
    fs::write(data(place), "")?;
    Ok(())
}

fn is_locked(place: &Place) -> Result<()> {
    if place.world.is_root {
        // Root can write to every folder, but not to `/proc/self`.
        fs::remove_dir_all(data(place))?;
        std::os::unix::fs::symlink("/proc/self", data(place))?;
        return Ok(());
    }
    fs::set_permissions(data(place), fs::Permissions::from_mode(0o500))?;
    Ok(())
}

/// Checks that old preferences stay if new ones cannot be written.
fn preferences(place: &Place) -> Result<()> {
    place.supervises()?;
    let display = Display::start(place)?;
    let path = data(place).join("loadscope/preferences.json");
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let old = br#"{"of":"another version"}"#;
    fs::write(&path, old)?;
    let rule = Rule::new(
        Call::Write,
        On::Named("preferences".to_owned()),
        When::From(1),
        Act::Fail(libc::ENOSPC),
    );
    let mut window = display.window(place, &[]).rule(rule).start()?;
    window.until_injected()?;
    // By then, the window has removed its partial file.
    let is_given_up = || place.leftovers().is_ok_and(|left| left.is_empty());
    window.until("the attempt is given up", is_given_up)?;
    window.signal(libc::SIGTERM);
    let ended = window.wait()?;
    ended.sound()?;
    ended.injected()?;
    place.untouched(&path, old)?;
    place.clean()
}

const REFUSES: &str = "exit code 2 with a sentence, without a path of the host that built it";
const GOES_ON: &str =
    "the program ends as it would have; all that it sent is in the journal; nothing is left";

const ROWS: &[Row] = &[
    Row::new(
        "no display",
        "neither DISPLAY nor WAYLAND_DISPLAY is set",
        REFUSES,
        |place| no_display(place, &[]),
    )
    .fast(),
    Row::new(
        "a display of nothing",
        "DISPLAY names one that is not there",
        REFUSES,
        |place| no_display(place, &[("DISPLAY", ":4567")]),
    ),
    Row::new(
        "a Wayland of nothing",
        "WAYLAND_DISPLAY names one that is not there",
        REFUSES,
        |place| no_display(place, &[("WAYLAND_DISPLAY", "wayland-77")]),
    ),
    Row::new(
        "watch without a display",
        "neither DISPLAY nor WAYLAND_DISPLAY is set",
        "exit code 2 with a sentence; the program is not started",
        watch_without_display,
    )
    .fast(),
    Row::new(
        "watch with a display of nothing",
        "DISPLAY names one that is not there",
        GOES_ON,
        watch_with_a_display_of_nothing,
    )
    .fast(),
    Row::new(
        "the display dies",
        "kill -9 of the X server while a program is watched",
        GOES_ON,
        |place| display_dies(place, Stream::Kept),
    )
    .fast(),
    Row::new(
        "the display dies, standard error has no reader",
        "kill -9 of the X server while a program is watched; standard error is a pipe whose reader is gone",
        GOES_ON,
        |place| display_dies(place, Stream::Broken),
    ),
    Row::new(
        "the display dies, standard error is stuck",
        "kill -9 of the X server while a program is watched; standard error is a full pipe that is read after 3 s",
        GOES_ON,
        |place| display_dies(place, Stream::Stuck(Duration::from_secs(3))),
    )
    .fast(),
    Row::new(
        "preferences, full disk",
        "ENOSPC at every write of the preferences",
        "the old ones stay",
        preferences,
    )
    .fast(),
    Row::new(
        "SIGTERM",
        "SIGTERM to a window with a recording",
        "exit code 143; nothing is left",
        |place| window_signal(place, libc::SIGTERM),
    )
    .fast(),
    Row::new(
        "watch, SIGTERM",
        "SIGTERM to a window with a program",
        GOES_ON,
        |place| watch_signal(place, libc::SIGTERM),
    )
    .fast(),
    Row::new(
        "watch, SIGHUP",
        "SIGHUP to a window with a program",
        GOES_ON,
        |place| watch_signal(place, libc::SIGHUP),
    ),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = table("window", ROWS).collect();
    let unaffected = "the program is watched, and ends as it would have; no panic";
    let full: fn(&Place) -> Rule = |place| {
        Rule::new(
            Call::Write,
            On::Within(data(place)),
            When::From(3),
            Act::Fail(libc::ENOSPC),
        )
    };
    let readonly: fn(&Place) -> Rule = |place| {
        Rule::new(
            Call::Create,
            On::Within(data(place)),
            When::From(1),
            Act::Fail(libc::EROFS),
        )
    };
    for (k, (name, injected, spoil, rule)) in [
        (
            "the data folder is a file",
            "XDG_DATA_HOME is a file",
            is_file as fn(&Place) -> Result<()>,
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
        let check = move |place: &Place| useless_data(place, spoil, rule);
        let case = Case::new("window", name, injected, unaffected, check);
        cases.push(case.fast_if(k % 2 == 0));
    }
    cases
}
