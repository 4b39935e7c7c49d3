//! Background calculation of the code panel.

use std::sync::Arc;

use egui::Context;
use loadscope_insight::background::Progress;
use loadscope_insight::code::CodeProfile;
use loadscope_model::code::question;
use loadscope_model::results::CodeResults;
use loadscope_model::state::{Source, State};

use super::cached_job::{CachedJob, JobContext, Key};

/// Calculation of the code of the selection.
#[derive(Default)]
pub(super) struct CodeJob {
    profile: CachedJob<Arc<CodeProfile>>,
}

impl CodeJob {
    /// Returns the last result.
    pub(super) fn results(&self) -> CodeResults {
        CodeResults {
            profile: self.profile.answer().cloned(),
            refusal: self.profile.failure().cloned(),
        }
    }

    /// Takes a new result, and starts a calculation if the selection or the run changed.
    pub(super) fn update(&mut self, ctx: &Context, state: &State) {
        let session = &state.session;
        if session.run.stacks().is_empty() {
            self.profile.clear();
            return;
        }
        let question = question(state);
        let key = Key {
            run: session.run_number,
            events: session.run.version(),
            end: session.run.end(),
            code: Some(question),
            base: None,
            other: 0,
        };
        let context = JobContext {
            ctx,
            platform: state.place.platform,
        };
        let grows = session.source == Source::Live { paused: false };
        self.profile.update(&context, &key, grows, || {
            let run = session.run.snapshot();
            move |progress: &Progress| CodeProfile::of(&run, question, progress).map(Arc::new)
        });
    }
}
