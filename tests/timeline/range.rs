//! Tests of the inspector's page about a time range.

use eframe::egui::{self, Theme, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope_model::command::Command;
use loadscope_model::state::{SessionState, State};
use loadscope_model::view::Item;
use loadscope_trace::{Nanos, Stage};
use loadscope_ui::panels::inspector::Inspector;
use loadscope_ui::theme;

use super::fixture::{CONTROL, Loader, PINNED};
use crate::texts::Picture as _;

fn page(loader: &Loader, from: i64, to: i64, theme: Theme) -> Harness<'static, State> {
    let range = Item::Range(Nanos::from_millis(from), Nanos::from_millis(to));
    let state = State {
        session: SessionState {
            run: loader.run(None),
            selection: Some(range),
            ..SessionState::default()
        },
        ..State::default()
    };
    let mut inspector = Inspector::default();
    let mut harness = Harness::builder()
        .with_size(vec2(300.0, 640.0))
        .with_pixels_per_point(1.0)
        .with_theme(theme)
        .with_context_setup(theme::install)
        .wgpu()
        .build_ui_state(
            move |ui, state: &mut State| {
                let margin = egui::Margin::symmetric(12, 8);
                let frame = egui::Frame::NONE
                    .fill(theme::Palette::of(ui).panel)
                    .inner_margin(margin);
                egui::CentralPanel::default().frame(frame).show(ui, |ui| {
                    for command in inspector.show(ui, state) {
                        if let Command::Select(item) = command {
                            state.session.selection = item;
                        }
                    }
                });
            },
            state,
        );
    harness.run();
    harness
}

#[test]
fn the_range_page_shows_counts_and_links_the_slowest() {
    let mut harness = page(&CONTROL, 0, 800, Theme::Dark);
    let until = Nanos::from_millis(800);
    let transitions = harness.state().session.run.transitions().iter();
    let yielded = transitions
        .filter(|t| t.stage == Stage::Training && t.at < until)
        .count();
    assert!((4..12).contains(&yielded), "the range is a part of the run");
    harness.get_by_label(&format!("Batches yielded {yielded}"));
    harness.get_by_label(&format!("Samples yielded {yielded}"));
    let a_second = yielded as f64 / 0.8;
    harness.get_by_label(&format!("Samples per second {a_second:.1}"));
    harness.get_by_label("Sample 3 of batch 3");
    harness.get_by_label("Batch 3").click();
    harness.run();
    let row = harness
        .state()
        .session
        .run
        .row(loadscope_trace::BatchId { epoch: 0, idx: 3 });
    assert_eq!(harness.state().session.selection, row.map(Item::Batch));
}

#[test]
fn an_empty_range_says_that_nothing_was_recorded() {
    let harness = page(&CONTROL, 5_000, 6_000, Theme::Dark);
    harness.get_by_label("Nothing recorded in this range");
}

#[test]
fn the_range_page_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (loader, theme, name) in [
        (&CONTROL, Theme::Dark, "timeline_range-page"),
        (&PINNED, Theme::Light, "timeline_range-page-light"),
    ] {
        let mut harness = page(loader, 100, 700, theme);
        harness.picture(name);
        results.extend_harness(&mut harness);
    }
}
