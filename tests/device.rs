//! Tests of a recording whose waits were measured on a simulated device.

use eframe::egui::{Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::Command;
use loadscope_model::view::TimeView;
use loadscope_trace::Nanos;

use crate::fixture::{Window, repository, run, until};
use crate::texts::Picture as _;

const LINK: &str = "Diagnose why the trainer waited";

fn open(size: Vec2, theme: Theme) -> Harness<'static, App> {
    let mut window = Window {
        size,
        theme,
        files: vec![repository("tests/data/device/run.jsonl.zst")],
        ..Window::new()
    }
    .open();
    until(&mut window, "The device had no work");
    window
}

#[test]
fn a_long_verdict_leaves_room_for_its_link() {
    for size in [
        (800.0, 640.0),
        (1000.0, 640.0),
        (1400.0, 900.0),
        (2200.0, 1000.0),
    ] {
        let window = open(size.into(), Theme::Dark);
        let link = window.get_by_label(LINK).rect();
        let screen = window.ctx.content_rect();
        let aside = window.query_by_label("Nothing selected");
        let end = aside.map_or(screen.right(), |aside| aside.rect().left());
        assert!(link.right() < end, "{size:?}: {link} {end}");
    }
}

#[test]
fn hidden_waits_match_their_images() {
    let mut results = SnapshotResults::new();
    for (size, theme, name) in [
        (vec2(1600.0, 1000.0), Theme::Dark, "device"),
        (vec2(1000.0, 640.0), Theme::Light, "device_narrow"),
    ] {
        let mut window = open(size, theme);
        let view = TimeView::new(Nanos::from_millis(250), Nanos::from_millis(550));
        run(&mut window, Command::View(Some(view)));
        window.picture(name);
        results.extend_harness(&mut window);
    }
}
