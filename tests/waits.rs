//! Tests that only noticeable waits are red. Shorter waits are gray everywhere.

use eframe::egui::{Color32, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, TimeView};
use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, RunInfo, RunOptions, Stage};
use loadscope_ui::theme::Palette;

use crate::fixture::{Window, control_recording, run, write_log};
use crate::texts::{Picture as _, cut, overlapping};

/// Returns 200 batches of one worker. Before each batch, the trainer waits for `wait`, then it trains for 3 ms.
fn events(wait: Nanos) -> Vec<Event> {
    let options = RunOptions {
        num_workers: 1,
        batch_size: Some(1),
        ..RunOptions::default()
    };
    let info = RunInfo {
        options,
        batches_per_epoch: Some(200),
        ..RunInfo::default()
    };
    let mut all = Vec::new();
    let mut tell = |at: Nanos, kind| {
        all.push(Event {
            at,
            run: RunId(0),
            kind,
        });
    };
    tell(Nanos::ZERO, EventKind::RunStarted(Box::new(info)));
    tell(Nanos::ZERO, EventKind::EpochStarted { epoch: 0 });
    let mut now = Nanos::from_millis(1);
    for idx in 0..200 {
        let batch = BatchId { epoch: 0, idx };
        tell(now, EventKind::dispatched(batch, Some(0), [u64::from(idx)]));
        let stage = Stage::Fetching;
        tell(now + Nanos(1_000), EventKind::Entered { batch, stage });
        tell(now + Nanos(2_000), EventKind::Consumer { waiting: true });
        now = now + Nanos(2_000) + wait;
        for stage in [Stage::Returning, Stage::Ready, Stage::Training] {
            tell(now, EventKind::Entered { batch, stage });
        }
        now += Nanos::from_millis(3);
        let stage = Stage::Done;
        tell(now, EventKind::Entered { batch, stage });
    }
    tell(now, EventKind::EpochEnded { epoch: 0 });
    tell(now, EventKind::RunEnded);
    all
}

fn open(wait: Nanos) -> (tempfile::TempDir, Harness<'static, App>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("waits.jsonl.zst");
    write_log(&path, &events(wait));
    let window = Window {
        size: Vec2::new(1100.0, 700.0),
        files: vec![path],
        ..Window::new()
    };
    (dir, window.open())
}

/// Returns the number of pixels in the color of a long wait, between these heights.
fn red(window: &mut Harness<'static, App>, top: f32, bottom: f32) -> usize {
    let picture = window.render().expect("the window can be drawn");
    let stall = Palette::DARK.stall;
    let is_red = |p: &[u8]| Color32::from_rgb(p[0], p[1], p[2]) == stall;
    let rows = (top as u32)..(bottom as u32);
    let within = picture
        .enumerate_pixels()
        .filter(|(_, y, _)| rows.contains(y));
    within.filter(|(.., p)| is_red(&p.0)).count()
}

#[test]
fn waits_below_a_millisecond_are_never_red() {
    for (wait, is_red) in [(Nanos(700_000), false), (Nanos(1_600_000), true)] {
        let (_dir, mut window) = open(wait);
        run(&mut window, Action::ToggleInspector);
        // The cursor is in the middle of a wait. The view shows the whole run, a part of it, or a single wait.
        let at = window.state().state.session.run.waits()[50];
        let middle = at.start + Nanos((at.end - at.start).0 * 9 / 10);
        run(&mut window, Command::Cursor(Cursor::At(middle)));
        let around = |ms: i64| {
            let by = Nanos::from_millis(ms);
            Some(TimeView::new(middle - by, middle + by))
        };
        for view in [None, around(100), around(1)] {
            run(&mut window, Command::View(view));
            let lane = window.get_by_label("trainer lane").rect();
            let count = red(&mut window, lane.top(), lane.bottom());
            assert_eq!(
                count > 0,
                is_red,
                "{wait}, {view:?}: {count} pixels of the lane"
            );
        }
        // The bar at the bottom of the trainer's box shows the share of all waits.
        let trainer = window.get_by_label("trainer").rect();
        let count = red(&mut window, trainer.top(), trainer.bottom() - 14.0);
        assert_eq!(count > 0, is_red, "{wait}: {count} pixels of the trainer");
    }
}

#[test]
fn the_delay_to_live_is_shown_and_a_click_returns_to_live() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        let end = window.state().state.session.run.whole().end();
        window.state_mut().state.set_up().session.source = Source::Live { paused: true };
        window.run();
        window.get_by_label("Live");
        let at = end - Nanos::from_millis(80);
        run(&mut window, Command::Cursor(Cursor::At(at)));
        assert!(cut(&window).is_empty(), "{:?}", cut(&window));
        let pairs = overlapping(&window);
        assert!(pairs.is_empty(), "{pairs:?}");
        window.picture(format!("waits_behind_{name}"));
        let pill = "80.0\u{2009}ms behind live · Back to live (L)";
        window.get_by_label(pill).click();
        window.run();
        assert_eq!(window.state().state.session.cursor, Cursor::Live);
        assert!(window.query_by_label(pill).is_none());
        results.extend_harness(&mut window);
    }
}
