//! Changes of the options of the next run.

use loadscope_trace::RunOptions;

use crate::state::State;

pub(super) fn edit(state: &mut State, options: RunOptions) {
    if options != state.prefs.options {
        state.look.history.change(&state.prefs.options);
        state.prefs.options = options;
    }
}
