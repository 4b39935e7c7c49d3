//! Signals to running commands.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::faults::case::Case;
use crate::faults::fake_program::FakeProgramOptions;
use crate::faults::launch::{Ended, Started};
use crate::faults::rule::{Act, Call, When};
use crate::faults::sandbox::Sandbox;

const SIGNALS: [(&str, i32); 4] = [
    ("SIGINT", libc::SIGINT),
    ("SIGTERM", libc::SIGTERM),
    ("SIGHUP", libc::SIGHUP),
    ("SIGQUIT", libc::SIGQUIT),
];

/// Number of recorded batches before a signal is sent.
const BEFORE: u64 = 30;

/// Starts a recorder whose program sends batches until it ends by a signal, or normally if it heeds signals.
fn recording<'a>(sandbox: &'a Sandbox<'a>, heeds: bool) -> Result<(Started<'a>, PathBuf)> {
    let program = FakeProgramOptions {
        heeds,
        ..sandbox.endless()
    };
    let mut record = sandbox.record(&["-o", "run.jsonl.zst"], &program).start()?;
    record.until_sent(BEFORE)?;
    Ok((record, sandbox.at("run.jsonl.zst")))
}

/// Sends a signal only to the recorder, while a program runs.
fn recorder(sandbox: &Sandbox, number: i32, heeds: bool) -> Result<()> {
    let (record, log) = recording(sandbox, heeds)?;
    record.signal(number);
    let ended = record.wait()?;
    match heeds {
        true => ended.code(7)?,
        false => ended.signal(number)?,
    }
    ended.check_error_message(&["run.jsonl.zst"])?;
    all_is_there(sandbox, &log)
}

/// Fails unless the recording contains all batches that the program sent, and nothing temporary is left.
fn all_is_there(sandbox: &Sandbox, log: &std::path::Path) -> Result<()> {
    let alive = sandbox.alive();
    ensure!(alive.is_empty(), "processes are left: {alive:?}");
    let told = sandbox.sent();
    let facts = sandbox.facts(log)?;
    // A signal can end the program between sending a batch and noting it.
    ensure!(
        !facts.cut && facts.dropped == 0 && (facts.batches == told || facts.batches == told + 1),
        "the program sent {told} batches, and the recording holds {facts:?}"
    );
    sandbox.check_no_leftovers()
}

/// Kills only the program.
fn program(sandbox: &Sandbox, number: i32) -> Result<()> {
    let (record, log) = recording(sandbox, false)?;
    let recorder = record.process;
    let others = sandbox
        .alive()
        .into_iter()
        .filter(|process| *process != recorder);
    for process in others {
        // SAFETY: kill accesses no memory of this process.
        unsafe { libc::kill(process, number) };
    }
    record.wait()?.signal(number)?;
    all_is_there(sandbox, &log)
}

/// Sends SIGINT to the whole process group, like Ctrl-C in a terminal.
fn everyone(sandbox: &Sandbox) -> Result<()> {
    let (record, log) = recording(sandbox, false)?;
    // SAFETY: kill accesses no memory of this process. The command leads its process group.
    unsafe { libc::kill(-record.process, libc::SIGINT) };
    record.wait()?.signal(libc::SIGINT)?;
    all_is_there(sandbox, &log)
}

/// Fails unless the command ended by the signal or with 128 plus its number. A shell shows both in the same way.
fn ended_by(ended: &Ended, number: i32) -> Result<()> {
    ended.check_no_panic()?;
    let is = ended.signal == Some(number) || ended.code == Some(128 + number);
    ended.require(is, &format!("exit code {} was expected", 128 + number))
}

/// Sends a signal to a run of the embedded loader that would take a minute.
fn run(sandbox: &Sandbox, number: i32) -> Result<()> {
    let line = "run --dataset synthetic:len=40000,cost_ms=3 --batch-size 4 --num-workers 2 --record run.jsonl";
    let mut run = sandbox.line(line).start()?;
    let log = sandbox.at("run.jsonl");
    let size = || fs::metadata(&log).map_or(0, |found| found.len());
    run.until("the recording grows", || size() > 4000)?;
    run.signal(number);
    let ended = run.wait()?;
    ended_by(&ended, number)?;
    ended.require(
        ended.took < Duration::from_secs(20),
        "it was expected to end soon",
    )?;
    ended.check_error_message(&["interrupted"])?;
    let facts = sandbox.facts(&log)?;
    ensure!(
        !facts.cut && facts.batches > 0,
        "the recording must be whole, but is {facts:?}"
    );
    sandbox.check_no_leftovers()
}

/// Sends a signal to an export at its first write.
fn export(sandbox: &Sandbox, number: i32) -> Result<()> {
    sandbox.supervises()?;
    sandbox.recording()?;
    let (old, bytes) = sandbox.old("trace.json")?;
    let line = "export sample.jsonl.zst --to chrome -o trace.json --force";
    let process = Arc::new(OnceLock::new());
    let shared = Arc::clone(&process);
    let send = move || {
        // The first write may happen before `start` returns. Process 0 would be this process group.
        // SAFETY: kill accesses no memory of this process. The process waits until this function returns.
        unsafe { libc::kill(*shared.wait(), number) };
        // The pause leaves time to deliver the signal.
        std::thread::sleep(Duration::from_millis(20));
    };
    let rule = sandbox.rule(Call::Write, When::Only(1), Act::First(Arc::new(send)));
    let started = sandbox.line(line).rule(rule).start()?;
    process.get_or_init(|| started.process);
    let ended = started.wait()?;
    ended.check_injected()?;
    ended_by(&ended, number)?;
    sandbox.check_unchanged(&old, &bytes)?;
    // The next start removes leftovers.
    std::thread::sleep(Duration::from_millis(600));
    sandbox.line(line).run()?.code(0)?;
    sandbox.check_no_leftovers()
}

/// Sends two signals to a program that does not end. Both must be passed on.
fn twice(sandbox: &Sandbox) -> Result<()> {
    let (record, log) = recording(sandbox, true)?;
    record.signal(libc::SIGTERM);
    record.signal(libc::SIGINT);
    record.wait()?.code(7)?;
    all_is_there(sandbox, &log)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let holds =
        "it ends as the program ends; the recording holds every batch; no temporary folder is left";
    for (name, number) in SIGNALS {
        let is_usual = number == libc::SIGINT || number == libc::SIGTERM;
        for (heeds, program) in [(false, "dies by it"), (true, "heeds it")] {
            let injected = format!("{name} to the recorder; the program {program}");
            let title = format!("record, {name}, the program {program}");
            let check = move |sandbox: &Sandbox| recorder(sandbox, number, heeds);
            let case = Case::new("signals", title, injected, holds, check);
            cases.push(case.fast_if(is_usual));
        }
        if number == libc::SIGQUIT {
            continue;
        }
        let title = format!("run --record, {name}");
        let injected = format!("{name} in the middle of a run");
        let promised = format!("exit code {}, a sentence, a whole recording", 128 + number);
        let check = move |sandbox: &Sandbox| run(sandbox, number);
        let case = Case::new("signals", title, injected, promised, check);
        cases.push(case.fast_if(is_usual));
        let title = format!("export, {name}");
        let injected = format!("{name} at its first write");
        let promised = format!(
            "exit code {}; the old file is untouched; nothing is left after the next one",
            128 + number
        );
        let check = move |sandbox: &Sandbox| export(sandbox, number);
        let case = Case::new("signals", title, injected, promised, check);
        cases.push(case.fast_if(number == libc::SIGTERM));
    }
    for (name, number) in [("SIGKILL", libc::SIGKILL), ("SIGUSR1", libc::SIGUSR1)] {
        let title = format!("record, the program ends by {name}");
        let check = move |sandbox: &Sandbox| program(sandbox, number);
        let case = Case::new(
            "signals",
            title,
            format!("{name} to the program"),
            holds,
            check,
        );
        cases.push(case.fast_if(number == libc::SIGKILL));
    }
    let case = Case::new(
        "signals",
        "record, Ctrl-C",
        "SIGINT to the whole group",
        holds,
        everyone,
    );
    cases.push(case.fast());
    let injected = "SIGTERM and SIGINT at once";
    cases.push(Case::new(
        "signals",
        "record, two signals",
        injected,
        holds,
        twice,
    ));
    cases
}
