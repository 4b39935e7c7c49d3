//! The runs of this window: shown again, starred, dropped, emptied, and what arrives for those that are not shown.

use loadscope_insight::session_event::SessionEvent;

use super::arrive::arrive;
use crate::answers::Answers;
use crate::state::State;

/// Shows a run again. The one that is shown is put aside; what is shown about one that never began stays.
pub(super) fn show(state: &mut State, number: u32) {
    let Some(mut session) = state.runs.take(number) else {
        return;
    };
    // What panels have worked out belongs to another showing.
    session.run_number = state.session.run_number + 1;
    session.answers = Answers::default();
    session.hovered = None;
    session.hovering = None;
    if !state.session.is_worth_keeping() {
        session.notices.append(&mut state.session.notices);
    }
    _ = state.set_aside();
    state.session = session;
}

/// Takes in what arrives for a run that is not shown.
pub(super) fn arrive_for(state: &mut State, number: u32, event: SessionEvent) {
    let Some(place) = state.runs.place(number) else {
        return;
    };
    let has_ended = matches!(event, SessionEvent::Ended(_));
    // One set of functions changes a session: those for the one that is shown. What they say to the user is about that one.
    let hint = state.overlay.hint.take();
    swap(state, place);
    _ = arrive(state, event);
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

/// Keeps a run until it is dropped by hand, or no longer.
pub(super) fn star(state: &mut State, number: u32) {
    let session = match state.runs.get_mut(number) {
        Some(kept) => &mut kept.session,
        None if state.session.number == number => &mut state.session,
        None => return,
    };
    session.starred = !session.starred;
}

/// Keeps a run no longer.
pub(super) fn drop(state: &mut State, number: u32) {
    let _ = state.runs.take(number);
}

/// Forgets the contents of the batches of a run.
pub(super) fn empty(state: &mut State, number: u32) {
    if let Some(kept) = state.runs.get_mut(number) {
        kept.session.run.forget_contents();
        kept.refresh();
    }
}

/// None of the runs is needed.
pub(super) fn discard_all(state: &mut State) {
    state.session.discarded = true;
    state.runs.discard_all();
}
