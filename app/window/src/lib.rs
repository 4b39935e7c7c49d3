//! Window of the desktop and the browser: layout, keys, and the start of background calculations.
//! The program around it implements [`Host`].

#![forbid(unsafe_code)]

use std::time::Duration;

use loadscope_model::prefs::Splits;
use loadscope_model::preparing::Preparing;
use loadscope_ui::panels::batches::BatchTable;
use loadscope_ui::panels::inspector::Inspector;
use loadscope_ui::panels::loaders::LoadersView;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::panels::sampling::Sampling;
use loadscope_ui::pipeline::PipelineView;
use loadscope_ui::timeline::Timeline;
use loadscope_words::{Language, language};

loadscope_words::catalogs!();

pub mod frame_loop;
mod held_input;
mod host;
mod initial_state;
mod jobs;
mod keys;
mod layout;
mod present;
mod side_panels;
mod verdict;

pub use host::{Host, LIVE_FRAME, loader_suffix};
pub use initial_state::initial_state;

/// Views of the state and their input handling.
#[derive(Default)]
pub struct Window {
    timeline: Timeline,
    pipeline: PipelineView,
    inspector: Inspector,
    batches: BatchTable,
    plots: Plots,
    loaders: LoadersView,
    sampling: Sampling,
    jobs: jobs::Jobs,
    /// Background jobs of lessons.
    preparing: Preparing,
    verdict: verdict::VerdictCache,
    held_keys: held_input::HeldKeys,
    /// Input focus while the options are edited. It groups edits into undo steps.
    input_focus: held_input::InputFocus,
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
