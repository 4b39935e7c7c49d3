//! Replacement of live loaders that use too much memory. Sums replace the events of their far past.

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::session_event::RebuiltRuns;
use loadscope_trace::RunId;
use loadscope_words::say;

use super::future;
use crate::state::State;
use crate::view::{Cursor, Item};

/// Replaces the loaders. Times stay the same.
/// References to a batch are updated, or removed if the batch is gone.
pub fn replace_runs(state: &mut State, rebuilt: RebuiltRuns) {
    let now = state.now();
    let session = &mut state.session;
    let before = session.run.snapshot();
    let shown = session.loaders.shown();
    let mut runs = Vec::with_capacity(rebuilt.runs.len());
    for (id, run, landmarks) in rebuilt.runs {
        if id == shown {
            session.landmarks = landmarks;
        }
        runs.push((id, run));
    }
    session.loaders.replace(&mut session.run, runs);
    // A new number invalidates the values that panels cached for the run.
    session.run_number += 1;
    if let Cursor::Step(_) = session.cursor {
        session.cursor = Cursor::At(now);
    }
    let run = &session.run;
    let moved = |item: Item| match item {
        Item::Batch(row) => {
            let id = before.batches().get(row)?.id;
            run.row(id).map(Item::Batch)
        }
        other => Some(other),
    };
    let selected = session.selection;
    session.selection = selected.and_then(moved);
    session.hovered = session.hovered.and_then(moved);
    session.hovering = session.hovering.and_then(moved);
    if selected.is_some() && session.selection.is_none() {
        session.enlarged = None;
        let text = say!("The selected batch was removed from memory. Only sums per minute remain.");
        state.overlay.hint = Some(text.to_owned());
    }
    // The saved fraction of the run stays the same.
    let same = |events: u64| match events == before.events() {
        true => run.events(),
        false => events.min(run.events().saturating_sub(1)),
    };
    session.saved = session.saved.map(same);
    if let Some(saving) = &mut session.saving {
        saving.events = same(saving.events);
    }
    state.look.search.restart();
}

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
    if let Cursor::Step(_) = state.session.cursor {
        state.session.cursor = Cursor::Live;
    }
}
