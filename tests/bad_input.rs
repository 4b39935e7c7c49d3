//! Tests of bad input in the window: an error message, never a panic.

use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::Source;

use crate::fixture::{Window, control_recording, wait};

/// Opens `bytes` in the window. Returns the notice, and true if a run is open.
fn open_notice(name: &str, bytes: &[u8]) -> (String, bool) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).expect("there is room");
    let window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let state = &window.state().state;
    let text = state
        .session
        .notices
        .first()
        .map(|n| n.text.clone())
        .unwrap_or_default();
    // A notice in the state must be visible.
    assert!(text.is_empty() || window.query_by_label(&text).is_some());
    (text, state.has_run())
}

#[test]
fn unreadable_files_are_refused_with_a_remedy() {
    let (text, open) = open_notice("new.jsonl", b"{\"loadscope\": 99}\n");
    assert!(
        text.contains("version 99") && text.contains("newer Loadscope") && !open,
        "{text}"
    );
    let (text, open) = open_notice("photo.jsonl", &[0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 2, 3]);
    assert!(
        text.contains("JPEG image") && text.contains("photo.jsonl") && !open,
        "{text}"
    );
    let (text, open) = open_notice("empty.jsonl", b"");
    assert!(text.contains("empty") && !open, "{text}");
    let damaged =
        b"{\"loadscope\":1}\n{\"t\":1,\"e\":\"epoch_started\"}\n{\"t\":2,\"e\":\"run_ended\"}\n";
    let (text, open) = open_notice("damaged.jsonl", damaged);
    assert!(
        text.contains("line 2") && text.contains("`epoch`") && !open,
        "{text}"
    );
}

#[test]
fn a_truncated_recording_opens_with_a_notice() {
    let (_dir, path) = control_recording();
    let whole = std::fs::read(&path).expect("just written");
    let (text, open) = open_notice("half.jsonl.zst", &whole[..whole.len() / 2]);
    assert!(text.contains("truncated") && open, "{text}");
}

#[test]
fn a_missing_dataset_folder_is_named_in_the_window() {
    let mut window = Window::new().open();
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .run(&ctx, Command::UseFolder("/no/such/folder".into()));
    window.state_mut().run(&ctx, Action::Run.into());
    wait(&mut window, |app| app.state.session.source == Source::None);
    window.run();
    assert!(
        window
            .query_by_label_contains("/no/such/folder: not found")
            .is_some()
    );
}

#[test]
fn a_failed_run_shows_its_error_and_stays_open() {
    let mut window = Window::new().open();
    window.state_mut().state.set_up().prefs.options.dataset =
        "synthetic:len=12,cost_ms=1,fail=5".to_owned();
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Run.into());
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window.run();
    window.get_by_label_contains("The run ended with an error");
    let mut told = window.query_all_by_label_contains("sample 5 fails, as requested");
    assert!(told.next().is_some());
    assert!(window.state().state.has_run());
}

#[test]
fn extreme_recorded_options_are_shown_without_panic() {
    use loadscope_trace::{EventKind, RunOptions};
    let mut events = crate::fixture::control_sequence();
    for event in &mut events {
        if let EventKind::RunStarted(info) = &mut event.kind {
            info.options = RunOptions {
                num_workers: usize::MAX / 2,
                prefetch_factor: Some(usize::MAX / 2),
                batch_size: Some(usize::MAX / 2),
                ..info.options.clone()
            };
            info.batches_per_epoch = Some(u64::MAX);
        }
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("absurd.jsonl");
    crate::fixture::write_log(&path, &events);
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    for action in [Action::ShowBatches, Action::ShowPlots, Action::ShowTimeline] {
        let ctx = window.ctx.clone();
        window.state_mut().run(&ctx, action.into());
        window.run();
    }
    // The options show the values of the file without correction.
    assert_eq!(
        window.state().state.prefs.options.num_workers,
        usize::MAX / 2
    );
}

#[test]
fn dropped_events_are_counted_in_the_window() {
    use loadscope_trace::{Event, EventKind, Nanos, RunId};
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.state_mut().state.set_up().session.run.apply(&Event {
        at: Nanos::MAX,
        run: RunId(0),
        kind: EventKind::Dropped { count: 1_234 },
    });
    window.run();
    assert!(window.query_by_label("1,234 events dropped").is_some());
}
