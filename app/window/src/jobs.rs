//! Background calculations: their start, restart and results.

use egui::Context;
use loadscope_model::results::BackgroundResults;
use loadscope_model::state::State;
use loadscope_model::view::{LowerPanel, Workspace};

mod cached_job;
mod code;
mod diagnosis;
mod sampling;

/// All background calculations.
#[derive(Default)]
pub(crate) struct Jobs {
    diagnosis: diagnosis::DiagnosisJobs,
    sampling: sampling::SamplingJob,
    code: code::CodeJob,
}

impl Jobs {
    /// Takes new results and starts the calculations of the shown workspace. Returns the results if they changed.
    pub fn update(&mut self, ctx: &Context, state: &State) -> Option<BackgroundResults> {
        if state.is_reading() {
            return None;
        }
        let mut answers = state.session.results.clone();
        match state.prefs.workspace {
            Workspace::Debug if state.look.lower == LowerPanel::Code => {
                self.code.update(ctx, state);
                answers.code = self.code.results();
            }
            Workspace::Debug => return None,
            Workspace::Sampling => {
                self.sampling.update(ctx, state);
                answers.sampling = self.sampling.answers();
            }
            Workspace::Diagnose => {
                self.diagnosis.update(ctx, state);
                answers.diagnosis = self.diagnosis.answers();
            }
        }
        (!answers.is_same(&state.session.results)).then_some(answers)
    }
}
