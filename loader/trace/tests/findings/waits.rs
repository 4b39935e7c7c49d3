//! What is shown of the longest wait.

use loadscope_trace::{BatchId, Event, EventKind, Glance, Nanos, Run, RunId, RunInfo, Stage};

/// The longest wait of a run in which the batches behind batch 0 are held meanwhile.
fn longest_wait(held: u32) -> String {
    let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
    let batch = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: batch(idx),
        stage,
    };
    for idx in 0..=held {
        let worker = (idx > 0) as u16;
        all.push((
            0,
            EventKind::dispatched(batch(idx), Some(worker), [u64::from(idx)]),
        ));
    }
    all.push((0, EventKind::Consumer { waiting: true }));
    all.push((1, enter(0, Stage::Fetching)));
    for idx in 1..=held {
        let at = 10 * i64::from(idx);
        let stages = [
            Stage::Fetching,
            Stage::Collating,
            Stage::Returning,
            Stage::Held,
        ];
        all.extend(stages.map(|stage| (at, enter(idx, stage))));
    }
    let stages = [Stage::Collating, Stage::Returning, Stage::Training];
    all.extend(stages.map(|stage| (500, enter(0, stage))));
    all.push((500, EventKind::Consumer { waiting: false }));
    let mut run = Run::new(RunInfo::default());
    for (at, kind) in all {
        let at = Nanos(at * 1_000_000);
        run.apply(&Event {
            at,
            run: RunId(0),
            kind,
        });
    }
    Glance::of(&run).cause().unwrap_or_default()
}

#[test]
fn one_batch_was_finished_and_several_were() {
    assert!(!longest_wait(0).contains("finished"), "{}", longest_wait(0));
    let one = longest_wait(1);
    assert!(
        one.ends_with(" while batch 1 was already finished"),
        "{one}"
    );
    let two = longest_wait(2);
    assert!(
        two.ends_with(" while batches 1 and 2 were already finished"),
        "{two}"
    );
}
