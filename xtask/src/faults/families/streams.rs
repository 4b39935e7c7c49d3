//! Closed, full, broken or slow standard streams, for every command.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::faults::case::Case;
use crate::faults::fake_program::notes;
use crate::faults::launch::{Ended, Launch, Stream};
use crate::faults::sandbox::Sandbox;
use crate::faults::screen::journal;

/// Command, and its exit code without a fault.
struct Command {
    name: &'static str,
    arguments: &'static str,
    code: i32,
    /// True if its output is its purpose. Then it may refuse when it cannot print.
    prints: bool,
    /// Name and number of batches of the recording that it makes.
    makes: Option<(&'static str, u64)>,
}

const PLAIN: Command = Command {
    name: "",
    arguments: "",
    code: 0,
    prints: true,
    makes: None,
};

/// Placeholder for the path of the journal.
const JOURNAL: &str = "the journal";

#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    Command { name: "record", arguments: "record -o run.jsonl.zst -- PROGRAM", code: 7, prints: false,
        makes: Some(("run.jsonl.zst", 20)) },
    // The display cannot be reached, so it continues as a recorder.
    Command { name: "watch", arguments: "watch -- PROGRAM", code: 7, prints: false, makes: Some((JOURNAL, 20)) },
    Command { name: "run --record",
        arguments: "run --dataset synthetic:len=200,cost_ms=0.2 --batch-size 4 --num-workers 2 --record run.jsonl", prints: true,
        makes: Some(("run.jsonl", 50)), ..PLAIN },
    Command { name: "export", arguments: "export sample.jsonl.zst --to chrome -o trace.json", prints: true, ..PLAIN },
    Command { name: "info", arguments: "info sample.jsonl.zst", ..PLAIN },
    Command { name: "report", arguments: "report sample.jsonl.zst --fail-on throughput<1000000000", code: 1, ..PLAIN },
    Command { name: "compare", arguments: "compare sample.jsonl.zst sample.jsonl.zst", ..PLAIN },
    Command { name: "what-if", arguments: "what-if sample.jsonl.zst --workers 1..2", ..PLAIN },
    Command { name: "order", arguments: "order --len 20000 --epochs 2 --sampler random", ..PLAIN },
    Command { name: "repair", arguments: "repair damaged.jsonl -o whole.jsonl", ..PLAIN },
    Command { name: "probe", arguments: "probe", ..PLAIN },
    Command { name: "a command that is refused", arguments: "info there-is-no-such-file.jsonl", code: 2, prints: false, ..PLAIN },
    Command { name: "wrong arguments", arguments: "info one two", code: 2, prints: false, ..PLAIN },
    Command { name: "help", arguments: "--help", ..PLAIN },
];

/// Fault of one or several streams.
struct Fault {
    name: &'static str,
    injected: &'static str,
    streams: fn(Launch) -> Launch,
    /// True if the command cannot print, and can report this.
    is_full: bool,
    /// True if CI tries the fault, with half of the commands.
    fast: bool,
}

const SLOW: Duration = Duration::from_millis(1500);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    Fault { name: "without standard input", injected: "standard input is closed", streams: |launch| launch.input(Stream::Closed),
        is_full: false, fast: false },
    Fault { name: "without standard error", injected: "standard error is closed", streams: |launch| launch.errors(Stream::Closed),
        is_full: false, fast: true },
    Fault { name: "standard error is full", injected: "standard error is /dev/full",
        streams: |launch| launch.errors(Stream::File("/dev/full".into())), is_full: false, fast: true },
    Fault { name: "standard error has no reader", injected: "standard error is a pipe whose reader is gone",
        streams: |launch| launch.errors(Stream::Broken), is_full: false, fast: true },
    Fault { name: "standard error is read late", injected: "standard error is a full pipe that is read after 1.5 s",
        streams: |launch| launch.errors(Stream::Stuck(SLOW)), is_full: false, fast: true },
    Fault { name: "without standard output", injected: "standard output is closed", streams: |launch| launch.output(Stream::Closed),
        is_full: false, fast: false },
    Fault { name: "standard output is full", injected: "standard output is /dev/full",
        streams: |launch| launch.output(Stream::File("/dev/full".into())), is_full: true, fast: true },
    Fault { name: "standard output has no reader", injected: "standard output is a pipe whose reader is gone",
        streams: |launch| launch.output(Stream::Broken), is_full: false, fast: true },
    Fault { name: "standard output is read late", injected: "standard output is a full pipe that is read after 1.5 s",
        streams: |launch| launch.output(Stream::Stuck(SLOW)), is_full: false, fast: false },
    Fault { name: "without any stream", injected: "all three streams are closed",
        streams: |launch| { let launch = launch.input(Stream::Closed).output(Stream::Closed); launch.errors(Stream::Closed) },
        is_full: false, fast: false },
    Fault { name: "all streams are full", injected: "standard output and error are /dev/full",
        streams: |launch| { let launch = launch.output(Stream::File("/dev/full".into())); launch.errors(Stream::File("/dev/full".into())) },
        is_full: true, fast: false },
];

impl Command {
    fn attempt(&self, sandbox: &Sandbox, fault: &Fault) -> Result<()> {
        sandbox.inputs(self.arguments)?;
        let mut words: Vec<OsString> = Vec::new();
        for word in self.arguments.split(' ') {
            match word {
                "PROGRAM" => words.extend(sandbox.fake_program_command(&sandbox.fake_program())),
                word => words.push(word.into()),
            }
        }
        // `watch` does not start a program without a display.
        let launch = sandbox.loadscope(&words).env("DISPLAY", ":4567");
        let ended = (fault.streams)(launch).run()?;
        self.ended_as_ever(&ended, fault)?;
        if let Some((name, batches)) = self.makes {
            let path = match name {
                JOURNAL => journal(sandbox).context("there is no journal of it")?,
                name => sandbox.at(name),
            };
            sandbox.check_whole(&path, batches)?;
        }
        if ["record", "watch"].contains(&self.name) {
            is_at_its_pace(sandbox)?;
        }
        if self.name == "export" {
            let written = fs::read(sandbox.at("trace.json"))?;
            ensure!(
                written.ends_with(b"}") || written.ends_with(b"}\n"),
                "the trace is cut"
            );
        }
        sandbox.check_no_leftovers()
    }

    fn ended_as_ever(&self, ended: &Ended, fault: &Fault) -> Result<()> {
        let refuses = fault.is_full && self.prints;
        match refuses && ended.code == Some(2) {
            // The command could not print, and reports this if standard error works.
            true if ended.err.is_empty() && fault.name == "all streams are full" => {
                ended.check_no_panic()
            }
            true => ended.check_refused(&["standard output"]),
            false if refuses => {
                ended.require(false, "exit code 2 was expected: nothing could be printed")
            }
            false => ended.code(self.code),
        }
    }
}

/// Checks that nothing delayed the program: twenty batches, 2 ms apart.
fn is_at_its_pace(sandbox: &Sandbox) -> Result<()> {
    let told = notes(&sandbox.notes());
    ensure!(
        told.len() == 20,
        "the program yielded {} batches of 20",
        told.len()
    );
    let longest = told
        .windows(2)
        .map(|two| two[1].at.saturating_sub(two[0].at))
        .max();
    let longest = longest.unwrap_or_default();
    ensure!(
        longest < SLOW / 2,
        "the program stood still for {longest:?}"
    );
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (k, command) in COMMANDS.iter().enumerate() {
        for (n, fault) in FAULTS.iter().enumerate() {
            let name = format!("{}, {}", command.name, fault.name);
            let holds = match (fault.is_full && command.prints, command.makes.is_some()) {
                (true, _) => {
                    "exit code 2 with a sentence, and no panic; what it writes to files is whole"
                }
                (false, true) => {
                    "the same exit code, a whole recording, and a program that was not held up"
                }
                (false, false) => "the same exit code, and no panic",
            };
            let check = |sandbox: &Sandbox| command.attempt(sandbox, fault);
            let case = Case::new("streams", name, fault.injected, holds, check);
            // CI tries commands with a user's program under every fast fault, and the others under half of them.
            let is_its_turn = command.code == 7 || (k + n) % 2 == 0;
            cases.push(case.fast_if(fault.fast && is_its_turn));
        }
    }
    cases
}
