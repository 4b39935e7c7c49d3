//! Switching between the loaders of the session.

use loadscope_trace::RunId;

use super::future;
use crate::state::State;
use loadscope_insight::landmarks::Landmarks;

/// Shows another loader. View and cursor stay, because all loaders share one clock.
pub fn show(state: &mut State, id: RunId) {
    future::reveal(state);
    if state.session.loaders.show(&mut state.session.run, id) {
        forget(state);
    }
}

/// Shows the next or previous loader.
pub fn show_neighbour(state: &mut State, forwards: bool) {
    if let Some(id) = state.session.loaders.neighbour(forwards) {
        show(state, id);
    }
}

/// Resets the state that belongs to the previously shown loader.
pub fn forget(state: &mut State) {
    state.session.run_number += 1;
    state.session.landmarks = Landmarks::of(&state.session.run);
    state.look.search.restart();
    state.session.seeking = None;
    state.session.selection = None;
    state.session.enlarged = None;
    state.session.hovered = None;
    state.session.playing = false;
    state.session.sampling = loadscope_insight::sampling::Choice::default();
    state.session.diagnose = loadscope_insight::diagnose::Diagnose::default();
    state.session.results = crate::results::BackgroundResults::default();
    // A step counts the transitions of one loader, so the cursor becomes live. A time is valid for all loaders.
    if let crate::view::Cursor::Step(_) = state.session.cursor {
        state.session.cursor = crate::view::Cursor::Live;
    }
}
