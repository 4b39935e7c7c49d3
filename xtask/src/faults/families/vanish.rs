//! Folders that are removed, and files that change while they are read.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use anyhow::Result;

use crate::faults::case::{Case, Row, table};
use crate::faults::place::Place;
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::speak::{Speech, notes};

fn endless(place: &Place) -> Speech {
    Speech {
        batches: 0,
        heeds: true,
        ..place.speech()
    }
}

/// Applies a change to the folders of a recorder while it records. The recorded program must continue.
fn while_recording(
    place: &Place,
    options: &[&str],
    happens: impl Fn(&Place) -> std::io::Result<()>,
) -> Result<crate::faults::launch::Ended> {
    fs::create_dir_all(place.at("out"))?;
    let mut record = place.record(options, &endless(place)).start()?;
    record.until("the program yields batches", || {
        notes(&place.notes()).len() >= 60
    })?;
    happens(place)?;
    let before = notes(&place.notes()).len();
    record.until("the program goes on", || {
        notes(&place.notes()).len() >= before + 60
    })?;
    record.signal(libc::SIGINT);
    let ended = record.wait()?;
    ended.code(7)?;
    Ok(ended)
}

/// Removes the recording with its folder. The recorder must not claim that the file contains batches.
fn folder_removed(place: &Place) -> Result<()> {
    let ended = while_recording(place, &["-o", "out/run.jsonl"], |place| {
        fs::remove_dir_all(place.at("out"))
    })?;
    let claims = ended.err.contains(" in out/run.jsonl") && !place.at("out/run.jsonl").exists();
    ended.must(
        !claims || ended.err.contains("not there"),
        "it says that batches are in a file that is not there",
    )?;
    place.clean()
}

fn folder_moved(place: &Place) -> Result<()> {
    while_recording(place, &["-o", "out/run.jsonl"], |place| {
        fs::rename(place.at("out"), place.at("away"))
    })?;
    place.whole(
        &place.at("away/run.jsonl"),
        notes(&place.notes()).len() as u64,
    )?;
    place.clean()
}

/// Removes the file to be replaced, with its folder.
fn folder_removed_with_force(place: &Place) -> Result<()> {
    fs::create_dir_all(place.at("out"))?;
    fs::write(place.at("out/run.jsonl"), "old")?;
    let options = ["-o", "out/run.jsonl", "--force"];
    let ended = while_recording(place, &options, |place| fs::remove_dir_all(place.at("out")))?;
    let is_there = place.at("out/run.jsonl").exists();
    ended.must(
        is_there || !ended.err.contains(" batches in out/run.jsonl"),
        "it says that batches are in a file that is not there",
    )?;
    place.clean()
}

fn temporary_folder_removed(place: &Place) -> Result<()> {
    while_recording(place, &["-o", "run.jsonl"], |place| {
        fs::remove_dir_all(place.tmp())?;
        fs::create_dir(place.tmp())
    })?;
    place.whole(&place.at("run.jsonl"), notes(&place.notes()).len() as u64)?;
    place.clean()
}

fn working_folder_removed(place: &Place) -> Result<()> {
    fs::create_dir_all(place.at("here"))?;
    let log = place.at("run.jsonl");
    let options = ["-o".as_ref(), log.as_os_str()];
    let mut record = place
        .record(&options, &endless(place))
        .folder(&place.at("here"))
        .start()?;
    record.until("the program yields batches", || {
        notes(&place.notes()).len() >= 60
    })?;
    fs::remove_dir_all(place.at("here"))?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    place.whole(&log, notes(&place.notes()).len() as u64)?;
    place.clean()
}

/// Runs commands in a removed working folder, like a shell whose folder another process removed. On some systems, the numerics library of
/// libtorch does not load there. It ends the process with code 2 and an error message.
fn no_working_folder(place: &Place) -> Result<()> {
    let log = place.recording()?;
    let bytes = fs::read(&log)?;
    let out = place.at("run.jsonl");
    let words = |words: Vec<OsString>| {
        let words: Vec<_> = words
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        words.join(" ")
    };
    let program = words(place.spoken(&place.speech()));
    let (loadscope, log) = (place.world.loadscope.display(), log.display());
    for (line, code) in [
        (format!("info {log}"), 0),
        (format!("export {log} --to chrome -o trace.json"), 2),
        (format!("record -o run.jsonl -- {program}"), 2),
        (format!("record -o {} -- {program}", out.display()), 7),
    ] {
        fs::create_dir_all(place.at("here"))?;
        let script = format!("cd here && rmdir ../here && exec {loadscope} {line}");
        let mut launch = place.loadscope(&["-c", &script]);
        launch.program("/bin/sh");
        let ended = launch.run()?;
        if ended.code != Some(2) {
            ended.code(code)?;
        }
        ended.sound()?;
        let is_started = place.notes().exists();
        ended.must(!is_started || code == 7, "the program was started")?;
        if ended.code == Some(7) {
            place.whole(&out, 20)?;
        }
    }
    place.untouched(&place.at("sample.jsonl.zst"), &bytes)?;
    place.clean()
}

/// Removes the folder of an export before the first write.
fn export_folder_removed(place: &Place) -> Result<()> {
    place.supervises()?;
    place.recording()?;
    fs::create_dir_all(place.at("out"))?;
    let out = place.at("out");
    let act = move || {
        let _ = fs::remove_dir_all(&out);
    };
    let rule = Rule::new(
        Call::Write,
        On::Within(place.at("out")),
        When::Only(1),
        Act::First(Arc::new(act)),
    );
    let words = ["export", "sample.jsonl.zst", "--to", "csv", "-o", "out"];
    let ended = place.loadscope(&words).rule(rule).run()?;
    ended.injected()?;
    ended.refused(&["out"])?;
    place.clean()
}

/// Removes one recording of a folder while the folder is read.
fn folder_shrinks(place: &Place) -> Result<()> {
    place.supervises()?;
    fs::create_dir(place.at("runs"))?;
    for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        fs::copy(&place.world.plain_recording, place.at("runs").join(name))?;
    }
    let path = place.at("runs/b.jsonl");
    let act = move || {
        let _ = fs::remove_file(&path);
    };
    let rule = Rule::new(
        Call::Open,
        On::Named("a.jsonl".to_owned()),
        When::Only(1),
        Act::First(Arc::new(act)),
    );
    let ended = place
        .loadscope(&["info", "runs", "--json"])
        .rule(rule)
        .run()?;
    ended.injected()?;
    match ended.code {
        Some(0) => ended.code(0)?,
        _ => ended.refused(&["b.jsonl"])?,
    }
    place.clean()
}

const GOES_ON: &str = "the program's exit code; what is printed is true; nothing is left";

const ROWS: &[Row] = &[
    Row::new(
        "the folder of a recording is removed",
        "it is removed while the recording grows",
        GOES_ON,
        folder_removed,
    )
    .fast(),
    Row::new(
        "the folder of a recording is removed, --force",
        "it is removed while the recording grows beside the old one",
        GOES_ON,
        folder_removed_with_force,
    ),
    Row::new(
        "the folder of a recording is renamed",
        "it is renamed while the recording grows",
        "the recording is whole in its new place",
        folder_moved,
    ),
    Row::new(
        "TMPDIR is removed",
        "it is removed while a program is recorded",
        "nothing is missing",
        temporary_folder_removed,
    )
    .fast(),
    Row::new(
        "the working folder is removed",
        "it is removed while a program is recorded into another",
        "nothing is missing",
        working_folder_removed,
    ),
    Row::new(
        "there is no working folder",
        "commands are started in a folder that is no more",
        "they do what needs none, and refuse the rest",
        no_working_folder,
    ),
    Row::new(
        "the folder of an export is removed",
        "it is removed at the first write",
        "exit code 2 with a sentence",
        export_folder_removed,
    )
    .fast(),
    Row::new(
        "a folder of recordings loses one",
        "a file is removed between two looks",
        "a sentence or the others, no panic",
        folder_shrinks,
    ),
];

pub fn cases() -> Vec<Case> {
    table("vanished", ROWS).collect()
}
