//! Screenshots of overlays.

use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::Source;
use loadscope_trace::Origin;

use super::{press, tap, type_text};
use crate::fixture::{Window, control_recording, failed_sequence, wait, write_log};
use crate::texts::Picture as _;

#[test]
fn search_palette_and_question_match_their_images() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, Vec2::new(1100.0, 700.0), "dark"),
        (Theme::Light, Vec2::new(1920.0, 1080.0), "light"),
    ] {
        let (_dir, path) = control_recording();
        let mut window = Window {
            theme,
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        tap(&mut window, Key::N);
        window.picture(format!("travel_hint_{name}"));
        tap(&mut window, Key::Slash);
        window.picture(format!("travel_search-empty_{name}"));
        type_text(&mut window, "slower than 50 ms");
        window.picture(format!("travel_search-list_{name}"));
        tap(&mut window, Key::Enter);
        tap(&mut window, Key::Enter);
        window.picture(format!("travel_search_{name}"));
        press(&mut window, Modifiers::COMMAND, Key::K);
        type_text(&mut window, "next");
        tap(&mut window, Key::ArrowDown);
        window.picture(format!("travel_palette_{name}"));
        tap(&mut window, Key::Escape);
        tap(&mut window, Key::Escape);
        window.get_by_label("Navigate").click();
        window.run();
        window.picture(format!("travel_menu_{name}"));
        results.extend_harness(&mut window);
    }
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("failed.jsonl.zst");
        write_log(&path, &failed_sequence());
        let mut window = Window {
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        let ctx = window.ctx.clone();
        window.state_mut().run(&ctx, Action::ShowMessages.into());
        window.run();
        window.picture(format!("travel_messages_{name}"));
        tap(&mut window, Key::Escape);
        // The state is that of an engine run, with an open command that failed.
        let state = window.state_mut().state.set_up();
        state.session.source = Source::Finished;
        state.session.run.info.origin = Origin::Engine;
        let missing = Command::Perform(Effect::Open("/no/such/recording.jsonl".into()));
        window.state_mut().run(&ctx, missing);
        wait(&mut window, |app| app.state.overlay.checking_file.is_none());
        // The closing question is a still image, unlike a run that starts.
        press(&mut window, Modifiers::COMMAND, Key::Q);
        let asked = window.query_by_label("1 unsaved run");
        assert!(asked.is_some(), "the window asks");
        window.picture(format!("travel_question_{name}"));
        results.extend_harness(&mut window);
    }
}
