//! The sheet that asks for a PyTorch program, starts it and watches it.

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::Action;
use loadscope_model::watching::ProgramToWatch;

use crate::fixture::{Window, until};
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
fn pictures_of_the_sheet_that_asks_for_a_program() {
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
        window.get_by_label("There is no folder /no/such/folder");
        let found = cut(&window);
        assert!(found.is_empty(), "{name}: {found:#?}");
        let found = overlapping(&window);
        assert!(found.is_empty(), "{name}: {found:#?}");
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn the_sheet_keeps_what_was_typed_and_goes_with_escape() {
    let mut window = open(vec2(1100.0, 700.0), Theme::Dark);
    // The field has the keyboard.
    window.event(Event::Text("train.py".to_owned()));
    window.run();
    assert_eq!(asked(&window).script, "train.py");
    window.key_press(Key::Escape);
    window.run();
    window.key_press(Key::Escape);
    window.run();
    assert!(window.state().state.overlay.watching.is_none());
}

/// The program is what the user wrote, so it may be anything: here it is one without PyTorch, which fails.
#[cfg(unix)]
#[test]
fn a_program_that_fails_says_what_it_printed_last() {
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
    until(
        &mut window,
        "The program train.sh has ended with exit code 3",
    );
    window.get_by_label_contains("one and two words");
    window.get_by_label_contains("ValueError: it failed");
    // It stands in the sheet the next time.
    assert_eq!(window.state().prefs().watched.script, "train.sh");
    let notices = &window.state().state.session.notices;
    let printed = notices.iter().find_map(|notice| {
        let (_, rest) = notice.text.split_once("What it printed is in ")?;
        rest.split(';').next()
    });
    std::fs::remove_file(printed.expect("its file is named")).expect("it is there");
}
