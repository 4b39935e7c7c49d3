//! Trials of other arguments of `DataLoader` in a program: first unchanged, then with promising settings of the forecast.
//! Some runs in between are unchanged. Each run is ended after enough batches, and leaves a recording.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use loadscope_files::{AtomicFile, Existing};
use loadscope_insight::loaders::{find, names};
use loadscope_insight::tune::{
    Choice, Expected, Kind, Measured, RunOutput, Table, Tried, choose, yielded,
};
use loadscope_live::{End, Stop};
use loadscope_trace::{Fleet, Overrides, Run, RunId, RunInfo, plural};
use loadscope_words::say;

mod trial;

pub use trial::{Job, Progress, TuneError};
use trial::{Trial, TrialRun};

/// Number of trials between two unchanged runs.
const REPEAT_AFTER: usize = 3;
/// Minimum number of batches for a result.
const FEW: usize = 5;

/// Result of the trials.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// Comparison of the runs. `None` if the first run was interrupted.
    pub table: Option<Table>,
    /// True if the user asked this process to end.
    pub interrupted: bool,
}

/// Tries the settings. `tell` receives the progress. `ends` returns the number of requests to end this process.
/// One request interrupts the program, two kill it.
///
/// # Errors
/// If there is nothing to compare.
pub fn tune(
    job: &Job,
    tell: &mut dyn FnMut(Progress<'_>),
    ends: &(dyn Fn() -> usize + Sync),
) -> Result<Tuned, TuneError> {
    let mut tuning = Tuning {
        job,
        tell,
        ends,
        runs: Vec::new(),
        notes: Vec::new(),
    };
    let Some(first) = tuning.first()? else {
        return Ok(Tuned {
            table: None,
            interrupted: true,
        });
    };
    let choice = choose(&first.run, &job.asked, job.tries, &|| ends() == 0);
    tuning.notes.extend(choice.notes.iter().cloned());
    tuning.others(&first, &choice)?;
    let table = tuning.table(&first);
    write_table(job, &table)?;
    Ok(Tuned {
        table: Some(table),
        interrupted: ends() > 0,
    })
}

/// The unchanged program, and its measured loader.
struct First {
    run: Run,
    name: String,
    /// Probe's name of the loaders whose arguments are set.
    target: Option<String>,
}

struct Tuning<'a> {
    job: &'a Job,
    tell: &'a mut dyn FnMut(Progress<'_>),
    ends: &'a (dyn Fn() -> usize + Sync),
    runs: Vec<(Done, Option<Run>)>,
    notes: Vec<String>,
}

/// A finished run of the program, before the comparison.
struct Done {
    kind: Kind,
    overrides: Overrides,
    expected: Option<Expected>,
    recording: String,
    /// Reason why the run cannot be compared.
    failed: Option<String>,
    /// Output and batches of the run.
    outcome: RunOutput,
}

impl Tuning<'_> {
    /// Runs the unchanged program. Returns `None` if it was interrupted.
    fn first(&mut self) -> Result<Option<First>, TuneError> {
        let none = Overrides::default();
        // Before the first run, only a source line can identify a loader.
        let asked = self.job.loader.as_deref();
        let line = asked.filter(|text| text.contains(".py"));
        let ran = self.run(Kind::First, &none, line, None, None)?;
        if (self.ends)() > 0 {
            return Ok(None);
        }
        if !ran.effects.stopped && ran.end != End::Code(0) {
            let (end, log) = (ran.end, ran.log);
            return Err(TuneError::Failed { end, log });
        }
        if let Some(complaint) = ran.complaint {
            return Err(TuneError::Nothing(complaint));
        }
        let all: Vec<(RunId, &Run)> = ran.fleet.runs().collect();
        let id = match asked {
            Some(text) => find(&all, text).map_err(|none| TuneError::Nothing(none.to_string()))?,
            None => ran.fleet.longest_waiting().unwrap_or_default(),
        };
        let run = ran.fleet.get(id).cloned().unwrap_or_default();
        let called = called(&all, id);
        let count = yielded(&run);
        if count < FEW {
            return Err(TuneError::Nothing(say!(
                "the measured loader {} yielded only {}, too few to compare. Choose another loader with --loader, or extend the runs with --stop-after.",
                called,
                plural(count as u64, say!(n: "batch"), say!(n: "batches"))
            )));
        }
        let target = run.info.made_at.as_ref();
        let target = target.map(|at| format!("{}:{}", at.file, at.line));
        if target.is_none() && all.len() > 1 && !self.job.all_loaders {
            self.notes.push(
                say!("The line that creates the loader is unknown, so the settings were applied to all loaders")
                    .to_owned(),
            );
        }
        let done = Done {
            kind: Kind::First,
            overrides: none,
            expected: None,
            outcome: RunOutput::of(&run, &printed(&ran.log)),
            recording: ran.recording,
            failed: None,
        };
        self.runs.push((done, Some(run.clone())));
        Ok(Some(First {
            name: called,
            target,
            run,
        }))
    }

    /// Runs all chosen settings, with unchanged runs in between.
    fn others(&mut self, first: &First, choice: &Choice) -> Result<(), TuneError> {
        if let Some((done, _)) = self.runs.first_mut() {
            done.expected = choice.own;
        }
        self.tell_of_last(first);
        let tries = choice.tries.len();
        let of = 1 + tries + tries.div_ceil(REPEAT_AFTER);
        for (at, one) in choice.tries.iter().enumerate() {
            self.other(first, Kind::Try, &one.overrides, one.expected, of)?;
            if (at + 1) % REPEAT_AFTER == 0 || at + 1 == tries {
                self.other(first, Kind::Repeat, &Overrides::default(), None, of)?;
            }
        }
        Ok(())
    }

    fn other(
        &mut self,
        first: &First,
        kind: Kind,
        overrides: &Overrides,
        expected: Option<Expected>,
        of: usize,
    ) -> Result<(), TuneError> {
        if (self.ends)() > 0 {
            return Ok(());
        }
        let set = first.target.as_deref().filter(|_| !self.job.all_loaders);
        let stop = first.target.as_deref();
        let ran = self.run(kind, overrides, stop, set, Some(of))?;
        if (self.ends)() > 0 {
            return Ok(());
        }
        let run = counterpart(&ran.fleet, &first.run.info);
        let failed = why_not(&ran, run, first, overrides, self.job.stop);
        let run = run.filter(|_| failed.is_none()).map(|(_, run)| run.clone());
        let outcome = run
            .as_ref()
            .map(|run| RunOutput::of(run, &printed(&ran.log)));
        let done = Done {
            kind,
            overrides: overrides.clone(),
            expected,
            outcome: outcome.unwrap_or_default(),
            recording: ran.recording,
            failed,
        };
        self.runs.push((done, run));
        self.tell_of_last(first);
        Ok(())
    }

    /// Runs the program. `stop` is the loader whose batches are counted. `set` are the loaders whose arguments are set.
    fn run(
        &mut self,
        kind: Kind,
        overrides: &Overrides,
        stop: Option<&str>,
        set: Option<&str>,
        of: Option<usize>,
    ) -> Result<TrialRun, TuneError> {
        let number = self.runs.len() + 1;
        (self.tell)(Progress::Begins {
            number,
            of,
            kind,
            overrides,
        });
        let one = Trial {
            job: self.job,
            number,
            kind,
            overrides,
            stop,
            set,
        };
        one.run(self.tell, self.ends)
    }

    fn tell_of_last(&mut self, first: &First) {
        let table = self.table(first);
        if let Some(row) = table.rows.last() {
            (self.tell)(Progress::Ended(&row.tried));
        }
    }

    /// Describes the settings that change the behavior of the program.
    fn differences(&self) -> Vec<String> {
        let compared = self.runs.iter().filter(|(done, _)| done.failed.is_none());
        let (tried, as_it_is): (Vec<_>, Vec<_>) = compared
            .map(|(done, _)| done)
            .partition(|done| done.kind == Kind::Try);
        let as_it_is: Vec<&RunOutput> = as_it_is.into_iter().map(|done| &done.outcome).collect();
        let of = |done: &Done| {
            let setting = done.overrides.arguments().join(", ");
            let found = done.outcome.differences(&as_it_is);
            found
                .into_iter()
                .map(move |differs| differs.sentence(&setting))
        };
        tried.into_iter().flat_map(of).collect()
    }

    /// Returns the comparison of all runs so far, over their smallest number of batches.
    fn table(&self, first: &First) -> Table {
        let runs = self.runs.iter().filter_map(|(_, run)| run.as_ref());
        let most = runs.map(yielded).min().unwrap_or_default();
        let tried = self.runs.iter().map(|(done, run)| {
            let measured = run.as_ref().and_then(|run| Measured::of(run, most));
            let why = || {
                done.failed
                    .clone()
                    .unwrap_or_else(|| say!("the program yielded no batch to measure").to_owned())
            };
            Tried {
                kind: done.kind,
                overrides: done.overrides.clone(),
                expected: done.expected,
                options: run.as_ref().map(|run| run.info.options.clone()),
                measured: measured.ok_or_else(why),
                recording: done.recording.clone(),
            }
        });
        let made_at = first.run.info.made_at.clone();
        let notes = self.notes.iter().cloned().chain(self.differences());
        Table::of(
            first.name.clone(),
            made_at,
            tried.collect(),
            notes.collect(),
        )
    }
}

/// Returns the start of the program's output.
fn printed(log: &Path) -> String {
    /// Maximum size of the compared output, bytes.
    const MOST: u64 = 1 << 20;
    let mut text = Vec::new();
    let read = File::open(log).and_then(|file| file.take(MOST).read_to_end(&mut text));
    // An unreadable output is not compared.
    read.map_or(String::new(), |_| {
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Returns the name of a loader among all loaders of the program.
fn called(all: &[(RunId, &Run)], id: RunId) -> String {
    let mut named = all.iter().zip(names(all));
    named
        .find(|((one, _), _)| *one == id)
        .map(|(_, name)| name)
        .unwrap_or_default()
}

/// Returns the same loader in another run: created at the same line, or else with the same dataset.
fn counterpart<'a>(fleet: &'a Fleet, info: &RunInfo) -> Option<(RunId, &'a Run)> {
    let same = |other: &RunInfo| match (&info.made_at, &other.made_at) {
        (Some(a), Some(b)) => (&a.file, a.line) == (&b.file, b.line),
        (None, None) => info.dataset == other.dataset,
        _ => false,
    };
    let likeness = |other: &RunInfo| {
        let (a, b) = (&info.options, &other.options);
        [
            info.dataset == other.dataset,
            info.rank == other.rank,
            (a.batch_size, a.shuffle, &a.sampler) == (b.batch_size, b.shuffle, &b.sampler),
        ]
    };
    let runs = fleet.runs().filter(|(_, run)| same(&run.info));
    runs.max_by_key(|(_, run)| (likeness(&run.info), yielded(run)))
}

/// Returns the reason why a run cannot be compared with the first. Returns `None` if it can.
fn why_not(
    ran: &TrialRun,
    run: Option<(RunId, &Run)>,
    first: &First,
    overrides: &Overrides,
    stop: Stop,
) -> Option<String> {
    let log = ran.log.file_name().unwrap_or_default().to_string_lossy();
    let failed = match ran.end {
        _ if ran.effects.stopped => None,
        End::Code(0) => None,
        End::Code(code) => Some(say!("the program failed with code {code}, see {log}")),
        End::Signal(number) => Some(say!("the program was ended by signal {number}, see {log}")),
    };
    let Some((id, run)) = run else {
        return failed.or_else(|| Some(say!("the loader was not iterated, see {log}")));
    };
    let missed = overrides.not_applied_in(&run.info.options);
    if !missed.is_empty() {
        let why = ran.effects.refused.get(&id);
        let why = why.map_or(String::new(), |error| format!(": {error}"));
        return Some(say!("{} could not be set{why}", missed.join(", ")));
    }
    let enough = match stop {
        Stop::Batches(_) => yielded(&first.run).div_ceil(2).max(FEW),
        Stop::Time(_) => FEW,
    };
    let count = yielded(run);
    let few = (count < enough).then(|| {
        say!(
            "only {}, see {log}",
            plural(count as u64, say!(n: "batch"), say!(n: "batches"))
        )
    });
    failed.or(few)
}

/// Writes the table next to the recordings.
fn write_table(job: &Job, table: &Table) -> Result<(), TuneError> {
    let folder = job.folder.display().to_string();
    let json = format!("{:#}\n", table.json(&folder));
    let path = job.folder.join("tune.json");
    Ok(AtomicFile::write_all_to(
        &path,
        Existing::Replace,
        json.as_bytes(),
    )?)
}

#[cfg(test)]
mod tests;
