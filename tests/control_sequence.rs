//! Test of the real loader's control sequence, event by event.

use eframe::egui::Key;
use loadscope_model::view::Cursor;
use loadscope_trace::{Activity, Lane, Nanos, Run, Stage, Track};

use crate::fixture::{Window, control_recording, control_sequence};

fn run() -> Run {
    let mut run = Run::default();
    control_sequence().iter().for_each(|e| run.apply(e));
    run
}

/// Describes a step in the words of the real loader's log. `arrive` means that the main process receives a batch.
fn said(run: &Run, step: usize) -> Option<String> {
    let t = run.transitions()[step - 1];
    let n = run.batches()[t.batch as usize].id.idx;
    let before = |stage| {
        run.pipeline_after(step - 1)
            .stage_of(run.batches()[t.batch as usize].id)
            == Some(stage)
    };
    match t.stage {
        Stage::Queued => Some(format!("dispatch {n}")),
        Stage::Held => Some(format!("arrive {n}, held")),
        Stage::Ready if before(Stage::Returning) => Some(format!("arrive {n}")),
        Stage::Training => Some(format!("yield {n}")),
        _ => None,
    }
}

#[test]
fn stepping_shows_the_order_of_the_real_dataloader() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.state_mut().state.set_up().session.cursor = Cursor::Step(0);
    let steps = window.state().state.session.run.transitions().len();
    let mut lines = Vec::new();
    for step in 1..=steps {
        window.key_press(Key::ArrowRight);
        window.run();
        assert_eq!(window.state().state.session.cursor, Cursor::Step(step));
        lines.extend(said(&window.state().state.session.run, step));
    }
    let expected = "dispatch 0, dispatch 1, dispatch 2, dispatch 3, dispatch 4, dispatch 5, \
        arrive 0, dispatch 6, yield 0, arrive 1, dispatch 7, yield 1, arrive 2, dispatch 8, yield 2, \
        arrive 4, held, arrive 5, held, arrive 7, held, arrive 8, held, \
        arrive 3, dispatch 9, yield 3, dispatch 10, yield 4, dispatch 11, yield 5, \
        arrive 6, yield 6, yield 7, yield 8, \
        arrive 10, held, arrive 11, held, arrive 9, yield 9, yield 10, yield 11";
    assert_eq!(lines.join(", "), expected);
    let run = &window.state().state.session.run;
    let workers: Vec<_> = run.batches().iter().filter_map(|b| b.worker).collect();
    assert_eq!(workers, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn batches_after_the_slow_one_are_held_while_training_waits() {
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
