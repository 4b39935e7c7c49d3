//! Waits during the work of a device.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{DeviceWait, Event, RunId, Stage};

use super::*;

/// Returns a run in which the device has no work during `idle` percent of each wait.
fn run(idle: i64) -> Run {
    let mut run = PROGRAM.run(vec![(0, ENDED)]);
    for row in 0..run.batches().len() {
        let wait = run.waits().iter().find(|w| w.batch == Some(row as u32));
        let Some(wait) = wait.copied() else { continue };
        let waited = wait.end - wait.start;
        let wait = DeviceWait {
            batch: run.batches()[row].id,
            waited,
            idle: Nanos(waited.0 * idle / 100),
        };
        run.apply(&Event {
            at: run.end(),
            run: RunId(0),
            kind: EventKind::DeviceWait(Box::new(wait)),
        });
        assert!(run.entered(row, Stage::Training).is_some());
    }
    run
}

#[test]
fn only_the_time_without_work_of_the_device_is_a_cost() {
    let cost = |run: &Run| {
        let all = diagnosis(run).findings;
        let found = all.iter().find(|f| f.id == FindingId::StarvedWorkers);
        found.and_then(|f| f.cost)
    };
    let whole = cost(&PROGRAM.run(vec![(0, ENDED)])).expect("the worker is too slow");
    assert_eq!(cost(&run(100)), Some(whole));
    let half = cost(&run(50)).expect("half of the waits");
    assert!((half.0 * 2 - whole.0).abs() < 100, "{half} {whole}");
    assert_eq!(cost(&run(1)), None);
}

#[test]
fn the_first_sentence_is_about_the_device() {
    let text = |run: &Run| WaitSummary::of(run).headline().replace('\u{2009}', " ");
    assert!(text(&PROGRAM.run(vec![(0, ENDED)])).starts_with("The trainer "));
    let said = text(&run(50));
    assert!(
        said.starts_with("The device had no work for 0.")
            && said.contains(", because the trainer has waited 1.")
            && said.contains(" of it while the device worked"),
        "{said}"
    );
    assert!(!text(&run(100)).contains("while the device"));
}
