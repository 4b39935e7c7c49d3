//! Recordings of a device whose work hides a part of the waits.

use loadscope_trace::DeviceWait;

use super::*;

/// A worker loads 40 samples of 20 ms. A step takes 2 ms on the host and 17 ms on the device, so 15 of the 18 ms of each wait are hidden.
#[test]
fn more_workers_are_not_faster_than_the_device() {
    let case = Case {
        options: RunOptions {
            num_workers: 1,
            batch_size: Some(1),
            step_ms: 2.0,
            ..RunOptions::default()
        },
        costs: vec![20_000_000; 40],
        collate: 0,
        pin: None,
        step: 2_000_000,
        fails: Vec::new(),
        streams: false,
    };
    let took = |run: &Run| {
        let recorded = Recorded::of(run).expect("it was recorded");
        let time = |changes: &[&str]| with(&recorded, changes).time.0 / 1_000_000;
        [time(&[]), time(&["num_workers=20"])]
    };
    let mut run = case.run();
    // The first sample, then a step of 2 ms per batch.
    assert_eq!(took(&run), [802, 100]);
    for idx in 1..40 {
        let wait = DeviceWait {
            batch: BatchId { epoch: 0, idx },
            waited: Nanos::from_millis(18),
            idle: Nanos::from_millis(3),
        };
        run.apply(&Event {
            at: run.end(),
            run: RunId(0),
            kind: EventKind::DeviceWait(Box::new(wait)),
        });
    }
    // The first sample, then the device for 39 steps, and the last step on the host.
    let [same, more] = took(&run);
    assert_eq!((same, more), (802, 20 + 39 * 17 + 2));
}
