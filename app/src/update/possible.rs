//! Which actions make sense now. The others are grey, and their keys do nothing.

use crate::clipboard::{self, Picture};
use crate::command::Action;
use crate::state::State;

/// True if `action` makes sense now.
pub fn is_possible(state: &State, action: Action) -> bool {
    let has_steps = !state.run.transitions().is_empty();
    match action {
        Action::Stop => state.source.is_live(),
        Action::Save | Action::Close => state.has_run(),
        Action::PauseResume | Action::StepForward => state.source.is_live() || has_steps,
        Action::StepBack
        | Action::NextBatch
        | Action::PreviousBatch
        | Action::NextStall
        | Action::PreviousStall
        | Action::FollowLive
        | Action::ZoomIn
        | Action::ZoomOut
        | Action::ShowAll => has_steps,
        Action::SavePicture => Picture::enlarged(state).is_some(),
        Action::CopyValues | Action::CopyContent | Action::CopyIndices | Action::CopyVariables => {
            clipboard::has_text(state, action)
        }
        Action::FitSelection => state.selection.is_some(),
        Action::ViewBack => !state.views_before.is_empty(),
        Action::ViewForward => !state.views_after.is_empty(),
        _ => true,
    }
}
