//! From one loader of the session to another.

use loadscope_trace::RunId;

use super::future;
use crate::state::State;
use loadscope_insight::landmarks::Landmarks;

/// Shows another loader. Its clock is the same, so the range on the screen and the instant that is looked at stay.
pub fn show(state: &mut State, id: RunId) {
    future::reveal(state);
    if state.session.loaders.show(&mut state.session.run, id) {
        forget(state);
    }
}

/// Shows the loader after or before.
pub fn show_neighbour(state: &mut State, forwards: bool) {
    if let Some(id) = state.session.loaders.neighbour(forwards) {
        show(state, id);
    }
}

/// Forgets what was only true of the loader that was shown before.
pub fn forget(state: &mut State) {
    state.session.run_number += 1;
    state.session.landmarks = Landmarks::of(&state.session.run);
    state.look.search.start_again();
    state.session.seeking = None;
    state.session.selection = None;
    state.session.enlarged = None;
    state.session.hovered = None;
    state.session.playing = false;
    state.session.sampling = loadscope_insight::sampling::Choice::default();
    state.session.diagnose = loadscope_insight::diagnose::Diagnose::default();
    state.session.answers = crate::answers::Answers::default();
    // Steps count the transitions of one loader; time goes for all.
    if let crate::view::Cursor::Step(_) = state.session.cursor {
        state.session.cursor = crate::view::Cursor::Live;
    }
}
