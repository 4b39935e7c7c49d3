//! Tests of the old part of a recording with a size limit, in the timeline.

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::Action;
use loadscope_model::state::Source;
use loadscope_model::view::Cursor;
use loadscope_trace::{
    AwaitedStage, BatchId, Event, EventKind, Kept, Nanos, Retention, Run, RunId, State, Sums,
};

use crate::fixture::{Window, control_sequence, run};
use crate::texts::Picture as _;

/// Number of minutes with sums only.
const MINUTES: i64 = 600;

fn minute(k: i64) -> Nanos {
    Nanos(k * 60_000_000_000)
}

/// Returns the sums of a minute. The workers become slower over ten hours.
fn sums(k: i64) -> Sums {
    let mut sums = Sums {
        part: 1,
        from: minute(k),
        to: minute(k + 1),
        batches: 600 - k as u64 / 2,
        samples: 32 * (600 - k as u64 / 2),
        ..Sums::default()
    };
    for _ in 0..sums.batches {
        let wait = Nanos::from_millis(20 + k / 12);
        *sums.waited.entry(AwaitedStage::Fetching).or_default() += wait;
        *sums.waited.entry(AwaitedStage::Held).or_default() += Nanos::from_millis(5);
        sums.waits.record(wait + Nanos::from_millis(5));
        sums.steps.record(Nanos::from_millis(60));
        sums.fetches.record(Nanos::from_millis(90 + k / 6));
    }
    sums
}

/// Returns ten hours of sums with one long wait that was kept, and a pause of half an hour. The control sequence follows.
fn limited() -> Run {
    let mut run = Run::default();
    limited_events().iter().for_each(|event| run.apply(event));
    run
}

fn limited_events() -> Vec<Event> {
    let mut all = Vec::new();
    let mut tell = |at, kind| {
        all.push(Event {
            at,
            run: RunId(0),
            kind,
        });
    };
    for k in (0..MINUTES).filter(|k| !(300..330).contains(k)) {
        tell(minute(k + 1), EventKind::Summed(Box::new(sums(k))));
    }
    let batch = BatchId {
        epoch: 0,
        idx: 120_000,
    };
    let start = minute(200);
    let kept = Kept {
        part: 1,
        wait: Some((start, start + Nanos::from_millis(2_500))),
        events: vec![Event {
            at: start,
            run: RunId(0),
            kind: EventKind::dispatched(batch, Some(1), [7]),
        }],
    };
    tell(start, EventKind::Kept(Box::new(kept)));
    let (before, after): (Vec<Event>, Vec<Event>) =
        (control_sequence().into_iter()).partition(|event| {
            matches!(
                event.kind,
                EventKind::RunStarted(_) | EventKind::EpochStarted { .. }
            )
        });
    let mut events = before;
    // The loop has requested batches in all ten hours.
    for waiting in [true, false] {
        events.push(Event {
            at: Nanos::ZERO,
            run: RunId(0),
            kind: EventKind::Consumer { waiting },
        });
    }
    let state = State { part: 2, events };
    tell(minute(MINUTES), EventKind::State(Box::new(state)));
    for event in after {
        tell(event.at + minute(MINUTES), event.kind);
    }
    all
}

fn open(size: Vec2, theme: Theme) -> Harness<'static, App> {
    let mut window = Window {
        size,
        theme,
        ..Window::new()
    }
    .open();
    let state = window.state_mut().state.set_up();
    state.session.run = limited();
    state.session.source = Source::Finished;
    window.run();
    window
}

#[test]
fn the_timeline_starts_at_the_kept_part_and_can_show_all() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [(Theme::Dark, "past_dark"), (Theme::Light, "past_light")] {
        let mut window = open(Vec2::new(1100.0, 700.0), theme);
        let shown = window.state().state.shown();
        assert!(shown.start > minute(MINUTES - 1), "{shown:?}");
        // The headline covers only the complete data. The ten hours before it do not count as time outside the loop.
        window.get_by_label(
            "The trainer waited 736\u{2009}ms of the last 976\u{2009}ms (75\u{2009}%)",
        );
        run(&mut window, Action::ShowAll);
        let shown = window.state().state.shown();
        assert!(
            shown.start <= Nanos::ZERO && shown.end > minute(MINUTES),
            "{shown:?}"
        );
        // The old part has a tooltip.
        let label = "Older data, kept as sums per minute";
        let past = window.get_by_label(label).rect();
        let (wait, whole) = (minute(202) - shown.start, minute(MINUTES) - shown.start);
        let share = wait.0 as f32 / whole.0 as f32;
        let at = past.left_center() + (past.width() * share, 0.0).into();
        window.hover_at(at);
        window.run_steps(4);
        window.get_by_label_contains("samples/s, trainer waited");
        window.get_by_label_contains("Waited 2.50\u{2009}s for batch 120000");
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn home_toggles_between_the_kept_part_and_the_whole_run() {
    let mut window = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    let kept = window.state().state.shown();
    window.key_press_modifiers(Modifiers::NONE, Key::Home);
    window.run();
    assert!(window.state().state.shown().len() > kept.len());
    window.key_press_modifiers(Modifiers::NONE, Key::Home);
    window.run();
    assert_eq!(window.state().state.shown(), kept);
}

/// A live run with a memory limit, whose old part is no longer in memory.
#[test]
fn the_status_line_shows_the_time_kept_in_memory() {
    for (theme, size) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0)),
        (Theme::Light, Vec2::new(1920.0, 1080.0)),
    ] {
        let mut window = open(size, theme);
        let state = window.state_mut().state.set_up();
        let mut run = Run::default();
        let retention = Retention {
            max_size: 1_000_000_000,
            long_wait: Nanos::from_millis(100),
            keep_slowest: 100,
            ..Retention::default()
        };
        let (at, id) = (Nanos::ZERO, RunId(0));
        let kind = EventKind::Retention(Box::new(retention));
        run.apply(&Event { at, run: id, kind });
        limited_events().iter().for_each(|event| run.apply(event));
        state.session.run = run;
        state.session.source = Source::Live { paused: true };
        window.run();
        window
            .get_by_label_contains("in memory in full: the last")
            .hover();
        window.run_steps(4);
        window.get_by_label_contains("The limit is 1.00\u{2009}GB (set it with --memory)");
    }
}

/// Regression test: the card stated that ten hours took a second.
#[test]
fn the_end_card_does_not_call_the_kept_part_an_epoch() {
    let mut window = open(Vec2::new(1100.0, 700.0), Theme::Dark);
    window.state_mut().state.set_up().session.cursor = Cursor::Live;
    window.run();
    window.get_by_label("Epoch 0 ended, 75\u{2009}% of the last 976\u{2009}ms waiting");
}
