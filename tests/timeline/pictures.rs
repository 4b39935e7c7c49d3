//! Screenshots of the timeline.

use eframe::egui::{Theme, vec2};
use egui_kittest::SnapshotResults;
use loadscope_model::markers::MarkerEdit;
use loadscope_model::state::Source;
use loadscope_model::view::LaneGroup;
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::{Lane, Nanos};

use super::fixture::{CONTROL, LARGE, MANY, PINNED, SMALL};
use super::window::{Window, open, place};
use crate::texts::Picture as _;

/// Every scene in one of the themes, at the smallest size with the least space.
#[test]
fn every_timeline_scene_matches_its_image() {
    let mut results = SnapshotResults::new();
    for (k, (scene, window, hover)) in scenes().into_iter().enumerate() {
        let theme = [Theme::Dark, Theme::Light][k % 2];
        let height = if scene == "gauges" { 600.0 } else { 500.0 };
        let mut harness = open(window, vec2(1100.0, height), theme);
        if let Some((lane, ms)) = hover {
            let at = place(&harness, lane, ms);
            harness.hover_at(at);
            harness.run();
        }
        harness.picture(format!("timeline_{scene}"));
        results.extend_harness(&mut harness);
    }
}

/// A small window with both side panels leaves little space, a large screen leaves much.
#[test]
fn narrow_and_wide_timelines_match_their_images() {
    let mut results = SnapshotResults::new();
    for (size, theme, name) in [
        (vec2(532.0, 300.0), Theme::Dark, "timeline_narrow"),
        (vec2(1920.0, 700.0), Theme::Light, "timeline_wide"),
    ] {
        let mut window = Window::new(&PINNED);
        window.state.session.selection = Some(Item::Batch(7));
        window
            .state
            .session
            .markers
            .apply(MarkerEdit::Add(Nanos::from_millis(480)));
        let mut harness = open(window, size, theme);
        harness.picture(name);
        results.extend_harness(&mut harness);
    }
}

type Scene = (&'static str, Window, Option<(&'static str, i64)>);

fn scenes() -> Vec<Scene> {
    let view = |from: i64, to: i64| {
        Some(TimeView::new(
            Nanos::from_millis(from),
            Nanos::from_millis(to),
        ))
    };
    let mut selected = Window::new(&SMALL);
    selected.state.session.view = view(100, 500);
    selected.state.session.selection = Some(Item::Batch(9));
    selected.state.session.cursor = Cursor::At(Nanos::from_millis(320));
    let mut inside = Window::new(&SMALL);
    inside.state.session.view = view(200, 300);
    let mut range = Window::new(&SMALL);
    range.state.session.selection = Some(Item::Range(
        Nanos::from_millis(300),
        Nanos::from_millis(550),
    ));
    for ms in [310, 900] {
        range
            .state
            .session
            .markers
            .apply(MarkerEdit::Add(Nanos::from_millis(ms)));
    }
    let name = "slow sample".to_owned();
    range
        .state
        .session
        .markers
        .apply(MarkerEdit::Rename(2, name));
    let mut deep = Window::new(&LARGE);
    deep.state.session.view = view(30_000, 30_100);
    let mut live = Window::new(&SMALL);
    live.state.session.run = SMALL.run(Some(400_000));
    live.state.session.source = Source::Live { paused: false };
    let mut lane = Window::new(&SMALL);
    lane.state.session.selection = Some(Item::Lane(Lane::Worker(1)));
    lane.state.session.cursor = Cursor::At(Nanos::from_millis(500));
    let mut samples = Window::new(&SMALL);
    samples.state.session.view = Some(TimeView::new(Nanos(230_000_000), Nanos(242_500_000)));
    let mut folded = Window::new(&LARGE);
    folded.state.look.folded = LaneGroup::ALL.into_iter().collect();
    let mut measured = Window::new(&PINNED);
    measured.state.session.view = view(200, 700);
    let mut many = Window::new(&MANY);
    many.state.session.selection = Some(Item::Batch(300));
    vec![
        ("samples", samples, Some(("worker 1", 240))),
        ("folded", folded, None),
        ("gauges", measured, None),
        ("many", many, None),
        ("lane", lane, Some(("worker 3", 700))),
        ("control", Window::new(&CONTROL), Some(("trainer", 500))),
        ("run", Window::new(&SMALL), None),
        ("selected", selected, None),
        ("inside", inside, Some(("worker 1", 240))),
        ("range", range, Some(("trainer", 425))),
        ("large", Window::new(&LARGE), Some(("worker 3", 20_000))),
        ("deep", deep, None),
        ("live", live, None),
        ("empty", Window::default(), None),
    ]
}
