use super::*;

const WORK: i64 = 20;

/// Returns a batch whose worker starts it at `start` and sends it [`WORK`] later, ms. It arrives at `arrived`.
fn batch(row: usize, start: i64, arrived: i64) -> BatchFacts {
    let at = Nanos::from_millis;
    BatchFacts {
        row,
        worker: Some(0),
        fetching: Some(at(start)),
        fetched: Some(at(start + WORK)),
        arrived: Some(at(arrived)),
        ..BatchFacts::default()
    }
}

/// Returns the waits for the interpreter per batch, and the transport time in ms. The trainer asks `late` ms after the end of each batch,
/// which arrives 6 ms later. The worker then pauses for `pause` ms.
fn sending(late: i64, pause: i64) -> (Option<f64>, i64) {
    const BATCHES: i64 = 10;
    let start = |row: i64| row * (WORK + pause);
    let all: Vec<BatchFacts> = (0..BATCHES)
        .map(|row| batch(row as usize, start(row), start(row) + WORK + late + 6))
        .collect();
    let asked = |row: i64| Nanos::from_millis(start(row) + WORK + late);
    let waits = (0..BATCHES).map(|row| (row as u32, asked(row))).collect();
    let mut samples = DelaySamples::default();
    for pair in all.windows(2) {
        samples.note_sending(&pair[0], Some(&pair[1]), &waits);
    }
    let (interpreter, idle) = samples.sending(Nanos::from_millis(1), true);
    (interpreter, idle.0 / 1_000_000)
}

#[test]
fn a_batch_from_an_idle_worker_has_no_wait_for_the_interpreter() {
    assert_eq!(sending(0, 50), (None, 6));
}

/// Regression test: the worker counted as idle, because it started its next batch late.
#[test]
fn a_worker_that_starts_a_batch_meanwhile_is_not_idle() {
    assert_eq!(sending(0, 3), (None, 1));
}

/// A wait has at most 5 ms, the interval after which Python switches threads.
#[test]
fn a_batch_from_a_busy_worker_waits_for_the_interpreter() {
    let waits = |late| sending(late, 0).0.expect("measured");
    // Transport takes 2 of the 6 ms: 1 ms longer than receiving.
    assert_eq!(waits(0), 4.0 / 5.0);
    // The trainer asks while the worker computes.
    assert_eq!(waits(4), 1.0);
    assert_eq!(sending(WORK + 1, 0).0, None);
}

/// Regression test: a wait for the interpreter counted as work of the main process, 28 ms per batch.
#[test]
fn receiving_from_busy_workers_is_at_most_the_usual_time() {
    let usual = Nanos::from_millis(2);
    let late = vec![Nanos::from_millis(28); 3];
    let mut few = DelaySamples {
        arriving: late.clone(),
        ..DelaySamples::default()
    };
    assert_eq!(few.receiving(40, true, usual), usual);
    let busy = late.iter().cycle().take(40).map(|took| (*took, true));
    let mut many = DelaySamples {
        receive: busy.collect(),
        ..DelaySamples::default()
    };
    assert_eq!(many.receiving(40, true, usual), usual);
    let idle = (0..40).map(|_| (Nanos::from_millis(28), false));
    let mut slow = DelaySamples {
        receive: idle.collect(),
        ..DelaySamples::default()
    };
    assert_eq!(slow.receiving(40, true, usual), Nanos::from_millis(28));
}
