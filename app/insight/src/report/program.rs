//! Time of a program with several loaders, by loader.

use loadscope_diagnose::{Blame, Cause};
use loadscope_trace::{Nanos, Run, RunId};
use loadscope_words::say;
use serde_json::{Value, json};

use crate::format::{join, percent};
use crate::loaders::names;

/// Maximum number of parts in the text.
const NAMED: usize = 6;
/// Minimum share of a part in the text.
const MIN_SHARE: f64 = 0.005;

/// Time of a program by loader.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Time from the start of the first epoch to the end of the last one, over all loaders.
    pub total: Nanos,
    /// Parts of the time, longest first. Their sum is `total`.
    pub parts: Vec<Part>,
    /// Name of the loader with the longest wait. `None` if this wait is less than 5 % of `total`.
    pub begin_with: Option<String>,
}

/// A part of a program's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Activity of the main process.
    pub what: Phase,
    /// Number and name of the loader. `None` outside all loops.
    pub loader: Option<(RunId, String)>,
    /// Time that the main process spent on this activity.
    pub time: Nanos,
}

/// Activity of the main process of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Training or validation steps.
    Steps,
    /// Waiting for batches.
    Waiting,
    /// Starting workers, and waiting until they have started.
    Starting,
    /// Work outside all loops over loaders.
    Elsewhere,
}

impl Phase {
    /// Returns the name in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Waiting => "waiting",
            Self::Starting => "starting_workers",
            Self::Elsewhere => "outside_of_loops",
        }
    }
}

impl Program {
    /// Measures the process of the loader `id` in `all`. Returns `None` if the process has fewer than two loaders with epochs.
    pub fn of(all: &[(RunId, &Run)], id: RunId) -> Option<Self> {
        let this = all.iter().find(|(other, _)| *other == id)?.1;
        let is_of_process = |run: &Run| {
            let (a, b) = (&run.info, &this.info);
            (a.rank, &a.host, &a.recording) == (b.rank, &b.host, &b.recording)
        };
        let loaders = all.iter().zip(names(all));
        let loaders: Vec<((RunId, String), &Run)> = loaders
            .filter(|((_, run), _)| is_of_process(run) && !run.epochs().is_empty())
            .map(|((id, run), name)| ((*id, name), *run))
            .collect();
        if loaders.len() < 2 {
            return None;
        }
        let start = loaders.iter().map(|(_, run)| run.epochs()[0].start).min()?;
        let ends = loaders
            .iter()
            .filter_map(|(_, run)| run.epochs().last().map(|e| e.end.unwrap_or(run.end())));
        let total = ends.max()? - start;
        let mut parts: Vec<Part> = loaders
            .iter()
            .flat_map(|(loader, run)| parts_of(loader, run))
            .collect();
        let in_loops: i64 = parts.iter().map(|part| part.time.0).sum();
        // Nested loops count twice, so the sum can exceed the elapsed time.
        let total = total.max(Nanos(in_loops));
        parts.push(Part {
            what: Phase::Elsewhere,
            loader: None,
            time: total - Nanos(in_loops),
        });
        parts.retain(|part| part.time.0 > 0);
        parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        let waits = parts
            .iter()
            .filter(|part| matches!(part.what, Phase::Waiting | Phase::Starting));
        let longest = waits.max_by_key(|part| part.time);
        let is_much = |part: &&Part| part.time.0 as f64 >= 0.05 * total.0 as f64;
        let begin_with = longest.filter(is_much).and_then(|part| part.loader.clone());
        Some(Self {
            total,
            parts,
            begin_with: begin_with.map(|(_, name)| name),
        })
    }

    /// Returns the time that the program waited for all its loaders, as in `waited 2.50 s of 50.5 s for all its loaders (5 %)`.
    pub fn waited(&self) -> String {
        let is_wait = |part: &&Part| matches!(part.what, Phase::Waiting | Phase::Starting);
        let waits = self.parts.iter().filter(is_wait);
        let waited = waits.fold(Nanos::ZERO, |sum, part| sum + part.time);
        let share = percent(waited.0 as f64 / self.total.0.max(1) as f64);
        let (waited, total) = (waited.format_in_unit_of(self.total), self.total);
        say!("waited {waited} of {total} for all its loaders ({share})")
    }

    /// Returns the share of a part in the total time, 0 to 1.
    pub fn share(&self, part: &Part) -> f64 {
        part.time.0 as f64 / self.total.0.max(1) as f64
    }

    /// Returns the parts, and the loader to improve first, in one or two sentences.
    pub fn sentence(&self) -> String {
        let weighty = self
            .parts
            .iter()
            .filter(|part| self.share(part) >= MIN_SHARE);
        let parts = weighty.take(NAMED);
        let parts: Vec<String> = parts
            .map(|part| format!("{} {}", part.label(), percent(self.share(part))))
            .collect();
        let text = say!(
            "The program took {}: {}",
            self.total,
            parts.join(say!(", "))
        );
        match &self.begin_with {
            Some(loader) => join(&text, &say!("Start with {loader}")),
            None => text,
        }
    }

    /// Returns the parts as a JSON object.
    pub fn json(&self) -> Value {
        let parts = self.parts.iter().map(|part| {
            json!({
                "what": part.what.id(),
                "loader": part.loader.as_ref().map(|(id, _)| id.0),
                "name": part.loader.as_ref().map(|(_, name)| name),
                "seconds": part.time.as_secs_f64(),
                "share": self.share(part),
            })
        });
        json!({
            "seconds": self.total.as_secs_f64(),
            "parts": parts.collect::<Vec<_>>(),
            "begin_with": self.begin_with,
        })
    }
}

impl Part {
    /// Returns the activity with its loader, as in `waiting for train.py:42`.
    pub fn label(&self) -> String {
        let name = self.loader.as_ref().map_or("", |(_, name)| name);
        match self.what {
            Phase::Steps => say!("steps of {name}"),
            Phase::Waiting => say!("waiting for {name}"),
            Phase::Starting => say!("starting workers of {name}"),
            Phase::Elsewhere => say!("outside the loops").to_owned(),
        }
    }
}

fn parts_of(loader: &(RunId, String), run: &Run) -> Vec<Part> {
    let blame = Blame::between(run, Nanos(i64::MIN), Nanos::MAX);
    let late = blame.time_of(Cause::Starting).unwrap_or_default();
    let waited = run.waited();
    let (waiting, starting) = ((waited - late).max(Nanos::ZERO), run.opening() + late);
    let steps = run.in_loop() - waited - run.opening();
    let parts = [
        (Phase::Steps, steps),
        (Phase::Waiting, waiting),
        (Phase::Starting, starting),
    ];
    let part = |(what, time)| Part {
        what,
        loader: Some(loader.clone()),
        time,
    };
    parts.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunInfo, SourceLine, Stage};

    use super::*;

    /// Returns a run without workers: a wait of `wait` ms and a step of `step` ms for each batch.
    fn loader(line: u32, start: i64, batches: u32, wait: i64, step: i64) -> Run {
        let mut run = Run::new(RunInfo {
            made_at: Some(SourceLine {
                file: "train.py".to_owned(),
                line,
                name: format!("train.py:{line}"),
            }),
            ..RunInfo::default()
        });
        let mut tell = |at: i64, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(at),
                run: RunId(0),
                kind,
            });
        };
        tell(start, EventKind::EpochStarted { epoch: 0 });
        let mut now = start;
        for idx in 0..batches {
            let batch = BatchId { epoch: 0, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            tell(now, EventKind::dispatched(batch, None, [u64::from(idx)]));
            tell(now, EventKind::Consumer { waiting: true });
            tell(now, enter(Stage::Fetching));
            now += wait;
            tell(now, enter(Stage::Training));
            now += step;
            tell(now, enter(Stage::Done));
        }
        tell(now, EventKind::EpochEnded { epoch: 0 });
        run
    }

    #[test]
    fn program_time_is_divided_among_its_loaders() {
        // Training takes 1 s with 0.2 s of steps, other work 0.5 s, validation 0.5 s with 0.4 s of steps.
        let train = loader(42, 0, 10, 80, 20);
        let validate = loader(50, 1_500, 5, 20, 80);
        let all = [(RunId(0), &train), (RunId(1), &validate)];
        let program = Program::of(&all, RunId(1)).expect("there are two");
        assert_eq!(program.total, Nanos::from_millis(2_000));
        let sentence = program.sentence().replace('\u{2009}', " ");
        assert_eq!(
            sentence,
            "The program took 2.00 s: waiting for train.py:42 40 %, outside the loops 25 %, steps of train.py:50 20 %, \
             steps of train.py:42 10 %, waiting for train.py:50 5.0 %. Start with train.py:42."
        );
        let shares: f64 = program.parts.iter().map(|part| program.share(part)).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        assert_eq!(program.json()["parts"][0]["what"], "waiting");
        assert_eq!(Program::of(&all[..1], RunId(0)), None);
    }

    #[test]
    fn loaders_of_one_source_line_have_different_names() {
        let mut train = loader(13, 0, 10, 80, 20);
        train.info.options.shuffle = true;
        let validate = loader(13, 1_500, 5, 20, 80);
        let all = [(RunId(0), &train), (RunId(1), &validate)];
        let program = Program::of(&all, RunId(0)).expect("there are two");
        let sentence = program.sentence();
        assert!(
            sentence.contains("waiting for train.py:13 · shuffle=True"),
            "{sentence}"
        );
        assert!(
            sentence.contains("waiting for train.py:13 · shuffle=False"),
            "{sentence}"
        );
        let known = names(&all);
        let named = program.parts.iter().filter_map(|part| part.loader.as_ref());
        assert!(
            named
                .into_iter()
                .all(|(id, name)| *name == known[id.0 as usize])
        );
        assert_eq!(program.begin_with.as_ref(), Some(&known[0]));
    }

    #[test]
    fn loaders_of_different_ranks_share_no_program() {
        let train = loader(42, 0, 10, 80, 20);
        let mut other = loader(42, 0, 10, 80, 20);
        other.info.rank = 1;
        let all = [(RunId(0), &train), (RunId(1), &other)];
        assert_eq!(Program::of(&all, RunId(0)), None);
    }
}
