//! Initial state of the window.

use loadscope_model::prefs::{Motion, Prefs};
use loadscope_model::state::{Environment, State, ViewState};
use loadscope_model::view::Workspace;
use loadscope_plan::plan::normalized;
use loadscope_words::Language;

/// Returns the initial state. It shows the welcome screen, or the last workspace if `is_opened`.
pub fn initial_state(prefs: Prefs, place: Environment, is_opened: bool) -> State {
    let motion = prefs.motion;
    let mut learned = prefs.learned;
    // `--lang` sets the language of all texts. Otherwise lessons can have another language than the window.
    let language = place.asked_language.or(prefs.language);
    match (place.asked_language, language.unwrap_or(place.language)) {
        (Some(asked), _) => learned.language = asked,
        (None, Language::Zh) => learned.language = Language::Zh,
        (None, Language::En) => {}
    }
    State {
        prefs: Prefs {
            learned,
            // The welcome screen ignores the last workspace.
            workspace: match is_opened {
                false => Workspace::default(),
                true => prefs.workspace,
            },
            options: normalized(prefs.options),
            ..prefs
        },
        look: ViewState {
            speed: 1.0,
            still: place.still_for_now || motion == Motion::Reduced,
            ..ViewState::default()
        },
        place,
        ..State::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--lang` sets the language of all texts and overrides the lesson language.
    #[test]
    fn the_lang_option_sets_the_lesson_language() {
        for read_before in Language::ALL {
            for asked in [None, Some(Language::En), Some(Language::Zh)] {
                let mut prefs = Prefs::default();
                prefs.learned.language = read_before;
                let place = Environment {
                    asked_language: asked,
                    language: Language::En,
                    ..Environment::default()
                };
                let state = initial_state(prefs, place, false);
                let expected = asked.unwrap_or(read_before);
                assert_eq!(state.prefs.learned.language, expected);
            }
        }
    }
}
