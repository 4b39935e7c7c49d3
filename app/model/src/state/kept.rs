//! The runs of this window: the one that is shown, and those that were shown before. Nothing is lost by running again.

use std::path::Path;

use loadscope_diagnose::Glance;
use loadscope_insight::format::{percent, plural};
use loadscope_trace::{Nanos, Origin, RunOptions};
use loadscope_words::say;

use super::parts::SessionState;
use super::source::Source;

/// A run that another one took the place of.
#[derive(Debug)]
pub struct KeptRun {
    /// All that goes with it.
    pub session: SessionState,
    /// What stands about it in the list.
    pub line: RunLine,
    /// The memory that it takes, bytes.
    pub bytes: u64,
    /// The part of that for the contents of its batches.
    pub content_bytes: u64,
}

/// What stands about a run in the list: `#1 digits, 4 workers · 7.0 s · waits 54 %`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLine {
    /// What it loaded, and with how many workers.
    pub name: String,
    /// How long it took; `None` while it lasts.
    pub took: Option<Nanos>,
    /// The share of that for which the trainer waited; `None` where nothing is known of a trainer.
    pub share: Option<f64>,
    /// An error ended it.
    pub failed: bool,
}

/// The runs that were shown before, in the order in which they began.
#[derive(Debug, Default)]
pub struct KeptRuns {
    list: Vec<KeptRun>,
    /// The highest number so far.
    numbered: u32,
}

/// What there is no room for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surplus {
    /// Runs whose contents go.
    pub contents: Vec<u32>,
    /// Runs that go.
    pub runs: Vec<u32>,
}

impl RunLine {
    /// Of a run as it is now. A long one is looked at for a while.
    pub fn of(session: &SessionState) -> Self {
        let is_known = !session.run.epochs().is_empty();
        Self::with(session, is_known.then(|| Glance::of(&session.run).share()))
    }

    /// Of a run whose trainer waited for this share of the time, if that is known.
    pub fn with(session: &SessionState, share: Option<f64>) -> Self {
        let run = &session.run;
        let has_trainer = !run.has_only_parts();
        Self {
            name: name(session),
            took: (!session.source.is_live()).then(|| run.in_loop()),
            // As in the verdict above the pipeline. Without a batch there was nothing to wait for.
            share: share.filter(|_| has_trainer && !run.batches().is_empty()),
            failed: run.failure().is_some(),
        }
    }

    /// The end of its line: how long it took, and how it went.
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

/// `digits, 4 workers`
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
    // Two runs may differ in nothing else.
    let order = match info.options.num_workers > 0 && !info.options.in_order {
        true => ", in_order=False",
        false => "",
    };
    say!("{loaded}, {workers}{order}{how}")
}

/// What is loaded, in a word: `digits`, or the name of a folder or file.
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

    /// It has got events, or has ended.
    pub fn refresh(&mut self) {
        let session = std::mem::take(&mut self.session);
        *self = Self::new(session);
    }

    /// Its number in the list, from 1.
    pub fn number(&self) -> u32 {
        self.session.number
    }
}

impl KeptRuns {
    /// So many runs are there at most, with the one that is shown.
    pub const MOST: usize = 20;
    /// So much memory those that are not shown take at most, bytes.
    pub const MOST_BYTES: u64 = 1 << 30;

    /// Those that are not shown, in order of number.
    pub fn all(&self) -> &[KeptRun] {
        &self.list
    }

    /// The one with this number, unless it is shown.
    pub fn get(&self, number: u32) -> Option<&KeptRun> {
        self.list.iter().find(|kept| kept.number() == number)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut KeptRun> {
        self.list.iter_mut().find(|kept| kept.number() == number)
    }

    /// The number of the next run to begin.
    pub fn next_number(&self) -> u32 {
        self.numbered + 1
    }

    /// Puts aside what was shown, if there is anything in it. Returns its number.
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

    /// Takes the one with this number out.
    pub fn take(&mut self, number: u32) -> Option<SessionState> {
        let place = self.list.iter().position(|kept| kept.number() == number)?;
        Some(self.list.remove(place).session)
    }

    /// Where in the list the one with this number is.
    pub fn place(&self, number: u32) -> Option<usize> {
        self.list.iter().position(|kept| kept.number() == number)
    }

    /// The one at this place in the list, to be changed.
    pub fn at_mut(&mut self, place: usize) -> Option<&mut KeptRun> {
        self.list.get_mut(place)
    }

    /// None of them is needed.
    pub fn discard_all(&mut self) {
        self.list
            .iter_mut()
            .for_each(|kept| kept.session.discarded = true);
    }

    /// What there is no room for: the oldest contents first, then the oldest runs. Those with a star stay.
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
    fn a_run_is_named_by_what_it_loaded_and_how_it_went() {
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
    fn what_has_nothing_in_it_is_not_kept_and_gets_no_number() {
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

    /// The run of an empty dataset was not in the list.
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
        /// Contents go before runs, the oldest first, and never what has a star.
        #[test]
        fn there_is_room_for_so_much(
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
