//! Navigation between spans and lanes.

use loadscope_trace::{Lane, Span, Stage, Track};

use super::viewport::bring_into_view;
use crate::lanes;
use crate::state::State;
use crate::view::Item;

/// Returns the selected lane, or the worker lane of the selected batch.
pub fn lane(state: &State) -> Option<Lane> {
    match state.session.selection? {
        Item::Lane(lane) => Some(lane),
        Item::Batch(row) => {
            let batch = state.session.run.batches().get(row)?;
            Some(batch.worker.map_or(Lane::Main, Lane::Worker))
        }
        _ => None,
    }
}

/// Returns the span of the next or previous batch on the lane.
/// The reference is the selected batch, or the cursor if a lane is selected.
pub fn neighbour(state: &State, forwards: bool) -> Option<&Span> {
    let run = &state.session.run;
    let spans = run.track(Track {
        lane: lane(state)?,
        row: 0,
    })?;
    let all = spans.all();
    let selected = state.session.selection?.batch();
    let at = match selected {
        // Start of the worker's work on the batch.
        Some(row) => {
            let start = run.entered(row, Stage::Fetching)?;
            all.partition_point(|s| s.start < start)
        }
        None => spans.index_after(state.now()),
    };
    let other = |s: &&Span| s.batch().is_some() && s.batch() != selected;
    if forwards {
        all.range(at..).iter().find(other)
    } else {
        all.range(..at).iter().rfind(other)
    }
}

/// Returns the lane above or below the selected one. Without a selection, returns the first or the last.
pub fn adjacent_lane(state: &State, down: bool) -> Option<Lane> {
    let lanes = lanes::order(&state.session.run, &state.look.folded);
    let selected = lane(state);
    let at = lanes.iter().position(|lane| Some(*lane) == selected);
    let next = match (at, down) {
        (Some(at), true) => lanes.get(at + 1),
        (Some(at), false) => lanes.get(at.checked_sub(1)?),
        (None, true) => lanes.first(),
        (None, false) => lanes.last(),
    };
    next.copied()
}

/// Selects the lane above or below.
pub fn to_lane(state: &mut State, down: bool) {
    if let Some(lane) = adjacent_lane(state, down) {
        state.session.selection = Some(Item::Lane(lane));
    }
}

/// Selects the next or previous batch on the selected lane.
pub fn to_neighbour(state: &mut State, forwards: bool) {
    let found = neighbour(state, forwards);
    if let Some((row, start)) = found.and_then(|s| Some((s.batch()?, s.start))) {
        state.session.selection = Some(Item::Batch(row));
        bring_into_view(state, start);
    }
}
