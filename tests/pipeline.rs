//! Tests of the pipeline, the inspector and the table of batches: their contents, and the effects of clicks.

mod content;
pub mod enact;
mod gone;
mod inspector;
mod iterable;
mod keys;
mod table;
mod variables;
mod views;

use std::cell::RefCell;
use std::rc::Rc;

use eframe::egui::{self, Theme};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::state::{SessionState, Source, State};
use loadscope_model::update::update;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Lane, Nanos, Run, RunId, Stage, WorkerInfo,
};
use loadscope_ui::pipeline::PipelineView;
use loadscope_ui::theme;

use crate::texts::{Picture as _, texts};
use enact::{Play, enact};

/// Name of the screenshot, simulated play, transition, size and theme.
type Shot = (&'static str, Play, (u32, Stage), (f32, f32), Theme);
pub type Asked = Rc<RefCell<Vec<Command>>>;

pub fn state(run: Run, cursor: Cursor) -> State {
    State {
        session: SessionState {
            source: Source::Finished,
            run,
            cursor,
            ..SessionState::default()
        },
        ..State::default()
    }
}

/// Opens a window with one view. The view's commands are executed as in the program, and logged.
pub fn window<'a>(
    size: (f32, f32),
    theme: Theme,
    state: State,
    mut show: impl FnMut(&mut egui::Ui, &State) -> Vec<Command> + 'a,
) -> (Harness<'a, State>, Asked) {
    let asked = Asked::default();
    let noted = asked.clone();
    let harness = Harness::builder()
        .with_size(size)
        .with_pixels_per_point(1.0)
        .with_theme(theme)
        .with_context_setup(theme::install)
        .wgpu()
        .build_ui_state(
            move |ui, state: &mut State| {
                state.session.hovered = state.session.hovering.take();
                for command in show(ui, state) {
                    if let Some(Effect::Copy(text)) = update(state, command.clone()) {
                        ui.copy_text(text);
                    }
                    noted.borrow_mut().push(command);
                }
            },
            state,
        );
    (harness, asked)
}

fn pipeline<'a>(size: (f32, f32), theme: Theme, state: State) -> (Harness<'a, State>, Asked) {
    let mut view = PipelineView::default();
    window(size, theme, state, move |ui, state| view.show(ui, state))
}

/// Returns the step after which `idx` is in `stage`.
fn step_of(run: &Run, idx: u32, stage: Stage) -> Cursor {
    let found = run
        .transitions()
        .iter()
        .position(|t| t.stage == stage && run.batches()[t.batch as usize].id.idx == idx);
    Cursor::Step(found.expect("the batch goes through this stage") + 1)
}

fn save(harness: &mut Harness<'_, State>, name: &str) {
    harness.picture(format!("pipeline_{name}"));
}

fn shots() -> Vec<Shot> {
    let usual = Play::default();
    let many = |workers: usize| Play {
        workers,
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
    let long = Play {
        workers: 8,
        batches: 20_000,
        ..many(8)
    };
    let pinned = Play { pin: true, ..usual };
    let alone = Play {
        workers: 0,
        batch_size: 4,
        ..usual
    };
    let one = Play {
        workers: 1,
        batch_size: 4,
        ..usual
    };
    let dark = Theme::Dark;
    let light = Theme::Light;
    const SMALL: (f32, f32) = (700.0, 220.0);
    const USUAL: (f32, f32) = (1100.0, 320.0);
    const WIDE: (f32, f32) = (1900.0, 420.0);
    const HUGE: (f32, f32) = (2500.0, 700.0);
    vec![
        ("start", usual, (4, Stage::Queued), USUAL, dark),
        ("held", usual, (8, Stage::Held), USUAL, dark),
        ("held-light", usual, (8, Stage::Held), USUAL, light),
        ("training", usual, (4, Stage::Training), USUAL, dark),
        ("held-wide", usual, (5, Stage::Held), WIDE, dark),
        ("held-small", usual, (5, Stage::Held), SMALL, light),
        ("huge", usual, (5, Stage::Held), HUGE, dark),
        ("pinned", pinned, (5, Stage::Pinning), USUAL, dark),
        ("pinned-small", pinned, (5, Stage::Pinning), SMALL, dark),
        ("pinned-light", pinned, (5, Stage::Pinning), WIDE, light),
        ("alone", alone, (2, Stage::Fetching), USUAL, dark),
        ("alone-small", alone, (2, Stage::Training), SMALL, light),
        ("one", one, (2, Stage::Fetching), USUAL, light),
        ("one-small", one, (2, Stage::Fetching), SMALL, dark),
        ("16", many(16), (60, Stage::Held), USUAL, dark),
        ("16-wide", many(16), (60, Stage::Held), WIDE, light),
        ("64", many(64), (300, Stage::Held), USUAL, dark),
        ("64-wide", many(64), (300, Stage::Held), WIDE, dark),
        ("digits", long, (15_000, Stage::Fetching), USUAL, light),
        ("tiny", usual, (8, Stage::Held), (530.0, 160.0), dark),
        (
            "tiny-pinned",
            pinned,
            (5, Stage::Pinning),
            (530.0, 230.0),
            light,
        ),
        ("64-small", many(64), (300, Stage::Held), SMALL, dark),
        ("end", usual, (11, Stage::Done), USUAL, dark),
    ]
}

#[test]
fn the_pipeline_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (name, play, (idx, stage), size, theme) in shots() {
        let run = enact(play);
        let cursor = step_of(&run, idx, stage);
        let (mut harness, _) = pipeline(size, theme, state(run, cursor));
        harness.run();
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}

#[test]
fn a_click_selects_and_a_second_click_deselects() {
    let run = enact(Play::default());
    let cursor = step_of(&run, 8, Stage::Held);
    let (mut harness, asked) = pipeline((1100.0, 320.0), Theme::Dark, state(run, cursor));
    harness.run();
    harness.get_by_label("batch 4, held").click();
    harness.run();
    assert_eq!(harness.state().session.selection, Some(Item::Batch(4)));
    save(&mut harness, "selected");
    harness.get_by_label("batch 4, held").click();
    harness.run();
    assert_eq!(harness.state().session.selection, None);
    harness.get_by_label("batch 5, held").hover();
    harness.run_steps(20);
    save(&mut harness, "tooltip");
    harness.get_by_label("worker 0").click();
    harness.run();
    assert_eq!(
        harness.state().session.selection,
        Some(Item::Lane(Lane::Worker(0)))
    );
    save(&mut harness, "lane");
    assert!(
        asked
            .borrow()
            .contains(&Command::Hover(Some(Item::Batch(4))))
    );
}

#[test]
fn the_pipeline_names_the_held_and_the_awaited_batch() {
    let run = enact(Play::default());
    let cursor = step_of(&run, 8, Stage::Held);
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Dark, state(run, cursor));
    harness.run();
    harness.get_by_label("Batch 8 arrived before batch 3 and is held");
    harness.get_by_label("The trainer waits for batch 3 · Fetching in worker 0");
    harness.get_by_label("place of batch 3");
    harness.get_by_label("Next: batch 9, 1 sample");
    let cursor = step_of(&harness.state().session.run, 4, Stage::Training);
    harness.state_mut().session.cursor = cursor;
    harness.run();
    harness.get_by_label("The trainer works on batch 4");
}

#[test]
fn the_pipeline_draws_every_step() {
    for play in [
        Play::default(),
        Play {
            pin: true,
            ..Play::default()
        },
        Play {
            workers: 0,
            ..Play::default()
        },
    ] {
        let run = enact(play);
        let steps = run.transitions().len();
        let (mut harness, _) = pipeline((700.0, 220.0), Theme::Light, state(run, Cursor::Step(0)));
        for step in 0..=steps {
            harness.state_mut().session.cursor = Cursor::Step(step);
            harness.run();
        }
    }
}

#[test]
fn a_wait_is_shown_as_soon_as_it_begins() {
    let mut run = Run::default();
    let kinds = [
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(BatchId::default(), Some(0), [1]),
        EventKind::Consumer { waiting: true },
    ];
    for (ms, kind) in kinds.into_iter().enumerate() {
        let at = Nanos::from_millis(ms as i64);
        run.apply(&Event {
            at,
            run: RunId(0),
            kind,
        });
    }
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Dark, state(run, Cursor::Live));
    harness.run();
    harness.get_by_label("The trainer waits for batch 0 · Queued for worker 0");
}

#[test]
fn an_empty_pipeline_says_how_to_run() {
    let (mut harness, asked) = pipeline((700.0, 220.0), Theme::Dark, State::default());
    harness.run();
    harness.get_by_label("No batches yet — press Ctrl+R to run");
    save(&mut harness, "empty");
    assert!(asked.borrow().is_empty());
}

#[test]
fn without_in_order_the_trainer_waits_for_any_batch() {
    for (width, is_saved) in [(520.0, false), (776.0, false), (1100.0, true)] {
        let mut run = enact(Play::default());
        run.info.options.in_order = false;
        let cursor = step_of(&run, 7, Stage::Fetching);
        let (mut harness, _) = pipeline((width, 320.0), Theme::Dark, state(run, cursor));
        harness.run();
        harness.get_by_label("The trainer waits for any batch");
        // In a narrow stage box, the reason is shorter, but never truncated.
        let begins = ["The first", "First to", "in_order"];
        let mut why = texts(&harness);
        why.retain(|text| begins.iter().any(|begin| text.starts_with(*begin)));
        let is_whole = why.iter().all(|text| !text.ends_with('…'));
        assert!(!why.is_empty() && is_whole, "{width}: {why:?}");
        if is_saved {
            save(&mut harness, "any-order");
        }
    }
}

#[test]
fn a_failed_batch_is_shown_in_the_training_loop() {
    let mut run = Run::default();
    crate::fixture::failed_sequence()
        .iter()
        .for_each(|e| run.apply(e));
    let cursor = step_of(&run, 5, Stage::Failed);
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Dark, state(run, cursor));
    harness.run();
    harness.get_by_label("Batch 5 failed, and its error is raised in the training loop");
    save(&mut harness, "failed");
}

#[test]
fn the_pipeline_marks_the_end_of_a_truncated_recording() {
    let run = enact(Play::default());
    let mut state = state(run, Cursor::Live);
    state.session.source = Source::Recording {
        path: "cut.jsonl".into(),
        cut: true,
    };
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Dark, state);
    harness.run();
    harness.get_by_label("The recording is truncated here");
    save(&mut harness, "cut");
    harness.state_mut().session.cursor = Cursor::Step(3);
    harness.run();
    assert!(
        harness
            .query_by_label("The recording is truncated here")
            .is_none()
    );
}

#[test]
fn a_click_selects_the_sampler() {
    let run = enact(Play::default());
    let cursor = step_of(&run, 8, Stage::Held);
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Dark, state(run, cursor));
    harness.run();
    harness.get_by_label("Next: batch 9, 1 sample").click();
    harness.run();
    assert_eq!(harness.state().session.selection, Some(Item::Sampler));
    save(&mut harness, "sampler-selected");
}

#[test]
fn a_dead_worker_is_labelled_died() {
    let mut run = Run::default();
    let info = WorkerInfo {
        worker: 0,
        seed: Some(1),
        os_id: None,
    };
    let reason = EndReason::Died;
    let kinds = [
        EventKind::WorkerStarted(Box::new(info)),
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(BatchId::default(), Some(0), [1]),
        EventKind::WorkerEnded {
            worker: 0,
            reason,
            os_id: None,
        },
    ];
    for (ms, kind) in kinds.into_iter().enumerate() {
        let at = Nanos::from_millis(ms as i64);
        run.apply(&Event {
            at,
            run: RunId(0),
            kind,
        });
    }
    let (mut harness, _) = pipeline((1100.0, 320.0), Theme::Light, state(run, Cursor::Live));
    harness.run();
    assert!(texts(&harness).contains(&"died".to_owned()));
    save(&mut harness, "died");
}
