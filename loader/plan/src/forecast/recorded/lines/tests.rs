use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Function, Origin, RunId, RunInfo, SampleTiming, Stack,
    StackSamples, Stacks, Stage,
};

use crate::forecast::Recorded;

use super::*;

const BATCHES: u32 = 200;

/// Returns a run of samples that take `wall` ms. A stack is recorded each 10 ms, three of four in line 7 and the others in line 8.
fn run(wall: i64) -> Run {
    let mut run = Run::new(RunInfo {
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    });
    let mut apply = |at: i64, kind| {
        let at = Nanos::from_millis(at);
        let run_id = RunId(0);
        run.apply(&Event {
            at,
            run: run_id,
            kind,
        });
    };
    apply(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..BATCHES {
        let batch = BatchId { epoch: 0, idx };
        let start = i64::from(idx) * (wall + 1);
        let enter = |stage| EventKind::Entered { batch, stage };
        apply(start, EventKind::dispatched(batch, None, [u64::from(idx)]));
        apply(start, enter(Stage::Fetching));
        let sample = SampleTiming {
            start: Nanos::from_millis(start),
            wall: Nanos::from_millis(wall),
            cpu: Some(Nanos::from_millis(wall)),
        };
        let fetched = Fetched {
            batch,
            samples: vec![sample],
            stages: Vec::new(),
        };
        apply(start + wall, EventKind::Fetched(Box::new(fetched)));
        apply(start + wall, enter(Stage::Training));
        apply(start + wall + 1, enter(Stage::Done));
    }
    let end = i64::from(BATCHES) * (wall + 1);
    let stack = |line| Stack {
        caller: None,
        function: 0,
        line,
    };
    let samples = (0..end / 10).map(|at| StackSamples {
        stack: Some(u32::from(at % 4 == 3)),
        count: 1,
    });
    let stacks = Stacks {
        worker: None,
        start: Nanos::ZERO,
        period: Nanos::from_millis(10),
        first_function: 0,
        functions: vec![Function {
            name: "load".to_owned(),
            file: "/home/me/dataset.py".to_owned(),
        }],
        first_stack: 0,
        stacks: vec![stack(7), stack(8)],
        samples: samples.collect(),
    };
    apply(end, EventKind::Stacks(Box::new(stacks)));
    apply(end, EventKind::EpochEnded { epoch: 0 });
    apply(end, EventKind::RunEnded);
    run
}

/// Regression test: a line with 43 % of fetching could save only 6 % of it, because a stack gave one sample a whole period.
#[test]
fn a_line_has_its_share_of_samples_of_any_length() {
    for wall in [1, 4, 40, 400] {
        let recorded = Recorded::of(&run(wall)).expect("it was recorded");
        let all = i64::from(BATCHES) * wall * 1_000_000;
        for (line, share) in [("dataset.py:7", 0.75), ("dataset.py:8", 0.25)] {
            let times = (0..BATCHES as usize).map(|at| {
                let time = recorded.time_in(line, at).expect("a known line");
                let sample = recorded.samples[at];
                assert!(time <= sample.off + sample.cpu, "{line} {wall}");
                time.0
            });
            let found = times.sum::<i64>() as f64 / all as f64;
            assert!((found - share).abs() < 0.05, "{line} {wall}: {found}");
        }
    }
}
