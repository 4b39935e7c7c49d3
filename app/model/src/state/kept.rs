//! The runs of this window: the shown one and earlier ones. A new run loses no earlier run.

use std::path::Path;

use loadscope_diagnose::WaitSummary;
use loadscope_insight::format::{percent, plural};
use loadscope_trace::{Nanos, Origin, RunOptions};
use loadscope_words::say;

use super::parts::{SessionState, Source};

/// An earlier run, which is not shown.
#[derive(Debug)]
pub struct KeptRun {
    /// The run and its session.
    pub session: SessionState,
    /// Line in the list of runs.
    pub line: RunLine,
    /// Memory use, bytes.
    pub bytes: u64,
    /// Memory use of the batch contents, bytes.
    pub content_bytes: u64,
}

/// Line of a run in the list: `#1 digits, 4 workers · 7.0 s · waits 54 %`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLine {
    /// Dataset and number of workers.
    pub name: String,
    /// Duration. `None` while the run is live.
    pub took: Option<Nanos>,
    /// Fraction of the duration that the trainer waited. `None` if there is no data about a trainer.
    pub share: Option<f64>,
    /// True if an error ended the run.
    pub failed: bool,
}

/// Earlier runs, ordered by their start.
#[derive(Debug, Default)]
pub struct KeptRuns {
    list: Vec<KeptRun>,
    /// Highest number so far.
    numbered: u32,
}

/// Runs and contents to remove when there is no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surplus {
    /// Numbers of runs that lose their contents.
    pub contents: Vec<u32>,
    /// Numbers of runs to drop.
    pub runs: Vec<u32>,
}

impl RunLine {
    /// Returns the line of a run in its current state. A long run takes a while to analyze.
    pub fn of(session: &SessionState) -> Self {
        let is_known = !session.run.epochs().is_empty();
        Self::with(
            session,
            is_known.then(|| WaitSummary::of(&session.run).share()),
        )
    }

    /// Returns the line of a run with a known waiting fraction.
    pub fn with(session: &SessionState, share: Option<f64>) -> Self {
        let run = &session.run;
        let has_trainer = !run.has_only_parts();
        Self {
            name: name(session),
            took: (!session.source.is_live()).then(|| run.in_loop()),
            // Same rule as the verdict above the pipeline. Without a batch there was no wait.
            share: share.filter(|_| has_trainer && !run.batches().is_empty()),
            failed: run.failure().is_some(),
        }
    }

    /// Returns the end of the line: duration and outcome.
    pub fn outcome(&self) -> String {
        let Some(took) = self.took else {
            return say!("running").to_owned();
        };
        match (self.failed, self.share) {
            (true, _) => say!("{took} · failed"),
            (false, Some(share)) => say!("{took} · waits {}", percent(share)),
            (false, None) => took.to_string(),
        }
    }
}

/// Formats `digits, 4 workers`.
fn name(session: &SessionState) -> String {
    if let Source::Recording { path, .. } = &session.source {
        return file_name(path);
    }
    let info = &session.run.info;
    let loaded = match info.origin {
        Origin::Engine | Origin::Simulation => short(&info.options),
        Origin::Pytorch(_) | Origin::Import(_) => info.dataset.clone(),
    };
    let workers = plural(
        info.options.num_workers as u64,
        say!(n: "worker"),
        say!(n: "workers"),
    );
    let how = match info.origin {
        Origin::Simulation => say!(", simulated"),
        _ => "",
    };
    // Two runs can differ only in this option.
    let order = match info.options.num_workers > 0 && !info.options.in_order {
        true => ", in_order=False",
        false => "",
    };
    say!("{loaded}, {workers}{order}{how}")
}

/// Returns a short name of the dataset: `digits`, or the name of a folder or file.
fn short(options: &RunOptions) -> String {
    match options.dataset.split_once(':') {
        Some(("synthetic", _)) => "synthetic".to_owned(),
        Some(("stream", _)) => say!("synthetic iterable").to_owned(),
        Some((kind, rest)) => {
            let path = rest.split(',').next().unwrap_or_default();
            match file_name(Path::new(path)) {
                name if name.is_empty() => kind.to_owned(),
                name => name,
            }
        }
        None => options.dataset.clone(),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

impl KeptRun {
    fn new(session: SessionState) -> Self {
        let runs = session.loaders.all(&session.run);
        Self {
            line: RunLine::of(&session),
            bytes: runs.iter().map(|(_, run)| run.bytes()).sum(),
            content_bytes: session.run.content_bytes(),
            session,
        }
    }

    /// Recomputes line and memory use after new events or the end of the run.
    pub fn refresh(&mut self) {
        let session = std::mem::take(&mut self.session);
        *self = Self::new(session);
    }

    /// Returns the number in the list, counted from 1.
    pub fn number(&self) -> u32 {
        self.session.number
    }
}

impl KeptRuns {
    /// Maximum number of runs, including the shown one.
    pub const MOST: usize = 20;
    /// Maximum memory use of the runs that are not shown, bytes.
    pub const MOST_BYTES: u64 = 1 << 30;

    /// Returns the runs that are not shown, ordered by number.
    pub fn all(&self) -> &[KeptRun] {
        &self.list
    }

    /// Returns the run with this number. Returns `None` if it is shown or does not exist.
    pub fn get(&self, number: u32) -> Option<&KeptRun> {
        self.list.iter().find(|kept| kept.number() == number)
    }

    /// Returns the run with this number, mutably.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut KeptRun> {
        self.list.iter_mut().find(|kept| kept.number() == number)
    }

    /// Returns the number of the next run.
    pub fn next_number(&self) -> u32 {
        self.numbered + 1
    }

    /// Stores the session if it is worth keeping. Returns its number.
    pub fn keep(&mut self, session: SessionState) -> Option<u32> {
        if !session.is_worth_keeping() {
            return None;
        }
        let number = session.number;
        self.numbered = self.numbered.max(number);
        let place = self.list.partition_point(|kept| kept.number() < number);
        self.list.insert(place, KeptRun::new(session));
        Some(number)
    }

    /// Removes and returns the session with this number.
    pub fn take(&mut self, number: u32) -> Option<SessionState> {
        let place = self.list.iter().position(|kept| kept.number() == number)?;
        Some(self.list.remove(place).session)
    }

    /// Returns the position of the run with this number in the list.
    pub fn place(&self, number: u32) -> Option<usize> {
        self.list.iter().position(|kept| kept.number() == number)
    }

    /// Returns the run at this position in the list, mutably.
    pub fn at_mut(&mut self, place: usize) -> Option<&mut KeptRun> {
        self.list.get_mut(place)
    }

    /// Marks all runs as discarded.
    pub fn discard_all(&mut self) {
        self.list
            .iter_mut()
            .for_each(|kept| kept.session.discarded = true);
    }

    /// Returns what to remove: the oldest contents first, then the oldest runs. Starred runs stay.
    pub fn surplus(&self) -> Surplus {
        self.beyond(Self::MOST, Self::MOST_BYTES)
    }

    fn beyond(&self, most: usize, most_bytes: u64) -> Surplus {
        let mut surplus = Surplus::default();
        let mut bytes: u64 = self.list.iter().map(|kept| kept.bytes).sum();
        let mut count = self.list.len() + 1;
        let unstarred = || self.list.iter().filter(|kept| !kept.session.starred);
        for kept in unstarred().filter(|kept| kept.content_bytes > 0) {
            if bytes <= most_bytes {
                break;
            }
            bytes -= kept.content_bytes;
            surplus.contents.push(kept.number());
        }
        for kept in unstarred() {
            if bytes <= most_bytes && count <= most {
                break;
            }
            let emptied = surplus.contents.contains(&kept.number());
            bytes -= kept.bytes - if emptied { kept.content_bytes } else { 0 };
            count -= 1;
            surplus.runs.push(kept.number());
        }
        surplus
            .contents
            .retain(|number| !surplus.runs.contains(number));
        surplus
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Run, RunId, Stage};
    use proptest::prelude::*;

    use super::*;

    fn session(number: u32) -> SessionState {
        let mut run = Run::default();
        run.info.options.num_workers = 4;
        let batch = BatchId::default();
        let enter = |stage| EventKind::Entered { batch, stage };
        for (ms, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, Some(0), [])),
            (0, EventKind::Consumer { waiting: true }),
            (10, enter(Stage::Fetching)),
            (1000, enter(Stage::Training)),
            (2000, enter(Stage::Done)),
            (2000, EventKind::EpochEnded { epoch: 0 }),
        ] {
            let (at, run_id) = (Nanos::from_millis(ms), RunId(0));
            run.apply(&Event {
                at,
                run: run_id,
                kind,
            });
        }
        SessionState {
            number,
            run,
            source: Source::Finished,
            ..SessionState::default()
        }
    }

    #[test]
    fn a_run_line_has_dataset_workers_and_outcome() {
        let mut session = session(1);
        let line = RunLine::of(&session);
        let outcome = line.outcome().replace('\u{2009}', " ");
        assert_eq!(
            (line.name.as_str(), outcome.as_str()),
            ("digits, 4 workers", "2.00 s · waits 50 %")
        );
        session.run.info.options.dataset = "folder:/data/flowers".to_owned();
        assert_eq!(RunLine::of(&session).name, "flowers, 4 workers");
        session.source = Source::Live { paused: false };
        assert_eq!(RunLine::of(&session).outcome(), "running");
        let path = "/runs/monday.jsonl.zst".into();
        session.source = Source::Recording { path, cut: false };
        assert_eq!(RunLine::of(&session).name, "monday.jsonl.zst");
    }

    #[test]
    fn an_empty_run_is_not_kept_and_gets_no_number() {
        let mut runs = KeptRuns::default();
        let empty = SessionState {
            number: 1,
            source: Source::Finished,
            ..SessionState::default()
        };
        assert_eq!(runs.keep(empty), None);
        assert_eq!(runs.next_number(), 1);
        assert_eq!(runs.keep(session(1)), Some(1));
        assert_eq!(runs.next_number(), 2);
        assert!(runs.take(1).is_some() && runs.take(1).is_none());
        assert_eq!(runs.next_number(), 2, "no two runs have the same number");
    }

    /// Regression test: the run of an empty dataset was missing from the list.
    #[test]
    fn a_run_that_ended_without_a_batch_is_kept() {
        let mut run = Run::default();
        for (ms, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::Consumer { waiting: true }),
            (1, EventKind::EpochEnded { epoch: 0 }),
            (1, EventKind::RunEnded),
        ] {
            let (at, run_id) = (Nanos::from_millis(ms), RunId(0));
            run.apply(&Event {
                at,
                run: run_id,
                kind,
            });
        }
        let session = SessionState {
            number: 1,
            run,
            source: Source::Finished,
            ..SessionState::default()
        };
        let line = RunLine::of(&session);
        assert_eq!((line.share, line.failed), (None, false));
        assert_eq!(KeptRuns::default().keep(session), Some(1));
    }

    proptest! {
        /// Contents are removed before runs, the oldest first. Starred runs stay.
        #[test]
        fn runs_above_the_limits_are_removed_oldest_first(
            sizes in prop::collection::vec((0..50u64, 0..50u64, any::<bool>()), 0..30),
            most in 2..25usize,
            most_bytes in 0..800u64,
        ) {
            let mut runs = KeptRuns::default();
            for (number, (content, rest, starred)) in (1..).zip(&sizes) {
                runs.keep(SessionState { starred: *starred, ..session(number) });
                let kept = runs.get_mut(number).expect("kept");
                (kept.content_bytes, kept.bytes) = (*content, content + rest);
            }
            let surplus = runs.beyond(most, most_bytes);
            let starred = |number: &u32| sizes[*number as usize - 1].2;
            prop_assert!(!surplus.runs.iter().chain(&surplus.contents).any(starred));
            prop_assert!(surplus.runs.is_sorted() && surplus.contents.is_sorted());
            let left: Vec<&KeptRun> = runs.all().iter().filter(|k| !surplus.runs.contains(&k.number())).collect();
            let bytes: u64 = left.iter().map(|kept| match surplus.contents.contains(&kept.number()) {
                true => kept.bytes - kept.content_bytes,
                false => kept.bytes,
            }).sum();
            let fits = bytes <= most_bytes && left.len() < most;
            prop_assert!(fits || left.iter().all(|kept| kept.session.starred));
        }
    }
}
