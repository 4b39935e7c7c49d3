use loadscope_trace::RunOptions;

use super::*;
use loadscope_model::state::SessionState;

fn state(options: &RunOptions) -> State {
    let run = loadscope_lessons::simulated(options).expect("sound options");
    State {
        session: SessionState {
            run,
            source: Source::Finished,
            ..SessionState::default()
        },
        ..State::default()
    }
}

fn failing() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=24,cost_ms=10,fail=5".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        step_ms: 2.0,
        ..RunOptions::default()
    }
}

/// Regression test: after batch 5 had raised an error, the slot showed 10 and the counter below it 6.
#[test]
fn the_slot_and_the_counter_name_the_same_rcvd_idx() {
    let mut state = state(&failing());
    let steps = state.session.run.transitions().len();
    for step in 1..=steps {
        state.session.cursor = Cursor::Step(step);
        let scene = Scene::of(&state);
        let first = scene.slots.first().expect("a window of 4");
        // The counter no longer includes the batch being yielded.
        let is_yielded = first.batch.is_some_and(|b| b.stage == Stage::Ready);
        let same = first.idx == scene.pipeline.rcvd_idx;
        assert!(same || is_yielded, "step {step}: {}", first.idx);
    }
    assert_eq!(state.pipeline().rcvd_idx, 6);
}

#[test]
fn the_trainer_shows_that_an_error_ended_the_epoch() {
    let mut state = state(&failing());
    state.session.cursor = Cursor::Live;
    assert_eq!(
        Scene::of(&state).trainer,
        Trainer::Idle("Ended with an error")
    );
    let fine = self::state(&RunOptions {
        dataset: "synthetic:len=24,cost_ms=10".to_owned(),
        ..failing()
    });
    assert_eq!(Scene::of(&fine).trainer, Trainer::Idle("Epoch ended"));
}

#[test]
fn in_order_false_marks_late_batches() {
    let mut state = state(&RunOptions {
        dataset: "synthetic:len=12,cost_ms=10,slow=3:80".to_owned(),
        in_order: false,
        ..failing()
    });
    state.session.cursor = Cursor::Live;
    let scene = Scene::of(&state);
    let yielded = scene.yielded(50);
    assert_eq!(yielded.len(), 12);
    let late: Vec<u32> = yielded
        .iter()
        .filter(|(_, late)| *late)
        .map(|(idx, _)| *idx)
        .collect();
    assert!(late.contains(&3), "{yielded:?}");
    assert_eq!(yielded.first(), Some(&(0, false)));
    // The last four batches are compared with earlier ones, too.
    assert_eq!(scene.yielded(4), yielded[8..]);
    assert_eq!(scene.plan.slots(), 0, "nothing is held");
}

/// Regression test: without workers, where `in_order` has no effect, the trainer waited "for any batch" that its own thread was fetching.
#[test]
fn without_workers_the_order_is_kept() {
    let options = RunOptions {
        num_workers: 0,
        in_order: false,
        ..failing()
    };
    assert!(Scene::of(&state(&options)).in_order());
}

/// Without workers, PyTorch has no pin thread. `_SingleProcessDataLoaderIter` pins in the main process.
#[test]
fn without_workers_there_is_no_pin_thread() {
    for num_workers in [0, 1, 2] {
        let options = RunOptions {
            num_workers,
            pin_memory: loadscope_trace::PinMemory::On,
            dataset: "synthetic:len=24,cost_ms=10".to_owned(),
            ..failing()
        };
        let mut state = state(&options);
        let mut pins = 0;
        for step in 0..=state.session.run.transitions().len() {
            state.session.cursor = Cursor::Step(step);
            let scene = Scene::of(&state);
            assert_eq!(scene.plan.pin, num_workers > 0);
            assert_eq!(scene.plan.pinned, num_workers > 0);
            for batch in scene.batches.iter().filter(|b| b.stage == Stage::Pinning) {
                let lane = match num_workers {
                    0 => Lane::Main,
                    _ => Lane::Pin,
                };
                assert_eq!(batch.lane, Some(lane));
                pins += 1;
            }
        }
        assert!(pins >= 24, "{num_workers} workers: {pins}");
    }
}

/// Before the loop starts, the trainer neither waits nor trains.
#[test]
fn before_the_first_event_the_trainer_has_not_started() {
    for num_workers in [0, 2] {
        let options = RunOptions {
            num_workers,
            ..failing()
        };
        let mut state = state(&options);
        state.session.cursor = Cursor::Step(0);
        let scene = Scene::of(&state);
        assert_eq!(scene.trainer, Trainer::Idle("Not started"));
        if num_workers == 0 {
            let why =
                loadscope_insight::idle::reason(scene.run, &scene.pipeline, Lane::Main, false);
            let brief = why.map(|why| why.brief()[0].clone());
            assert_eq!(brief.as_deref(), Some("no task"));
        }
    }
}
