//! From one loader of the session to another.

use loadscope_trace::RunId;

use crate::state::State;
use loadscope_insight::landmarks::Landmarks;

/// Shows another loader. Its clock is the same, so the range on the screen and the instant that is looked at stay.
pub fn show(state: &mut State, id: RunId) {
    if state.loaders.show(&mut state.run, id) {
        forget(state);
    }
}

/// Forgets what was only true of the loader that was shown before.
pub fn forget(state: &mut State) {
    state.run_number += 1;
    state.landmarks = Landmarks::of(&state.run);
    state.search.start_again();
    state.seeking = None;
    state.selection = None;
    state.enlarged = None;
    state.hovered = None;
    state.playing = false;
    state.sampling = loadscope_insight::sampling::Choice::default();
    state.diagnose = loadscope_insight::diagnose::Diagnose::default();
    // Steps count the transitions of one loader; time goes for all.
    if let crate::view::Cursor::Step(_) = state.cursor {
        state.cursor = crate::view::Cursor::Live;
    }
}
