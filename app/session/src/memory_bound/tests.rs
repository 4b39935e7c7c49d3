use loadscope_insight::loaders::Loaders;
use loadscope_trace::{BatchId, EventKind, Nanos, Run, RunId, RunInfo, Stage, Summary};
use proptest::prelude::*;

use super::*;
use crate::Limits;

fn event(run: u32, at: i64, kind: EventKind) -> Event {
    let (at, run) = (Nanos(at), RunId(run));
    Event { at, run, kind }
}

/// Loaders of one program that take turns, with a long wait every `long` batches.
struct Training {
    at: i64,
    next: Vec<u32>,
    turn: usize,
    long: u32,
}

impl Training {
    fn new(loaders: usize, long: u32) -> (Self, Vec<Event>) {
        let mut events = Vec::new();
        for run in 0..loaders as u32 {
            let info = RunInfo {
                dataset: format!("of {run}"),
                ..RunInfo::default()
            };
            events.push(event(run, 0, EventKind::RunStarted(Box::new(info))));
            events.push(event(run, 0, EventKind::EpochStarted { epoch: 0 }));
        }
        let training = Self {
            at: 0,
            next: vec![0; loaders],
            turn: 0,
            long,
        };
        (training, events)
    }

    fn batch(&mut self, out: &mut Vec<Event>) {
        self.turn = (self.turn + 1) % self.next.len();
        let run = self.turn as u32;
        let idx = self.next[self.turn];
        self.next[self.turn] += 1;
        let batch = BatchId { epoch: 0, idx };
        let enter = |stage| EventKind::Entered { batch, stage };
        let wait = match idx % self.long {
            0 => 120_000_000 + i64::from(idx),
            _ => 1_000_000,
        };
        let (start, got) = (self.at, self.at + wait);
        self.at = got + 9_000_000;
        out.extend([
            event(
                run,
                start,
                EventKind::dispatched(batch, Some(0), vec![7; 4]),
            ),
            event(run, start, EventKind::Consumer { waiting: true }),
            event(run, start + 10, enter(Stage::Fetching)),
            event(run, got, enter(Stage::Training)),
            event(run, self.at, enter(Stage::Done)),
        ]);
    }
}

/// The loaders in the window.
#[derive(Default)]
struct Shown {
    loaders: Loaders,
    run: Run,
    rebuilt: usize,
    largest: u64,
}

impl Shown {
    fn take(&mut self, events: &[Event]) {
        for event in events {
            self.loaders.apply(&mut self.run, event);
        }
    }

    fn replace_runs(&mut self, rebuilt: RebuiltRuns) {
        for (_, run, landmarks) in &rebuilt.runs {
            assert_eq!(*landmarks, Landmarks::of(run));
        }
        let all = rebuilt.runs.into_iter().map(|(id, run, _)| (id, run));
        self.loaders.replace(&mut self.run, all.collect());
        self.rebuilt += 1;
    }

    fn bytes(&self) -> u64 {
        self.all().values().map(|run| run.bytes()).sum()
    }

    fn all(&self) -> BTreeMap<RunId, &Run> {
        self.loaders.all(&self.run).into_iter().collect()
    }
}

/// Plays `batches` batches in chunks of `chunk` events.
fn play(
    (batches, loaders, long): (usize, usize, u32),
    (memory, chunk): (u64, usize),
) -> (Shown, Fleet) {
    let (mut training, mut events) = Training::new(loaders, long);
    let (mut bound, mut shown) = (MemoryBound::new(memory), Shown::default());
    let mut full = Fleet::default();
    for k in 0..=batches {
        if events.len() >= chunk || k == batches {
            let rebuilt = bound.record(&events);
            shown.take(&events);
            shown.largest = shown.largest.max(shown.bytes());
            rebuilt
                .into_iter()
                .for_each(|runs| shown.replace_runs(runs));
            events.drain(..).for_each(|event| full.apply(&event));
        }
        if k < batches {
            training.batch(&mut events);
        }
    }
    (shown, full)
}

/// Checks that counts, waits and times equal those of a complete run.
fn assert_same(found: &Run, full: &Run) {
    let (mut a, b) = (Summary::of(found), Summary::of(full));
    assert!(
        (a.waited_seconds - b.waited_seconds).abs() < 1e-6,
        "{} {}",
        a.waited_seconds,
        b.waited_seconds
    );
    assert!(
        (a.seconds - b.seconds).abs() < 1e-6,
        "{} {}",
        a.seconds,
        b.seconds
    );
    (a.seconds, a.samples_per_second) = (b.seconds, b.samples_per_second);
    a.waited_seconds = b.waited_seconds;
    assert_eq!(a, b);
}

/// Returns the end times of a run's long waits, including those in the kept data.
fn long_waits(run: &Run) -> Vec<Nanos> {
    let kept = run.past().map_or(&[][..], |past| past.kept());
    let kept = kept
        .iter()
        .filter_map(|(_, kept)| kept.wait.map(|(_, end)| end));
    let waits = run
        .waits()
        .iter()
        .filter(|w| w.end - w.start >= Limits::USUAL_LONG_WAIT);
    let mut all: Vec<Nanos> = kept.chain(waits.map(|w| w.end)).collect();
    all.sort_unstable();
    // A wait at the start of the first part is in both.
    all.dedup();
    all
}

#[test]
fn a_long_stream_stays_below_the_bound_with_equal_sums() {
    let memory = 24_000_000;
    let (shown, full) = play((300_000, 2, 5_000), (memory, 1024));
    assert!(shown.rebuilt >= 5, "{}", shown.rebuilt);
    assert!(shown.largest < memory / 2, "{}", shown.largest);
    let found = shown.all();
    for (id, full) in full.runs() {
        assert_same(found[&id], full);
        assert_eq!(long_waits(found[&id]), long_waits(full));
        assert_eq!(found[&id].anomalies(), (0, 0));
    }
}

/// Without room for all long waits, the shortest are removed. The run states the new minimum length.
#[test]
fn every_wait_above_the_stated_length_is_kept() {
    let (shown, full) = play((200_000, 3, 700), (4_000_000, 1024));
    let found = shown.all();
    for (id, full) in full.runs() {
        let past = found[&id].past().expect("a part has left");
        let long = past.retention().expect("it says what is kept").long_wait;
        assert!(long > Limits::USUAL_LONG_WAIT, "{long}");
        let waits = full.waits().iter().filter(|w| w.end - w.start >= long);
        let ends: Vec<Nanos> = waits.map(|w| w.end).collect();
        assert!(!ends.is_empty());
        let kept = long_waits(found[&id]);
        assert!(ends.iter().all(|end| kept.contains(end)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Any memory limit, number of loaders and pace.
    #[test]
    fn sums_plus_kept_events_equal_the_full_run(
        batches in 100..6_000usize,
        loaders in 1..5usize,
        memory in 100_000..2_000_000u64,
        chunk in 1..1500usize,
    ) {
        let (shown, full) = play((batches, loaders, 97), (memory, chunk));
        let found = shown.all();
        for (id, full) in full.runs() {
            assert_same(found[&id], full);
        }
    }
}

/// Regression test: runs accumulated in the channel of a hidden window.
#[test]
fn a_hidden_window_gets_one_rebuilt_run_at_a_time() {
    let (mut training, mut events) = Training::new(1, 1000);
    let memory = 200_000;
    let mut bound = MemoryBound::new(memory);
    let mut send = |batches| {
        let mut sent = Vec::new();
        for _ in 0..batches {
            (0..10).for_each(|_| training.batch(&mut events));
            sent.extend(bound.record(&events));
            events.clear();
            let smaller = bound.smaller.as_ref().map_or(0, |smaller| smaller.bytes);
            assert!(smaller < memory / 3, "{smaller}");
        }
        sent
    };
    let first = send(500);
    assert_eq!(first.len(), 1, "the window has not applied the first");
    drop(first);
    let second = send(500);
    assert_eq!(second.len(), 1);
    let (_, run, _) = &second[0].runs[0];
    assert!(
        run.bytes() > memory / 16,
        "recent events are in full detail"
    );
}
