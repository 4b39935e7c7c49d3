//! Tests of a loader without workers. One process loads a batch, then trains on it, so there is one lane.

use eframe::egui::{Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_engine::simulate::simulate;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Event, Lane, Nanos, RunOptions};

use crate::fixture::{Window, run, write_log};
use crate::texts::{Picture as _, cut, overlapping};

fn events() -> Vec<Event> {
    let options = RunOptions {
        dataset: "synthetic:len=48,cost_ms=8,jitter=0.5,slow=21:90".to_owned(),
        batch_size: Some(4),
        num_workers: 0,
        step_ms: 18.0,
        ..RunOptions::default()
    };
    simulate(&options).expect("sound options")
}

fn open(size: Vec2, theme: Theme) -> (tempfile::TempDir, Harness<'static, App>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("alone.jsonl.zst");
    write_log(&path, &events());
    let window = Window {
        size,
        theme,
        files: vec![path],
        ..Window::new()
    };
    (dir, window.open())
}

#[test]
fn without_workers_the_main_process_is_the_only_lane() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    window.get_by_label("main process lane");
    for other in ["trainer lane", "main thread lane", "reorder buffer lane"] {
        assert!(window.query_by_label(other).is_none(), "{other}");
    }
    // Any selection is in that lane, and a key selects it.
    run(&mut window, Command::Select(None));
    run(&mut window, Action::LaneDown);
    let lane = window.state().state.session.selection;
    assert_eq!(lane, Some(Item::Lane(Lane::Main)));
    let fetched = Nanos::from_millis(40);
    run(&mut window, Command::Cursor(Cursor::At(fetched)));
    run(&mut window, Action::NextSpan);
    let batch = window.state().state.session.selection;
    assert!(matches!(batch, Some(Item::Batch(_))), "{batch:?}");
}

#[test]
fn the_main_process_lane_shows_loading_and_training() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    let run = &window.state().state.session.run;
    let path = run.path(2);
    let moments: Vec<(Nanos, String)> = path
        .iter()
        .filter_map(|step| {
            let middle = step.start + Nanos((step.end? - step.start).0 / 2);
            Some((middle, step.stage.label().to_owned()))
        })
        .filter(|(_, stage)| stage == "Fetching" || stage == "Training")
        .collect();
    assert_eq!(moments.len(), 2, "{path:?}");
    let whole = window.state().state.whole();
    let lane = window.get_by_label("main process lane").rect();
    for (at, stage) in moments {
        // The names are 144 points wide, and the right margin is empty.
        let (left, right) = (lane.left() + 144.0, lane.right() - 12.0);
        let share = (at - whole.start).0 as f32 / whole.len().0 as f32;
        let place = eframe::egui::pos2(left + (right - left) * share, lane.center().y);
        window.hover_at(place);
        window.run_steps(30);
        let tip = format!("Batch 2 · {stage}");
        assert!(window.query_by_label_contains(&tip).is_some(), "{tip}");
    }
}

#[test]
fn a_run_without_workers_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (name, size, theme) in [
        ("dark", Vec2::new(1100.0, 700.0), Theme::Dark),
        ("light", Vec2::new(1100.0, 700.0), Theme::Light),
        ("small", Vec2::new(760.0, 480.0), Theme::Dark),
    ] {
        let (_dir, mut window) = open(size, theme);
        let in_slow_batch = Nanos::from_millis(330);
        run(&mut window, Command::Cursor(Cursor::At(in_slow_batch)));
        assert!(cut(&window).is_empty(), "{name}: {:?}", cut(&window));
        let pairs = overlapping(&window);
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
        window.picture(format!("alone_{name}"));
        results.extend_harness(&mut window);
    }
}
