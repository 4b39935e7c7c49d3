//! Workers that do not finish a batch, and iterators that yield only one batch.

use super::*;

/// Two workers load batches of 40 ms alternately. Worker 1 begins batch 5 and does not finish it. The trainer waits `after` ms for it.
fn hang(after: i64, end: &[EventKind], timeout: f64) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 2,
            batch_size: Some(4),
            timeout,
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    });
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    let batch = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: batch(idx),
        stage,
    };
    let dispatch = |idx: u32| {
        let first = u64::from(idx) * 4;
        let indices: Vec<u64> = (first..first + 4).collect();
        EventKind::dispatched(batch(idx), Some((idx % 2) as u16), indices)
    };
    for idx in 0..5 {
        let at = i64::from(idx) * 60;
        tell(at, dispatch(idx));
        tell(at, EventKind::Consumer { waiting: true });
        tell(at, enter(idx, Stage::Fetching));
        tell(at + 40, enter(idx, Stage::Returning));
        tell(at + 40, enter(idx, Stage::Training));
    }
    tell(300, dispatch(5));
    tell(300, enter(5, Stage::Fetching));
    tell(300, EventKind::Consumer { waiting: true });
    // The other worker continues.
    for idx in [6, 8] {
        tell(320, dispatch(idx));
        tell(320, enter(idx, Stage::Fetching));
        tell(360, enter(idx, Stage::Returning));
        tell(360, enter(idx, Stage::Held));
    }
    for kind in end {
        tell(300 + after, kind.clone());
    }
    run
}

fn error(text: &str) -> EventKind {
    EventKind::Message(Box::new(Message {
        level: Level::Error,
        text: text.to_owned(),
        about: None,
        worker: None,
        sample: None,
    }))
}

/// A hang has the same verdict while it lasts and after any kind of end.
#[test]
fn a_stuck_worker_has_the_same_verdict_after_any_end() {
    let gone = EventKind::Consumer { waiting: false };
    let over = EventKind::EpochEnded { epoch: 0 };
    let lives = EventKind::Dropped { count: 1 };
    let ends: [(&str, i64, f64, Vec<EventKind>); 5] = [
        ("it lasts", 6_000, 0.0, vec![lives]),
        ("killed", 2_000, 0.0, vec![EventKind::RunEnded]),
        (
            "Ctrl-C",
            1_500,
            0.0,
            vec![gone.clone(), error("KeyboardInterrupt"), over.clone()],
        ),
        (
            "dropped",
            4_000,
            0.0,
            vec![over.clone(), EventKind::RunEnded],
        ),
        (
            "timeout=",
            2_000,
            2.0,
            vec![
                gone,
                error("RuntimeError: DataLoader timed out after 2.0 seconds"),
                over,
            ],
        ),
    ];
    for (how, after, timeout, end) in ends {
        let all = diagnosis(&hang(after, &end, timeout));
        let verdict = all.verdict.text().replace('\u{2009}', " ");
        assert_eq!(
            all.verdict.id,
            VerdictId::Finding(FindingId::SilentWorker),
            "{how}: {verdict}"
        );
        assert!(
            verdict
                .starts_with("Worker 1 has been stuck on batch 5 (samples 20 to 23) since 0.30 s"),
            "{how}: {verdict}"
        );
        let texts = all
            .findings
            .iter()
            .map(|f| format!("{} {}", f.text, f.remedy));
        let texts = texts.collect::<String>();
        for word in ["not a slow batch", "loadscope dump PID"] {
            assert!(texts.contains(word), "{how}: {texts}");
        }
        for word in ["in_order", "similar cost", "num_workers=0"] {
            assert!(!texts.contains(word), "{how}: {texts}");
        }
        assert_eq!(
            texts.contains("timeout=60"),
            timeout <= 0.0,
            "{how}: {texts}"
        );
    }
}

#[test]
fn an_interrupt_is_no_error() {
    let gone = EventKind::Consumer { waiting: false };
    let over = EventKind::EpochEnded { epoch: 0 };
    let run = hang(500, &[gone, error("KeyboardInterrupt"), over], 0.0);
    let all = diagnosis(&run);
    assert!(!all.findings.iter().any(|f| f.id == FindingId::Failed));
    let verdict = all.verdict.text();
    assert!(
        verdict.starts_with("The trainer has waited 700"),
        "{verdict}"
    );
}

#[test]
fn a_slow_batch_is_not_a_hang() {
    let is_stuck = |run: &Run| {
        let all = diagnosis(run).findings;
        all.iter().any(|f| f.id == FindingId::SilentWorker)
    };
    let lives = EventKind::Dropped { count: 1 };
    assert!(!is_stuck(&hang(2_000, &[lives], 0.0)), "it may still end");
    // The program left the loop while a worker loaded a slow batch, and did not wait for the batch.
    let batch = BatchId { epoch: 0, idx: 5 };
    let stages = [Stage::Returning, Stage::Training];
    let mut end: Vec<EventKind> = stages
        .map(|stage| EventKind::Entered { batch, stage })
        .to_vec();
    end.push(EventKind::EpochEnded { epoch: 0 });
    assert!(!is_stuck(&hang(3_000, &end, 0.0)));
}

/// Calls `next(iter(loader))` `count` times, each followed by a step of 50 ms. Ending the iterator takes 30 ms.
fn single_batches(count: u32, batches: u64) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 2,
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        batches_per_epoch: Some(batches),
        ..RunInfo::default()
    });
    for epoch in 0..count {
        let start = i64::from(epoch) * 200;
        let batch = BatchId { epoch, idx: 0 };
        let enter = |stage| EventKind::Entered { batch, stage };
        for (after, kind) in [
            (0, EventKind::EpochStarted { epoch }),
            (50, EventKind::dispatched(batch, Some(0), [1])),
            (50, EventKind::Consumer { waiting: true }),
            (60, enter(Stage::Fetching)),
            (120, enter(Stage::Training)),
            (150, EventKind::EpochEnded { epoch }),
        ] {
            run.apply(&Event {
                at: Nanos::from_millis(start + after),
                run: RunId(0),
                kind,
            });
        }
    }
    run
}

#[test]
fn one_iterator_per_batch_is_a_finding_with_bounded_times() {
    let run = single_batches(10, 32);
    let all = diagnosis(&run);
    let found = all
        .findings
        .iter()
        .find(|f| f.id == FindingId::IteratorPerBatch);
    let found = found.expect("an iterator for each batch");
    let text = found.text.replace('\u{2009}', " ");
    let expected = "10 of 10 iterators yielded only one batch: 1.47 s (75 % of the run) to start, wait and end. 2 workers restart each time.";
    // The cost is 10 · (50 + 70) + 9 · 30 ms of 1.95 s.
    assert_eq!(text, expected);
    assert!(
        found.remedy.contains("it = iter(loader)"),
        "{}",
        found.remedy
    );
    // Per iterator: 50 ms in `iter`, 70 ms of waiting, 50 to 80 ms for the step and the end of the workers.
    let survey = Survey::of(&run);
    assert_eq!(survey.total(), Nanos::from_millis(9 * 200 + 150));
    for one in [single_batches(2, 32), single_batches(10, 1)] {
        let ids = diagnosis(&one).findings.into_iter().map(|f| f.id);
        assert!(
            ids.clone().all(|id| id != FindingId::IteratorPerBatch),
            "{ids:?}"
        );
    }
}
