//! Tests of the options compared with the shown run, of field errors, and of window sizes.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::Source;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Argument, Nanos, OnError, RunOptions};

use crate::fixture::{Window, control_recording, wait};
use crate::texts::Picture as _;

fn options() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=40,cost_ms=20".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 10.0,
        ..RunOptions::default()
    }
}

/// Opens a window with a simulated run of these options.
fn simulated(size: Vec2, theme: Theme, options: &RunOptions) -> Harness<'static, App> {
    let mut window = Window {
        size,
        theme,
        ..Window::new()
    };
    window.prefs.options = options.clone();
    let mut window = window.open();
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Simulate.into());
    window.run_steps(2);
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window.run();
    window
}

fn edit(window: &mut Harness<'static, App>, options: RunOptions) {
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .run(&ctx, Command::Edit(Box::new(options)));
    window.run();
}

#[test]
fn changed_options_are_marked_and_can_be_reverted() {
    let size = Vec2::new(1100.0, 1400.0);
    let mut window = simulated(size, Theme::Dark, &options());
    assert!(window.query_by_label_contains("changed").is_none());
    let other = RunOptions {
        num_workers: 4,
        in_order: false,
        ..options()
    };
    edit(&mut window, other);
    window.get_by_label("2 options changed");
    window.get_by_label("Reset num_workers").click();
    window.run();
    window.get_by_label("1 option changed");
    assert_eq!(window.state().state.prefs.options.num_workers, 2);
    assert!(window.query_by_label("Reset num_workers").is_none());
    window.get_by_label("Revert").click();
    window.run();
    assert_eq!(window.state().state.prefs.options, options());
    // The change is a single undo step, like any other change.
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Undo.into());
    assert!(!window.state().state.prefs.options.in_order);
}

#[test]
fn option_errors_are_shown_at_their_fields() {
    let mut window = Window {
        size: Vec2::new(1100.0, 1400.0),
        ..Window::new()
    }
    .open();
    edit(
        &mut window,
        RunOptions {
            num_workers: 99_999,
            ..options()
        },
    );
    // The value is neither clamped nor accepted until the run.
    assert_eq!(window.state().state.prefs.options.num_workers, 99_999);
    let problems = &window.state().state.look.problems;
    assert_eq!(problems[0].field, Some(Argument::NumWorkers));
    let sentence = "At most 1,024";
    let at_field = window.get_by_label(sentence).rect();
    let name = window.get_by_label("num_workers").rect();
    let next = window.get_by_label("prefetch_factor").rect();
    assert!(name.top() < at_field.top() && at_field.top() < next.top());
}

/// Regression test: after Enter, the list stayed open. Only a pointer click closed it.
#[test]
fn a_drop_down_closes_after_enter() {
    let mut window = Window {
        size: Vec2::new(1100.0, 1800.0),
        ..Window::new()
    }
    .open();
    edit(&mut window, options());
    window.get_by_label("on_error").scroll_to_me();
    window.run();
    let open = |window: &Harness<'static, App>| window.query_by_label("Skip and log").is_some();
    let combo = window.get_by_role_and_label(Role::ComboBox, "on_error");
    combo.focus();
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert!(open(&window));
    window.get_by_label("Skip and log").focus();
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert!(!open(&window), "it stays open");
    assert_eq!(window.state().state.prefs.options.on_error, OnError::Log);
}

/// Presets and rows write the same text that the command line reads.
#[test]
fn cost_presets_write_the_dataset_text() {
    let mut window = Window {
        size: Vec2::new(1100.0, 1400.0),
        ..Window::new()
    }
    .open();
    edit(&mut window, options());
    window.get_by_label("One slow sample").click();
    window.run();
    let dataset =
        |window: &Harness<'static, App>| window.state().state.prefs.options.dataset.clone();
    assert_eq!(dataset(&window), "synthetic:len=40,cost_ms=20,slow=4:1000");
    window.get_by_label("Crash in worker").click();
    window.run();
    assert_eq!(dataset(&window), "synthetic:len=40,cost_ms=20,panic=12");
    window.get_by_label("Edit as text").click();
    window.run();
    assert!(window.query_by_label("Crash in worker").is_none());
    edit(
        &mut window,
        RunOptions {
            dataset: "digits".to_owned(),
            ..options()
        },
    );
    window.get_by_label("Edit as text").click();
    window.run();
    window.get_by_label("Long tail").click();
    window.run();
    let options = &window.state().state.prefs.options;
    assert_eq!(options.extra_cost, "cost_ms=10,tail=0.05:10");
}

/// Regression test: at 760 × 480, buttons overlapped and crossed the edge, and *Simulate* was missing.
#[test]
fn toolbar_buttons_fit_the_window_without_overlap() {
    for (width, height) in [
        (760.0, 480.0),
        (900.0, 600.0),
        (1000.0, 700.0),
        (1100.0, 700.0),
        (1300.0, 700.0),
    ] {
        let (_dir, path) = control_recording();
        let window = Window {
            size: Vec2::new(width, height),
            files: vec![path],
            ..Window::new()
        }
        .open();
        let toolbar: Vec<_> = window
            .get_all_by_role(Role::Button)
            .map(|node| {
                (
                    node.accesskit_node().label().unwrap_or_default(),
                    node.rect(),
                )
            })
            .filter(|(_, rect)| rect.bottom() < 34.0)
            .collect();
        assert!(toolbar.len() > 8);
        for (name, rect) in &toolbar {
            assert!(
                rect.left() >= 0.0 && rect.right() <= width,
                "{width}: {name} at {rect}"
            );
        }
        for (k, (name, rect)) in toolbar.iter().enumerate() {
            for (other, place) in &toolbar[k + 1..] {
                let common = rect.shrink(1.0).intersect(place.shrink(1.0));
                assert!(!common.is_positive(), "{width}: {name} and {other}");
            }
        }
        let is_there = toolbar.iter().any(|(name, _)| name == "Simulate");
        let more = toolbar
            .iter()
            .any(|(name, _)| name == "More tools" || name == "Other ways to run");
        assert!(is_there || more, "{width}: Simulate is nowhere");
    }
}

/// In a narrow window, the inspector replaces the options, because both would leave no room for the run.
#[test]
fn a_narrow_window_shows_one_side_panel_at_a_time() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        size: Vec2::new(760.0, 480.0),
        files: vec![path],
        ..Window::new()
    }
    .open();
    assert!(window.query_by_label("num_workers").is_some());
    assert!(window.query_by_label("Nothing selected").is_none());
    let ctx = window.ctx.clone();
    let select = Command::Select(Some(Item::Batch(3)));
    window.state_mut().run(&ctx, select);
    window.run();
    assert!(window.query_by_label("Batch 3").is_some());
    assert!(window.query_by_label("num_workers").is_none());
    window.state_mut().run(&ctx, Command::Select(None));
    window.run();
    assert!(window.query_by_label("num_workers").is_some());
}

/// Regression test: the options filled a phone's window. They now close once, and stay open if the user opens them.
#[test]
fn the_options_start_closed_on_a_phone() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        size: Vec2::new(390.0, 844.0),
        files: vec![path],
        ..Window::new()
    }
    .open();
    window.run();
    assert!(window.query_by_label("num_workers").is_none());
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::ToggleOptions.into());
    window.run();
    assert!(window.query_by_label("num_workers").is_some());
    window.run();
    assert!(window.query_by_label("num_workers").is_some());
}

#[test]
fn changed_options_match_their_images() {
    let mut results = SnapshotResults::new();
    for (theme, width, height) in [
        (Theme::Dark, 760.0, 480.0),
        (Theme::Dark, 1100.0, 700.0),
        (Theme::Light, 1100.0, 700.0),
        (Theme::Light, 1920.0, 1080.0),
        (Theme::Dark, 1920.0, 1080.0),
    ] {
        let mut window = simulated(Vec2::new(width, height), theme, &options());
        let other = RunOptions {
            dataset: "synthetic:len=40,cost_ms=20,slow=4:1000".to_owned(),
            num_workers: 5000,
            shuffle: true,
            ..options()
        };
        edit(&mut window, other);
        let ctx = window.ctx.clone();
        let at = Command::Cursor(Cursor::At(Nanos::from_millis(60)));
        window.state_mut().run(&ctx, at);
        window.run();
        let name = format!("{theme:?}").to_lowercase();
        window.picture(format!("options_{name}-{width:.0}"));
        results.extend_harness(&mut window);
    }
}
