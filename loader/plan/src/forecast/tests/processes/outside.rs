//! Time outside the loader's loop is the same with all settings.

use super::*;

#[test]
fn an_ideal_loader_keeps_the_time_between_epochs() {
    let program = Program {
        pause: 300,
        epochs: 3,
        ..PROGRAM
    };
    let recorded = program.recorded();
    let ideal = recorded.headroom(&recorded.setting());
    let steps = 3 * i64::from(program.batches) * program.step;
    assert_eq!(ideal, Ok(Nanos::from_millis(steps + 2 * 300)));
    let fast = with(&recorded, &["num_workers=0", "cache=100%"]);
    assert_eq!(Ok(fast.time), ideal);
}

/// A program leaves the loop, but its workers live until another loop has ended.
#[test]
fn the_loop_of_another_loader_is_not_the_end_of_the_workers() {
    let program = Program {
        workers: 2,
        ..PROGRAM
    };
    let [alone, beside] = [0, 800].map(|other_loop| {
        Program {
            other_loop,
            ..program
        }
        .recorded()
    });
    for change in [
        "num_workers=0",
        "num_workers=1",
        "num_workers=2",
        "num_workers=6",
    ] {
        let [alone, beside] = [&alone, &beside].map(|recorded| with(recorded, &[change]));
        assert_eq!(ms(&beside), ms(&alone) + 2 * 800, "{change}");
        assert_eq!(beside.waited, alone.waited, "{change}");
    }
    let ideal = [&alone, &beside].map(|of| of.headroom(&of.setting()).expect("it is known"));
    assert_eq!(ideal[1], ideal[0] + Nanos::from_millis(2 * 800));
}
