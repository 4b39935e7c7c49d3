//! Tests of the start page, which shows thumbnails of the trainer's activity in recent recordings.

use std::path::Path;

use eframe::egui::{Theme, Vec2};
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::Action;
use loadscope_trace::{Event, Run, RunOptions};

use crate::fixture::{Window, control_recording, control_sequence, failed_sequence};
use crate::texts::{Picture as _, cut, overlapping, texts};

fn all_in(events: &[Event]) -> Run {
    let mut run = Run::default();
    events.iter().for_each(|e| run.apply(e));
    run
}

#[test]
fn a_closed_recording_has_a_start_page_thumbnail() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path.clone()],
        ..Window::new()
    }
    .open();
    let share = loadscope_diagnose::WaitSummary::of(&window.state().state.session.run).share();
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Close.into());
    window.run();
    window.get_by_label("control.jsonl.zst");
    let waits = format!("waits {}", loadscope_trace::percent(share));
    assert!(
        texts(&window).iter().any(|text| text.ends_with(&waits)),
        "{:?}",
        texts(&window)
    );
    // The next start also shows the thumbnail, even if the window is closed before the recording.
    let prefs = window.state().state.prefs_to_keep();
    let drawn = std::path::absolute(&path).expect("an absolute path");
    assert!(
        prefs
            .sketches
            .get(&drawn)
            .is_some_and(|thumbnail| thumbnail.workers == 3)
    );
}

#[test]
fn recent_runs_match_their_images() {
    let mut results = SnapshotResults::new();
    let alone = RunOptions {
        dataset: "synthetic:len=48,cost_ms=8,jitter=0.5".to_owned(),
        batch_size: Some(4),
        num_workers: 0,
        step_ms: 18.0,
        ..RunOptions::default()
    };
    let alone = loadscope_engine::simulate::simulate(&alone).expect("sound options");
    for (name, size, theme) in [
        ("dark", Vec2::new(1100.0, 700.0), Theme::Dark),
        ("light", Vec2::new(1100.0, 700.0), Theme::Light),
        ("small", Vec2::new(760.0, 480.0), Theme::Light),
    ] {
        let mut start = Window {
            size,
            theme,
            ..Window::new()
        };
        for (file, events) in [
            ("monday.jsonl.zst", Some(control_sequence())),
            ("tuesday.jsonl.zst", Some(failed_sequence())),
            ("without-workers.jsonl.zst", Some(alone.clone())),
            ("never-looked-at.jsonl.zst", None),
        ] {
            let path = Path::new("/data/runs").join(file);
            if let Some(events) = events {
                start.prefs.sketches.draw(&path, &all_in(&events));
            }
            start.prefs.recent.push(path);
        }
        let mut window = start.open();
        assert!(cut(&window).is_empty(), "{name}: {:?}", cut(&window));
        let pairs = overlapping(&window);
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
        window.picture(format!("recent_{name}"));
        results.extend_harness(&mut window);
    }
}
