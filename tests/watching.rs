//! Tests of the sheet that starts and watches a PyTorch program.

use std::path::Path;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::watching::ProgramToWatch;

use crate::fixture::{Window, run, until};
use crate::texts::{Picture as _, cut, overlapping};

fn open(size: Vec2, theme: Theme) -> Harness<'static, App> {
    let mut window = Window {
        size,
        theme,
        ..Window::new()
    }
    .open();
    window
        .get_by_label(Action::WatchProgram.info().name)
        .click();
    window.run();
    window
}

fn type_into(window: &mut Harness<'static, App>, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run();
    window.event(Event::Text(text.to_owned()));
    window.run();
}

fn asked(window: &Harness<'static, App>) -> ProgramToWatch {
    let watching = window.state().state.overlay.watching.clone();
    watching.expect("the sheet is open").program
}

#[test]
fn the_program_form_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (size, theme, name) in [
        (vec2(1100.0, 700.0), Theme::Dark, "watching-dark"),
        (vec2(1100.0, 700.0), Theme::Light, "watching-light"),
        (vec2(760.0, 480.0), Theme::Light, "watching-small"),
    ] {
        let mut window = open(size, theme);
        window.get_by_label("Name the program: train.py, or -m and a module");
        type_into(&mut window, "Program", "train.py");
        type_into(&mut window, "Arguments", "--epochs 3");
        type_into(&mut window, "Folder", "/no/such/folder");
        window.key_press(Key::Enter);
        window.run();
        window.get_by_label("/no/such/folder: not found. Check the path.");
        let found = cut(&window);
        assert!(found.is_empty(), "{name}: {found:#?}");
        let found = overlapping(&window);
        assert!(found.is_empty(), "{name}: {found:#?}");
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn the_program_form_takes_text_and_closes_on_escape() {
    let mut window = open(vec2(1100.0, 700.0), Theme::Dark);
    // The field has the focus.
    window.event(Event::Text("train.py".to_owned()));
    window.run();
    assert_eq!(asked(&window).script, "train.py");
    window.key_press(Key::Escape);
    window.run();
    window.key_press(Key::Escape);
    window.run();
    assert!(window.state().state.overlay.watching.is_none());
}

/// Regression test: Enter started the program wherever the focus was.
#[test]
fn enter_starts_the_program_only_from_a_field() {
    let mut window = open(vec2(1100.0, 700.0), Theme::Dark);
    // The folder does not exist, so the sheet reports an error when it starts the program.
    type_into(&mut window, "Program", "train.py");
    type_into(&mut window, "Folder", "/no/such/folder");
    let problem = |window: &Harness<'static, App>| {
        let watching = window.state().state.overlay.watching.clone();
        watching.map(|watching| watching.problem)
    };
    run(&mut window, Action::Palette);
    window.event(Event::Text("no such entry".to_owned()));
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert_eq!(problem(&window), Some(None), "the palette is above it");
    run(&mut window, Command::Palette(None));
    let pictures = "Keep small images of batches, about once per second";
    window.get_by_label(pictures).focus();
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert_eq!(problem(&window), Some(None));
    window
        .get_by_role_and_label(Role::TextInput, "Python")
        .focus();
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert!(problem(&window).flatten().is_some(), "from a field it does");
    window.get_by_label("Cancel").focus();
    window.run();
    window.key_press(Key::Enter);
    window.run();
    assert_eq!(problem(&window), None, "the sheet is closed");
    assert!(!window.state().state.session.watched);
}

/// The program may be anything. This one does not use PyTorch, and fails.
#[cfg(unix)]
#[test]
fn a_failed_program_shows_its_last_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "echo \"$1 and $2\"; echo 'ValueError: it failed' >&2; exit 3";
    std::fs::write(folder.path().join("train.sh"), script).expect("there is room");
    let mut window = Window::new();
    window.prefs.watched = ProgramToWatch {
        python: "sh".to_owned(),
        folder: folder.path().display().to_string(),
        ..ProgramToWatch::default()
    };
    let mut window = window.open();
    window
        .get_by_label(Action::WatchProgram.info().name)
        .click();
    window.run();
    type_into(&mut window, "Program", "train.sh");
    type_into(&mut window, "Arguments", "one 'two words'");
    window.key_press(Key::Enter);
    window.run_steps(2);
    assert!(window.state().state.overlay.watching.is_none());
    assert!(window.state().state.session.watched);
    until(&mut window, "The program train.sh ended with exit code 3");
    window.get_by_label_contains("one and two words");
    window.get_by_label_contains("ValueError: it failed");
    // The window keeps this program for measurements with other arguments.
    let program = window.state().state.session.program.clone();
    let program = program.expect("it can be started again");
    assert_eq!(program.shown(), "sh train.sh one two words");
    assert_eq!(program.folder.as_deref(), Some(folder.path()));
    // The sheet shows the program the next time.
    assert_eq!(window.state().prefs().watched.script, "train.sh");
    let notices = &window.state().state.session.notices;
    let printed = notices.iter().find_map(|notice| {
        let (_, rest) = notice.text.split_once("Its output is in ")?;
        let path = rest.split(". The last lines").next()?;
        Some(path.trim_end_matches('.'))
    });
    assert!(Path::new(printed.expect("its file is named")).is_file());
}
