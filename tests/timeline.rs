//! Tests of the timeline: by label, by pointer, and with screenshots.

pub mod fixture;
mod pictures;
mod range;
mod streams;
mod window;

use std::time::Duration;

use crate::texts::Picture as _;
use eframe::egui::{self, Modifiers, PointerButton, Theme, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use fixture::{CONTROL, LARGE, MANY, PINNED};
use loadscope_model::command::Command;
use loadscope_model::markers::MarkerEdit;
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::{Lane, Nanos};
use window::{Window, click, drag, open, place, row, small, wheel};

#[test]
fn an_empty_timeline_says_how_to_run() {
    let harness = small(Window::default());
    harness.get_by_label("No batches yet — press Ctrl+R to run");
}

#[test]
fn every_lane_has_a_name() {
    let harness = small(Window::new(&CONTROL));
    for lane in [
        "trainer",
        "reorder buffer",
        "result queue",
        "worker 0",
        "index queue 2",
    ] {
        harness.get_by_label(&format!("{lane} lane"));
    }
    harness.get_by_label("Minimap of the whole run");
    harness.get_by_label("Time ruler");
}

#[test]
fn a_click_on_a_span_or_label_selects_batch_or_lane() {
    let mut harness = small(Window::new(&CONTROL));
    // Sample 3 keeps worker 0 busy from 0.1 s to 0.7 s.
    let at = place(&harness, "worker 0", 400);
    click(&mut harness, at);
    assert_eq!(
        harness.state().state.session.selection,
        Some(Item::Batch(row(&harness, 3)))
    );
    let label = pos2(20.0, place(&harness, "worker 1", 0).y);
    let cursor = harness.state().state.session.cursor;
    click(&mut harness, label);
    assert_eq!(
        harness.state().state.session.cursor,
        cursor,
        "a name has no time"
    );
    assert_eq!(
        harness.state().state.session.selection,
        Some(Item::Lane(Lane::Worker(1)))
    );
    assert_eq!(
        harness.state().state.session.view,
        None,
        "selecting never moves the view"
    );
}

#[test]
fn tooltips_show_stage_duration_and_reason() {
    let mut harness = small(Window::new(&CONTROL));
    let at = place(&harness, "worker 0", 400);
    harness.hover_at(at);
    harness.run();
    harness.get_by_label("Batch 3 · Fetching · worker 0");
    harness.get_by_label_contains("600\u{2009}ms, from 10");
    assert_eq!(
        harness.state().state.session.hovered,
        Some(Item::Batch(row(&harness, 3)))
    );
    let at = place(&harness, "trainer", 500);
    harness.hover_at(at);
    harness.run();
    harness.get_by_label("The trainer waits for batch 3, which is fetching in worker 0");
}

#[test]
fn the_ruler_sets_the_cursor_and_selects_a_range() {
    let mut harness = small(Window::new(&CONTROL));
    let y = harness.get_by_label("Time ruler").rect().center().y;
    let at = |harness: &Harness<'_, Window>, ms| pos2(place(harness, "trainer", ms).x, y);
    let pixel = Nanos(harness.state().state.shown().len().0 / 900);
    let near = |a: Nanos, ms: i64| (a - Nanos::from_millis(ms)).0.abs() <= pixel.0;

    let to = at(&harness, 300);
    click(&mut harness, to);
    let Cursor::At(t) = harness.state().state.session.cursor else {
        panic!("the cursor follows the click");
    };
    assert!(near(t, 300), "{t}");

    let (from, to) = (at(&harness, 300), at(&harness, 500));
    drag(&mut harness, from, to, PointerButton::Primary);
    assert_eq!(
        harness.state().state.session.selection,
        None,
        "that was the cursor's handle"
    );
    assert!(near(harness.state().state.now(), 500));

    let (from, to) = (at(&harness, 400), at(&harness, 200));
    drag(&mut harness, from, to, PointerButton::Primary);
    let Some(Item::Range(start, end)) = harness.state().state.session.selection else {
        panic!("dragging the ruler selects a range");
    };
    assert!(near(start, 200) && near(end, 400), "{start} {end}");
}

#[test]
fn wheel_and_drag_zoom_and_pan_the_view() {
    let mut harness = small(Window::new(&CONTROL));
    let whole = harness.state().state.shown();
    let at = place(&harness, "worker 1", 300);
    wheel(&mut harness, at, vec2(0.0, 3.0), Modifiers::COMMAND);
    let zoomed = harness
        .state()
        .state
        .session
        .view
        .expect("zooming leaves the whole");
    assert!(zoomed.len() < whole.len());
    let off = place(&harness, "worker 1", 300).x - at.x;
    assert!(
        off.abs() <= 1.0,
        "what is under the pointer stays there: {off}"
    );
    assert!(harness.state().timeline.zoom_pivot().is_some());

    wheel(&mut harness, at, vec2(0.0, -2.0), Modifiers::SHIFT);
    let panned = harness.state().state.shown();
    assert!(panned.start > zoomed.start, "{panned:?} {zoomed:?}");
    assert!((panned.len().0 - zoomed.len().0).abs() < 10);

    let from = place(&harness, "worker 1", 300);
    for button in [PointerButton::Primary, PointerButton::Middle] {
        let before = harness.state().state.shown();
        drag(&mut harness, from, from + vec2(60.0, 0.0), button);
        assert!(harness.state().state.shown().start < before.start);
    }
    let selected = harness
        .state()
        .asked
        .iter()
        .any(|c| matches!(c, Command::Select(_)));
    assert!(!selected, "dragging is not clicking");
    wheel(&mut harness, at, vec2(0.0, -200.0), Modifiers::COMMAND);
    assert_eq!(harness.state().state.shown(), whole, "one can't get lost");
}

#[test]
fn the_wheel_scrolls_lanes_that_do_not_fit() {
    let mut harness = open(Window::new(&LARGE), vec2(600.0, 250.0), Theme::Light);
    let top = |harness: &Harness<'_, Window>| harness.get_by_label("worker 0 lane").rect().top();
    let before = top(&harness);
    let trainer = harness.get_by_label("trainer lane").rect();
    wheel(
        &mut harness,
        pos2(400.0, 150.0),
        vec2(0.0, -2.0),
        Modifiers::NONE,
    );
    assert!(top(&harness) < before - 20.0);
    assert_eq!(harness.state().state.session.view, None);
    let after = harness.get_by_label("trainer lane").rect();
    assert_eq!(after, trainer, "the trainer stays where it is");
}

#[test]
fn folded_groups_show_a_summary() {
    let mut harness = small(Window::new(&CONTROL));
    harness.get_by_label("Fold workers").click();
    harness.run();
    assert!(harness.query_by_label("worker 0 lane").is_none());
    let summary = harness.get_by_label("Workers summary").rect();
    harness.hover_at(summary.center());
    harness.run();
    harness.get_by_label_contains("· workers");
    // The group can also be unfolded by keyboard.
    harness.get_by_label("Unfold workers").focus();
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    harness.get_by_label("worker 0 lane");
    harness.get_by_label("Fold reorder buffer").click();
    harness.run();
    harness.get_by_label("reorder buffer summary");
}

#[test]
fn enter_selects_the_focused_lane() {
    let mut harness = small(Window::new(&CONTROL));
    harness.get_by_label("worker 2 lane").focus();
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    let selected = harness.state().state.session.selection;
    assert_eq!(selected, Some(Item::Lane(Lane::Worker(2))));
}

#[test]
fn the_timeline_scrolls_to_a_lane_selected_elsewhere() {
    let mut harness = small(Window::new(&MANY));
    assert!(harness.query_by_label("worker 40 lane").is_none());
    harness.state_mut().state.session.selection = Some(Item::Lane(Lane::Worker(40)));
    harness.run();
    harness.get_by_label("worker 40 lane");
    harness.state_mut().state.session.selection = Some(Item::Lane(Lane::Worker(0)));
    harness.run();
    harness.get_by_label("worker 0 lane");
}

#[test]
fn search_hits_are_marked_on_the_timeline() {
    let mut window = Window::new(&CONTROL);
    window
        .state
        .look
        .search
        .set("slower than 200 ms".to_owned());
    let state = &mut window.state;
    while state.look.search.advance(
        &state.session.run,
        &state.session.landmarks,
        &state.place.platform.budget(Duration::from_secs(1)),
    ) {}
    assert!(!state.look.search.hits().is_empty());
    let mut harness = open(window, vec2(1100.0, 320.0), Theme::Dark);
    harness.picture("timeline_found");
}

#[test]
fn gauge_charts_have_explaining_tooltips() {
    let mut harness = open(Window::new(&PINNED), vec2(1100.0, 700.0), Theme::Dark);
    let chart = harness.get_by_label("tasks_outstanding chart").rect();
    harness.hover_at(chart.center());
    harness.run();
    harness.get_by_label("Batches dispatched and not yet received");
    let memory = harness.get_by_label("memory, RSS chart").rect();
    harness.hover_at(memory.center());
    harness.run();
    harness.get_by_label("Resident set size (RSS)");
    harness.get_by_label("CPU, cores of worker 0 chart");
    harness.get_by_label("pin thread lane");
}

#[test]
fn a_click_on_a_legend_color_selects_its_activity() {
    let mut harness = small(Window::new(&CONTROL));
    harness.get_by_label("Held color").click();
    harness.run();
    let held = Some(Item::Activity(loadscope_trace::Activity::Held));
    assert_eq!(harness.state().state.session.selection, held);
    harness.get_by_label("Held color").click();
    harness.run();
    assert_eq!(harness.state().state.session.selection, None);
}

#[test]
fn marker_flags_can_be_visited_moved_and_removed() {
    let mut window = Window::new(&CONTROL);
    window
        .state
        .session
        .markers
        .apply(MarkerEdit::Add(Nanos::from_millis(300)));
    let mut harness = small(window);
    let flag = harness.get_by_label("Marker 1").rect();
    click(&mut harness, flag.center());
    let cursor = harness.state().state.session.cursor;
    assert_eq!(cursor, Cursor::At(Nanos::from_millis(300)));
    let to = flag.center() + vec2(200.0, 0.0);
    drag(&mut harness, flag.center(), to, PointerButton::Primary);
    let moved = harness
        .state()
        .state
        .session
        .markers
        .get(1)
        .expect("it lives")
        .at;
    assert!(moved > Nanos::from_millis(450), "{moved}");
    assert_eq!(
        harness.state().state.session.selection,
        None,
        "that was no range"
    );
    // A right click opens a menu. It does not remove the marker.
    harness.get_by_label("Marker 1").click_secondary();
    harness.run();
    assert_eq!(harness.state().state.session.markers.all().len(), 1);
    harness.get_by_label("Name of marker 1").focus();
    harness.run();
    harness
        .get_by_label("Name of marker 1")
        .type_text("slow disk");
    harness.run();
    harness.key_press(egui::Key::Escape);
    harness.run();
    harness.get_by_label("Marker slow disk").click_secondary();
    harness.run();
    harness.get_by_label("Remove marker").click();
    harness.run();
    assert!(harness.state().state.session.markers.all().is_empty());
}

#[test]
fn an_idle_timeline_requests_no_repaint() {
    for window in [
        Window::new(&CONTROL),
        Window::new(&PINNED),
        Window::default(),
    ] {
        let mut harness = small(window);
        harness.hover_at(pos2(600.0, 120.0));
        harness.run();
        harness.step();
        let delay = harness.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
        assert_eq!(delay, Duration::MAX, "an idle timeline is not drawn again");
    }
}

#[test]
fn dragging_the_minimap_moves_the_view() {
    let mut window = Window::new(&CONTROL);
    window.state.session.view = Some(TimeView::new(
        Nanos::from_millis(100),
        Nanos::from_millis(300),
    ));
    let mut harness = small(window);
    let map = harness.get_by_label("Minimap of the whole run").rect();
    click(&mut harness, map.center());
    let view = harness.state().state.shown();
    let whole = harness.state().state.whole();
    let middle = |v: TimeView| v.start.0.midpoint(v.end.0);
    assert!((middle(view) - middle(whole)).abs() < whole.len().0 / 500);
    drag(
        &mut harness,
        map.center(),
        map.center() - vec2(100.0, 0.0),
        PointerButton::Primary,
    );
    assert!(middle(harness.state().state.shown()) < middle(view));
    assert_eq!(harness.state().state.shown().len(), view.len());
}

#[test]
fn a_double_click_zooms_to_the_span() {
    let mut harness = small(Window::new(&CONTROL));
    let at = place(&harness, "worker 0", 400);
    harness.hover_at(at);
    harness.step();
    // All events are in one frame. The test's frames are too far apart for a double click.
    harness
        .input_mut()
        .events
        .extend(
            [true, false, true, false].map(|pressed| egui::Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            }),
        );
    harness.run();
    let view = harness.state().state.session.view.expect("it zooms");
    assert!(
        view.len() > Nanos::from_millis(600) && view.len() < Nanos::from_millis(800),
        "{}",
        view.len()
    );
}

#[test]
fn a_view_animation_ends_within_a_few_frames() {
    let mut window = Window::new(&CONTROL);
    window.state.look.still = false;
    let mut harness = small(window);
    harness.state_mut().state.session.view = Some(TimeView::new(Nanos(0), Nanos::from_millis(100)));
    let frames = harness.run();
    assert!(frames <= 4, "{frames}");
    harness.run_steps(1);
}
