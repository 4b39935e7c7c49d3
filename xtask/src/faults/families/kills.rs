//! SIGKILL at random times: checks for missing data, readable recordings, unchanged files and leftovers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

mod one;
mod random;
mod window;

use one::{fake_program, kill, missing, repeat};
use random::Rng;

use crate::faults::case::Case;
use crate::faults::rule::{Act, Call, When};
use crate::faults::sandbox::Sandbox;

/// Returns the ID of the recorded program among the processes of a case.
fn program(sandbox: &Sandbox) -> Result<i32> {
    let speaks = |process: &i32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).nth(1) == Some(b"speak")
    };
    sandbox
        .alive()
        .into_iter()
        .find(speaks)
        .context("the program is gone")
}

fn recorder(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let mut rng = Rng::of(sandbox, 1);
    let (old, bytes) = sandbox.old("old.jsonl")?;
    let mut earlier: Vec<(PathBuf, Vec<u8>)> = vec![(old, bytes)];
    repeat(sandbox, kills, |number| {
        let _ = fs::remove_file(sandbox.notes());
        let name = format!(
            "run-{number}.jsonl{}",
            if number % 2 == 0 { ".zst" } else { "" }
        );
        let log = sandbox.at(&name);
        let mut record = sandbox
            .record(&["-o", &name], &fake_program(sandbox))
            .start()?;
        // Some kills happen before the program has started.
        let early = rng.below(8) == 0;
        if !early {
            record.until_sent(1)?;
        }
        std::thread::sleep(rng.millis(if early { 500 } else { 900 }));
        let killed = kill(record.process);
        ensure!(
            record.wait()?.signal == Some(libc::SIGKILL),
            "it had ended before"
        );
        if sandbox.sent() > 0 {
            // The program continues without its recorder.
            let before = sandbox.sent();
            std::thread::sleep(Duration::from_millis(50));
            ensure!(
                sandbox.sent() > before,
                "the program died with its recorder"
            );
        }
        sandbox.end_all();
        let missing = match log.exists() {
            true => missing(sandbox, &log, killed)?,
            false if sandbox.sent() == 0 => Duration::ZERO,
            false => bail!("there is no recording"),
        };
        for (path, bytes) in &earlier {
            sandbox.check_unchanged(path, bytes)?;
        }
        if number <= 10 && log.exists() {
            earlier.push((log.clone(), fs::read(&log)?));
        }
        Ok(missing)
    })?;
    // The next start removes leftovers.
    let _ = fs::remove_file(sandbox.notes());
    sandbox
        .record(&["-o", "next.jsonl"], &sandbox.fake_program())
        .run()?
        .code(7)?;
    sandbox.check_no_leftovers()
}

fn of_program(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let mut rng = Rng::of(sandbox, 2);
    repeat(sandbox, kills, |number| {
        let _ = fs::remove_file(sandbox.notes());
        let name = format!(
            "run-{number}.jsonl{}",
            if number % 2 == 0 { ".zst" } else { "" }
        );
        let mut record = sandbox
            .record(&["-o", &name], &fake_program(sandbox))
            .start()?;
        record.until_sent(1)?;
        std::thread::sleep(rng.millis(600));
        let killed = kill(program(sandbox)?);
        record.wait()?.signal(libc::SIGKILL)?;
        let log = sandbox.at(&name);
        ensure!(!sandbox.facts(&log)?.cut, "the recording is cut");
        let missing = missing(sandbox, &log, killed)?;
        sandbox.check_no_leftovers()?;
        Ok(missing)
    })
}

/// Returns the time of the last event in a recording, as time since the Unix epoch.
fn end_of(log: &Path) -> Result<Option<Duration>> {
    let text = fs::read_to_string(log)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut began = None;
    let mut last = 0;
    for line in whole.lines() {
        let line: Value = serde_json::from_str(line).context("a damaged line")?;
        began = began.or_else(|| line["info"]["started_unix_ns"].as_u64());
        last = last.max(line["t"].as_u64().unwrap_or(0));
    }
    Ok(began.map(|began| Duration::from_nanos(began + last)))
}

/// Returns the growing recording of the run `name`: the unfinished file, or the final one.
fn grows(sandbox: &Sandbox, name: &str) -> Option<PathBuf> {
    let names = sandbox.names().unwrap_or_default();
    let beside = format!("{name}.unfinished-");
    let unfinished = names.iter().find(|one| one.starts_with(&beside));
    let path = match unfinished {
        Some(unfinished) => sandbox.at(unfinished),
        None => sandbox.at(format!("{name}.jsonl")),
    };
    let size = fs::metadata(&path).map_or(0, |found| found.len());
    (size > 0).then_some(path)
}

/// Kills a run of the embedded loader. Every second run replaces an old recording, which must stay.
fn own_run(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let mut rng = Rng::of(sandbox, 4);
    repeat(sandbox, kills, |number| {
        let name = format!("run-{number}");
        let file = format!("{name}.jsonl");
        let line =
            "run --dataset synthetic:len=40000,cost_ms=1 --batch-size 2 --num-workers 1 --record";
        let mut words: Vec<&str> = line.split(' ').chain([file.as_str()]).collect();
        let old = match number % 2 {
            0 => {
                words.push("--force");
                Some(sandbox.old(&file)?)
            }
            _ => None,
        };
        let begun =
            || grows(sandbox, &name).filter(|path| old.as_ref().is_none_or(|(old, _)| old != path));
        let mut run = sandbox.loadscope(&words).start()?;
        run.until("the recording is begun", || begun().is_some())?;
        let start = SystemTime::now().duration_since(UNIX_EPOCH)?;
        std::thread::sleep(rng.millis(900));
        let killed = SystemTime::now().duration_since(UNIX_EPOCH)?;
        kill(run.process);
        ensure!(
            run.wait()?.signal == Some(libc::SIGKILL),
            "it had ended before"
        );
        let log = begun().context("there is no recording")?;
        sandbox.facts(&log)?;
        // After a kill right at the start, the recording may contain no event.
        let end = end_of(&log)?.unwrap_or(start);
        fs::remove_file(&log)?;
        if let Some((old, bytes)) = &old {
            sandbox.check_unchanged(old, bytes)?;
            fs::remove_file(old)?;
        }
        Ok(killed.saturating_sub(end))
    })?;
    sandbox.check_no_leftovers()
}

/// Kills an export over an old trace. Then either the old or the new trace must exist.
fn export(sandbox: &Sandbox, kills: u32) -> Result<()> {
    let mut rng = Rng::of(sandbox, 5);
    sandbox.recording()?;
    let line = "export sample.jsonl.zst --to chrome -o trace.json --force";
    let first = sandbox.line(line).run()?;
    first.code(0)?;
    let new = fs::read(sandbox.at("trace.json"))?;
    let (mut killed, mut ended) = (0, 0);
    // Exports that ended before the kill do not count.
    while killed < kills {
        let number = killed + ended;
        ensure!(
            number <= kills * 4 + 20,
            "{killed} were killed, and {ended} had ended before"
        );
        let (old, bytes) = sandbox.old("trace.json")?;
        let mut launch = sandbox.line(line);
        // Every second kill happens at a write, in the middle of the work.
        let at_write = sandbox.shared.supervises && number % 2 == 0;
        if at_write {
            let when = When::Only(1 + rng.below(8));
            launch = launch.rule(sandbox.rule(Call::Write, when, Act::Kill));
        }
        let export = launch.start()?;
        if !at_write {
            std::thread::sleep(rng.millis(first.took.as_millis() as u64));
            kill(export.process);
        }
        let end = export.wait()?;
        match end.signal {
            Some(libc::SIGKILL) => killed += 1,
            _ => {
                end.code(0)?;
                ended += 1;
            }
        }
        let now = fs::read(&old)?;
        ensure!(
            now == bytes || now == new,
            "kill {number}, seed {}: neither the old nor the new trace is there",
            sandbox.shared.seed
        );
    }
    // For a short time, a young temporary file is assumed to belong to another process.
    std::thread::sleep(Duration::from_millis(700));
    sandbox.line(line).run()?.code(0)?;
    sandbox.note(match ended {
        0 => format!("{killed} kills"),
        more => format!("{killed} kills; {more} more had ended before and do not count"),
    });
    sandbox.check_no_leftovers()
}

/// Kills a recorder at each of its writes.
fn at_writes(sandbox: &Sandbox, kills: u32) -> Result<()> {
    sandbox.supervises()?;
    let mut opened = 0;
    for number in 1..=u64::from(kills) {
        let sandbox = Sandbox::new(sandbox.shared)?;
        let (old, bytes) = sandbox.old("run.jsonl")?;
        let rule = sandbox.rule(Call::Write, When::Only(number), Act::Kill);
        let force = ["-o", "run.jsonl", "--force"];
        let ended = sandbox
            .record(&force, &fake_program(&sandbox))
            .rule(rule)
            .run()?;
        ensure!(
            ended.signal == Some(libc::SIGKILL),
            "it was not killed at write {number}"
        );
        sandbox.end_all();
        sandbox.check_unchanged(&old, &bytes)?;
        for name in sandbox
            .names()?
            .iter()
            // A file without a header is hidden. The next start removes it.
            .filter(|name| name.contains("unfinished") && !name.starts_with('.'))
        {
            sandbox
                .facts(&sandbox.at(name))
                .with_context(|| format!("killed at write {number}"))?;
            opened += 1;
        }
        // A new file may not be locked yet, so the next start keeps files that are younger than half a second.
        std::thread::sleep(Duration::from_millis(600));
        sandbox
            .record(&force, &sandbox.fake_program())
            .run()?
            .code(7)?;
        sandbox.check_no_leftovers()?;
    }
    sandbox.note(format!(
        "{kills} kills, {opened} unfinished recordings opened"
    ));
    Ok(())
}

pub fn cases(kills: u32) -> Vec<Case> {
    let share = |percent: u32| (kills * percent).div_ceil(100).max(1);
    let holds = "at most 200 ms of the past are missing; it opens; no older file is harmed; nothing is left after the next start";
    let mut cases = Vec::new();
    let mut add = |name: &str, count: u32, holds: &str, check: fn(&Sandbox, u32) -> Result<()>| {
        let injected = format!("kill -9 at {count} random moments");
        let case = Case::new("kills", name, injected, holds, move |sandbox: &Sandbox| {
            check(sandbox, count)
        });
        cases.push(case.fast().alone());
    };
    add("the recorder", share(30), holds, recorder);
    add("the recorded program", share(15), holds, of_program);
    add("the window", share(15), holds, window::watching);
    add("a run of the window", share(5), holds, window::running);
    add("a run of its own", share(10), holds, own_run);
    add(
        "an export",
        share(15),
        "the old trace is there, or the new one; nothing is left after the next start",
        export,
    );
    add(
        "the recorder at its writes",
        share(10),
        "the old recording is untouched; the unfinished one opens; nothing is left after the next start",
        at_writes,
    );
    cases
}
