//! Recordings that change while they are read, and disks with failing or slow reads.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::faults::case::Case;
use crate::faults::place::Place;
use crate::faults::rule::{Act, Call, On, Rule, When};

type Change = fn(&Path) -> std::io::Result<()>;

/// Changes to a recording between two reads.
const CHANGES: &[(&str, Change)] = &[
    ("is cut to nothing", |path| fs::write(path, "")),
    ("is cut in the middle", |path| {
        let file = fs::File::options().write(true).open(path)?;
        file.set_len(file.metadata()?.len() / 2)
    }),
    ("is removed", |path| fs::remove_file(path)),
    ("is replaced by another", |path| {
        fs::remove_file(path)?;
        fs::write(path, "no recording at all\n")
    }),
    ("is overwritten with zeros", |path| {
        let length = fs::metadata(path)?.len() as usize;
        fs::write(path, vec![0; length])
    }),
    ("grows", |path| {
        let mut file = fs::File::options().append(true).open(path)?;
        file.write_all(&vec![b'{'; 100_000])
    }),
];

/// Changes the recording at one of its reads, for several positions.
fn changes(place: &Place, line: &'static str, change: Change, plain: bool) -> Result<()> {
    place.supervises()?;
    let mut tried = 0;
    for look in [1, 2, 3, 5] {
        let place = Place::new(place.world)?;
        let log = match plain {
            true => place.plain_recording()?,
            false => place.recording()?,
        };
        let name = log
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let path = log.clone();
        let act = move || {
            let _ = change(&path);
        };
        let rule = Rule::new(
            Call::Read,
            On::Named(name.clone()),
            When::Only(look),
            Act::First(Arc::new(act)),
        );
        let words: Vec<&str> = line
            .split(' ')
            .map(|word| if word == "LOG" { &name } else { word })
            .collect();
        let ended = place.loadscope(&words).rule(rule).run()?;
        tried += u32::from(ended.injected().is_ok());
        match ended.code {
            Some(0) => ended.code(0)?,
            _ => ended.refused(&[])?,
        }
        place.clean()?;
    }
    ensure!(tried > 0, "the recording was never read");
    Ok(())
}

/// Lets reads fail, or delays them.
fn broken_reads(place: &Place, line: &'static str, act: &Act, when: When) -> Result<()> {
    place.supervises()?;
    let log = place.recording()?;
    let bytes = fs::read(&log)?;
    let rule = Rule::new(Call::Read, On::Within(place.work()), when, act.clone());
    let words: Vec<&str> = line.split(' ').collect();
    let ended = place.loadscope(&words).rule(rule).run()?;
    ended.injected()?;
    match act {
        Act::Fail(number) if *number != libc::EINTR => ended.refused(&["sample.jsonl.zst"])?,
        _ => ended.code(0)?,
    }
    place.untouched(&log, &bytes)?;
    place.clean()
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let holds = "exit code 0, or 2 with a sentence; no panic, no crash";
    for (k, (name, change)) in CHANGES.iter().enumerate() {
        for (n, (line, plain)) in [("info LOG", true), ("export LOG --to csv -o t", false)]
            .into_iter()
            .enumerate()
        {
            let command = line.split(' ').next().unwrap_or_default();
            let title = format!("{command}, the recording {name}");
            let injected = format!("at the 1st, 2nd, 3rd or 5th read it {name}");
            let check = move |place: &Place| changes(place, line, *change, plain);
            let case = Case::new("changing", title, injected, holds, check);
            cases.push(case.fast_if(k < 2 && k == n));
        }
    }
    for (name, act, when, holds) in [
        (
            "a broken disk",
            Act::Fail(libc::EIO),
            When::From(2),
            "exit code 2 with a sentence that names the file",
        ),
        (
            "interrupted reads",
            Act::Fail(libc::EINTR),
            When::Odd,
            "as if nothing had happened",
        ),
        (
            "a slow disk",
            Act::Late(Duration::from_millis(40)),
            When::From(1),
            "as if nothing had happened",
        ),
    ] {
        for line in ["info sample.jsonl.zst", "report sample.jsonl.zst"] {
            let command = line.split(' ').next().unwrap_or_default();
            let (title, injected) = (
                format!("{command}, {name}"),
                format!("{act:?} at reads of the recording"),
            );
            let act = act.clone();
            let check = move |place: &Place| broken_reads(place, line, &act, when);
            let case = Case::new("changing", title, injected, holds, check);
            cases.push(case.fast_if(command == "info" && name != "a slow disk"));
        }
    }
    cases
}
