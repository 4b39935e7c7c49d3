//! Runs with a hidden end, if the moment is between events with the same time or within a fetch.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Counter, Event, EventKind, Lane, Moment, Nanos, Run, RunId};

/// Regression test: a step ends and the next one begins at the same time. The headline counted the next step in full, `60 ms of 120 ms` at
/// 100 ms.
#[test]
fn a_step_that_begins_after_the_moment_is_not_counted() {
    use loadscope_trace::{BatchId, Stage};

    let id = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: id(idx),
        stage,
    };
    let mut events = Vec::new();
    let mut tell = |ms: i64, kind| {
        events.push(Event {
            at: Nanos::from_millis(ms),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..5 {
        tell(0, EventKind::dispatched(id(idx), Some(0), [u64::from(idx)]));
    }
    tell(0, EventKind::Consumer { waiting: true });
    for idx in 0..5 {
        tell(60, enter(idx, Stage::Held));
    }
    for idx in 0..5 {
        let at = 60 + 20 * i64::from(idx);
        tell(at, enter(idx, Stage::Ready));
        tell(at, enter(idx, Stage::Training));
        tell(at + 20, enter(idx, Stage::Done));
    }
    let mut whole = Run::default();
    events.iter().for_each(|event| whole.apply(event));
    let mut then = Run::default();
    for event in &events {
        then.apply(event);
        let moment = Moment {
            step: then.transitions().len(),
            at: then.end(),
        };
        whole.hide_after(Some(moment));
        let numbers = |run: &Run| (run.waited(), run.in_loop(), run.yields().all().len());
        assert_eq!(numbers(&whole), numbers(&then), "{moment:?}");
        assert_eq!(whole.in_loop(), then.end(), "{moment:?}");
        let headline = |run: &Run| WaitSummary::of(run).headline();
        assert_eq!(headline(&whole), headline(&then), "{moment:?}");
        let held =
            |run: &Run| run.counter(Counter::In(Lane::Worker(0)), Nanos::ZERO, then.end(), 3);
        assert_eq!(
            format!("{:?}", held(&whole)),
            format!("{:?}", held(&then)),
            "{moment:?}"
        );
    }
}

/// Regression test: "sample 19 of 32" became "32 samples" when the future was hidden, although the samples were fetched before the moment.
#[test]
fn samples_fetched_before_the_moment_are_shown() {
    use loadscope_trace::{BatchId, Fetched, SampleTiming, Stage};

    let id = |idx| BatchId { epoch: 0, idx };
    let mut events = Vec::new();
    let mut tell = |at: i64, kind| {
        let (at, run) = (Nanos(at), RunId(0));
        events.push(Event { at, run, kind });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..4 {
        let kind = EventKind::dispatched(id(idx), Some(idx as u16 % 2), [7, 8, 9]);
        tell(0, kind);
    }
    for idx in 0..4u32 {
        let start = 10 + 40 * i64::from(idx / 2);
        let stage = Stage::Fetching;
        tell(
            start,
            EventKind::Entered {
                batch: id(idx),
                stage,
            },
        );
        let sample = |k: i64| SampleTiming {
            start: Nanos(start + 10 * k),
            wall: Nanos(10),
            cpu: None,
        };
        let fetched = Fetched {
            batch: id(idx),
            samples: (0..3).map(sample).collect(),
            stages: Vec::new(),
        };
        tell(start + 30, EventKind::Fetched(Box::new(fetched)));
        let stage = Stage::Returning;
        tell(
            start + 30,
            EventKind::Entered {
                batch: id(idx),
                stage,
            },
        );
    }
    events.sort_by_key(|event| event.at);
    let mut run = Run::default();
    events.iter().for_each(|event| run.apply(event));
    let begun = |run: &Run, at: Nanos| -> Vec<_> {
        let of = |row: usize| (row, run.samples_begun(row, at));
        let all = (0..run.batches().len()).map(of);
        let known = all.map(|(row, (count, begun))| (row, count, begun.collect::<Vec<_>>()));
        known.collect()
    };
    let mut seen = 0;
    for at in (0..run.end().0).map(Nanos) {
        let shown = begun(&run, at);
        let step = run.transitions().partition_point(|t| t.at <= at);
        run.hide_after(Some(Moment { step, at }));
        assert_eq!(begun(&run, at), shown, "at {at:?}");
        seen += shown
            .iter()
            .filter(|(.., samples)| !samples.is_empty())
            .count();
        for (_, _, samples) in &shown {
            assert!(samples.iter().all(|sample| sample.start <= at));
        }
        run.hide_after(None);
    }
    assert!(seen > 100, "{seen}");
}
