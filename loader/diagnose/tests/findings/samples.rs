//! Slow samples and slow transfer of batches.

use loadscope_trace::{
    Fact, Fetched, Function, SampleTiming, Stack, StackSamples, Stacks, WorkerId,
};

use super::streams::found;
use super::*;

/// Returns epochs of 25 batches with 8 samples of 1 ms each, loaded in the main process. Samples in `slow` take 800 ms, and 2 s if they are
/// the first sample of the run.
fn epochs(count: u32, slow: &[u64], facts: &[Fact]) -> Run {
    timed(count, facts, |index, _, now| match slow.contains(&index) {
        true if now == 0 => 2_000,
        true => 800,
        false => 1,
    })
}

/// Returns such epochs, with sample times of `takes(index, epoch, now)` ms.
fn timed(count: u32, facts: &[Fact], takes: impl Fn(u64, u32, i64) -> i64) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            batch_size: Some(8),
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    });
    let mut now = 0;
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    };
    for epoch in 0..count {
        tell(now, EventKind::EpochStarted { epoch });
        for idx in 0..25u32 {
            let batch = BatchId { epoch, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            let indices: Vec<u64> = (0..8)
                .map(|k| (u64::from(idx) * 8 + k + 88) % 200)
                .collect();
            tell(now, EventKind::dispatched(batch, None, indices.clone()));
            tell(now, EventKind::Consumer { waiting: true });
            tell(now, enter(Stage::Fetching));
            let samples = indices.iter().map(|index| {
                let takes = takes(*index, epoch, now);
                now += takes;
                SampleTiming {
                    start: Nanos::from_millis(now - takes),
                    wall: Nanos::from_millis(takes),
                    cpu: None,
                }
            });
            let samples = samples.collect();
            let stages = vec![];
            let fetched = Fetched {
                batch,
                samples,
                stages,
            };
            tell(now, EventKind::Fetched(Box::new(fetched)));
            tell(now, enter(Stage::Collating));
            tell(now, enter(Stage::Training));
            now += 2;
            tell(now, enter(Stage::Done));
        }
        tell(now, EventKind::EpochEnded { epoch });
    }
    for fact in facts {
        tell(now, EventKind::Fact(Box::new(fact.clone())));
    }
    run
}

#[test]
fn the_line_of_a_slow_sample_is_compared_with_other_samples() {
    for (takes_time, wanted) in [
        (true, "1.00 ms in the average sample"),
        (false, "where no other sample was seen"),
    ] {
        let mut run = epochs(1, &[13], &[]);
        let sample = |stack, count| StackSamples {
            stack: Some(stack),
            count,
        };
        let row = run.row(BatchId { epoch: 0, idx: 15 }).expect("it exists");
        let slow = run.samples(row).nth(5).expect("sample 13").start;
        let before = u32::try_from(slow.0 / 1_000_000).expect("it is early");
        let usual = u32::from(!takes_time);
        let stack = |line| Stack {
            caller: None,
            function: 0,
            line,
        };
        let stacks = Stacks {
            period: Nanos::from_millis(1),
            functions: vec![Function {
                name: "load".to_owned(),
                file: "/home/me/photos.py".to_owned(),
            }],
            stacks: vec![stack(57), stack(60)],
            samples: vec![sample(usual, before), sample(0, 800), sample(usual, 100)],
            ..Stacks::default()
        };
        let end = run.end();
        run.apply(&Event {
            at: end,
            run: RunId(0),
            kind: EventKind::Stacks(Box::new(stacks)),
        });
        let (text, _) = says(&run, "slow_sample").expect("sample 13");
        let line = format!("(0.80 s in photos.py:57, {wanted})");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn a_slow_sample_is_named_first_with_its_file() {
    let run = epochs(3, &[13], &[]);
    assert_eq!(found(&run)[0], "slow_sample");
    let (text, _) = says(&run, "slow_sample").expect("sample 13");
    assert!(
        text.starts_with("Sample 13 takes 0.80 s in every epoch, 800 times the median: 2.42 s"),
        "{text}"
    );
    // Batch 14 begins with sample 0: 88 + 14 * 8 = 200.
    let file = Fact::File {
        of: BatchId { epoch: 0, idx: 15 },
        position: 5,
        file: "cats/13.png".to_owned(),
    };
    let (text, _) = says(&epochs(3, &[13], &[file]), "slow_sample").expect("sample 13");
    assert!(text.starts_with("Sample 13 (cats/13.png) takes"), "{text}");
    let (text, _) = says(&epochs(1, &[13, 57], &[]), "slow_sample").expect("two");
    assert!(
        text.starts_with("Sample 13 and Sample 57 take up to 0.80 s, 800 times"),
        "{text}"
    );
    // The time of a run's first sample includes imports, so this sample is not named as the slowest.
    let late = epochs(1, &[88, 1, 13, 57, 99, 120, 140], &[]);
    let (text, _) = says(&late, "heavy_tail").expect("seven");
    assert!(
        text.contains("The longest to load is sample ") && !text.contains("sample 88."),
        "{text}"
    );
    // Jitter makes other samples slow once.
    let jittery = timed(3, &[], |index, epoch, _| match index {
        13 => 800,
        index if index % 40 == u64::from(epoch) => 9,
        _ => 1,
    });
    assert!(!found(&jittery).contains(&"heavy_tail"));
    let (text, _) = says(&jittery, "slow_sample").expect("sample 13");
    assert!(
        text.starts_with("Sample 13 takes 0.80 s in every epoch, 800 times"),
        "{text}"
    );
    // Many slow samples are a heavy tail.
    let tail = epochs(1, &[1, 13, 57, 99, 120, 140], &[]);
    assert!(found(&tail).contains(&"heavy_tail") && !found(&tail).contains(&"slow_sample"));
}

#[test]
fn slow_samples_that_change_in_each_epoch_are_the_fault_of_the_host() {
    // Six slow samples per epoch: the same ones, or others each time.
    let slow = |index: u64, epoch: u32, is_same: bool| {
        index % 25 == if is_same { 13 } else { 13 + u64::from(epoch) }
    };
    for is_same in [true, false] {
        let run = timed(3, &[], |index, epoch, _| {
            match slow(index, epoch, is_same) {
                true => 300,
                false => 1,
            }
        });
        let (text, _) = says(&run, "heavy_tail").expect("18 slow loads");
        let findings = diagnosis(&run).findings.into_iter();
        let mut remedies = findings.filter(|f| f.id.as_str() == "heavy_tail");
        let remedy = remedies.next().expect("a finding").remedy;
        assert_eq!(text.contains("The longest to load"), is_same, "{text}");
        assert_eq!(text.contains("other samples are slow"), !is_same, "{text}");
        assert_eq!(remedy.contains("Check the host"), !is_same, "{remedy}");
    }
}

#[test]
fn a_transfer_slower_than_the_samples_is_named() {
    // Four workers load batches in parallel. The transfer of each batch takes 5 ms, and a step takes 1 ms.
    let run = |fetch: i64| {
        let mut events = vec![(0, EventKind::EpochStarted { epoch: 0 })];
        let mut now = 100;
        for idx in 0..60u32 {
            let batch = BatchId { epoch: 0, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            let worker = Some((idx % 4) as WorkerId);
            events.push((0, EventKind::dispatched(batch, worker, [u64::from(idx)])));
            events.push((now - fetch, enter(Stage::Fetching)));
            events.push((now, enter(Stage::Returning)));
            events.push((now, EventKind::Consumer { waiting: true }));
            events.push((now + 5, enter(Stage::Training)));
            now += 6;
            events.push((now, enter(Stage::Done)));
        }
        events.sort_by_key(|(at, _)| *at);
        let info = RunInfo {
            options: RunOptions {
                num_workers: 4,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        };
        let events = events.into_iter().map(|(at, kind)| (at * 1_000_000, kind));
        run_of(info, events.collect())
    };
    let (text, severity) = says(&run(14), "slow_transfer").expect("the queue");
    assert!(text.contains("It takes 4.9"), "{text}");
    assert!(text.contains("3.50 ms with 4 workers"), "{text}");
    assert_eq!(severity, Severity::Critical);
    // Loading takes longer than the transfer.
    assert_eq!(says(&run(23), "slow_transfer"), None);
}
