//! Tests of several loaders in one session: ranks of a job, and a validation loader.

use eframe::egui::{Key, Modifiers, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_engine::simulate::{Simulation, Work};
use loadscope_model::command::{Action, Command};
use loadscope_model::view::LowerPanel;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Event, Nanos, Origin, RunId, RunInfo, RunOptions, Stage};

use crate::fixture::{Window, wait, write_log};
use crate::texts::Picture as _;

mod folder;
mod job;

const SMALL: Vec2 = vec2(1100.0, 700.0);
const LARGE: Vec2 = vec2(1920.0, 1080.0);

/// Returns the events of loader `run` of `rank`: `len` samples of `cost` milliseconds each.
fn loader(run: u32, rank: u32, dataset: &str, len: u64, cost: i64) -> Vec<Event> {
    let info = RunInfo {
        origin: Origin::Simulation,
        dataset: dataset.to_owned(),
        dataset_len: Some(len),
        measured: Stage::ALL.to_vec(),
        rank,
        world_size: 4,
        cores: 8,
        options: RunOptions {
            batch_size: Some(2),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        },
        ..RunInfo::default()
    };
    let batches = (0..len / 2).map(|b| vec![b * 2, b * 2 + 1]);
    let simulation = Simulation {
        info,
        work: Work::Batches(batches.collect()),
        collate: Nanos::from_millis(1),
        pin: None,
        step: Nanos::from_millis(20),
    };
    let mut events = simulation.run(|_| Nanos::from_millis(cost));
    events.iter_mut().for_each(|event| event.run = RunId(run));
    events
}

/// Returns four ranks, each with a training and a validation loader. The third rank reads from a slow disk.
fn four_ranks() -> Vec<Event> {
    let mut events = Vec::new();
    for rank in 0..4 {
        let cost = if rank == 2 { 40 } else { 15 };
        events.extend(loader(rank * 2, rank, "photographs", 96, cost));
        events.extend(loader(
            rank * 2 + 1,
            rank,
            "photographs to validate",
            24,
            10,
        ));
    }
    events.sort_by_key(|event| event.at);
    events
}

fn open(theme: Theme, size: Vec2) -> (Harness<'static, App>, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("ranks.jsonl");
    write_log(&path, &four_ranks());
    let window = Window {
        theme,
        size,
        files: vec![path],
        ..Window::new()
    };
    (window.open(), dir)
}

fn ask(window: &mut Harness<'static, App>, command: Command) {
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, command);
    window.run();
}

#[test]
fn the_slowest_rank_is_shown_first_and_named() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, LARGE, "loaders"),
        (Theme::Light, SMALL, "loaders-small"),
    ] {
        let (mut window, _dir) = open(theme, size);
        assert_eq!(window.state().state.session.run.info.rank, 2);
        assert_eq!(window.state().state.session.loaders.count(), 8);
        window.picture(format!("{name}-timeline"));
        window.key_press(Key::K);
        window.run();
        assert_eq!(window.state().state.look.lower, LowerPanel::Loaders);
        let said = "Rank 2 is the straggler";
        assert!(window.query_by_label_contains(said).is_some());
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn switching_loaders_keeps_the_cursor_time() {
    let (mut window, _dir) = open(Theme::Dark, LARGE);
    ask(
        &mut window,
        Command::Cursor(Cursor::At(Nanos::from_millis(300))),
    );
    ask(&mut window, Command::Select(Some(Item::Batch(3))));
    ask(&mut window, Action::ShowLoaders.into());
    window
        .get_by_label_contains("rank 0 · photographs, 48")
        .click();
    window.run();
    let state = &window.state().state;
    assert_eq!(
        (
            state.session.run.info.rank,
            state.session.run.batches().len()
        ),
        (0, 48)
    );
    assert_eq!(state.session.cursor, Cursor::At(Nanos::from_millis(300)));
    // A batch with the same number in another loader is a different batch.
    assert_eq!(state.session.selection, None);
    window.key_press_modifiers(Modifiers::COMMAND, Key::PageDown);
    window.run();
    let state = &window.state().state;
    assert_eq!(state.session.run.info.dataset, "photographs to validate");
    assert_eq!(state.session.loaders.count(), 8);
}

/// Returns a training run and then a validation run.
fn validated() -> Vec<Event> {
    let mut events = loader(0, 0, "photographs", 48, 40);
    let end = events
        .iter()
        .map(|event| event.at)
        .max()
        .unwrap_or_default();
    let mut after = loader(1, 0, "photographs to validate", 24, 10);
    after
        .iter_mut()
        .for_each(|event| event.at = event.at + end + Nanos::from_millis(100));
    events.extend(after);
    events
}

#[test]
fn one_bar_shows_the_time_of_both_loaders() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, LARGE, "loaders-program"),
        (Theme::Light, SMALL, "loaders-program-small"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("program.jsonl");
        write_log(&path, &validated());
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        window.key_press(Key::Num3);
        wait(&mut window, |app| {
            app.state.session.results.diagnosis.what_if.is_some()
        });
        let said = "Start with rank 0 · photographs, which causes the longest wait";
        assert!(window.query_by_label(said).is_some());
        window.picture(name);
        // A click shows the loader of a part.
        window
            .get_by_label_contains("Waiting for rank 0 · photographs to validate")
            .click();
        window.run();
        let state = &window.state().state;
        assert_eq!(state.session.run.info.dataset, "photographs to validate");
        results.extend_harness(&mut window);
    }
}

#[test]
fn a_single_loader_has_no_loaders_tab() {
    let mut window = Window::new().open();
    window.key_press(Key::K);
    window.run();
    assert_eq!(window.state().state.look.lower, LowerPanel::Timeline);
    assert!(window.query_by_label("Loaders").is_none());
}
