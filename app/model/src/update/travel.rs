//! Moving the time cursor: steps, jumps, playing. While a run is held at the gate and one looks at now, moving forwards means
//! the engine.

use loadscope_trace::Nanos;
use loadscope_words::say;

use super::Effect;
use super::look::{bring_into_view, set_view};
use crate::command::Action;
use crate::state::{Seek, Source, State};
use crate::view::{Cursor, Item};
use loadscope_insight::landmarks::{Goal, Place};
use loadscope_insight::waits::in_longest;

/// Multiples of real time at which a recording is played.
pub const SPEEDS: [f64; 7] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// The next moment of this kind, or the one before.
pub fn find(state: &State, goal: Goal, forwards: bool) -> Option<Place> {
    let (run, now) = (&state.session.run, state.now());
    match (goal, forwards) {
        (Goal::Marker, true) => state.session.markers.after(now).map(|m| Place::At(m.at)),
        (Goal::Marker, false) => state.session.markers.before(now).map(|m| Place::At(m.at)),
        (_, true) => state.session.landmarks.after(run, goal, state.step(), now),
        (_, false) => state.session.landmarks.before(run, goal, state.step(), now),
    }
}

/// The transition after which the selected batch has just entered its next stage, or the one before.
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

/// Pausing and stepping mean the engine while it runs and one looks at now, and the recording otherwise.
pub fn play_or_step(state: &mut State, action: Action) -> Option<Effect> {
    let at_now = state.session.cursor == Cursor::Live;
    state.session.seeking = None;
    if state.session.watched && state.session.source.is_live() && action == Action::PauseResume {
        // The program goes on; what is shown stands still.
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
                // At the end of what has happened, stepping means the engine again.
                state.session.cursor = Cursor::Live;
            } else {
                go_to_step(state, next.min(last));
            }
            None
        }
    }
}

/// One transition back.
pub fn step_back(state: &mut State) {
    state.session.seeking = None;
    let step = state.step().saturating_sub(1);
    go_to_step(state, step);
}

/// To where the selected batch enters its next stage, or entered the one before.
pub fn to_stage(state: &mut State, forwards: bool) {
    state.session.seeking = None;
    if let Some(step) = stage(state, forwards) {
        go_to_step(state, step);
    }
}

/// Shows what happens now, and all of it.
pub fn follow_live(state: &mut State) {
    state.session.seeking = None;
    state.session.playing = false;
    state.session.cursor = Cursor::Live;
    set_view(state, None);
}

/// Into the longest wait that is shown, so far that its cause can be seen: most of what finishes meanwhile has finished.
pub fn to_longest_wait(state: &mut State) {
    state.session.seeking = None;
    if let Some(at) = in_longest(&state.session.run) {
        go_to(state, Place::At(at));
    }
}

/// Plays from the beginning.
pub fn replay(state: &mut State) {
    go_to_step(state, 0);
    state.session.playing = true;
}

/// Moves the cursor to the next moment of a kind, or the one before.
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

/// It has not happened yet: the engine goes on until it does.
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

/// Batches come one transition after the other. A stall is time that passes, and an error may be far away: for these the run is
/// let go, and held when they are there.
fn goes_step_by_step(goal: Goal) -> bool {
    matches!(goal, Goal::Batch | Goal::OutOfOrder)
}

/// Takes the engine on to what is looked for, and holds it there. To be called in every frame.
pub fn seek(state: &mut State) -> Option<Effect> {
    let seeking = state.session.seeking?;
    let held = goes_step_by_step(seeking.goal);
    // A pause, a resume, a stop or a look elsewhere cancels it.
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
    // One permit at a time, or it would go too far.
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

/// Moves the cursor, and the view if it has to.
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

/// The batch that moved with this transition.
pub fn moved(state: &State, step: usize) -> Option<Item> {
    let transitions = state.session.run.whole().transitions();
    let transition = transitions.get(step.checked_sub(1)?)?;
    Some(Item::Batch(transition.batch as usize))
}

/// One notch slower or faster.
pub fn change_speed(state: &mut State, faster: bool) {
    let next = if faster {
        SPEEDS.into_iter().find(|s| *s > state.look.speed)
    } else {
        SPEEDS.into_iter().rfind(|s| *s < state.look.speed)
    };
    state.look.speed = next.unwrap_or(state.look.speed);
}

/// Moves the cursor of a recording that is being played by `elapsed` of real time.
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
