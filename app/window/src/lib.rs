//! What a window does wherever it stands, on a desktop or in a browser: what is where, which key does what, when long calculations
//! are asked for. The program around it is a [`Host`].

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

mod beginning;
mod frame;
mod grip;
mod headline;
mod host;
mod jobs;
mod keys;
mod other;
mod present;
mod sides;
pub mod turn;

pub use beginning::beginning;
pub use host::{Host, LIVE_FRAME};
pub use other::{among, before, kept};

/// What draws the state and listens to hands.
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
    /// What lessons need.
    preparing: Preparing,
    headline: headline::Verdict,
    drive: grip::Drive,
    /// The widget that is held while the options are changed.
    grip: grip::Grip,
    /// True if the last frame was as narrow as a phone.
    is_phone: bool,
    /// How wide the panels were in the last frame.
    sizes: Splits,
    /// The language of what was worked out.
    spoken: Language,
    /// When the last frame began, by the clock of the platform.
    stepped: Option<Duration>,
}

impl Window {
    /// Stops long calculations, so that the run that they read can be changed.
    pub fn stop_calculating(&mut self) {
        self.jobs.stop();
    }

    /// Forgets what was worked out in another language than the one that is spoken now.
    fn listen_to_language(&mut self) {
        let now = language();
        if std::mem::replace(&mut self.spoken, now) != now {
            self.jobs = jobs::Jobs::default();
            self.headline = headline::Verdict::default();
        }
    }
}
