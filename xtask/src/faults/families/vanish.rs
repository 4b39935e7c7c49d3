//! Folders that are removed, and files that change while they are read.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use anyhow::Result;

use crate::faults::case::{Case, Row, table};
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::sandbox::Sandbox;

/// Applies a change to the folders of a recorder while it records. The recorded program must continue.
fn while_recording(
    sandbox: &Sandbox,
    options: &[&str],
    happens: impl Fn(&Sandbox) -> std::io::Result<()>,
) -> Result<crate::faults::launch::Ended> {
    fs::create_dir_all(sandbox.at("out"))?;
    let mut record = sandbox.record(options, &sandbox.endless()).start()?;
    record.until_sent(60)?;
    happens(sandbox)?;
    let before = sandbox.sent();
    record.until_sent(before + 60)?;
    record.signal(libc::SIGINT);
    let ended = record.wait()?;
    ended.code(7)?;
    Ok(ended)
}

/// Removes the recording with its folder. The recorder must not claim that the file contains batches.
fn folder_removed(sandbox: &Sandbox) -> Result<()> {
    let ended = while_recording(sandbox, &["-o", "out/run.jsonl"], |sandbox| {
        fs::remove_dir_all(sandbox.at("out"))
    })?;
    let claims = ended.err.contains(" in out/run.jsonl") && !sandbox.at("out/run.jsonl").exists();
    ended.require(
        !claims || ended.err.contains("not there"),
        "it says that batches are in a file that is not there",
    )?;
    sandbox.check_no_leftovers()
}

fn folder_moved(sandbox: &Sandbox) -> Result<()> {
    while_recording(sandbox, &["-o", "out/run.jsonl"], |sandbox| {
        fs::rename(sandbox.at("out"), sandbox.at("away"))
    })?;
    sandbox.check_whole(&sandbox.at("away/run.jsonl"), sandbox.sent())?;
    sandbox.check_no_leftovers()
}

/// Removes the file to be replaced, with its folder.
fn folder_removed_with_force(sandbox: &Sandbox) -> Result<()> {
    fs::create_dir_all(sandbox.at("out"))?;
    fs::write(sandbox.at("out/run.jsonl"), "old")?;
    let options = ["-o", "out/run.jsonl", "--force"];
    let ended = while_recording(sandbox, &options, |sandbox| {
        fs::remove_dir_all(sandbox.at("out"))
    })?;
    let is_there = sandbox.at("out/run.jsonl").exists();
    ended.require(
        is_there || !ended.err.contains(" batches in out/run.jsonl"),
        "it says that batches are in a file that is not there",
    )?;
    sandbox.check_no_leftovers()
}

fn temporary_folder_removed(sandbox: &Sandbox) -> Result<()> {
    while_recording(sandbox, &["-o", "run.jsonl"], |sandbox| {
        fs::remove_dir_all(sandbox.tmp())?;
        fs::create_dir(sandbox.tmp())
    })?;
    sandbox.check_whole(&sandbox.at("run.jsonl"), sandbox.sent())?;
    sandbox.check_no_leftovers()
}

fn working_folder_removed(sandbox: &Sandbox) -> Result<()> {
    fs::create_dir_all(sandbox.at("here"))?;
    let log = sandbox.at("run.jsonl");
    let options = ["-o".as_ref(), log.as_os_str()];
    let mut record = sandbox
        .record(&options, &sandbox.endless())
        .folder(&sandbox.at("here"))
        .start()?;
    record.until_sent(60)?;
    fs::remove_dir_all(sandbox.at("here"))?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    sandbox.check_whole(&log, sandbox.sent())?;
    sandbox.check_no_leftovers()
}

/// Runs commands in a removed working folder, like a shell whose folder another process removed. On some systems, the numerics library of
/// libtorch does not load there. The library then ends the process with code 2 and an error message.
fn no_working_folder(sandbox: &Sandbox) -> Result<()> {
    let log = sandbox.recording()?;
    let bytes = fs::read(&log)?;
    let out = sandbox.at("run.jsonl");
    let words = |words: Vec<OsString>| {
        let words: Vec<_> = words
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        words.join(" ")
    };
    let program = words(sandbox.fake_program_command(&sandbox.fake_program()));
    let (loadscope, log) = (sandbox.shared.loadscope.display(), log.display());
    for (line, code) in [
        (format!("info {log}"), 0),
        (format!("export {log} --to chrome -o trace.json"), 2),
        (format!("record -o run.jsonl -- {program}"), 2),
        (format!("record -o {} -- {program}", out.display()), 7),
    ] {
        fs::create_dir_all(sandbox.at("here"))?;
        let script = format!("cd here && rmdir ../here && exec {loadscope} {line}");
        let mut launch = sandbox.loadscope(&["-c", &script]);
        launch.program("/bin/sh");
        let ended = launch.run()?;
        if ended.code != Some(2) {
            ended.code(code)?;
        }
        ended.check_no_panic()?;
        let is_started = sandbox.notes().exists();
        ended.require(!is_started || code == 7, "the program was started")?;
        if ended.code == Some(7) {
            sandbox.check_whole(&out, 20)?;
        }
    }
    sandbox.check_unchanged(&sandbox.at("sample.jsonl.zst"), &bytes)?;
    sandbox.check_no_leftovers()
}

/// Removes the folder of an export before the first write.
fn export_folder_removed(sandbox: &Sandbox) -> Result<()> {
    sandbox.supervises()?;
    sandbox.recording()?;
    fs::create_dir_all(sandbox.at("out"))?;
    let out = sandbox.at("out");
    let act = move || {
        let _ = fs::remove_dir_all(&out);
    };
    let rule = Rule::new(
        Call::Write,
        On::Within(sandbox.at("out")),
        When::Only(1),
        Act::First(Arc::new(act)),
    );
    let line = "export sample.jsonl.zst --to csv -o out";
    let ended = sandbox.line(line).run_injected(rule)?;
    ended.check_refused(&["out"])?;
    sandbox.check_no_leftovers()
}

/// Removes one recording of a folder while the folder is read.
fn folder_shrinks(sandbox: &Sandbox) -> Result<()> {
    sandbox.supervises()?;
    fs::create_dir(sandbox.at("runs"))?;
    for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        fs::copy(
            &sandbox.shared.plain_recording,
            sandbox.at("runs").join(name),
        )?;
    }
    let path = sandbox.at("runs/b.jsonl");
    let act = move || {
        let _ = fs::remove_file(&path);
    };
    let rule = Rule::new(
        Call::Open,
        On::Named("a.jsonl".to_owned()),
        When::Only(1),
        Act::First(Arc::new(act)),
    );
    let ended = sandbox.line("info runs --json").run_injected(rule)?;
    match ended.code {
        Some(0) => ended.code(0)?,
        _ => ended.check_refused(&["b.jsonl"])?,
    }
    sandbox.check_no_leftovers()
}

const GOES_ON: &str = "the program's exit code; what is printed is true; nothing is left";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row::new("the folder of a recording is removed", "it is removed while the recording grows", GOES_ON, folder_removed).fast(),
    Row::new("the folder of a recording is removed, --force", "it is removed while the recording grows beside the old one", GOES_ON,
        folder_removed_with_force),
    Row::new("the folder of a recording is renamed", "it is renamed while the recording grows", "the recording is whole in its new place",
        folder_moved),
    Row::new("TMPDIR is removed", "it is removed while a program is recorded", "nothing is missing", temporary_folder_removed).fast(),
    Row::new("the working folder is removed", "it is removed while a program is recorded into another", "nothing is missing",
        working_folder_removed),
    Row::new("there is no working folder", "commands are started in a folder that is no more",
        "they do what needs none, and refuse the rest", no_working_folder),
    Row::new("the folder of an export is removed", "it is removed at the first write", "exit code 2 with a sentence",
        export_folder_removed).fast(),
    Row::new("a folder of recordings loses one", "a file is removed between two looks", "a sentence or the others, no panic",
        folder_shrinks),
];

pub fn cases() -> Vec<Case> {
    table("vanished", ROWS).collect()
}
