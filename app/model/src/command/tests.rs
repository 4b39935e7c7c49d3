use std::collections::{BTreeSet, HashMap};

use egui::{Key, KeyboardShortcut, Modifiers};

use super::*;

#[test]
fn no_two_actions_share_a_key() {
    let mut seen = HashMap::new();
    for (shortcut, action) in Action::shortcuts() {
        if let Some(other) = seen.insert((shortcut.modifiers, shortcut.logical_key), action) {
            panic!("{other:?} and {action:?} share {shortcut:?}");
        }
    }
}

/// Regression test: *End* had no effect, although a button jumps to the end.
#[test]
fn each_key_of_the_navigation_block_has_an_action() {
    let all = Action::shortcuts();
    for key in [
        Key::Home,
        Key::End,
        Key::PageUp,
        Key::PageDown,
        Key::ArrowUp,
        Key::ArrowDown,
        Key::ArrowLeft,
        Key::ArrowRight,
    ] {
        let plain = KeyboardShortcut::new(Modifiers::NONE, key);
        assert!(all.iter().any(|(k, _)| *k == plain), "{key:?}");
    }
    let of = |key| all.iter().find(|(k, _)| k.logical_key == key);
    assert_eq!(of(Key::End).map(|found| found.1), Some(Action::FollowLive));
}

/// Egui also matches a key with Shift or Alt against the shortcut without it. The shortcut with the modifier must come first.
#[test]
fn shortcuts_with_modifiers_are_matched_first() {
    let all = Action::shortcuts();
    for (k, (plain, _)) in all.iter().enumerate() {
        let hidden = all[k + 1..].iter().find(|(other, _)| {
            other.logical_key == plain.logical_key
                && other.modifiers != plain.modifiers
                && other.modifiers.matches_logically(plain.modifiers)
        });
        assert!(hidden.is_none(), "{plain:?} hides {hidden:?}");
    }
}

#[test]
fn action_names_are_unique_and_in_sentence_case() {
    let mut names = BTreeSet::new();
    for action in Action::all() {
        let info = action.info();
        assert!(names.insert(info.name), "{} twice", info.name);
        let is_several = info.tooltip.trim_end_matches('.').contains(". ");
        assert_eq!(info.tooltip.ends_with('.'), is_several, "{action:?}");
        assert!(info.name.starts_with(char::is_uppercase));
        assert!(info.tooltip.starts_with(char::is_uppercase), "{action:?}");
    }
}

#[test]
fn keys_are_shown_by_their_symbols() {
    let ctx = egui::Context::default();
    let keys = |action: Action| action.info().keys(&ctx);
    assert_eq!(keys(Action::NextBatch), "Shift+→");
    assert_eq!(keys(Action::Search), "/");
    assert_eq!(keys(Action::NextStage), "]");
    assert_eq!(keys(Action::ClearMarkers), "");
    assert_eq!(Action::ShowAll.all_keys(&ctx), "Home or 0");
    // No shortcut is shown with the name of an egui key.
    for action in Action::all() {
        assert!(!keys(action).contains("Bracket"), "{action:?}");
    }
}
