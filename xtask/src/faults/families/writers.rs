//! Several writers of one file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::fake_program::{FakeProgramOptions, notes};
use crate::faults::launch::{Ended, Started};
use crate::faults::rule::{Act, Call, When};
use crate::faults::sandbox::Sandbox;

/// Number of concurrent writers.
const MANY: usize = 16;

/// Returns the options of the fake program of writer `number`. Each writer has its own notes file.
fn fake_program(sandbox: &Sandbox, number: usize, batches: u64) -> FakeProgramOptions {
    FakeProgramOptions {
        notes: sandbox.notes().with_extension(number.to_string()),
        batches,
        ..sandbox.fake_program()
    }
}

fn all<'a>(started: Vec<Started<'a>>) -> Result<Vec<Ended>> {
    started.into_iter().map(Started::wait).collect()
}

/// Starts recorders in one folder, without a name for the recording.
fn default_names(sandbox: &Sandbox) -> Result<()> {
    let start = |number| {
        // Each recording has a different number of batches, so it cannot be confused with another one.
        let fake_program = fake_program(sandbox, number, 10 + number as u64);
        sandbox.record::<&str>(&[], &fake_program).start()
    };
    let ended = all((0..MANY).map(start).collect::<Result<_>>()?)?;
    let mut sentences = BTreeSet::new();
    let mut looks = Vec::new();
    for (number, one) in ended.iter().enumerate() {
        one.code(7)?;
        let batches = 10 + number as u64;
        one.check_error_message(&[&format!("{batches} batches in run")])?;
        let name = recording(&one.err).unwrap_or_default();
        one.require(
            sentences.insert(name.to_owned()),
            "a name of its own was expected",
        )?;
        looks.push((sandbox.start_info(&sandbox.at(name))?, batches));
    }
    for (look, batches) in looks {
        sandbox.is_whole(&look.wait()?, batches)?;
    }
    ensure!(
        sandbox.names()?.len() == MANY,
        "other files are there: {:?}",
        sandbox.names()?
    );
    sandbox.check_no_leftovers()
}

/// Returns the name in `2 loaders, 100 batches in run.jsonl.zst. To see why …`.
fn recording(message: &str) -> Option<&str> {
    let (_, rest) = message.rsplit_once(" batches in ")?;
    let word = rest.split_whitespace().next()?;
    Some(word.trim_end_matches('.'))
}

/// Starts recorders with the same name.
fn same_name(sandbox: &Sandbox, force: bool) -> Result<()> {
    if force {
        sandbox.old("run.jsonl")?;
    }
    let options: &[&str] = match force {
        true => &["-o", "run.jsonl", "--force"],
        false => &["-o", "run.jsonl"],
    };
    let start = |number| {
        // The program runs long enough for all recorders to run at the same time.
        let fake_program = FakeProgramOptions {
            every: 30_000,
            ..fake_program(sandbox, number, 100 + number as u64)
        };
        sandbox.record(options, &fake_program).start()
    };
    let ended = all((0..MANY).map(start).collect::<Result<_>>()?)?;
    let mut winner = None;
    for (number, one) in ended.iter().enumerate() {
        let told = notes(&fake_program(sandbox, number, 0).notes).len();
        if told == 0 {
            one.check_refused(&["not started", "run.jsonl"])?;
            continue;
        }
        one.code(7)?;
        one.require(force || winner.is_none(), "one winner was expected")?;
        winner = Some(100 + number as u64);
    }
    ensure!(winner.is_some(), "no recorder recorded");
    let facts = sandbox.facts(&sandbox.at("run.jsonl"))?;
    let is_one = (100..100 + MANY as u64).contains(&facts.batches) && !facts.cut;
    ensure!(
        is_one && facts.dropped == 0,
        "the file must be one of the recordings, but is {facts:?}"
    );
    sandbox.check_no_leftovers()
}

/// Runs another command that would overwrite an unfinished recording.
fn under_way(sandbox: &Sandbox, line: &'static str) -> Result<()> {
    sandbox.recording()?;
    let fake_program = sandbox.endless();
    let mut record = sandbox
        .record(&["-o", "run.jsonl"], &fake_program)
        .start()?;
    let log = sandbox.at("run.jsonl");
    let size = || fs::metadata(&log).map_or(0, |found| found.len());
    record.until("the recording grows", || size() > 4000)?;
    let words: Vec<&str> = line.split(' ').collect();
    for force in [false, true] {
        let mut words: Vec<&str> = words.clone();
        if force {
            words.push("--force");
        }
        let mut launch = sandbox.loadscope(&words);
        if words[0] == "record" {
            let second = self::fake_program(sandbox, 2, 5);
            launch = sandbox.record(&words[1..], &second);
        }
        let ended = launch.run()?;
        ended.check_refused(&["run.jsonl"])?;
        let second = self::fake_program(sandbox, 2, 5).notes;
        ensure!(!second.exists(), "the second program was started");
    }
    // The unfinished recording can be read.
    sandbox.facts(&log)?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    sandbox.check_whole(&log, sandbox.sent())?;
    sandbox.check_no_leftovers()
}

/// Starts exports to the same name.
fn exports(sandbox: &Sandbox, force: bool) -> Result<()> {
    sandbox.recording()?;
    if force {
        sandbox.old("trace.json")?;
    }
    let force_option = if force { " --force" } else { "" };
    let line = format!("export sample.jsonl.zst --to chrome -o trace.json{force_option}");
    let start = |_| sandbox.line(&line).start();
    let ended = all((0..8).map(start).collect::<Result<_>>()?)?;
    let mut won = 0;
    for one in &ended {
        match one.code {
            Some(0) => won += 1,
            _ => one.check_refused(&["trace.json"])?,
        }
    }
    ensure!(
        if force { won >= 1 } else { won == 1 },
        "{won} of 8 wrote it"
    );
    let alone = sandbox.at("alone.json");
    let line = "export sample.jsonl.zst --to chrome -o alone.json";
    sandbox.line(line).run()?.code(0)?;
    sandbox.check_unchanged(&sandbox.at("trace.json"), &fs::read(alone)?)?;
    sandbox.check_no_leftovers()
}

/// Applies a change to an export's path right before the final rename.
fn overtaken(
    sandbox: &Sandbox,
    happens: impl Fn(&Path) + Send + Sync + 'static,
    holds: impl Fn(&Sandbox, &Ended) -> Result<()>,
) -> Result<()> {
    sandbox.recording()?;
    let path = sandbox.at("trace.json");
    let once = AtomicBool::new(false);
    let act = move || {
        if !once.swap(true, Ordering::AcqRel) {
            happens(&path);
        }
    };
    let rule = sandbox.rule(Call::Rename, When::From(1), Act::First(Arc::new(act)));
    let line = "export sample.jsonl.zst --to chrome -o trace.json";
    let ended = sandbox.line(line).run_injected(rule)?;
    holds(sandbox, &ended)?;
    sandbox.check_no_leftovers()
}

fn file_appears(sandbox: &Sandbox) -> Result<()> {
    let appears = |path: &Path| {
        let _ = fs::write(path, "another's");
    };
    overtaken(sandbox, appears, |sandbox, ended| {
        ended.check_refused(&["trace.json"])?;
        sandbox.check_unchanged(&sandbox.at("trace.json"), b"another's")
    })
}

fn link_appears(sandbox: &Sandbox) -> Result<()> {
    let (victim, bytes) = sandbox.old("victim")?;
    let target = victim.clone();
    let appears = move |path: &Path| {
        let _ = std::os::unix::fs::symlink(&target, path);
    };
    overtaken(sandbox, appears, |sandbox, ended| {
        ended.check_refused(&["trace.json"])?;
        sandbox.check_unchanged(&victim, &bytes)
    })
}

/// Renames the growing recording. With `replaced`, creates another file at the old path.
fn moved(sandbox: &Sandbox, replaced: bool) -> Result<()> {
    let fake_program = sandbox.endless();
    let mut record = sandbox
        .record(&["-o", "run.jsonl"], &fake_program)
        .start()?;
    let (log, away) = (sandbox.at("run.jsonl"), sandbox.at("away.jsonl"));
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    record.until("the recording grows", || size(&log) > 4000)?;
    fs::rename(&log, &away)?;
    if replaced {
        fs::write(&log, "another's")?;
    }
    record.until_sent(101)?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    if replaced {
        sandbox.check_unchanged(&log, b"another's")?;
    }
    sandbox.check_whole(&away, sandbox.sent())
}

const OWN: &str = "each has a whole file of its own, and says which";
const ONE: &str = "exactly one records; the others refuse before their program starts";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row::new("16 recorders, default names", "16 recorders start in one folder at once", OWN, default_names).fast(),
    Row::new("16 recorders, one name", "16 recorders with the same -o at once", ONE, |sandbox| same_name(sandbox, false)).fast(),
    Row::new("16 recorders, one name, --force", "16 recorders with the same -o and --force at once", "the file is one whole recording",
        |sandbox| same_name(sandbox, true)).fast(),
    Row::new("8 exports, one name", "8 exports to the same name at once", "one writes it, the others refuse; it is whole",
        |sandbox| exports(sandbox, false)).fast(),
    Row::new("8 exports, one name, --force", "8 exports to the same name at once, with --force", "it is whole", |sandbox| exports(sandbox,
        true)).fast(),
    Row::new("a file appears", "another file takes the name right before the export gets it", "it stays, and the export is refused",
        file_appears).fast(),
    Row::new("a link appears", "a symbolic link to another file takes the name right before the export gets it",
        "the other file stays as it is", link_appears).fast(),
    Row::new("the recording is moved", "it is renamed while it grows", "it is whole under its new name", |sandbox| moved(sandbox,
        false)).fast(),
    Row::new("the recording is replaced", "it is renamed while it grows, and another file takes its name", "both are whole",
        |sandbox| moved(sandbox, true)).fast(),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = table("writers", ROWS).collect();
    for line in [
        "record -o run.jsonl",
        "run --dataset synthetic:len=8 --record run.jsonl",
        "export sample.jsonl.zst --to chrome -o run.jsonl",
        "report sample.jsonl.zst --html run.jsonl",
    ] {
        let name = format!(
            "a recording under way, {}",
            line.split(' ').next().unwrap_or_default()
        );
        let injected =
            format!("`loadscope {line}`, with and without --force, on a recording that grows");
        let holds = "refused with exit code 2; the recording is whole";
        let case = Case::new(
            "writers",
            name,
            injected,
            holds,
            move |sandbox: &Sandbox| under_way(sandbox, line),
        );
        cases.push(case.fast());
    }
    cases
}
