//! Tests of editing the options: rows do not move or overlap, and drop-downs work by keyboard.

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Rect, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _, by};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::prefs::Splits;
use loadscope_model::state::Source;
use loadscope_trace::{Argument, Collate, OnError, PinMemory, RunOptions};

use crate::fixture::{Window, run, wait};
use crate::texts::{cut, overlapping};

fn options() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=40,cost_ms=20".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 10.0,
        ..RunOptions::default()
    }
}

/// Opens a window with a simulated run of these options, and the form of the next run at this width.
fn form(width: f32) -> Harness<'static, App> {
    let mut window = Window {
        size: Vec2::new(1100.0, 2000.0),
        ..Window::new()
    };
    window.prefs.options = options();
    window.prefs.splits = Splits {
        options: width,
        ..Splits::default()
    };
    let mut window = window.open();
    run(&mut window, Action::Simulate);
    wait(&mut window, |app| {
        app.state.session.source == Source::Finished
    });
    window.run();
    window
}

fn edit(window: &mut Harness<'static, App>, change: impl FnOnce(&mut RunOptions)) {
    let mut options = window.state().state.prefs.options.clone();
    change(&mut options);
    run(window, Command::Edit(Box::new(options)));
}

/// Returns the positions of the option names.
fn places(window: &Harness<'static, App>) -> Vec<(&'static str, Rect)> {
    let place = |field: &Argument| {
        let name = field.name();
        // A name labels its control, so a plain search finds only the control.
        let mut nodes = window.query_all(by().label(name).include_labels());
        let label = nodes.find(|node| node.accesskit_node().role() == Role::Label)?;
        Some((name, label.rect()))
    };
    Argument::ALL.iter().filter_map(place).collect()
}

type Change = fn(&mut RunOptions);

/// Regression test: "1 option changed" pushed all rows down by 30 points, so the second click hit another row.
#[test]
fn option_rows_do_not_move_while_edited() {
    let mut window = form(268.0);
    let changes: [(&str, Change); 10] = [
        ("num_workers", |o| o.num_workers = 5),
        ("too many workers", |o| o.num_workers = 99_999),
        ("batch_size", |o| o.batch_size = Some(3)),
        ("no batch_size", |o| o.batch_size = Some(0)),
        ("drop_last", |o| o.drop_last = true),
        ("prefetch_factor", |o| o.prefetch_factor = Some(0)),
        ("persistent_workers", |o| o.persistent_workers = true),
        ("pin_memory", |o| o.pin_memory = PinMemory::Mlock),
        ("on_error", |o| o.on_error = OnError::Log),
        ("epochs", |o| o.epochs = 0),
    ];
    let before = places(&window);
    assert!(before.len() > 12, "{before:?}");
    for (what, change) in changes {
        edit(&mut window, change);
        assert_eq!(places(&window), before, "after {what}");
        run(&mut window, Action::Undo);
        assert_eq!(places(&window), before, "after {what} was undone");
    }
}

/// Regression test: `WeightedRandom, balanced` covered the name of its row, and an arrow covered "dataset".
#[test]
fn choices_do_not_cover_option_names() {
    let samplers = [
        "",
        "sequential",
        "random",
        "subset:/i.txt",
        "weighted:/w.txt",
        "weighted:balanced",
        "distributed",
        "equi:/l.txt",
        "equi:labels",
        "group:label",
        "bucket:len",
    ];
    let datasets = [
        "digits",
        "arrow:/data/saved",
        "stream:len=24,cost_ms=50,shard=true",
        "safetensors:/data/x.safetensors",
    ];
    let collates = [Collate::Fitting, Collate::Concat, Collate::Pad(0.0)];
    for width in [220.0, 268.0] {
        let mut window = form(width);
        let mut look = |change: &dyn Fn(&mut RunOptions)| {
            edit(&mut window, change);
            let (over, cut) = (overlapping(&window), cut(&window));
            let options = &window.state().state.prefs.options;
            assert!(over.is_empty(), "{width} {options:?}: {over:?}");
            assert!(cut.is_empty(), "{width} {options:?}: {cut:?}");
            names_are_free(&window);
        };
        for sampler in samplers {
            look(&|o| {
                o.dataset = "digits".to_owned();
                o.sampler = sampler.to_owned();
            });
        }
        for dataset in datasets {
            look(&|o| {
                o.sampler = String::new();
                o.dataset = dataset.to_owned();
            });
        }
        for collate in collates {
            look(&|o| o.collate = collate);
        }
        for pin in [PinMemory::On, PinMemory::Mlock] {
            look(&|o| o.pin_memory = pin);
        }
    }
}

/// Controls and arrows must not cover option names.
fn names_are_free(window: &Harness<'static, App>) {
    let controls: Vec<Rect> = [
        Role::ComboBox,
        Role::CheckBox,
        Role::SpinButton,
        Role::Button,
    ]
    .into_iter()
    .flat_map(|role| window.query_all_by_role(role).map(|node| node.rect()))
    .collect();
    for (name, place) in places(window) {
        let over = controls.iter().find(|c| c.intersects(place.shrink(1.0)));
        assert_eq!(over, None, "{name} at {place}");
    }
}

fn focused(window: &Harness<'static, App>) -> Option<String> {
    let mut nodes = window.query_all_by_role(Role::Button);
    let node = nodes.find(|node| node.accesskit_node().is_focused())?;
    node.accesskit_node().label()
}

fn press(window: &mut Harness<'static, App>, key: Key) {
    window.key_press(key);
    window.run();
}

/// Regression test: after opening with the mouse, the first Down selected the entry that was already chosen. Letters did nothing.
#[test]
fn lists_follow_arrow_keys_and_typed_letters() {
    for by_mouse in [true, false] {
        let mut window = form(268.0);
        let open = |window: &mut Harness<'static, App>, name: &str| {
            let combo = window.get_by_role_and_label(Role::ComboBox, name);
            match by_mouse {
                true => combo.click(),
                false => combo.focus(),
            }
            window.run();
            if !by_mouse {
                press(window, Key::Enter);
            }
        };
        open(&mut window, "on_error");
        assert_eq!(focused(&window).as_deref(), Some("Stop"));
        press(&mut window, Key::ArrowDown);
        press(&mut window, Key::Enter);
        let on_error = |window: &Harness<'static, App>| window.state().state.prefs.options.on_error;
        assert_eq!(on_error(&window), OnError::Continue, "{by_mouse}");
        open(&mut window, "on_error");
        assert_eq!(focused(&window).as_deref(), Some("Continue"));
        press(&mut window, Key::ArrowUp);
        press(&mut window, Key::ArrowUp);
        press(&mut window, Key::Enter);
        assert_eq!(on_error(&window), OnError::Stop, "the first one is the end");
        // Letters select entries.
        let letters = |window: &mut Harness<'static, App>, text: &str| {
            for letter in text.chars() {
                window.event(Event::Text(letter.to_string()));
                window.run_steps(1);
            }
            window.run();
        };
        open(&mut window, "dataset");
        letters(&mut window, "to");
        press(&mut window, Key::Enter);
        let dataset = &window.state().state.prefs.options.dataset;
        assert!(dataset.starts_with("tokens:"), "{dataset}");
        open(&mut window, "dataset");
        letters(&mut window, "s");
        assert_eq!(focused(&window).as_deref(), Some("SQL database"));
        press(&mut window, Key::Escape);
        let dataset = &window.state().state.prefs.options.dataset;
        assert!(dataset.starts_with("tokens:"), "Esc chooses nothing");
    }
}
