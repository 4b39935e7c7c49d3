//! Changes to the options of the next run.

use loadscope_plan::plan::normalized;
use loadscope_trace::RunOptions;

use crate::state::State;

pub(super) fn edit(state: &mut State, options: RunOptions) {
    // Fields that are hidden for the chosen values get no effect.
    let options = normalized(options);
    if options != state.prefs.options {
        state.look.history.change(&state.prefs.options);
        state.prefs.options = options;
    }
}
