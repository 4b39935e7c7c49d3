//! Choice of the verdict among several findings.

use super::*;
use loadscope_diagnose::Blame;

fn ids(run: &Run) -> Vec<FindingId> {
    diagnosis(run).findings.iter().map(|f| f.id).collect()
}

#[test]
fn a_slow_collate_fn_precedes_missing_or_too_few_workers() {
    for workers in [0, 1] {
        let program = Program {
            workers,
            batches: 40,
            fetch: 5,
            collate: 60,
            step: 10,
        };
        let run = program.run(vec![(0, ENDED)]);
        let found = ids(&run);
        assert_eq!(found.first(), Some(&FindingId::SlowCollate), "{found:?}");
        let reading = Program {
            fetch: 60,
            collate: 5,
            ..program
        };
        let found = ids(&reading.run(vec![(0, ENDED)]));
        assert!(!found.contains(&FindingId::SlowCollate), "{found:?}");
    }
}

#[test]
fn steps_that_take_most_of_the_time_are_the_bottleneck() {
    let program = Program {
        workers: 0,
        batches: 40,
        fetch: 3,
        collate: 1,
        step: 40,
    };
    let run = program.run(vec![(0, ENDED)]);
    let all = diagnosis(&run);
    let bound = all
        .findings
        .iter()
        .find(|f| f.id == FindingId::TrainingBound);
    let text = bound
        .map(|f| f.text.replace('\u{2009}', " "))
        .unwrap_or_default();
    assert_eq!(
        text,
        "Training is the bottleneck: steps take 91 % of the time (40.0 ms each), and waiting takes 9.1 %"
    );
    let fast = Program { step: 4, ..program };
    let found = ids(&fast.run(vec![(0, ENDED)]));
    assert!(!found.contains(&FindingId::TrainingBound), "{found:?}");
}

/// Returns two epochs whose only worker needs a second before its first batch. The first worker ends after the start of the second one.
/// Some frameworks cause this: they begin the next epoch before they drop the previous iterator.
fn overlapping(tells_which: bool) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 1,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    });
    let started = |os_id| {
        EventKind::WorkerStarted(Box::new(WorkerInfo {
            worker: 0,
            seed: None,
            os_id: Some(os_id),
        }))
    };
    let ended = |os_id: u32| EventKind::WorkerEnded {
        worker: 0,
        reason: EndReason::Finished,
        os_id: tells_which.then_some(os_id),
    };
    let mut all = Vec::new();
    let mut now = 0;
    for epoch in 0..2 {
        all.push((now, EventKind::EpochStarted { epoch }));
        all.push((now + 2, started(100 + u64::from(epoch))));
        if epoch == 1 {
            all.push((now + 8, ended(100)));
        }
        all.push((now + 10, EventKind::Consumer { waiting: true }));
        now += 1000;
        for idx in 0..20 {
            let batch = BatchId { epoch, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            let sent = now.min(i64::from(epoch) * 1400 + 9);
            all.push((
                sent,
                EventKind::dispatched(batch, Some(0), [u64::from(idx)]),
            ));
            all.push((now, enter(Stage::Fetching)));
            all.push((now + 8, enter(Stage::Collating)));
            all.push((now + 9, enter(Stage::Returning)));
            all.push((now + 10, enter(Stage::Training)));
            now += 20;
            all.push((now, enter(Stage::Done)));
            if idx < 19 {
                all.push((now, EventKind::Consumer { waiting: true }));
            }
        }
        all.push((now, EventKind::EpochEnded { epoch }));
    }
    all.push((now, ended(101)));
    all.sort_by_key(|(at, _)| *at);
    for (at, kind) in all {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    }
    run
}

#[test]
fn a_late_worker_end_does_not_end_the_next_epochs_worker() {
    let run = overlapping(true);
    let ends: Vec<_> = run
        .workers()
        .iter()
        .map(|w| w.end.map(|(at, _)| at))
        .collect();
    assert_eq!(
        ends,
        [
            Some(Nanos::from_millis(1408)),
            Some(Nanos::from_millis(2800))
        ]
    );
    let blame = Blame::whole(&run);
    let starting = blame.time_of(Cause::Starting).unwrap_or_default();
    assert!(starting > Nanos::from_millis(1900), "{starting}");
    let found = ids(&run);
    assert!(!found.contains(&FindingId::SlowerThanNone), "{found:?}");
    assert!(found.contains(&FindingId::EpochRefill), "{found:?}");
    // Older recordings have no process id, so the newest worker counts as ended.
    assert_eq!(overlapping(false).workers().len(), 2);
}
