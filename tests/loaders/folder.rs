//! Tests of a folder of recordings: one session with one time axis, and the accuracy of the clocks.

use eframe::egui::{Key, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::Source;
use loadscope_model::view::OptionsSource;
use loadscope_trace::{ClockMethod, Nanos, RunId};

use super::job::{self, AHEAD, SLOW};
use super::{LARGE, SMALL, ask};
use crate::fixture::{Window, wait};
use crate::texts::Picture as _;

fn open(theme: Theme, size: Vec2) -> (Harness<'static, App>, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    // The name appears in the screenshots.
    let folder = dir.path().join("job-4711");
    std::fs::create_dir(&folder).expect("a folder");
    job::write(&folder);
    let window = Window {
        theme,
        size,
        files: vec![folder],
        ..Window::new()
    };
    (window.open(), dir)
}

#[test]
fn eight_ranks_of_two_hosts_share_one_time_axis() {
    let (window, _dir) = open(Theme::Dark, LARGE);
    let state = &window.state().state;
    let all = state.session.loaders.all(&state.session.run);
    let ranks: Vec<u32> = all.iter().map(|(_, run)| run.info.rank).collect();
    assert_eq!(ranks, [0, 1, 2, 3, 4, 5, 6, 7]);
    // The first host's clock is the reference. The other clock was 180 ms ahead, which the training steps reveal.
    for (_, run) in &all {
        let clock = run.info.clock;
        assert_eq!(clock.is_none(), run.info.host == "gpu-a", "{clock:?}");
        let Some(clock) = clock else { continue };
        assert_eq!(clock.by, ClockMethod::Steps);
        let within = clock.within.expect("it was measured");
        assert!(within < Nanos::from_millis(1), "{within}");
        let shift = all[0].1.info.started_unix_ns - (run.info.started_unix_ns - AHEAD.0);
        assert!(shift.abs() <= within.0, "{shift}");
    }
    let said = window.query_by_label_contains("train.py: skipped");
    assert!(said.is_some(), "what was skipped is named");
    // The slow rank is shown first.
    assert_eq!(state.session.run.info.rank, SLOW);
}

#[test]
fn the_slow_rank_is_named_as_the_straggler() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, LARGE, "loaders-ranks"),
        (Theme::Light, LARGE, "loaders-ranks-light"),
        (Theme::Dark, SMALL, "loaders-ranks-small"),
        (Theme::Light, SMALL, "loaders-ranks-small-light"),
    ] {
        let (mut window, _dir) = open(theme, size);
        if name == "loaders-ranks-small" {
            window.picture("loaders-ranks-opened");
        }
        window.key_press(Key::Escape);
        window.run();
        window.picture(format!("{name}-timeline"));
        window.key_press(Key::K);
        window.run();
        for said in [
            "Rank 5 is the straggler",
            "gpu-b: clock aligned by its first training steps",
        ] {
            assert!(window.query_by_label_contains(said).is_some(), "{said}");
        }
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn a_session_saves_as_one_recording_with_equal_runs() {
    let (mut window, dir) = open(Theme::Dark, SMALL);
    let path = dir.path().join("together.jsonl.zst");
    ask(&mut window, Command::SaveTo(path.clone()));
    wait(&mut window, |app| app.state.prefs.recent.contains(&path));
    let again = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let told = |window: &Harness<'static, App>| {
        let state = &window.state().state;
        format!("{:?}", state.session.loaders.all(&state.session.run))
    };
    assert_eq!(told(&window), told(&again));
    assert!(matches!(
        again.state().state.session.source,
        Source::Recording { cut: false, .. }
    ));
}

#[test]
fn recorded_options_can_be_loaded_and_undone() {
    let (mut window, _dir) = open(Theme::Dark, SMALL);
    let mine = window.state().state.prefs.options.clone();
    assert!(window.query_by_label("Recorded program").is_some());
    // The options of the next run are unchanged, and one click away.
    window.get_by_label("Next run").click();
    window.run();
    assert!(window.query_by_label("Recorded program").is_none());
    assert_eq!(window.state().state.prefs.options, mine);
    window.get_by_label("Shown run").click();
    window.run();
    window.get_by_label("Load these options").click();
    window.run();
    let state = &window.state().state;
    assert_eq!(state.session.options_of, OptionsSource::NextRun);
    assert_eq!(
        (state.prefs.options.num_workers, state.prefs.options.rank),
        (2, SLOW)
    );
    assert_eq!(state.look.problems, []);
    assert!(
        state.prefs.options.step_ms > 30.0,
        "{}",
        state.prefs.options.step_ms
    );
    ask(&mut window, Action::Undo.into());
    assert_eq!(window.state().state.prefs.options, mine);
    // Another loader has its own options.
    ask(&mut window, Command::ShowLoader(RunId(0)));
    ask(&mut window, Command::OptionsSource(OptionsSource::Run));
    assert!(window.query_by_label("0 of 8").is_some());
}
