//! Findings about ranks that need the recordings of all ranks.

use loadscope_diagnose::{Finding, FindingId, straggler};
use loadscope_insight::loaders::findings;
use loadscope_trace::{
    BatchId, Event, EventKind, Level, Message, Nanos, Run, RunId, RunInfo, SourceLine, Stage,
};

/// Returns a rank with this number of batches per epoch. It requests one more batch unless its last step raises
/// `error`.
fn rank(rank: u32, epochs: &[u32], error: Option<&str>) -> Run {
    waiting(rank, epochs, 5, error)
}

/// Returns the rank of [`rank`] with waits of `wait` ms.
fn waiting(rank: u32, epochs: &[u32], wait: i64, error: Option<&str>) -> Run {
    let mut run = Run::new(RunInfo {
        rank,
        world_size: 2,
        dataset: format!("Shard of {} samples", epochs[0]),
        made_at: Some(SourceLine {
            file: "train.py".to_owned(),
            line: 21,
            name: "train.py:21".to_owned(),
        }),
        ..RunInfo::default()
    });
    let mut now = 0;
    let mut tell = |ms: i64, kind| {
        now += ms;
        run.apply(&Event {
            at: Nanos::from_millis(now),
            run: RunId(rank),
            kind,
        });
    };
    for (epoch, batches) in epochs.iter().enumerate() {
        let epoch = epoch as u32;
        tell(1, EventKind::EpochStarted { epoch });
        for idx in 0..*batches {
            let batch = BatchId { epoch, idx };
            let stage = Stage::Training;
            tell(0, EventKind::dispatched(batch, Some(0), [1]));
            tell(0, EventKind::Consumer { waiting: true });
            tell(wait, EventKind::Entered { batch, stage });
            tell(10, EventKind::Dropped { count: 0 });
        }
        let about = Some(BatchId {
            epoch,
            idx: batches.saturating_sub(1),
        });
        match error {
            Some(text) => tell(
                6_000,
                EventKind::Message(Box::new(Message {
                    level: Level::Error,
                    text: text.to_owned(),
                    about,
                    worker: None,
                    sample: None,
                })),
            ),
            None => tell(0, EventKind::Consumer { waiting: true }),
        }
        tell(0, EventKind::EpochEnded { epoch });
    }
    run
}

fn found(a: &Run, b: &Run, id: u32) -> Vec<(FindingId, String)> {
    let found = findings(&[(RunId(0), a), (RunId(1), b)], RunId(id));
    let text = |finding: Finding| (finding.id, finding.text.replace('\u{2009}', " "));
    found.into_iter().map(text).collect()
}

#[test]
fn unequal_numbers_of_batches_are_found_on_each_rank() {
    for (a, b) in [(13, 12), (100, 90), (12, 13)] {
        let ranks = (rank(0, &[a], None), rank(1, &[b], None));
        for id in [0, 1] {
            let found = found(&ranks.0, &ranks.1, id);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, FindingId::UnevenRanks);
            let expected = format!("rank 0 {a}, rank 1 {b}.");
            assert!(found[0].1.contains(&expected), "{found:?}");
        }
    }
    let later = found(&rank(0, &[8, 9], None), &rank(1, &[8, 8], None), 0);
    assert!(later[0].1.contains("rank 0 9, rank 1 8."), "{later:?}");
    assert!(found(&rank(0, &[8, 8], None), &rank(1, &[8, 8], None), 0).is_empty());
}

#[test]
fn a_rank_waiting_for_a_finished_rank_is_no_straggler() {
    let error = "RuntimeError: Timed out waiting 6000ms for recv operation";
    let (long, short) = (rank(0, &[13], Some(error)), rank(1, &[12], None));
    let on_short = found(&long, &short, 1);
    let ids: Vec<FindingId> = on_short.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [FindingId::StepFailed, FindingId::UnevenRanks]);
    let text = &on_short[0].1;
    assert!(
        text.starts_with("rank 0 · train.py:21: The training step on batch 12 raised"),
        "{text}"
    );
    assert!(
        text.contains("after 6.01 s. A step usually takes"),
        "{text}"
    );
    let slow = waiting(0, &[13], 9, Some(error));
    for first in [&long, &slow] {
        let runs = [(RunId(0), first), (RunId(1), &short)];
        assert_eq!(straggler(runs), None);
    }
    let slow = waiting(0, &[13], 9, None);
    let runs = [(RunId(0), &slow), (RunId(1), &short)];
    assert!(straggler(runs).is_some(), "9 ms against 5");
}

/// With accelerate's dispatcher, rank 0 loads the batches of all ranks.
#[test]
fn a_rank_without_batches_makes_no_other_rank_a_straggler() {
    let (working, idle) = (rank(0, &[20], None), rank(1, &[0], None));
    let runs = [(RunId(0), &working), (RunId(1), &idle)];
    assert_eq!(straggler(runs), None);
    assert!(found(&working, &idle, 0).is_empty());
}
