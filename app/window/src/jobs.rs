//! Long calculations: what is asked in the background, when it is asked again, and what has been answered.

use egui::Context;
use loadscope_model::answers::Answers;
use loadscope_model::state::State;
use loadscope_model::view::Workspace;

mod diagnosis;
mod question;
mod sampling;

/// All of them.
#[derive(Default)]
pub(crate) struct Jobs {
    diagnosis: diagnosis::Asker,
    sampling: sampling::Asker,
}

impl Jobs {
    /// Stops what is under way, so that the run can be changed.
    pub fn stop(&mut self) {
        self.diagnosis.stop();
        self.sampling.stop();
    }

    /// Takes in what is new, and asks what the workspace that is shown needs. Returns the answers if they are others than before.
    pub fn update(&mut self, ctx: &Context, state: &State) -> Option<Answers> {
        if state.is_reading() {
            return None;
        }
        let mut answers = state.session.answers.clone();
        match state.prefs.workspace {
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
        (!answers.is(&state.session.answers)).then_some(answers)
    }
}
