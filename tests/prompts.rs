//! Tests that a prompt has the focus each time it opens, however it was closed before.

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::typing::{PathFor, TypedPath};

use crate::fixture::{Window, control_recording, run};

const PATHS: [PathFor; 6] = [
    PathFor::Open,
    PathFor::OpenFolder,
    PathFor::Save,
    PathFor::Compare,
    PathFor::Export,
    PathFor::Folder,
];

/// Prompt, with the label of its field.
#[derive(Clone, Copy, Debug)]
enum Prompt {
    Path(PathFor),
    Act(Action, &'static str),
}

impl Prompt {
    fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Act(Action::WatchProgram, "Program"),
            Self::Act(Action::Search, "Search"),
            Self::Act(Action::Palette, "Action or search"),
        ];
        PATHS.into_iter().map(Self::Path).chain(others)
    }

    fn open(self, window: &mut Harness<'static, App>) {
        match self {
            Self::Path(what) => {
                let text = String::new();
                run(window, Command::TypePath(Some(TypedPath { what, text })));
            }
            Self::Act(action, _) => run(window, action),
        }
    }

    fn has_keyboard(self, window: &Harness<'static, App>) -> bool {
        let label = match self {
            Self::Path(what) => what.title(),
            Self::Act(_, label) => label,
        };
        let field = window.query_by_role_and_label(Role::TextInput, label);
        field.is_some_and(|field| field.accesskit_node().is_focused())
    }

    fn is_open(self, window: &Harness<'static, App>) -> bool {
        let overlay = &window.state().state.overlay;
        match self {
            Self::Path(_) => overlay.typing.is_some(),
            Self::Act(Action::WatchProgram, _) => overlay.watching.is_some(),
            Self::Act(Action::Palette, _) => overlay.palette.is_some(),
            Self::Act(..) => window.state().state.look.search.open,
        }
    }

    /// Presses Esc until the prompt is closed. The first press may only leave the field.
    fn escape(self, window: &mut Harness<'static, App>) {
        for _ in 0..3 {
            if self.is_open(window) {
                window.key_press(Key::Escape);
                window.run();
            }
        }
        assert!(!self.is_open(window), "{self:?} is closed by Esc");
    }
}

/// Regression test: after Esc, the path field had no focus: `~/pics` opened Search and jumped to batch 43.
#[test]
fn a_prompt_has_the_focus_each_time_it_opens() {
    let (_dir, path) = control_recording();
    let mut window = Window {
        files: vec![path],
        ..Window::new()
    }
    .open();
    for prompt in Prompt::all() {
        for time in 0..3 {
            prompt.open(&mut window);
            assert!(prompt.has_keyboard(&window), "{prompt:?}, time {time}");
            prompt.escape(&mut window);
        }
    }
    // The test opens one path prompt after the other without closing them.
    for what in PATHS {
        let prompt = Prompt::Path(what);
        prompt.open(&mut window);
        assert!(prompt.has_keyboard(&window), "{prompt:?}");
    }
    window.get_by_label("Cancel").click();
    window.run();
    let prompt = Prompt::Path(PathFor::Folder);
    prompt.open(&mut window);
    window.event(Event::Text("~/pics".to_owned()));
    window.run();
    let typed = window.state().state.overlay.typing.clone();
    assert_eq!(typed.map(|typed| typed.text).as_deref(), Some("~/pics"));
}
