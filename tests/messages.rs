//! Test that only messages change the state. A replay must lead to the same state.

use eframe::egui::Key;
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::update::update;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Lane, Nanos};

use crate::fixture::{Window, control_recording, until};

/// Formats the complete state.
fn all_of(state: &State) -> String {
    format!("{state:#?}")
}

#[test]
fn replaying_the_messages_gives_the_same_state() {
    let (dir, path) = control_recording();
    let other = dir.path().join("other.jsonl.zst");
    std::fs::copy(&path, &other).expect("there is room");
    let setup = Window {
        files: vec![path],
        keeps_messages: true,
        ..Window::new()
    };
    let (prefs, start) = setup.start();
    let mut window = setup.open();
    let ctx = window.ctx.clone();
    let commands = [
        Command::Cursor(Cursor::At(Nanos::from_millis(333))),
        Command::Select(Some(Item::Lane(Lane::Worker(1)))),
        Command::Search("slower than 200 ms".to_owned()),
        Action::NextMatch.into(),
        Action::ToggleMarker.into(),
        Action::ZoomIn.into(),
        Action::ToggleTheme.into(),
        Action::ShowPlots.into(),
        Command::Perform(Effect::Compare(other)),
    ];
    for command in commands {
        window.state_mut().run(&ctx, command);
        window.run();
    }
    until(&mut window, "other.jsonl.zst");
    for key in [
        Key::ArrowRight,
        Key::W,
        Key::Num2,
        Key::Num1,
        Key::Escape,
        Key::M,
    ] {
        window.key_press(key);
        window.run();
    }
    // The pointer hovers over the trainer's wait.
    window.hover_at(eframe::egui::pos2(500.0, 300.0));
    window.run();
    window.state_mut().run(&ctx, Action::Simulate.into());
    until(&mut window, "Simulated");
    window.key_press(Key::ArrowRight);
    window.run();

    let kept = &window.state().state;
    assert!(kept.log().len() > 50, "{} messages", kept.log().len());
    let mut replayed = App::beginning(prefs, &start);
    for message in kept.log() {
        let _ = update(&mut replayed, message.clone());
    }
    let (shown, replayed) = (all_of(kept), all_of(&replayed));
    let differs = shown.lines().zip(replayed.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None);
    assert_eq!(shown.len(), replayed.len());
}
