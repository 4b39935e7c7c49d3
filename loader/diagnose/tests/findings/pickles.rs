//! Findings about data that workers receive at their start.

use super::{PROGRAM, Program, says};
use loadscope_diagnose::Severity;
use loadscope_trace::{
    Event, EventKind, Fact, Nanos, Origin, Run, RunId, RunInfo, RunOptions, Sent, SentAttribute,
    StartMethod,
};

/// Returns a run whose worker starts 3 s after `iter`, with this fact about its start.
fn sent(bytes: u64, attribute: u64, workers: u32) -> Run {
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 2,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    });
    let attribute = SentAttribute {
        name: "images".to_owned(),
        bytes: attribute,
    };
    let sent = Sent {
        workers,
        method: StartMethod::Spawn,
        bytes,
        took: Nanos::from_millis(3_000),
        pickling: Nanos::from_millis(1_000),
        attribute: Some(attribute),
    };
    let program = Program {
        workers: 2,
        ..PROGRAM
    };
    let begin = EventKind::EpochStarted { epoch: 0 };
    let sent = EventKind::Fact(Box::new(Fact::Sent(sent)));
    let later = |(at, kind)| (at + 3_000, kind);
    let rest = program.events().into_iter().skip(1).map(later);
    for (at, kind) in [(0, begin), (3_000, sent)].into_iter().chain(rest) {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    }
    run
}

#[test]
fn data_sent_to_workers_is_named_with_its_attribute() {
    let run = sent(210_000_000, 200_000_000, 2);
    let (text, severity) = says(&run, "large_pickle").expect("3 s of 5 s");
    // The import of the program is counted once: 1 s of pickling and half of 2 s.
    assert!(
        text.contains("Each of 2 workers receives 210 MB at its start (spawn). This takes 1.50 s: 0.50 s to pickle the data, 1.00 s until"),
        "{text}"
    );
    assert!(text.contains("which costs 2.00 s"), "{text}");
    assert!(
        text.ends_with("About 95 % of it is the attribute `images` of the dataset."),
        "{text}"
    );
    assert_eq!(severity, Severity::Critical);
    assert_eq!(says(&run, "slow_first_batch"), None);
    // The attribute does not explain the size.
    let (text, _) = says(&sent(210_000_000, 2_000_000, 2), "large_pickle").expect("3 s of 5 s");
    assert!(!text.contains("images"), "{text}");
}

#[test]
fn data_that_fits_into_a_pipe_is_no_finding() {
    let run = sent(60_000, 50_000, 2);
    assert_eq!(says(&run, "large_pickle"), None);
    assert!(says(&run, "slow_first_batch").is_some());
    // Without a second worker, less data saves only the pickling, which is less than half of the time.
    let run = sent(210_000_000, 200_000_000, 1);
    assert!(says(&run, "large_pickle").is_some() && says(&run, "slow_first_batch").is_some());
}
