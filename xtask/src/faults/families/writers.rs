//! Several writers of one file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::launch::{Ended, Started};
use crate::faults::place::Place;
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::speak::{Speech, notes};

/// Number of concurrent writers.
const MANY: usize = 16;

/// Returns a separate program per writer. Its notes identify it.
fn speech(place: &Place, number: usize, batches: u64) -> Speech {
    Speech {
        notes: place.notes().with_extension(number.to_string()),
        batches,
        ..place.speech()
    }
}

fn all<'a>(started: Vec<Started<'a>>) -> Result<Vec<Ended>> {
    started.into_iter().map(Started::wait).collect()
}

/// Starts recorders in one folder, without a name for the recording.
fn default_names(place: &Place) -> Result<()> {
    let start = |number| {
        // Each recording has a different number of batches, so it cannot be confused with another one.
        let speech = speech(place, number, 10 + number as u64);
        place.record::<&str>(&[], &speech).start()
    };
    let ended = all((0..MANY).map(start).collect::<Result<_>>()?)?;
    let mut sentences = BTreeSet::new();
    let mut looks = Vec::new();
    for (number, one) in ended.iter().enumerate() {
        one.code(7)?;
        let batches = 10 + number as u64;
        one.complained(&[&format!("{batches} batches in run")])?;
        let name = recording(&one.err).unwrap_or_default();
        one.must(
            sentences.insert(name.to_owned()),
            "a name of its own was expected",
        )?;
        looks.push((place.look(&place.at(name))?, batches));
    }
    for (look, batches) in looks {
        place.is_whole(&look.wait()?, batches)?;
    }
    ensure!(
        place.names()?.len() == MANY,
        "other files are there: {:?}",
        place.names()?
    );
    place.clean()
}

/// Returns the name in `2 loaders, 100 batches in run.jsonl.zst. To see why …`.
fn recording(message: &str) -> Option<&str> {
    let (_, rest) = message.rsplit_once(" batches in ")?;
    let word = rest.split_whitespace().next()?;
    Some(word.trim_end_matches('.'))
}

/// Starts recorders with the same name.
fn same_name(place: &Place, force: bool) -> Result<()> {
    if force {
        place.old("run.jsonl")?;
    }
    let options: &[&str] = match force {
        true => &["-o", "run.jsonl", "--force"],
        false => &["-o", "run.jsonl"],
    };
    let start = |number| {
        // Long enough for all of them to run at the same time.
        let speech = Speech {
            every: 30_000,
            ..speech(place, number, 100 + number as u64)
        };
        place.record(options, &speech).start()
    };
    let ended = all((0..MANY).map(start).collect::<Result<_>>()?)?;
    let mut winner = None;
    for (number, one) in ended.iter().enumerate() {
        let told = notes(&speech(place, number, 0).notes).len();
        if told == 0 {
            one.refused(&["not started", "run.jsonl"])?;
            continue;
        }
        one.code(7)?;
        one.must(force || winner.is_none(), "one winner was expected")?;
        winner = Some(100 + number as u64);
    }
    ensure!(winner.is_some(), "no recorder recorded");
    let facts = place.facts(&place.at("run.jsonl"))?;
    let is_one = (100..100 + MANY as u64).contains(&facts.batches) && !facts.cut;
    ensure!(
        is_one && facts.dropped == 0,
        "the file must be one of the recordings, but is {facts:?}"
    );
    place.clean()
}

/// Runs another command that would overwrite an unfinished recording.
fn under_way(place: &Place, line: &'static str) -> Result<()> {
    place.recording()?;
    let speech = Speech {
        batches: 0,
        heeds: true,
        ..place.speech()
    };
    let mut record = place.record(&["-o", "run.jsonl"], &speech).start()?;
    let log = place.at("run.jsonl");
    let size = || fs::metadata(&log).map_or(0, |found| found.len());
    record.until("the recording grows", || size() > 4000)?;
    let words: Vec<&str> = line.split(' ').collect();
    for force in [false, true] {
        let mut words: Vec<&str> = words.clone();
        if force {
            words.push("--force");
        }
        let mut launch = place.loadscope(&words);
        if words[0] == "record" {
            let second = self::speech(place, 2, 5);
            launch = place.record(&words[1..], &second);
        }
        let ended = launch.run()?;
        ended.refused(&["run.jsonl"])?;
        let second = self::speech(place, 2, 5).notes;
        ensure!(!second.exists(), "the second program was started");
    }
    // The unfinished recording can be read.
    place.facts(&log)?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    place.whole(&log, notes(&place.notes()).len() as u64)?;
    place.clean()
}

/// Starts exports to the same name.
fn exports(place: &Place, force: bool) -> Result<()> {
    place.recording()?;
    if force {
        place.old("trace.json")?;
    }
    let line = "export sample.jsonl.zst --to chrome -o trace.json";
    let mut words: Vec<&str> = line.split(' ').collect();
    if force {
        words.push("--force");
    }
    let start = |_| place.loadscope(&words).start();
    let ended = all((0..8).map(start).collect::<Result<_>>()?)?;
    let mut won = 0;
    for one in &ended {
        match one.code {
            Some(0) => won += 1,
            _ => one.refused(&["trace.json"])?,
        }
    }
    ensure!(
        if force { won >= 1 } else { won == 1 },
        "{won} of 8 wrote it"
    );
    let alone = place.at("alone.json");
    let words = [
        "export",
        "sample.jsonl.zst",
        "--to",
        "chrome",
        "-o",
        "alone.json",
    ];
    place.loadscope(&words).run()?.code(0)?;
    place.untouched(&place.at("trace.json"), &fs::read(alone)?)?;
    place.clean()
}

/// Applies a change to an export's path right before the final rename.
fn overtaken(
    place: &Place,
    happens: impl Fn(&Path) + Send + Sync + 'static,
    holds: impl Fn(&Place, &Ended) -> Result<()>,
) -> Result<()> {
    place.supervises()?;
    place.recording()?;
    let path = place.at("trace.json");
    let once = AtomicBool::new(false);
    let act = move || {
        if !once.swap(true, Ordering::AcqRel) {
            happens(&path);
        }
    };
    let rule = Rule::new(
        Call::Rename,
        On::Within(place.work()),
        When::From(1),
        Act::First(Arc::new(act)),
    );
    let words = [
        "export",
        "sample.jsonl.zst",
        "--to",
        "chrome",
        "-o",
        "trace.json",
    ];
    let ended = place.loadscope(&words).rule(rule).run()?;
    ended.injected()?;
    holds(place, &ended)?;
    place.clean()
}

fn file_appears(place: &Place) -> Result<()> {
    let appears = |path: &Path| {
        let _ = fs::write(path, "another's");
    };
    overtaken(place, appears, |place, ended| {
        ended.refused(&["trace.json"])?;
        place.untouched(&place.at("trace.json"), b"another's")
    })
}

fn link_appears(place: &Place) -> Result<()> {
    let (victim, bytes) = place.old("victim")?;
    let target = victim.clone();
    let appears = move |path: &Path| {
        let _ = std::os::unix::fs::symlink(&target, path);
    };
    overtaken(place, appears, |place, ended| {
        ended.refused(&["trace.json"])?;
        place.untouched(&victim, &bytes)
    })
}

/// Moves the recording while it grows, or also puts another file in its place.
fn moved(place: &Place, replaced: bool) -> Result<()> {
    let speech = Speech {
        batches: 0,
        heeds: true,
        ..place.speech()
    };
    let mut record = place.record(&["-o", "run.jsonl"], &speech).start()?;
    let (log, away) = (place.at("run.jsonl"), place.at("away.jsonl"));
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    record.until("the recording grows", || size(&log) > 4000)?;
    fs::rename(&log, &away)?;
    if replaced {
        fs::write(&log, "another's")?;
    }
    record.until("the recording grows on", || {
        notes(&place.notes()).len() > 100
    })?;
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    if replaced {
        place.untouched(&log, b"another's")?;
    }
    place.whole(&away, notes(&place.notes()).len() as u64)
}

const OWN: &str = "each has a whole file of its own, and says which";
const ONE: &str = "exactly one records; the others refuse before their program starts";

const ROWS: &[Row] = &[
    Row::new(
        "16 recorders, default names",
        "16 recorders start in one folder at once",
        OWN,
        default_names,
    )
    .fast(),
    Row::new(
        "16 recorders, one name",
        "16 recorders with the same -o at once",
        ONE,
        |place| same_name(place, false),
    )
    .fast(),
    Row::new(
        "16 recorders, one name, --force",
        "16 recorders with the same -o and --force at once",
        "the file is one whole recording",
        |place| same_name(place, true),
    )
    .fast(),
    Row::new(
        "8 exports, one name",
        "8 exports to the same name at once",
        "one writes it, the others refuse; it is whole",
        |place| exports(place, false),
    )
    .fast(),
    Row::new(
        "8 exports, one name, --force",
        "8 exports to the same name at once, with --force",
        "it is whole",
        |place| exports(place, true),
    )
    .fast(),
    Row::new(
        "a file appears",
        "another file takes the name right before the export gets it",
        "it stays, and the export is refused",
        file_appears,
    )
    .fast(),
    Row::new(
        "a link appears",
        "a symbolic link to another file takes the name right before the export gets it",
        "the other file stays as it is",
        link_appears,
    )
    .fast(),
    Row::new(
        "the recording is moved",
        "it is renamed while it grows",
        "it is whole under its new name",
        |place| moved(place, false),
    )
    .fast(),
    Row::new(
        "the recording is replaced",
        "it is renamed while it grows, and another file takes its name",
        "both are whole",
        |place| moved(place, true),
    )
    .fast(),
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
        let case = Case::new("writers", name, injected, holds, move |place: &Place| {
            under_way(place, line)
        });
        cases.push(case.fast());
    }
    cases
}
