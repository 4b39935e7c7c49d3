//! Description of the longest wait.

use loadscope_diagnose::{Evidence, FindingId, WaitSummary};
use loadscope_trace::{BatchId, Event, EventKind, Nanos, Run, RunId, RunInfo, Stage};

use super::{ENDED, Program, diagnosis};

/// Returns a run whose trainer waits 100 ms for batch 0, which worker 2 loads. `dispatched` is the time of its dispatch.
fn waiting(dispatched: i64, stages: &[(i64, Stage)]) -> Run {
    let batch = BatchId::default();
    let enter = |stage| EventKind::Entered { batch, stage };
    let mut all = vec![
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::Consumer { waiting: true }),
        (dispatched, EventKind::dispatched(batch, Some(2), [7])),
    ];
    all.extend(stages.iter().map(|(at, stage)| (*at, enter(*stage))));
    all.push((100, enter(Stage::Training)));
    let mut run = Run::new(RunInfo::default());
    for (at, kind) in all {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    }
    run
}

/// Regression test: the text "It was fetched by worker 0" contained neither the batch nor the time.
#[test]
fn each_wait_cause_names_the_batch_and_the_time() {
    use Stage::{Collating, Fetching, Pinning, Ready, Returning};
    for (dispatched, stages, why) in [
        (80, &[(80, Fetching)][..], "dispatching took 80.0 ms"),
        (
            0,
            &[(80, Fetching)][..],
            "waiting in the index queue of worker 2 took 80.0 ms",
        ),
        (
            0,
            &[(10, Fetching), (90, Returning)][..],
            "fetching in worker 2 took 80.0 ms",
        ),
        (
            0,
            &[(0, Fetching), (10, Collating), (80, Returning)][..],
            "collating in worker 2 took 70.0 ms",
        ),
        (
            0,
            &[(0, Fetching), (10, Returning)][..],
            "transfer to the main process took 90.0 ms",
        ),
        (
            0,
            &[(0, Fetching), (10, Returning), (20, Pinning), (90, Ready)][..],
            "pinning took 70.0 ms",
        ),
        (
            0,
            &[(0, Fetching), (10, Returning), (20, Ready)][..],
            "yielding took 80.0 ms",
        ),
    ] {
        let run = waiting(dispatched, stages);
        let wait = WaitSummary::of(&run).longest_wait().expect("it waits");
        let said = wait.describe_cause().replace('\u{2009}', " ");
        assert_eq!(said, format!("batch 0: {why}"));
    }
}

/// Regression test: the report of a truncated recording contained "has waited … so far".
#[test]
fn the_headline_says_so_far_only_for_a_live_run() {
    let mut run = waiting(0, &[(10, Stage::Fetching)]);
    let said = |run: &Run| WaitSummary::of(run).headline();
    assert!(run.is_live() && said(&run).contains(" so far"));
    run.close();
    assert!(!run.is_live() && !run.has_ended());
    assert!(
        said(&run).starts_with("The trainer waited "),
        "{}",
        said(&run)
    );
    assert!(!said(&run).contains("so far"), "{}", said(&run));
}

/// Returns the cause of the longest wait, during which `held` batches after batch 0 are held.
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
    WaitSummary::of(&run).cause().unwrap_or_default()
}

#[test]
fn the_longest_wait_names_the_batches_already_finished() {
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

/// Regression test: the evidence was the last of equal waits, at the end of the run.
#[test]
fn evidence_of_equal_waits_is_the_first_wait() {
    let program = Program {
        workers: 1,
        batches: 40,
        fetch: 30,
        collate: 0,
        step: 5,
    };
    let run = program.run(vec![(0, ENDED)]);
    let found = diagnosis(&run).findings;
    let starved = found.iter().find(|f| f.id == FindingId::StarvedWorkers);
    let starved = starved.expect("one worker is too few");
    // The wait for batch 0 is the first of the epoch, which has its own kind.
    let first = BatchId { epoch: 0, idx: 1 };
    assert_eq!(starved.evidence, Evidence::Batch(first));
}
