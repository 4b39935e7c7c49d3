//! Full, slow and broken disks, for every command that writes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::disk_faults::{Ends, FAULTS, Fault};
use crate::faults::case::Case;
use crate::faults::fake_program::FakeProgramOptions;
use crate::faults::launch::{Ended, Launch};
use crate::faults::rule::{Act, Call, When};
use crate::faults::sandbox::Sandbox;

/// Command that writes.
#[derive(Clone, Copy)]
pub struct Writer {
    pub name: &'static str,
    arguments: &'static str,
    /// Names of the written files, in the working folder.
    outputs: &'static [&'static str],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Recording of a program, which exits with 7.
    OfProgram,
    /// Recording of a run of the embedded loader.
    OfRun,
    /// Files derived from a recording: the same bytes every time.
    Derived,
}

/// Number of batches that [`WRITERS`] record.
const OF_PROGRAM: u64 = 40;
const OF_RUN: u64 = 50;

#[rustfmt::skip]
pub const WRITERS: &[Writer] = &[
    Writer { name: "record", arguments: "record -o run.jsonl", outputs: &["run.jsonl"], kind: Kind::OfProgram },
    Writer { name: "run --record",
        arguments: "run --dataset synthetic:len=200,cost_ms=0.2 --batch-size 4 --num-workers 2 --record run.jsonl.zst",
        outputs: &["run.jsonl.zst"], kind: Kind::OfRun },
    Writer { name: "export --to chrome", arguments: "export sample.jsonl.zst --to chrome -o trace.json", outputs: &["trace.json"],
        kind: Kind::Derived },
    Writer { name: "export --to chrome, compressed", arguments: "export sample.jsonl.zst --to chrome -o trace.json.gz",
        outputs: &["trace.json.gz"], kind: Kind::Derived },
    Writer { name: "export --to csv", arguments: "export sample.jsonl.zst --to csv -o t.csv", outputs: &["t.batches.csv", "t.samples.csv",
        "t.gauges.csv", "t.waits.csv", "t.loaders.csv", "t.errors.csv", "t.stacks.csv"], kind: Kind::Derived },
    Writer { name: "export --to parquet", arguments: "export sample.jsonl.zst --to parquet -o t.parquet", outputs: &["t.batches.parquet",
        "t.samples.parquet", "t.gauges.parquet"], kind: Kind::Derived },
    Writer { name: "report --html", arguments: "report sample.jsonl.zst --html page.html", outputs: &["page.html"], kind: Kind::Derived },
    Writer { name: "repair", arguments: "repair damaged.jsonl -o whole.jsonl", outputs: &["whole.jsonl"], kind: Kind::Derived },
];

impl Writer {
    /// Returns a file name with the extension of the first output.
    pub fn name_of_output(&self, stem: &str) -> String {
        let first = self.outputs.first().copied().unwrap_or_default();
        let ending = first.split_once('.').map_or("", |(_, ending)| ending);
        format!("{stem}.{ending}")
    }

    /// Prepares the command, with `--force` if `force` is set.
    pub fn launch<'a>(&self, sandbox: &'a Sandbox<'a>, force: bool) -> Result<Launch<'a>> {
        sandbox.inputs(self.arguments)?;
        let mut words: Vec<OsString> = self.arguments.split(' ').map(OsString::from).collect();
        if force {
            words.push("--force".into());
        }
        if self.kind == Kind::OfProgram {
            words.push("--".into());
            // The program runs long enough for several writes.
            let fake_program = FakeProgramOptions {
                batches: OF_PROGRAM,
                every: 10_000,
                ..sandbox.fake_program()
            };
            words.extend(sandbox.fake_program_command(&fake_program));
        }
        Ok(sandbox.loadscope(&words))
    }

    /// Prepares the command with another output.
    pub fn launch_onto<'a>(
        &self,
        sandbox: &'a Sandbox<'a>,
        output: &Path,
        force: bool,
    ) -> Result<Launch<'a>> {
        let mut launch = self.launch(sandbox, force)?;
        // The output is the last word before the program's words.
        let name = self.arguments.split(' ').next_back().unwrap_or_default();
        launch.replace(name, output);
        Ok(launch)
    }

    pub fn is_of_program(&self) -> bool {
        self.kind == Kind::OfProgram
    }

    pub fn has_one_output(&self) -> bool {
        self.outputs.len() == 1
    }

    /// Fails unless the command ended as without a fault.
    pub fn ended_well(&self, ended: &Ended) -> Result<()> {
        ended.code(match self.kind {
            Kind::OfProgram => 7,
            Kind::OfRun | Kind::Derived => 0,
        })
    }

    /// Fails unless the outputs are complete.
    pub fn is_whole(&self, sandbox: &Sandbox) -> Result<()> {
        match self.kind {
            Kind::OfProgram => sandbox.check_whole(&sandbox.at(self.outputs[0]), OF_PROGRAM),
            Kind::OfRun => sandbox.check_whole(&sandbox.at(self.outputs[0]), OF_RUN),
            Kind::Derived => {
                for (name, bytes) in self.reference(sandbox)? {
                    sandbox.check_unchanged(&sandbox.at(name), &bytes)?;
                }
                Ok(())
            }
        }
    }

    /// Returns the outputs of the command without a fault.
    fn reference(&self, sandbox: &Sandbox) -> Result<Vec<(String, Vec<u8>)>> {
        let mut all = sandbox
            .shared
            .references
            .lock()
            .map_err(|_| anyhow::anyhow!("another case panicked"))?;
        if let Some(known) = all.get(self.name) {
            return Ok(known.clone());
        }
        let sound = Sandbox::new(sandbox.shared)?;
        self.launch(&sound, false)?.run()?.code(0)?;
        let read = |name: &&str| Ok(((*name).to_owned(), fs::read(sound.at(name))?));
        let made: Vec<_> = self.outputs.iter().map(read).collect::<Result<_>>()?;
        all.insert(self.name.to_owned(), made.clone());
        Ok(made)
    }

    /// Fails unless the command reported the error, kept old files, and left no partial derived file. A partial recording must still open.
    fn ended_badly(&self, sandbox: &Sandbox, ended: &Ended, old: Option<&[u8]>) -> Result<()> {
        match self.kind {
            // The fault must not affect a program that was started.
            Kind::OfProgram if sandbox.notes().exists() => {
                ended.code(7)?;
                let told = sandbox.sent();
                ensure!(
                    told == OF_PROGRAM,
                    "the program yielded {told} batches of {OF_PROGRAM}"
                );
            }
            Kind::OfProgram => ended.not_started()?,
            Kind::OfRun | Kind::Derived => ended.code(2)?,
        }
        ended.check_error_message(&[])?;
        let references: HashMap<_, _> = match (self.kind, self.outputs.len()) {
            // A fault can occur after some of several files are complete.
            (Kind::Derived, 2..) => self.reference(sandbox)?.into_iter().collect(),
            _ => HashMap::new(),
        };
        for name in self.outputs {
            let path = sandbox.at(name);
            let now = fs::read(&path).ok();
            let is_new = now.is_some() && now.as_ref() == references.get(*name);
            match (self.kind, old) {
                (_, Some(_)) | (Kind::Derived, None) if is_new => {}
                (_, Some(old)) => sandbox.check_unchanged(&path, old)?,
                (Kind::Derived, None) if now.is_some() => {
                    bail!("{name} was left behind, half-written")
                }
                (Kind::Derived, None) => {}
                (Kind::OfProgram | Kind::OfRun, None) => sandbox.opens_if_there(&path)?,
            }
        }
        sandbox.check_no_leftovers()
    }

    /// Runs the command once with the fault.
    fn attempt(&self, sandbox: &Sandbox, fault: &Fault, old: bool) -> Result<()> {
        let mut before = None;
        if old {
            for name in self.outputs {
                before = Some(sandbox.old(name)?.1);
            }
        }
        let mut launch = self.launch(sandbox, old)?;
        if let Some((what, most)) = fault.limit {
            launch = launch.limit(what, most);
        } else {
            sandbox.supervises()?;
            let rule = sandbox.rule(fault.call, fault.when, fault.act());
            launch = launch.rule(rule);
        }
        let ended = launch.run()?;
        if fault.limit.is_none() {
            ended.check_injected()?;
        }
        match fault.ends {
            Ends::Well => {
                self.ended_well(&ended)?;
                self.is_whole(sandbox)?;
                sandbox.check_no_leftovers()
            }
            Ends::Badly => self.ended_badly(sandbox, &ended, before.as_deref()),
        }
    }

    /// Counts the writes of the command.
    fn count_writes(&self, sandbox: &Sandbox) -> Result<u64> {
        let rule = sandbox.rule(Call::Write, When::From(1), Act::Count);
        let ended = self.launch(sandbox, false)?.rule(rule).run()?;
        self.ended_well(&ended)?;
        Ok(ended.counts.first().map_or(0, |(seen, _)| *seen))
    }

    /// Tries a full disk from each write on, or from `most` evenly spaced writes.
    fn every_write(&self, sandbox: &Sandbox, most: u64) -> Result<()> {
        sandbox.supervises()?;
        let writes = self.count_writes(&Sandbox::new(sandbox.shared)?)?;
        ensure!(writes > 0, "it writes nothing");
        let step = writes.div_ceil(most).max(1);
        let mut tried = 0;
        let mut first = 1;
        while first <= writes {
            let fault = Fault {
                when: When::From(first),
                ..FULL
            };
            // The number of writes of a recording depends on time, so it may be smaller this time.
            let fresh = Sandbox::new(sandbox.shared)?;
            let outcome = self.attempt(&fresh, &fault, first % 2 == 0);
            let is_of_time = self.kind != Kind::Derived && first > 2;
            match outcome {
                Err(e) if is_of_time && e.to_string().contains("nothing was injected") => {}
                other => other.with_context(|| format!("full from write {first} of {writes}"))?,
            }
            tried += 1;
            first += step;
        }
        sandbox.note(format!("at {tried} of {writes} writes"));
        Ok(())
    }
}

const FULL: Fault = Fault {
    name: "",
    injected: "",
    call: Call::Write,
    when: When::From(1),
    error: libc::ENOSPC,
    ends: Ends::Badly,
    limit: None,
    fast: false,
    only_with_old: false,
};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (k, writer) in WRITERS.iter().enumerate() {
        let name = format!("{}, full disk at every write", writer.name);
        let holds = "an error message, the old file or no file (never half of one), the program's own exit code";
        let injected = "ENOSPC from the k-th write on, for every k";
        let check = |sandbox: &Sandbox| writer.every_write(sandbox, 24);
        let case = Case::new("disk", name, injected, holds, check);
        cases.push(case.fast_if(k % 2 == 0));
        for (n, fault) in FAULTS.iter().enumerate() {
            // A recording has the permissions of any new file.
            if fault.call == Call::Permissions && writer.kind != Kind::Derived {
                continue;
            }
            let holds = match fault.ends {
                Ends::Well => "everything is written, as if nothing had happened",
                Ends::Badly => holds,
            };
            // An old file exists if the command must fail, because the old file must stay until the new one is complete.
            let old = fault.only_with_old || fault.ends == Ends::Badly;
            let name = format!("{}, {}", writer.name, fault.name);
            let check = move |sandbox: &Sandbox| writer.attempt(sandbox, fault, old);
            // CI runs every second combination, so that it covers each fault and each writer.
            let is_its_turn = fault.fast && (k + n) % 2 == 0;
            cases.push(Case::new("disk", name, fault.injected, holds, check).fast_if(is_its_turn));
        }
    }
    cases
}
