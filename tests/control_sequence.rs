//! The control sequence of the real loader, event for event.

use loadscope_trace::{Activity, Lane, Nanos, Run, Stage, Track};

use crate::fixture::control_sequence;

fn run() -> Run {
    let mut run = Run::default();
    control_sequence().iter().for_each(|e| run.apply(e));
    run
}

#[test]
fn stepping_shows_the_order_of_the_real_loader() {
    let run = run();
    let mut said = Vec::new();
    for step in 1..=run.transitions().len() {
        let machine = run.machine_after(step);
        let t = run.transitions()[step - 1];
        let n = run.batches()[t.batch as usize].id.idx;
        match t.stage {
            Stage::Queued => said.push(format!("dispatch {n}")),
            // Arriving when it is one's turn is the one kind of `Ready` that comes from the queue.
            Stage::Held => said.push(format!("arrive {n}, held, wanted {}", machine.rcvd_idx)),
            Stage::Training => said.push(format!("yield {n}")),
            _ => {}
        }
    }
    let expected = "dispatch 0, dispatch 1, dispatch 2, dispatch 3, dispatch 4, dispatch 5, \
        dispatch 6, yield 0, dispatch 7, yield 1, dispatch 8, yield 2, \
        arrive 4, held, wanted 3, arrive 5, held, wanted 3, arrive 7, held, wanted 3, arrive 8, held, wanted 3, \
        dispatch 9, yield 3, dispatch 10, yield 4, dispatch 11, yield 5, yield 6, yield 7, yield 8, ";
    let text = said.join(", ");
    assert!(text.starts_with(expected), "{text}");
    // 9, 10 and 11 go to three workers at almost the same time: worker 0 is the one that is free last.
    assert!(text.ends_with("yield 9, yield 10, yield 11"), "{text}");
    let workers: Vec<_> = run.batches().iter().filter_map(|b| b.worker).collect();
    assert_eq!(workers, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn the_batches_behind_the_slow_one_are_held_and_the_wait_is_the_trainers() {
    let run = run();
    let held: Vec<u32> = run
        .batches()
        .iter()
        .filter(|b| b.was_held)
        .map(|b| b.id.idx)
        .collect();
    assert!([4, 5, 7, 8].iter().all(|n| held.contains(n)), "{held:?}");
    let longest = run
        .waits()
        .iter()
        .max_by_key(|w| w.end - w.start)
        .expect("it waits");
    assert_eq!(longest.batch, Some(3));
    assert!(longest.end - longest.start > Nanos::from_millis(400));
    let trainer = run
        .track(Track {
            lane: Lane::Trainer,
            row: 0,
        })
        .expect("it trains");
    let red = trainer
        .all()
        .iter()
        .find(|s| s.start == longest.start)
        .expect("the wait is a span");
    assert_eq!(red.activity, Activity::Waiting);
}
