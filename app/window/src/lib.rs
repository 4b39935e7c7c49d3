//! Window of the desktop and the browser: layout, keys, and the start of background calculations.
//! The program around it implements [`Host`].

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

use std::time::Duration;

use egui::Id;
use loadscope_model::prefs::{Motion, Prefs, Splits};
use loadscope_model::preparing::Preparing;
use loadscope_model::state::{Environment, State, ViewState};
use loadscope_model::view::Workspace;
use loadscope_plan::plan::normalized;
use loadscope_ui::panels::batches::BatchTable;
use loadscope_ui::panels::code::CodePanel;
use loadscope_ui::panels::inspector::Inspector;
use loadscope_ui::panels::loaders::LoadersView;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::panels::sampling::Sampling;
use loadscope_ui::pipeline::PipelineView;
use loadscope_ui::timeline::Timeline;
use loadscope_words::{Language, language};

pub mod frame_loop;
mod host;
mod jobs;
mod keys;
mod layout;
mod side_panels;
mod verdict;

pub use host::{Host, LIVE_FRAME, loader_suffix};

/// Views of the state and their input handling.
#[derive(Default)]
pub struct Window {
    timeline: Timeline,
    pipeline: PipelineView,
    inspector: Inspector,
    batches: BatchTable,
    plots: Plots,
    loaders: LoadersView,
    code: CodePanel,
    sampling: Sampling,
    jobs: jobs::Jobs,
    /// Background jobs of lessons.
    preparing: Preparing,
    verdict: verdict::VerdictCache,
    held_keys: HeldKeys,
    /// Input focus while the options are edited. It groups edits into undo steps.
    input_focus: InputFocus,
    /// True if the last frame was as narrow as a phone.
    is_phone: bool,
    /// Sizes of the panels in the last frame.
    sizes: Splits,
    /// Language of the results.
    results_language: Language,
    /// Start of the last frame, by the clock of the platform.
    last_frame_start: Option<Duration>,
    /// Number of comparisons so far.
    comparison_count: u64,
}

impl Window {
    /// Removes results in another language after the language changed.
    fn clear_on_language_change(&mut self) {
        let now = language();
        if std::mem::replace(&mut self.results_language, now) != now {
            self.jobs = jobs::Jobs::default();
            self.verdict = verdict::VerdictCache::default();
        }
    }
}

/// Movement of the view while W, S, A or D is held.
#[derive(Default)]
pub(crate) struct HeldKeys {
    /// Start time, s.
    since: Option<f64>,
}

impl HeldKeys {
    /// Maximum duration of a tap, s.
    const TAP: f64 = 0.2;
    /// Duration of the acceleration to full speed, s.
    const RAMP: f64 = 1.5;
    /// Initial and final speed: zoom in doublings per second, pan in view widths per second.
    pub const ZOOM: (f64, f64) = (1.5, 6.0);
    pub const PAN: (f64, f64) = (0.4, 2.5);

    /// Returns the distance for a frame of `elapsed` seconds at time `now`, between the two speeds. 0 during a possible tap.
    pub fn distance(&mut self, now: f64, elapsed: f64, (slow, fast): (f64, f64)) -> f64 {
        let held = now - *self.since.get_or_insert(now);
        if held < Self::TAP {
            return 0.0;
        }
        let ramp = ((held - Self::TAP) / Self::RAMP).min(1.0);
        (slow + (fast - slow) * ramp * ramp) * elapsed
    }
}

/// Grouping of edits made during one drag or focus into one undo step.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InputFocus {
    pub pressed: bool,
    pub focused: Option<Id>,
}

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
