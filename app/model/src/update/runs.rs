//! Actions on the runs of this window (show, star, drop, empty), and events of runs that are not shown.

use loadscope_insight::session_event::SessionEvent;

use super::session_events::apply_event;
use crate::results::BackgroundResults;
use crate::state::State;

/// Shows a run again and sets the shown one aside. Notices about a run that never started stay visible.
pub(super) fn show(state: &mut State, number: u32) {
    let Some(mut session) = state.runs.take(number) else {
        return;
    };
    // Cached values of panels are invalid for this run.
    session.run_number = state.session.run_number + 1;
    session.results = BackgroundResults::default();
    session.hovered = None;
    session.hovering = None;
    if !state.session.is_worth_keeping() {
        session.notices.append(&mut state.session.notices);
    }
    _ = state.stash_session();
    state.session = session;
}

/// Applies an event of a run that is not shown.
pub(super) fn apply_event_for(state: &mut State, number: u32, event: SessionEvent) {
    let Some(place) = state.runs.place(number) else {
        return;
    };
    let has_ended = matches!(event, SessionEvent::Ended(_));
    // `session_events` only changes the shown session, so the sessions are swapped.
    // Hints of `session_events` would concern a hidden run, so they are dropped.
    let hint = state.overlay.hint.take();
    swap(state, place);
    _ = apply_event(state, event);
    swap(state, place);
    state.overlay.hint = hint;
    if has_ended && let Some(kept) = state.runs.at_mut(place) {
        kept.refresh();
    }
}

fn swap(state: &mut State, place: usize) {
    if let Some(kept) = state.runs.at_mut(place) {
        std::mem::swap(&mut state.session, &mut kept.session);
    }
}

/// Stars or unstars a run. A starred run is kept until the user drops it.
pub(super) fn star(state: &mut State, number: u32) {
    let session = match state.runs.get_mut(number) {
        Some(kept) => &mut kept.session,
        None if state.session.number == number => &mut state.session,
        None => return,
    };
    session.starred = !session.starred;
}

/// Drops a run.
pub(super) fn drop(state: &mut State, number: u32) {
    let _ = state.runs.take(number);
}

/// Removes the batch contents of a run.
pub(super) fn empty(state: &mut State, number: u32) {
    if let Some(kept) = state.runs.get_mut(number) {
        kept.session.run.forget_contents();
        kept.refresh();
    }
}

/// Marks all runs as discarded.
pub(super) fn discard_all(state: &mut State) {
    state.session.discarded = true;
    state.runs.discard_all();
}
