//! Jumps to search results.

use loadscope_trace::Nanos;
use loadscope_words::say;

use super::travel::{go_to, moved};
use super::viewport::{bring_into_view, extent, fit};
use crate::state::State;
use crate::view::{Item, TimeView};
use loadscope_insight::format;
use loadscope_insight::landmarks::Place;
use loadscope_insight::search::Hit;

/// Jumps to the search result after or before the current one.
pub fn next(state: &mut State, forwards: bool) {
    let count = state.look.search.hits().len();
    if count == 0 {
        return;
    }
    let at = match (state.look.search.current, forwards) {
        (None, true) => 0,
        (None, false) => count - 1,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
    };
    jump(state, at);
    if !state.look.search.open
        && let Some(hit) = state.look.search.hits().get(at)
    {
        let (what, more) = hit.describe(&state.session.run);
        let (at, count) = (format::count(at as u64 + 1), format::count(count as u64));
        state.overlay.hint = Some(say!("{at} of {count}: {what}, {more}"));
    }
}

/// Jumps to search result `at`: sets cursor, selection and view.
pub fn jump(state: &mut State, at: usize) {
    let Some(hit) = state.look.search.hits().get(at).copied() else {
        return;
    };
    state.look.search.current = Some(at);
    state.session.seeking = None;
    match hit {
        Hit::Batch(row) => batch(state, row as usize),
        Hit::Sample(row, position) => sample(state, row as usize, position as usize),
        Hit::Lane(lane) => state.session.selection = Some(Item::Lane(lane)),
        Hit::Message(k) => {
            let found = state.session.run.messages().get(k as usize);
            if let Some((at, about)) = found.map(|(at, m)| (*at, m.about)) {
                let row = about.and_then(|id| state.session.run.row(id));
                moment(state, Place::At(at), row.map(Item::Batch));
            }
        }
        Hit::Wait(k) => {
            let end = state.session.run.end();
            if let Some(wait) = state.session.run.waits().get(k as usize).copied() {
                state.session.selection = wait.batch.map(|row| Item::Batch(row as usize));
                go_to(state, Place::At(wait.start));
                fit(state, wait.start, wait.end.min(end));
            }
        }
        Hit::Step(step) => {
            let item = moved(state, step as usize);
            moment(state, Place::Step(step as usize), item);
        }
        Hit::Moment(at) => {
            let row = batch_in_trouble(state, at);
            moment(state, Place::At(at), row.map(Item::Batch));
        }
    }
}

/// Goes to the start of the worker's work on the batch, and fits its whole path into the view.
fn batch(state: &mut State, row: usize) {
    state.session.selection = Some(Item::Batch(row));
    let path = state.session.run.path(row);
    let work = path
        .iter()
        .find(|s| s.stage > loadscope_trace::Stage::Queued);
    if let Some(step) = work.or(path.first()) {
        go_to(state, Place::At(step.start));
    }
    if let Some((start, end)) = extent(state) {
        fit(state, start, end);
    }
}

fn sample(state: &mut State, row: usize, position: usize) {
    let found = state.session.run.samples(row).nth(position);
    let Some(sample) = found else {
        // The sample was drawn, but was not fetched yet or has no time.
        return batch(state, row);
    };
    state.session.selection = Some(Item::Batch(row));
    // After the fetch, all facts about the sample are shown.
    go_to(state, Place::At(sample.end()));
    let wall = sample.wall.max(Nanos(TimeView::NARROWEST.0 / 2));
    fit(state, sample.start - wall, sample.end() + wall);
}

/// Goes to a moment. If the view shows the whole run, it zooms to the batches in progress, because the moment would be too small.
fn moment(state: &mut State, place: Place, item: Option<Item>) {
    state.session.selection = item;
    go_to(state, place);
    let now = state.now();
    if state.session.view.is_some() {
        bring_into_view(state, now);
        return;
    }
    let pipeline = state.pipeline();
    let since = pipeline.batches().map(|b| b.since).min().unwrap_or(now);
    let around = (now - since).max(TimeView::NARROWEST);
    fit(state, now - around, now + around);
}

/// Returns the batch of an error at this instant.
fn batch_in_trouble(state: &State, at: Nanos) -> Option<usize> {
    let messages = state.session.run.messages();
    let from = messages.partition_point(|(t, _)| *t < at);
    let then = messages.range(from..).iter().take_while(|(t, _)| *t == at);
    then.filter_map(|(_, m)| state.session.run.row(m.about?))
        .last()
}
