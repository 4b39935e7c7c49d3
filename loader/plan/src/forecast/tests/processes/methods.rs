//! The start method of processes decides their cost.

use loadscope_trace::StartMethod;

use super::*;

const IMPORT: i64 = 800;

/// Returns the forecast for `workers` of a program that was recorded without workers, with this start method, and its notes.
fn forecast(method: Option<StartMethod>, import: i64, workers: usize) -> (i64, String) {
    let program = Program {
        workers: 0,
        epochs: 1,
        ..PROGRAM
    };
    let mut run = program.run();
    run.info.start_method = method;
    run.info.import_ns = Nanos::from_millis(import).0 as u64;
    let recorded = Recorded::of(&run).expect("it was recorded");
    let one = with(&recorded, &[&format!("num_workers={workers}")]);
    (ms(&one), recorded.notes().join("\n"))
}

#[test]
fn workers_that_are_not_forked_import_the_program_again() {
    let (forked, notes) = forecast(Some(StartMethod::Fork), IMPORT, 1);
    assert!(notes.contains("the start method fork"), "{notes}");
    assert_eq!(forecast(None, IMPORT, 1).0, forked);
    let (server, notes) = forecast(Some(StartMethod::Forkserver), IMPORT, 1);
    assert_eq!(server, forked + IMPORT);
    assert!(notes.contains("the start method forkserver"), "{notes}");
    // A spawned process also takes longer to end: 3/8 of the import in place of 25 ms.
    let (spawned, _) = forecast(Some(StartMethod::Spawn), IMPORT, 1);
    assert_eq!(spawned, server + IMPORT * 3 / 8 - 25);
    // Recordings of older versions have no time of the import.
    let (unknown, _) = forecast(Some(StartMethod::Spawn), 0, 1);
    assert_eq!(unknown, forked + 2000 + 2000 * 3 / 8 - 25);
    // A fork server of newer versions of Python imports the program once.
    assert_eq!(forecast(Some(StartMethod::Forkserver), 0, 1).0, forked);
}

#[test]
fn any_time_of_an_import_can_be_forecast() {
    for import in [1, u64::MAX] {
        let mut run = PROGRAM.run();
        run.info.options.num_workers = 0;
        run.info.start_method = Some(StartMethod::Spawn);
        run.info.import_ns = import;
        let recorded = Recorded::of(&run).expect("it was recorded");
        let many = with(&recorded, &["num_workers=64"]);
        assert!(many.time > Nanos::ZERO && many.low <= many.high);
    }
}

/// Regression test: the end of an epoch took eight times as long with eight workers.
#[test]
fn workers_end_at_once_if_there_are_enough_cores() {
    let recorded = PROGRAM.recorded();
    let end = |workers: usize| {
        recorded.finish(
            &with(&recorded, &[&format!("num_workers={workers}")]).setting,
            0,
        )
    };
    assert_eq!(end(1), Nanos::from_millis(PROGRAM.end));
    assert_eq!(end(8), end(1));
    // The host has 16 cores.
    assert_eq!(end(32), Nanos(2 * end(1).0));
}
