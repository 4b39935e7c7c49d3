//! Screenshots of single panels in states that no other test shows: empty panels and failed runs.

use eframe::egui::{self, Theme, Ui, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::options::problems;
use loadscope_model::prefs::Prefs;
use loadscope_model::state::{SessionState, Source, State, ViewState};
use loadscope_model::view::Item;
use loadscope_trace::{Run, RunOptions};
use loadscope_ui::panels::batches::BatchTable;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::panels::{messages, options, welcome};
use loadscope_ui::theme;
use loadscope_ui::timeline::Timeline;

use crate::fixture::failed_sequence;
use crate::texts::Picture as _;

/// Returns a run that a broken sample has ended, with that sample's batch selected.
fn failed() -> State {
    let mut run = Run::default();
    failed_sequence().iter().for_each(|e| run.apply(e));
    State {
        session: SessionState {
            landmarks: Landmarks::of(&run),
            run,
            source: Source::Finished,
            selection: Some(Item::Batch(5)),
            ..SessionState::default()
        },
        look: ViewState {
            still: true,
            ..ViewState::default()
        },
        ..State::default()
    }
}

/// Returns a run that has not dispatched a batch yet.
fn nothing() -> State {
    State {
        session: SessionState {
            source: Source::Live { paused: false },
            ..SessionState::default()
        },
        look: ViewState {
            still: true,
            ..ViewState::default()
        },
        ..State::default()
    }
}

/// Takes a screenshot of `show`, and checks that it contains the text `says`.
fn picture(
    (name, says): (&str, &str),
    size: Vec2,
    state: State,
    mut show: impl FnMut(&mut Ui, &State) + 'static,
    results: &mut SnapshotResults,
) {
    for (theme, end) in [(Theme::Dark, ""), (Theme::Light, "-light")] {
        if theme == Theme::Light && !name.contains("failed") {
            continue;
        }
        let mut harness = Harness::builder()
            .with_size(size)
            .with_pixels_per_point(1.0)
            .with_theme(theme)
            .with_context_setup(theme::install)
            .wgpu()
            .build_ui(|ui| {
                let palette = theme::Palette::of(ui);
                let frame = egui::Frame::NONE.fill(palette.canvas);
                egui::CentralPanel::default()
                    .frame(frame)
                    .show(ui, |ui| show(ui, &state));
            });
        harness.run();
        let mut said = harness.query_all_by_label_contains(says);
        assert!(said.next().is_some(), "{name} does not say {says:?}");
        drop(said);
        harness.picture(format!("states_{name}{end}"));
        results.extend_harness(&mut harness);
    }
}

#[test]
fn panels_of_a_failed_run_match_their_images() {
    let mut results = SnapshotResults::new();
    let lower = vec2(1100.0, 380.0);
    let all = &mut results;
    let mut timeline = Timeline::default();
    let show = move |ui: &mut Ui, state: &State| drop(timeline.show(ui, state));
    picture(
        ("timeline-failed", "trainer lane"),
        lower,
        failed(),
        show,
        all,
    );
    let mut plots = Plots::default();
    let show = move |ui: &mut Ui, state: &State| drop(plots.show(ui, state));
    picture(
        ("plots-failed", "Throughput: "),
        vec2(1100.0, 620.0),
        failed(),
        show,
        all,
    );
    let mut table = BatchTable::default();
    let show = move |ui: &mut Ui, state: &State| drop(table.show(ui, state));
    picture(("table-failed", "batch 5"), lower, failed(), show, all);
    let mut state = failed();
    state.overlay.messages_open = true;
    let show = |ui: &mut Ui, state: &State| drop(messages::show(ui, state));
    picture(
        ("messages-failed", "flowers/0005.jpg is empty"),
        vec2(640.0, 260.0),
        state,
        show,
        all,
    );
}

#[test]
fn panels_of_an_empty_run_match_their_images() {
    let mut results = SnapshotResults::new();
    let lower = vec2(1100.0, 240.0);
    let mut table = BatchTable::default();
    let show = move |ui: &mut Ui, state: &State| drop(table.show(ui, state));
    picture(
        ("table-empty", "the workers are starting"),
        lower,
        nothing(),
        show,
        &mut results,
    );
    let mut state = nothing();
    state.overlay.messages_open = true;
    let show = |ui: &mut Ui, state: &State| drop(messages::show(ui, state));
    let size = vec2(640.0, 260.0);
    picture(
        ("messages-empty", "No errors or warnings"),
        size,
        state,
        show,
        &mut results,
    );
}

#[test]
fn refused_options_show_the_reason() {
    let mut results = SnapshotResults::new();
    let options = RunOptions {
        num_workers: 2,
        drop_last: true,
        batch_size: None,
        ..RunOptions::default()
    };
    let problems = problems(&options);
    let refused = problems
        .first()
        .expect("without batches no last one is dropped");
    let refused = refused.text.clone();
    let state = State {
        prefs: Prefs {
            options,
            ..Prefs::default()
        },
        look: ViewState {
            problems,
            ..ViewState::default()
        },
        ..State::default()
    };
    let show = |ui: &mut Ui, state: &State| drop(options::show(ui, state));
    picture(
        ("options-failed", &refused),
        vec2(268.0, 640.0),
        state,
        show,
        &mut results,
    );
}

#[test]
fn a_loading_recording_matches_its_image() {
    let mut results = SnapshotResults::new();
    let state = State {
        session: SessionState {
            source: Source::Loading {
                path: "/data/runs/2026-11-20/train-rank3-of-8.jsonl.zst".into(),
                share: 0.42,
            },
            ..SessionState::default()
        },
        look: ViewState {
            still: true,
            ..ViewState::default()
        },
        ..State::default()
    };
    let show = |ui: &mut Ui, state: &State| drop(welcome::show(ui, state));
    picture(
        ("loading", "Opening train-rank3-of-8.jsonl.zst"),
        vec2(832.0, 640.0),
        state,
        show,
        &mut results,
    );
}
