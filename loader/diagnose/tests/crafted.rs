//! Crafted recordings: the diagnosis terminates, and its sums are consistent.

use loadscope_diagnose::{Blame, Diagnosis};
use loadscope_trace::{BatchId, Event, EventKind, Lane, Nanos, Run, RunId, RunInfo, Stage};

/// A lane has at most 65,535 rows. Row numbers must not overflow.
#[test]
fn a_full_lane_does_not_overflow_row_numbers() {
    let mut run = Run::new(RunInfo::default());
    let mut tell = |at, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    tell(1, EventKind::Consumer { waiting: true });
    let batches = || (0..66_000).map(|idx| BatchId { epoch: 0, idx });
    for batch in batches() {
        tell(
            2,
            EventKind::dispatched(batch, Some(0), [u64::from(batch.idx)]),
        );
    }
    for (at, stage) in [(3, Stage::Fetching), (4, Stage::Held)] {
        for batch in batches() {
            tell(at, EventKind::Entered { batch, stage });
        }
    }
    tell(1_000_000_000, EventKind::RunEnded);
    assert_eq!(run.rows_of(Lane::Reorder).count(), usize::from(u16::MAX));
    let diagnosis = Diagnosis::of(&run, None, Vec::new());
    assert_eq!(Blame::whole(&run).waited, run.waited(), "{diagnosis:?}");
}
