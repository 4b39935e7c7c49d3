//! What is shown before anything has happened.

use loadscope_model::prefs::{Motion, Prefs};
use loadscope_model::state::{Look, Place, State};
use loadscope_model::view::Workspace;
use loadscope_plan::plan::settled;
use loadscope_words::Language;

/// What is shown before anything has happened: the welcome, or, where something `is_opened`, the workspace that was looked at last.
pub fn beginning(prefs: Prefs, place: Place, is_opened: bool) -> State {
    let motion = prefs.motion;
    let mut learned = prefs.learned;
    let language = place.asked_language.or(prefs.language);
    if language.unwrap_or(place.language) == Language::Zh {
        learned.language = Language::Zh;
    }
    State {
        prefs: Prefs {
            learned,
            // With nothing to look at, a start is the welcome, whatever was looked at last.
            workspace: match is_opened {
                false => Workspace::default(),
                true => prefs.workspace,
            },
            options: settled(prefs.options),
            ..prefs
        },
        look: Look {
            speed: 1.0,
            still: place.still_for_now || motion == Motion::Reduced,
            ..Look::default()
        },
        place,
        ..State::default()
    }
}
