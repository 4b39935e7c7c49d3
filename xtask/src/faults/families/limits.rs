//! Limits for descriptors, threads, processes and memory.

use std::fs;

use anyhow::{Result, ensure};

use crate::faults::case::{Case, Row, table};
use crate::faults::launch::Ended;
use crate::faults::rule::{Act, Call, On, Rule, When};
use crate::faults::sandbox::Sandbox;

fn fail(call: Call, when: When, error: i32) -> Rule {
    Rule::new(call, On::Anything, when, Act::Fail(error))
}

/// Fails all thread starts from the n-th on, for n = 1, 2, … until the command starts fewer than n threads.
fn threads(sandbox: &Sandbox, each: impl Fn(&Sandbox, Rule) -> Result<(u64, Ended)>) -> Result<()> {
    sandbox.supervises()?;
    const MOST: u64 = 12;
    let mut tried = 0;
    for first in 1..=MOST {
        let fresh = Sandbox::new(sandbox.shared)?;
        let rule = fail(Call::Thread, When::From(first), libc::EAGAIN);
        let (seen, _) = each(&fresh, rule)?;
        if seen < first {
            break;
        }
        tried += 1;
        fresh.check_no_leftovers()?;
    }
    ensure!(tried > 0, "it starts no thread at all");
    sandbox.note(format!("from the first to the {tried}th thread"));
    Ok(())
}

fn record_without_threads(sandbox: &Sandbox) -> Result<()> {
    threads(sandbox, |sandbox, rule| {
        let ended = sandbox
            .record(&["-o", "run.jsonl"], &sandbox.fake_program())
            .rule(rule)
            .run()?;
        ended.check_no_panic()?;
        let told = sandbox.sent();
        match told {
            // The program was not started, and the recorder reports this.
            0 => {
                ended.not_started()?;
            }
            _ => {
                ended.code(7)?;
                ended.require(told == 20, "20 batches were expected of the program")?;
            }
        }
        sandbox.opens_if_there(&sandbox.at("run.jsonl"))?;
        Ok((ended.counts[0].0, ended))
    })
}

fn run_without_threads(sandbox: &Sandbox) -> Result<()> {
    threads(sandbox, |sandbox, rule| {
        let line = "run --dataset synthetic:len=200,cost_ms=0.2 --batch-size 4 --num-workers 2 --record run.jsonl";
        let ended = sandbox.line(line).rule(rule).run()?;
        ended.check_no_panic()?;
        match ended.code {
            Some(0) => sandbox.check_whole(&sandbox.at("run.jsonl"), 50)?,
            _ => {
                ended.check_refused(&[])?;
                sandbox.opens_if_there(&sandbox.at("run.jsonl"))?;
            }
        }
        Ok((ended.counts[0].0, ended))
    })
}

fn read_without_threads(sandbox: &Sandbox, line: &'static str) -> Result<()> {
    threads(sandbox, |sandbox, rule| {
        sandbox.recording()?;
        let ended = sandbox.line(line).rule(rule).run()?;
        // Commands use threads only for speed.
        match ended.code {
            Some(0) => ended.code(0)?,
            _ => ended.check_refused(&[])?,
        }
        Ok((ended.counts[0].0, ended))
    })
}

fn no_process(sandbox: &Sandbox) -> Result<()> {
    let (old, bytes) = sandbox.old("run.jsonl")?;
    let rule = fail(Call::Process, When::From(1), libc::EAGAIN);
    let ended = sandbox
        .record(&["-o", "run.jsonl", "--force"], &sandbox.fake_program())
        .run_injected(rule)?;
    ended.code(127)?;
    ended.check_error_message(&["cannot start"])?;
    sandbox.check_unchanged(&old, &bytes)?;
    sandbox.check_no_leftovers()
}

/// Fails `accept` for connections of processes. The recorder must accept them once a descriptor is available.
fn no_descriptor_for_a_process(sandbox: &Sandbox, when: When) -> Result<()> {
    let ended = sandbox
        .record(&["-o", "run.jsonl"], &sandbox.fake_program())
        .run_injected(fail(Call::Accept, when, libc::EMFILE))?;
    ended.code(7)?;
    match when {
        When::From(_) => sandbox.opens_if_there(&sandbox.at("run.jsonl"))?,
        When::Only(_) | When::Odd => sandbox.check_whole(&sandbox.at("run.jsonl"), 20)?,
    }
    sandbox.check_no_leftovers()
}

/// Tries increasing numbers of descriptors, starting with too few.
fn few_descriptors(sandbox: &Sandbox) -> Result<()> {
    let mut refused = 0;
    for most in [4, 5, 6, 7, 8, 10, 12, 16] {
        let sandbox = Sandbox::new(sandbox.shared)?;
        let ended = sandbox
            .record(&["-o", "run.jsonl"], &sandbox.fake_program())
            .limit(libc::RLIMIT_NOFILE, most)
            .run()?;
        // The dynamic loader also needs descriptors to start the program.
        let loaded = !ended.err.contains("error while loading shared libraries");
        if !loaded {
            continue;
        }
        ended.check_no_panic()?;
        let told = sandbox.sent();
        if told == 20 {
            ended.code(7)?;
        } else {
            refused += 1;
            ended.require(
                matches!(ended.code, Some(2 | 127 | 7)),
                "an exit code of its own, or the program's",
            )?;
            ended.check_error_message(&[])?;
        }
        sandbox.opens_if_there(&sandbox.at("run.jsonl"))?;
        // Removing a folder needs a descriptor. The next start removes the folder.
        sandbox
            .record(&["-o", "next.jsonl"], &sandbox.fake_program())
            .run()?
            .code(7)?;
        sandbox.check_no_leftovers()?;
    }
    sandbox.note(format!("refused with a sentence {refused} times"));
    Ok(())
}

/// Fails unless the program was not started, this was reported, and nothing is left.
fn not_started(sandbox: &Sandbox, ended: &Ended) -> Result<()> {
    ended.not_started()?;
    ensure!(sandbox.sent() == 0, "the program was started");
    ensure!(
        !sandbox.at("run.jsonl").exists(),
        "an empty recording was left behind"
    );
    sandbox.check_no_leftovers()
}

fn no_socket(sandbox: &Sandbox) -> Result<()> {
    let ended = sandbox
        .record(&["-o", "run.jsonl"], &sandbox.fake_program())
        .run_injected(fail(Call::Socket, When::From(1), libc::EMFILE))?;
    not_started(sandbox, &ended)
}

/// Fails the creation of the folder for the program's events.
fn no_temporary_folder(sandbox: &Sandbox) -> Result<()> {
    let ended = sandbox
        .record(&["-o", "run.jsonl"], &sandbox.fake_program())
        .run_injected(fail(Call::MakeFolder, When::From(1), libc::ENOSPC))?;
    not_started(sandbox, &ended)
}

/// Checks that undeletable temporary files do not change the exit code.
fn nothing_can_be_removed(sandbox: &Sandbox) -> Result<()> {
    let ended = sandbox
        .record(&["-o", "run.jsonl"], &sandbox.fake_program())
        .run_injected(fail(Call::Remove, When::From(1), libc::EIO))?;
    ended.code(7)?;
    sandbox.check_whole(&sandbox.at("run.jsonl"), 20)?;
    // The next start removes leftovers.
    sandbox
        .record(&["-o", "next.jsonl"], &sandbox.fake_program())
        .run()?
        .code(7)?;
    sandbox.check_no_leftovers()
}

/// Checks that decreasing memory never affects the recorded program.
fn little_memory(sandbox: &Sandbox) -> Result<()> {
    let mut least = None;
    for megabytes in [4096, 1024, 768, 704, 672, 640, 608, 576, 544, 512] {
        let sandbox = Sandbox::new(sandbox.shared)?;
        let (old, bytes) = sandbox.old("old.jsonl")?;
        let ended = sandbox
            .record(&["-o", "run.jsonl"], &sandbox.fake_program())
            .limit(libc::RLIMIT_AS, megabytes << 20)
            .run()?;
        sandbox.check_unchanged(&old, &bytes)?;
        let told = sandbox.sent();
        if told > 0 {
            ended.code(7)?;
            ended.require(told == 20, "20 batches were expected of the program")?;
            sandbox.check_whole(&sandbox.at("run.jsonl"), 20)?;
            least = Some(megabytes);
        } else if ended.code.is_some() {
            ended.not_started()?;
        }
        sandbox.opens_if_there(&sandbox.at("run.jsonl"))?;
    }
    ensure!(least.is_some(), "not even 4 GB were enough");
    sandbox.note(format!(
        "recorded with {} MB of addresses",
        least.unwrap_or_default()
    ));
    Ok(())
}

/// Checks the memory use of a command with infinite input.
fn endless_input(sandbox: &Sandbox, line: &'static str) -> Result<()> {
    let ended = sandbox.line(line).run()?;
    ended.check_refused(&[])?;
    let most = 1u64 << 30;
    ended.require(
        ended.most_memory < most,
        "less than 1 GB of memory was expected",
    )?;
    ensure!(
        fs::symlink_metadata("/dev/zero").is_ok(),
        "/dev/zero is lost"
    );
    sandbox.note(format!(
        "{} MB, {:.1} s",
        ended.most_memory >> 20,
        ended.took.as_secs_f64()
    ));
    sandbox.check_no_leftovers()
}

/// Arguments with infinite or huge input.
#[rustfmt::skip]
const ENDLESS: &[(&str, &str)] = &[
    ("options", "run --config /dev/zero"),
    ("weights", "order --len 10 --sampler weighted:/dev/zero"),
    ("pictures", "run --dataset folder:/dev"),
    ("files in a folder", "info /proc"),
    ("a recording", "info /dev/zero"),
    ("workers", "run --dataset synthetic:len=10 --num-workers 65535"),
    ("ranks", "order --len 10 --sampler distributed --world 0 --rank 0"),
    ("seconds", "run --dataset synthetic:len=10 --num-workers 1 --timeout 1e308"),
    ("workers of an order", "order --len 10 --iterable whole --num-workers 4000000000"),
];

const PROGRAM: &str =
    "the program's exit code, or a sentence before it is started; what is recorded opens";
const OWN: &str = "the whole result, or a sentence with exit code 2; no panic";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row::new("record without threads", "EAGAIN from the n-th thread on, for every n", PROGRAM, record_without_threads).fast(),
    Row::new("run without threads", "EAGAIN from the n-th thread on, for every n", OWN, run_without_threads),
    Row::new("record without processes", "EAGAIN when the program is started", "exit code 127, a sentence, the old file untouched",
        no_process).fast(),
    Row::new("record without a socket", "EMFILE when the socket is made", "the program is not started; no empty file is left",
        no_socket).fast(),
    Row::new("record without a temporary folder", "ENOSPC at every folder that is made",
        "the program is not started; no empty file is left", no_temporary_folder).fast(),
    Row::new("nothing can be removed", "EIO when temporary files are removed",
        "the program's exit code and a whole recording; the next start removes them", nothing_can_be_removed),
    Row::new("record with few descriptors", "RLIMIT_NOFILE of 4 to 16", PROGRAM, few_descriptors).fast(),
    Row::new("record with little memory", "RLIMIT_AS of 4 GB to 512 MB",
        "the program's exit code and a whole recording, or no program at all", little_memory).fast(),
    Row::new("a process comes when there is no descriptor", "EMFILE at the first accept",
        "it is let in a little later; nothing is missing", |sandbox| no_descriptor_for_a_process(sandbox, When::Only(1))).fast(),
    Row::new("no process can be let in", "EMFILE at every accept", PROGRAM, |sandbox| no_descriptor_for_a_process(sandbox, When::From(1))),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = table("limits", ROWS).collect();
    for (name, line) in [
        ("info", "info sample.jsonl.zst"),
        ("report", "report sample.jsonl.zst"),
        ("export", "export sample.jsonl.zst --to parquet -o t"),
        ("what-if", "what-if sample.jsonl.zst --workers 1..2"),
    ] {
        let check = move |sandbox: &Sandbox| read_without_threads(sandbox, line);
        let title = format!("{name} without threads");
        let injected = "EAGAIN from the n-th thread on, for every n";
        cases.push(Case::new("limits", title, injected, OWN, check));
    }
    for (name, line) in ENDLESS {
        let check = |sandbox: &Sandbox| endless_input(sandbox, line);
        let holds = "exit code 2 with a sentence, in 30 s and less than 1 GB";
        let title = format!("too many {name}");
        cases.push(Case::new("limits", title, *line, holds, check).fast());
    }
    cases
}
