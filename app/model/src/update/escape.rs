//! Effects of Esc.

use super::learn;
use crate::effect::Effect;
use crate::state::State;

/// Closes the innermost overlay, then clears the selection. The cursor stays, because it could not be restored.
pub(super) fn escape(state: &mut State) -> Option<Effect> {
    if state.overlay.palette.take().is_some()
        || state.overlay.typing.take().is_some()
        || state.overlay.watching.take().is_some()
        || state.session.replacing.take().is_some()
        || state.overlay.question.take().is_some()
        || state.overlay.glossary.take().is_some()
    {
        return None;
    }
    let open = [
        &mut state.overlay.help_open,
        &mut state.overlay.messages_open,
        &mut state.look.search.open,
    ];
    if let Some(open) = open.into_iter().find(|open| **open) {
        *open = false;
    } else if state.session.seeking.take().is_some() {
        // The run stays paused or continues, unchanged.
    } else if let Some(last) = state.session.notices.len().checked_sub(1) {
        state.session.notices.truncate(last);
    } else if state.learn.shows_contents() {
        return learn::leave_contents(state);
    } else if state.presents() {
        state.look.presenting = false;
    } else if state.session.enlarged.is_some() {
        state.session.enlarged = None;
    } else {
        state.session.selection = None;
    }
    None
}
