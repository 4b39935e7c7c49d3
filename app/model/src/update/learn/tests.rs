//! Tests of messages during lessons, without a window. Background jobs run at once.

use egui::{Key, KeyboardShortcut, Modifiers};
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::session_event::SessionEvent;
use loadscope_lessons::{Answer, Kind, Phase, Target, Task, Value, simulated};
use loadscope_trace::RunOptions;

use super::*;
use crate::command::Command;
use crate::message::Message;
use crate::preparing::work_out;
use crate::state::learn::{Draft, LessonView, Playing};
use crate::update::{obstacle as refused, update};
use crate::view::{Cursor, Workspace};

mod keys;
mod lecture;
mod lesson;
mod others;

/// Returns a state without animations.
fn still() -> State {
    let mut state = State::default();
    state.look.still = true;
    state
}

/// Returns a state with this lesson open at its first step.
fn lesson(number: u32) -> State {
    let mut state = still();
    ask(&mut state, LearnCommand::Lesson(number));
    state
}

/// Performs a command and the background jobs that it requests.
fn ask(state: &mut State, command: impl Into<Command>) -> Option<Effect> {
    let effect = update(state, command.into());
    prepare(state);
    effect
}

/// Runs the requested background jobs, as the window does.
fn prepare(state: &mut State) {
    while let Some(wanted) = state.learn.wanted.clone() {
        let prepared = Prepared {
            number: wanted.number,
            outcome: work_out(&wanted.what),
        };
        update(state, Message::Prepared(prepared));
    }
}

fn playing(state: &State) -> &Playing {
    state.learn.playing().expect("a lesson is open")
}

fn stage(state: &State) -> &LessonView {
    state.learn.stage().expect("something is open")
}

fn phase(state: &State) -> &Phase {
    playing(state).play.phase()
}

fn step(state: &State) -> usize {
    playing(state).play.position().0
}

/// Goes to a step without answering the questions before it.
fn to_step(state: &mut State, at: usize) {
    while step(state) < at {
        let action = match playing(state).play.can_advance() {
            true => Action::GoOn,
            false => Action::SkipStep,
        };
        ask(state, action);
    }
}

/// Returns the correct answer to the open question.
fn right(state: &State) -> Answer {
    let question = state.learn.question().expect("a question is open");
    let truth = stage(state).truth.as_ref().expect("the run has an answer");
    let right = question.right_answer(truth, state.prefs.learned.language);
    right.expect("it can be given")
}

/// Simulates the current options as a run of the learner.
fn run_it(state: &mut State) {
    let effect = update(state, Action::Simulate);
    assert_eq!(effect, Some(Effect::Simulate));
    let options = state.prefs.options.clone();
    update(
        state,
        Message::Begun {
            source: Source::Simulating,
            watched: false,
        },
    );
    let run = simulated(&options).expect("sound options");
    let landmarks = Landmarks::of(&run);
    let arrival = SessionEvent::Simulated {
        run: Box::new(run),
        landmarks: Box::new(landmarks),
    };
    update(state, Message::Session(arrival));
}
