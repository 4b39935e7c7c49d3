//! Tests of the hidden future. At an instant, the window must look as if the run had ended then.

use eframe::egui::{Key, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope::window::App;
use loadscope_engine::simulate::simulate;
use loadscope_insight::landmarks::Landmarks;
use loadscope_model::command::{Action, Command};
use loadscope_model::prefs::Prefs;
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::{Event, Lane, Nanos, Run, RunOptions, Stage};

use crate::fixture::{Window, control_recording, control_sequence, write_log};
use crate::texts::{Picture as _, texts, texts_in};

/// Texts that appear in only one of the two windows: the note about hiding, and the total number of events.
const ABOUT_HIDING: [&str; 6] = [
    "The future is hidden",
    "so far",
    // The truncated run has ended at this instant, the other one continues.
    "· stopped early",
    "whole run",
    " event",
    "events",
];

fn all_in(events: &[Event]) -> Run {
    let mut run = Run::default();
    events.iter().for_each(|e| run.apply(e));
    run
}

fn options(seed: u64) -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=60,cost_ms=20,jitter=0.8,slow=7:300".to_owned(),
        batch_size: Some(3),
        shuffle: seed % 2 == 1,
        seed: Some(seed),
        num_workers: [2, 0, 3, 4][seed as usize % 4],
        in_order: seed % 3 != 1,
        step_ms: 9.0,
        epochs: 2,
        ..RunOptions::default()
    }
}

/// Returns instants of events after which time advances.
fn moments(events: &[Event], shares: &[f64]) -> Vec<(usize, Nanos)> {
    let after = |share: &f64| {
        let from = (events.len() as f64 * share) as usize;
        (from.max(1)..events.len() - 1).find(|k| events[k + 1].at > events[*k].at)
    };
    let found = shares.iter().filter_map(after);
    found.map(|k| (k + 1, events[k].at)).collect()
}

/// Returns true for texts about the samples of a batch in progress. The samples read so far are known, but a run that ended here would not
/// have reported them.
fn is_progress(text: &str) -> bool {
    let counts = text.trim().split_once('/');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.contains("sample") || counts.is_some_and(|(a, b)| is_number(a) && is_number(b))
}

/// Views of the run to compare, besides the lanes.
fn looks(run: &Run) -> Vec<Vec<Command>> {
    let ended = run.batches().iter().rposition(|b| b.stage == Stage::Done);
    let select = |item| Command::Select(Some(item));
    let mut looks = vec![
        vec![Action::ShowTimeline.into()],
        vec![Action::ShowBatches.into()],
        vec![Action::ShowPlots.into(), select(Item::Lane(Lane::Trainer))],
        vec![select(Item::Lane(Lane::Worker(0)))],
        vec![select(Item::Sampler)],
        vec![select(Item::Range(Nanos(run.end().0 / 2), run.end()))],
    ];
    looks.extend(ended.map(|row| vec![select(Item::Batch(row))]));
    looks.push(vec![Action::ShowSampling.into()]);
    looks.push(vec![Action::ShowDiagnose.into()]);
    looks
}

fn do_all(window: &mut Harness<'static, App>, commands: &[Command]) {
    let ctx = window.ctx.clone();
    for command in commands {
        window.state_mut().run(&ctx, command.clone());
    }
    settle(window);
}

/// Waits until all calculations are finished.
fn settle(window: &mut Harness<'static, App>) {
    window.run();
    for _ in 0..40 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        window.run_steps(1);
        let answers = &window.state().state.session.results;
        let is_busy = answers.diagnosis.share.is_some() || answers.sampling.share.is_some();
        if !is_busy
            && window
                .state()
                .state
                .look
                .search
                .is_complete(&window.state().state.session.run)
        {
            break;
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(60));
    window.run();
}

fn shown(window: &Harness<'static, App>) -> Vec<String> {
    let all = texts(window).into_iter();
    let about = |text: &String| ABOUT_HIDING.iter().any(|part| text.contains(part));
    all.filter(|text| !about(text) || text.contains("waited"))
        .filter(|text| !is_progress(text))
        .collect()
}

/// Compares the two windows at some instants.
fn compare(events: &[Event], shares: &[f64]) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    write_log(&path, events);
    let open = |hides_future| {
        let prefs = Prefs {
            hides_future,
            variables_open: true,
            ..Prefs::default()
        };
        let window = Window {
            size: Vec2::new(1920.0, 1080.0),
            files: vec![path.clone()],
            prefs,
            ..Window::new()
        };
        window.open()
    };
    let (mut hiding, mut ended) = (open(true), open(false));
    let whole = hiding.state().state.shown();
    for (count, at) in moments(events, shares) {
        let then = all_in(&events[..count]);
        let looks = looks(&then);
        let state = ended.state_mut().state.set_up();
        state.session.landmarks = Landmarks::of(&then);
        state.session.run = then;
        state.session.run_number += 1;
        state.look.search.restart();
        let begin = [
            Action::ShowDebug.into(),
            Action::ShowTimeline.into(),
            Command::Select(None),
            Command::Cursor(Cursor::At(at)),
            Command::View(Some(TimeView::new(whole.start, whole.end))),
        ];
        do_all(&mut hiding, &begin);
        do_all(&mut ended, &begin);
        assert!(hiding.state().state.hides_future(), "at {at}");
        for look in looks {
            do_all(&mut hiding, &look);
            do_all(&mut ended, &look);
            let (a, b) = (shown(&hiding), shown(&ended));
            if a != b {
                let only = |a: &[String], b: &[String]| {
                    let only = a.iter().filter(|text| !b.contains(text));
                    only.cloned().collect::<Vec<_>>()
                };
                panic!(
                    "{look:?} at {at}: only with the future hidden {:#?}, only of the run that ended {:#?}",
                    only(&a, &b),
                    only(&b, &a)
                );
            }
        }
    }
}

#[test]
fn a_hidden_future_looks_like_a_run_that_ended_there() {
    compare(&control_sequence(), &[0.15, 0.4, 0.6, 0.85]);
}

#[test]
fn a_hidden_future_looks_ended_in_simulated_runs() {
    for seed in 0..4 {
        let events = simulate(&options(seed)).expect("sound options");
        compare(
            &events,
            &[0.02 + 0.2 * seed as f64, 0.93 - 0.17 * seed as f64],
        );
    }
}

/// Regression test: "sample 19 of 32" and its strip became "32 samples" when the future was hidden.
#[test]
fn a_hidden_future_leaves_past_progress_visible() {
    let options = RunOptions {
        batch_size: Some(8),
        num_workers: 2,
        ..options(0)
    };
    let events = simulate(&options).expect("sound options");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    write_log(&path, &events);
    let open = |hides_future| {
        let window = Window {
            size: Vec2::new(1920.0, 1080.0),
            files: vec![path.clone()],
            prefs: Prefs {
                hides_future,
                ..Prefs::default()
            },
            ..Window::new()
        };
        window.open()
    };
    let (mut hiding, mut showing) = (open(true), open(false));
    let mut seen = 0;
    for (count, at) in moments(&events, &[0.1, 0.25, 0.4, 0.6]) {
        let then = all_in(&events[..count]);
        let fetched = |b: &loadscope_trace::Batch| b.stage == Stage::Fetching;
        let Some(row) = then.batches().iter().position(fetched) else {
            continue;
        };
        // The instant is in the middle of the batch. Its samples are reported at its end.
        let at = at + Nanos::from_millis(30);
        let look = [
            Command::Cursor(Cursor::At(at)),
            Command::Select(Some(Item::Batch(row))),
        ];
        do_all(&mut hiding, &look);
        do_all(&mut showing, &look);
        assert!(hiding.state().state.hides_future(), "at {at}");
        let inspector = eframe::egui::Rect::from_min_max(
            eframe::egui::pos2(1920.0 - 290.0, 40.0),
            eframe::egui::pos2(1920.0, 1040.0),
        );
        let in_inspector = |window| texts_in(window, inspector);
        assert_eq!(in_inspector(&hiding), in_inspector(&showing), "at {at}");
        let progress = |window: &Harness<'static, App>| {
            let all = texts(window).into_iter();
            let all = all.filter(|text| text.starts_with("sample ") && text.contains(" of "));
            // The median is that of the samples so far, or of the whole run.
            all.filter_map(|text| text.rsplit_once(", ").map(|(before, _)| before.to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(progress(&hiding), progress(&showing), "at {at}");
        seen += progress(&hiding).len();
    }
    assert!(seen > 0, "a sample is being read at some of these moments");
}

/// Regression test: at t = 0, the inspector showed images and a histogram of a batch that was not dispatched yet.
#[test]
fn batch_contents_are_shown_only_after_collation() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        size: Vec2::new(1920.0, 1080.0),
        files: vec![path],
        ..Window::new()
    }
    .open();
    let run = all_in(&control_sequence());
    let missing = "The contents are available once the batch is collated";
    let mut seen = [0, 0];
    for row in [0, 3, 7] {
        let made = run
            .path(row)
            .into_iter()
            .find(|s| s.stage > Stage::Collating);
        let made = made.expect("it is collated").start;
        for ms in (0..run.end().0 / 1_000_000).step_by(61) {
            let at = Nanos::from_millis(ms);
            let look = [
                Command::Cursor(Cursor::At(at)),
                Command::Select(Some(Item::Batch(row))),
            ];
            let ctx = window.ctx.clone();
            for command in look {
                window.state_mut().run(&ctx, command);
            }
            window.run();
            let has_fields = window.query_by_label("Fields").is_some();
            let has_images = window.query_by_label("Images").is_some();
            let is_made = made <= at;
            assert_eq!(
                (has_fields, has_images),
                (is_made, is_made),
                "{row} at {at}"
            );
            assert_eq!(window.query_by_label(missing).is_some(), !is_made);
            seen[usize::from(is_made)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
}

#[test]
fn keys_hide_the_future_and_advance_the_time() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    let all = window.state().state.session.run.transitions().len();
    window.key_press(Key::H);
    window.run();
    assert!(window.state().state.prefs.hides_future);
    assert!(
        !window.state().state.hides_future(),
        "nothing comes after the end"
    );
    window.key_press(Key::P);
    window.run();
    let seen = window.state().state.session.run.transitions().len();
    assert!(window.state().state.hides_future() && seen < all);
    assert!(window.query_by_label_contains("so far").is_some());
    // The keys go one transition forward, and back to the start.
    window.key_press(Key::ArrowRight);
    window.run();
    assert_eq!(
        window.state().state.session.run.transitions().len(),
        seen + 1
    );
    window.key_press_modifiers(eframe::egui::Modifiers::COMMAND, Key::Home);
    window.run();
    assert!(window.state().state.session.run.batches().is_empty());
    // Later events are unknown, so the jump is possible.
    window.key_press(Key::N);
    window.run();
    assert!(window.state().state.session.run.end() > Nanos::ZERO);
    window.key_press(Key::L);
    window.run();
    assert_eq!(window.state().state.session.run.transitions().len(), all);
    window.key_press(Key::H);
    window.run();
    assert!(!window.state().state.prefs.hides_future);
}

#[test]
fn windows_with_a_hidden_future_match_their_images() {
    let mut results = egui_kittest::SnapshotResults::new();
    for (theme, size, name) in [
        (
            eframe::egui::Theme::Dark,
            Vec2::new(1100.0, 700.0),
            "future_dark",
        ),
        (
            eframe::egui::Theme::Light,
            Vec2::new(1920.0, 1080.0),
            "future_light",
        ),
        (
            eframe::egui::Theme::Dark,
            Vec2::new(760.0, 480.0),
            "future_small",
        ),
    ] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            prefs: Prefs {
                hides_future: true,
                ..Prefs::default()
            },
            ..Window::new()
        }
        .open();
        let held = Command::Cursor(Cursor::At(Nanos::from_millis(480)));
        do_all(&mut window, &[held, Command::Select(Some(Item::Batch(3)))]);
        window.picture(name);
        results.extend_harness(&mut window);
    }
}
