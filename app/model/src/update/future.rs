//! Hidden future: hides events after the cursor.
//! Every panel shows the run up to the cursor, because the run itself hides its end.

use loadscope_trace::Moment;

use crate::state::State;
use crate::view::{Cursor, Item};

/// Returns the moment after which everything must be hidden.
fn wanted(state: &State) -> Option<Moment> {
    let hides = state.prefs.hides_future || state.hides_answer();
    if !hides || state.session.cursor == Cursor::Live {
        return None;
    }
    let run = &state.session.run;
    let (step, at) = (state.step(), state.now());
    let is_all = step >= run.whole().transitions().len() && at >= run.whole().end();
    (!is_all).then_some(Moment { step, at })
}

/// Hides everything after the wanted moment. Costs nothing without a change.
pub(super) fn settle(state: &mut State) {
    let wanted = wanted(state);
    let session = &mut state.session;
    let others = wanted.map(|moment| moment.at);
    if session.run.hidden_after() == wanted {
        return;
    }
    session.run.hide_after(wanted);
    session.loaders.hide_after(others);
    session.landmarks.show(&session.run);
    // Batches that have not happened yet cannot be selected.
    let rows = session.run.batches().len();
    let is_there = |item: &Item| item.batch().is_none_or(|row| row < rows);
    session.selection = session.selection.filter(is_there);
    session.hovered = session.hovered.filter(is_there);
    session.hovering = session.hovering.filter(is_there);
    if session.selection.is_none() {
        session.enlarged = None;
    }
    state.look.search.restart();
}

/// Shows everything, for changes that need the whole run. [`settle`] hides it again.
pub(super) fn reveal(state: &mut State) {
    let session = &mut state.session;
    if session.run.hidden_after().is_some() {
        session.run.hide_after(None);
        session.loaders.hide_after(None);
        session.landmarks.show(&session.run);
    }
}
