//! Tests of the inspector.

use eframe::egui::Theme;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{
    Activity, BatchId, Event, EventKind, Lane, Level, Message, Nanos, Run, RunId, Stage,
};
use loadscope_ui::panels::inspector::Inspector;

use super::enact::{Play, enact};
use super::{save, state, window};

fn inspector<'a>(state: State) -> Harness<'a, State> {
    let mut inspector = Inspector::default();
    let (harness, _) = window((232.0, 1400.0), Theme::Dark, state, move |ui, state| {
        inspector.show(ui, state)
    });
    harness
}

#[test]
fn the_inspector_shows_waits_and_contents_of_a_batch() {
    let mut state = state(enact(Play::default()), Cursor::Live);
    state.session.selection = Some(Item::Batch(4));
    let mut harness = inspector(state);
    harness.run();
    harness.get_by_label_contains("waiting for batch 3: worker 0 was fetching it");
    harness.get_by_label("image of sample 28, four").click();
    harness.run();
    save(&mut harness, "inspector-enlarged");
    harness.get_by_label("decode 60.00 60\u{2009}%");
    harness.get_by_label("worker 1").click();
    harness.run();
    assert_eq!(
        harness.state().session.selection,
        Some(Item::Lane(Lane::Worker(1)))
    );
    harness.get_by_label("Seed 7777777001");
}

#[test]
fn the_inspector_shows_why_a_batch_failed() {
    let mut run = Run::default();
    let batch = BatchId::default();
    let message = Message {
        level: Level::Error,
        text: "KeyError: 'label'".to_owned(),
        about: Some(batch),
        worker: Some(0),
        sample: Some(17),
    };
    let kinds = [
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(batch, Some(0), [17, 18]),
        EventKind::Entered {
            batch,
            stage: Stage::Fetching,
        },
        EventKind::Message(Box::new(message)),
        EventKind::Entered {
            batch,
            stage: Stage::Failed,
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
    let mut state = state(run, Cursor::Live);
    state.session.selection = Some(Item::Batch(0));
    let mut harness = inspector(state);
    harness.run();
    harness.get_by_label("KeyError: 'label'");
    harness.get_by_label("Sample 17");
    harness.get_by_label("No contents, because the batch failed");
    save(&mut harness, "inspector-failed");
}

#[test]
fn the_inspector_matches_its_images() {
    let mut results = egui_kittest::SnapshotResults::new();
    let play = Play {
        batch_size: 12,
        cost: |idx| if idx == 3 { 60.0 } else { 9.0 + f64::from(idx) },
        ..Play::default()
    };
    let held = |play| state(enact(play), Cursor::Live);
    let shots = [
        ("inspector-batch", play, Some(Item::Batch(4)), Theme::Dark),
        (
            "inspector-missing",
            play,
            Some(Item::Batch(3)),
            Theme::Light,
        ),
        (
            "inspector-worker",
            play,
            Some(Item::Lane(Lane::Worker(0))),
            Theme::Dark,
        ),
        (
            "inspector-trainer",
            play,
            Some(Item::Lane(Lane::Trainer)),
            Theme::Light,
        ),
        (
            "inspector-range",
            play,
            Some(Item::Range(Nanos(0), Nanos::from_millis(700))),
            Theme::Dark,
        ),
        (
            "inspector-queue",
            play,
            Some(Item::Lane(Lane::Reorder)),
            Theme::Dark,
        ),
        (
            "inspector-activity",
            play,
            Some(Item::Activity(Activity::Held)),
            Theme::Dark,
        ),
        ("inspector-sampler", play, Some(Item::Sampler), Theme::Light),
        ("inspector-nothing", play, None, Theme::Dark),
    ];
    for (name, play, selection, theme) in shots {
        let mut state = held(play);
        state.session.selection = selection;
        let mut inspector = Inspector::default();
        let height = if selection == Some(Item::Batch(4)) {
            1500.0
        } else {
            900.0
        };
        let (mut harness, _) = window((276.0, height), theme, state, move |ui, state| {
            inspector.show(ui, state)
        });
        harness.run();
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}
