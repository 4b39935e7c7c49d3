//! Recordings that change while they are read, and disks with failing or slow reads.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::faults::case::Case;
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::sandbox::Sandbox;

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
fn changes(sandbox: &Sandbox, line: &'static str, change: Change, plain: bool) -> Result<()> {
    sandbox.supervises()?;
    let mut tried = 0;
    for look in [1, 2, 3, 5] {
        let sandbox = Sandbox::new(sandbox.shared)?;
        let log = match plain {
            true => sandbox.plain_recording()?,
            false => sandbox.recording()?,
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
        let ended = sandbox.loadscope(&words).rule(rule).run()?;
        tried += u32::from(ended.check_injected().is_ok());
        match ended.code {
            Some(0) => ended.code(0)?,
            _ => ended.check_refused(&[])?,
        }
        sandbox.check_no_leftovers()?;
    }
    ensure!(tried > 0, "the recording was never read");
    Ok(())
}

/// Lets reads fail, or delays them.
fn broken_reads(sandbox: &Sandbox, line: &'static str, act: &Act, when: When) -> Result<()> {
    let log = sandbox.recording()?;
    let bytes = fs::read(&log)?;
    let rule = sandbox.rule(Call::Read, when, act.clone());
    let ended = sandbox.line(line).run_injected(rule)?;
    match act {
        Act::Fail(number) if *number != libc::EINTR => {
            ended.check_refused(&["sample.jsonl.zst"])?
        }
        _ => ended.code(0)?,
    }
    sandbox.check_unchanged(&log, &bytes)?;
    sandbox.check_no_leftovers()
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
            let check = move |sandbox: &Sandbox| changes(sandbox, line, *change, plain);
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
            let check = move |sandbox: &Sandbox| broken_reads(sandbox, line, &act, when);
            let case = Case::new("changing", title, injected, holds, check);
            cases.push(case.fast_if(command == "info" && name != "a slow disk"));
        }
    }
    cases
}
