//! Moving the time cursor: steps, jumps, playback.
//! In a run that is paused at the gate, moving forward from the live cursor steps the engine.

use loadscope_insight::landmarks::{Goal, Place};
use loadscope_insight::waits::in_longest;
use loadscope_trace::{Lane, Nanos, Span, Stage, Track};
use loadscope_words::say;

use super::Effect;
use super::viewport::{bring_into_view, set_view};
use crate::command::Action;
use crate::lanes;
use crate::state::{Seek, Source, State};
use crate::view::{Cursor, Item};

/// Playback speeds as multiples of real time.
pub const SPEEDS: [f64; 7] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// Returns the next or previous moment of this kind.
pub fn find(state: &State, goal: Goal, forwards: bool) -> Option<Place> {
    let (run, now) = (&state.session.run, state.now());
    match (goal, forwards) {
        (Goal::Marker, true) => state.session.markers.after(now).map(|m| Place::At(m.at)),
        (Goal::Marker, false) => state.session.markers.before(now).map(|m| Place::At(m.at)),
        (_, true) => state.session.landmarks.after(run, goal, state.step(), now),
        (_, false) => state.session.landmarks.before(run, goal, state.step(), now),
    }
}

/// Returns the step at which the selected batch enters its next stage, or entered its previous one.
pub fn stage(state: &State, forwards: bool) -> Option<usize> {
    let row = state.session.selection?.batch()?;
    let steps = state.session.run.steps_of(row);
    let step = state.step();
    if forwards {
        steps.into_iter().map(|k| k + 1).find(|after| *after > step)
    } else {
        let mut before = steps.into_iter().map(|k| k + 1);
        before.rfind(|after| *after < step)
    }
}

/// Pauses or steps the engine of a live run if the cursor is live, otherwise the recording.
pub fn play_or_step(state: &mut State, action: Action) -> Option<Effect> {
    let at_now = state.session.cursor == Cursor::Live;
    state.session.seeking = None;
    if state.session.watched && state.session.source.is_live() && action == Action::PauseResume {
        // The program continues. Only the display stops.
        state.session.cursor = match at_now {
            true => Cursor::Step(state.session.run.whole().transitions().len()),
            false => Cursor::Live,
        };
        return None;
    }
    match (&mut state.session.source, action) {
        (Source::Live { paused }, Action::PauseResume) => {
            *paused = !*paused;
            let effect = if *paused {
                Effect::Pause
            } else {
                Effect::Resume
            };
            state.session.cursor = Cursor::Live;
            Some(effect)
        }
        (Source::Live { paused }, _) if at_now => {
            let effect = if *paused { Effect::Step } else { Effect::Pause };
            *paused = true;
            Some(effect)
        }
        (_, Action::PauseResume) => {
            if !state.session.playing && state.now() >= state.session.run.whole().end() {
                state.session.cursor = Cursor::Step(0);
            }
            state.session.playing =
                !state.session.playing && !state.session.run.whole().transitions().is_empty();
            None
        }
        _ => {
            let next = state.step() + 1;
            let last = state.session.run.whole().transitions().len();
            if state.session.source.is_live() && next >= last {
                // At the last transition, stepping forward applies to the engine again.
                state.session.cursor = Cursor::Live;
            } else {
                go_to_step(state, next.min(last));
            }
            None
        }
    }
}

/// Goes back by one transition.
pub fn step_back(state: &mut State) {
    state.session.seeking = None;
    let step = state.step().saturating_sub(1);
    go_to_step(state, step);
}

/// Goes to the next or previous stage change of the selected batch.
pub fn to_stage(state: &mut State, forwards: bool) {
    state.session.seeking = None;
    if let Some(step) = stage(state, forwards) {
        go_to_step(state, step);
    }
}

/// Follows the live run and shows all of it.
pub fn follow_live(state: &mut State) {
    state.session.seeking = None;
    state.session.playing = false;
    state.session.cursor = Cursor::Live;
    set_view(state, None);
}

/// Goes to a late point in the longest visible wait, because its cause is clear there.
pub fn to_longest_wait(state: &mut State) {
    state.session.seeking = None;
    if let Some(at) = in_longest(&state.session.run) {
        go_to(state, Place::At(at));
    }
}

/// Plays from the start.
pub fn replay(state: &mut State) {
    go_to_step(state, 0);
    state.session.playing = true;
}

/// Moves the cursor to the next or previous moment of a kind.
pub fn to_moment(state: &mut State, goal: Goal, forwards: bool) -> Option<Effect> {
    state.session.seeking = None;
    match find(state, goal, forwards) {
        Some(place) => go_to(state, place),
        None if forwards && state.hides_future() => {
            state.overlay.hint = Some(say!("None until the end of the run").to_owned());
        }
        None if forwards => return start_seeking(state, goal),
        None => {}
    }
    None
}

/// Runs the engine until the moment occurs.
fn start_seeking(state: &mut State, goal: Goal) -> Option<Effect> {
    if state.session.watched {
        return None;
    }
    let Source::Live { paused } = &mut state.session.source else {
        return None;
    };
    let held = goes_step_by_step(goal);
    let was_held = std::mem::replace(paused, held);
    state.session.cursor = Cursor::Live;
    state.session.seeking = Some(Seek {
        goal,
        step: state.session.run.whole().transitions().len(),
        now: state.session.run.whole().end(),
        asked_at: None,
    });
    match (was_held, held) {
        (false, true) => Some(Effect::Pause),
        (true, false) => Some(Effect::Resume),
        _ => None,
    }
}

/// Returns true if the search steps the engine, because a batch is one transition.
/// Waits take time and errors can be far away. For these, the run continues until the moment and pauses there.
fn goes_step_by_step(goal: Goal) -> bool {
    matches!(goal, Goal::Batch | Goal::OutOfOrder)
}

/// Continues the search and pauses the engine at the moment. Call it in every frame.
pub fn seek(state: &mut State) -> Option<Effect> {
    let seeking = state.session.seeking?;
    let held = goes_step_by_step(seeking.goal);
    // A pause, resume, stop or cursor move cancels the search.
    let wanted = state.session.source == (Source::Live { paused: held })
        && state.session.cursor == Cursor::Live;
    let (run, marks) = (&state.session.run, &state.session.landmarks);
    let found = marks.after(run, seeking.goal, seeking.step, seeking.now);
    if !wanted || found.is_some() {
        state.session.seeking = None;
        if wanted && !held {
            state.session.source = Source::Live { paused: true };
            return Some(Effect::Pause);
        }
        return None;
    }
    // More than one permit at a time could overshoot.
    let steps = run.whole().transitions().len();
    if !held || seeking.asked_at == Some(steps) {
        return None;
    }
    state.session.seeking = Some(Seek {
        asked_at: Some(steps),
        ..seeking
    });
    Some(Effect::Step)
}

/// Moves the cursor, and the view if needed.
pub fn go_to(state: &mut State, place: Place) {
    match place {
        Place::Step(step) => go_to_step(state, step),
        Place::At(at) => {
            state.session.playing = false;
            state.session.cursor = Cursor::At(at);
            bring_into_view(state, at);
        }
    }
}

fn go_to_step(state: &mut State, step: usize) {
    state.session.playing = false;
    state.session.cursor = Cursor::Step(step);
    let now = state.now();
    bring_into_view(state, now);
}

/// Returns the batch of this transition.
pub fn moved(state: &State, step: usize) -> Option<Item> {
    let transitions = state.session.run.whole().transitions();
    let transition = transitions.get(step.checked_sub(1)?)?;
    Some(Item::Batch(transition.batch as usize))
}

/// Selects the next slower or faster speed.
pub fn change_speed(state: &mut State, faster: bool) {
    let next = if faster {
        SPEEDS.into_iter().find(|s| *s > state.look.speed)
    } else {
        SPEEDS.into_iter().rfind(|s| *s < state.look.speed)
    };
    state.look.speed = next.unwrap_or(state.look.speed);
}

/// Advances the cursor during playback by `elapsed` real time.
pub fn advance(state: &mut State, elapsed: Nanos) {
    if !state.session.playing {
        return;
    }
    let ahead = Nanos((elapsed.0 as f64 * state.look.speed) as i64).max(Nanos(1));
    let at = state.now() + ahead;
    if at >= state.session.run.whole().end() {
        state.session.playing = false;
        state.session.cursor = Cursor::At(state.session.run.whole().end());
    } else {
        state.session.cursor = Cursor::At(at);
        bring_into_view(state, at);
    }
}

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
