//! Tests that a large recording is shown while it is read.

use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::{Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::Action;
use loadscope_model::state::Source;
use loadscope_model::update::obstacle;
use loadscope_model::view::Cursor;
use loadscope_trace::{
    BatchId, Compression, Event, EventKind, LogWriter, Nanos, Run, RunId, Stage,
};

use crate::fixture::{Window, control_sequence, run};
use crate::texts::Picture as _;

const STILL: &str = "Still reading large.jsonl.zst";

/// Writes a recording of `batches` batches of one millisecond each.
fn write(path: &Path, batches: u32) {
    let file = std::fs::File::create_new(path).expect("there is room");
    let mut log = LogWriter::new(file, Compression::Zstd).expect("there is room");
    let mut tell = |at: i64, kind| {
        let (at, run) = (Nanos(at), RunId(0));
        log.write(&Event { at, run, kind }).expect("there is room");
    };
    tell(0, EventKind::RunStarted(Box::default()));
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..batches {
        let (batch, at) = (BatchId { epoch: 0, idx }, i64::from(idx) * 1_000_000);
        tell(at, EventKind::dispatched(batch, Some(0), [u64::from(idx)]));
        tell(at, EventKind::Consumer { waiting: true });
        let stages = [
            (Stage::Fetching, 1_000),
            (Stage::Collating, 400_000),
            (Stage::Returning, 450_000),
            (Stage::Ready, 460_000),
            (Stage::Training, 470_000),
            (Stage::Done, 900_000),
        ];
        for (stage, after) in stages {
            tell(at + after, EventKind::Entered { batch, stage });
        }
    }
    let end = i64::from(batches) * 1_000_000;
    tell(end, EventKind::EpochEnded { epoch: 0 });
    tell(end, EventKind::RunEnded);
    log.finish().expect("there is room");
}

fn is_reading(window: &Harness<'static, App>) -> bool {
    let state = &window.state().state;
    state.is_reading() || state.overlay.checking_file.is_some()
}

#[test]
fn a_large_recording_is_shown_while_it_is_read() {
    const BATCHES: u32 = 250_000;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("large.jsonl.zst");
    write(&path, BATCHES);
    let (prefs, start) = Window::new().start();
    let mut window = Harness::builder()
        .with_size(Vec2::new(1100.0, 700.0))
        .build_eframe(move |cc| App::new(&cc.egui_ctx, prefs, start));
    run(
        &mut window,
        loadscope_model::command::Command::Perform(loadscope_model::effect::Effect::Open(
            path.clone(),
        )),
    );
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut shown = 0;
    while is_reading(&window) {
        assert!(Instant::now() < deadline, "it was not read in time");
        window.run_steps(1);
        shown += usize::from(window.query_by_label_contains(STILL).is_some());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(shown > 1, "it was read before it was shown");
    window.run_steps(2);
    let state = &window.state().state;
    assert_eq!(state.session.run.batches().len(), BATCHES as usize);
    assert!(matches!(state.session.source, Source::Recording { .. }));
    assert!(matches!(state.session.cursor, Cursor::At(_)));
    assert!(window.query_by_label_contains(STILL).is_none());
}

#[test]
fn reading_a_large_recording_can_be_cancelled() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("large.jsonl.zst");
    write(&path, 250_000);
    let (prefs, start) = Window::new().start();
    let mut window = Harness::builder()
        .with_size(Vec2::new(1100.0, 700.0))
        .build_eframe(move |cc| App::new(&cc.egui_ctx, prefs, start));
    run(
        &mut window,
        loadscope_model::command::Command::Perform(loadscope_model::effect::Effect::Open(path)),
    );
    let deadline = Instant::now() + Duration::from_secs(60);
    while window.query_by_label_contains(STILL).is_none() {
        assert!(Instant::now() < deadline, "it was not shown in time");
        window.run_steps(1);
        std::thread::sleep(Duration::from_millis(5));
    }
    window.get_by_label("Cancel").click();
    window.run_steps(3);
    let state = &window.state().state;
    assert_eq!(state.session.source, Source::None);
    assert!(state.session.run.batches().is_empty());
}

#[test]
fn the_window_shows_the_reading_progress() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0), "reading_dark"),
        (Theme::Light, Vec2::new(760.0, 480.0), "reading_light"),
    ] {
        let mut window = Window {
            size,
            theme,
            ..Window::new()
        }
        .open();
        let mut run = Run::default();
        control_sequence().iter().for_each(|e| run.apply(e));
        let state = window.state_mut().state.set_up();
        state.session.run = run;
        state.session.source = Source::Loading {
            path: "/data/runs/train-2026-11-24.jsonl.zst".into(),
            share: 0.34,
        };
        window.run();
        let state = &window.state().state;
        assert!(obstacle(state, Action::Save).is_some());
        assert!(obstacle(state, Action::Export).is_some());
        window.get_by_label("34\u{2009}%");
        window.picture(name);
        results.extend_harness(&mut window);
    }
}
