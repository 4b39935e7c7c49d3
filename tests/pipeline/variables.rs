//! Tests of PyTorch's variables next to the pipeline.

use eframe::egui::Theme;
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Lane, Stage};

use super::enact::{Play, enact};
use super::{pipeline, save, state, step_of};

fn opened(play: Play, idx: u32, stage: Stage) -> State {
    let run = enact(play);
    let cursor = step_of(&run, idx, stage);
    let mut state = state(run, cursor);
    state.prefs.variables_open = true;
    state
}

#[test]
fn variables_equal_those_of_pytorch_and_rows_select() {
    let state = opened(Play::default(), 8, Stage::Held);
    let (mut harness, asked) = pipeline((1100.0, 320.0), Theme::Dark, state);
    harness.run();
    for label in [
        "send_idx 9",
        "rcvd_idx 3",
        "tasks_outstanding 2",
        "task_info 3 (0,)",
        "task_info 4 (1, data)",
        "task_info 8 (2, data)",
        "workers_status 0 True",
    ] {
        harness.get_by_label(label);
    }
    harness.get_by_label("task_info 4 (1, data)").click();
    harness.run();
    assert_eq!(harness.state().session.selection, Some(Item::Batch(4)));
    harness.get_by_label("workers_status 2 True").click();
    harness.run();
    assert_eq!(
        harness.state().session.selection,
        Some(Item::Lane(Lane::Worker(2)))
    );
    harness.get_by_label("Copy: Copy the variables").click();
    harness.run();
    assert!(
        asked
            .borrow()
            .contains(&Command::Act(Action::CopyVariables))
    );
    harness.get_by_label("Variables").click();
    harness.run();
    assert!(harness.query_by_label("send_idx 9").is_none());
}

#[test]
fn the_variables_match_their_images() {
    let mut results = SnapshotResults::new();
    let usual = Play::default();
    let many = Play {
        workers: 16,
        batches: 600,
        batch_size: 8,
        cost: |idx| {
            if idx % 37 == 3 {
                60.0
            } else {
                4.0 + f64::from(idx % 7)
            }
        },
        ..usual
    };
    let alone = Play {
        workers: 0,
        ..usual
    };
    for (name, play, (idx, stage), size, theme) in [
        (
            "variables",
            usual,
            (8, Stage::Held),
            (1100.0, 320.0),
            Theme::Dark,
        ),
        (
            "variables-light",
            usual,
            (5, Stage::Training),
            (1100.0, 320.0),
            Theme::Light,
        ),
        (
            "variables-16",
            many,
            (60, Stage::Held),
            (1900.0, 420.0),
            Theme::Dark,
        ),
        (
            "variables-narrow",
            usual,
            (8, Stage::Held),
            (532.0, 260.0),
            Theme::Dark,
        ),
        (
            "variables-alone",
            alone,
            (2, Stage::Fetching),
            (1100.0, 320.0),
            Theme::Light,
        ),
    ] {
        let (mut harness, _) = pipeline(size, theme, opened(play, idx, stage));
        harness.run();
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}

#[test]
fn every_step_is_drawn_with_open_variables() {
    let run = enact(Play::default());
    let steps = run.transitions().len();
    let mut state = state(run, Cursor::Step(0));
    state.prefs.variables_open = true;
    let (mut harness, _) = pipeline((900.0, 260.0), Theme::Light, state);
    for step in 0..=steps {
        harness.state_mut().session.cursor = Cursor::Step(step);
        harness.run();
    }
    harness.get_by_label("tasks_outstanding 0");
}
