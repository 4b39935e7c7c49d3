//! Answers to questions: submitting and judging clicks, typed numbers and choices.

use loadscope_insight::variables::planned_workers;
use loadscope_lessons::{Answer, Kind, Part, Phase, Target, Unanswerable, Value};
use loadscope_trace::Run;
use loadscope_words::say;

use super::stage::{begin_replay, has_wandered, set_panels};
use super::{lesson, quiz};
use crate::command::{Action, Command, LearnCommand};
use crate::state::State;
use crate::state::learn::Page;
use crate::view::Item;

/// Submits an answer.
pub(super) fn give(state: &mut State, answer: &Answer) {
    let Some(truth) = state.learn.stage().and_then(|stage| stage.truth.clone()) else {
        return;
    };
    match &mut state.learn.page {
        Some(Page::Lesson(playing)) => {
            if let Err(why) = playing.play.answer_with_truth(truth, answer) {
                report_unanswerable(state, why);
                return;
            }
            lesson::keep(state);
            // The answer may be shown by other panels.
            set_panels(state);
            if !lesson::want_changed(state) {
                begin_replay(state);
            }
        }
        Some(Page::Quiz(quizzing)) => {
            let language = quizzing.quiz.language;
            let judged = quizzing
                .entry()
                .map(|entry| entry.question.judge_with_truth(truth, answer, language));
            match judged {
                Some(Ok(judged)) => quiz::answered(state, Some(judged)),
                Some(Err(why)) => report_unanswerable(state, why),
                None => {}
            }
        }
        Some(Page::Contents | Page::Case(_)) | None => {}
    }
}

fn report_unanswerable(state: &mut State, why: Unanswerable) {
    if let Some(stage) = state.learn.stage_mut() {
        stage.trouble = Some(why.to_string());
    }
}

/// Submits the draft answer. Returns false if it is missing or incomplete.
pub(super) fn give_draft(state: &mut State) -> bool {
    match draft(state) {
        Some(answer) => {
            give(state, &answer);
            true
        }
        None => false,
    }
}

/// Returns the draft answer, if it is complete.
fn draft(state: &State) -> Option<Answer> {
    let question = state.learn.question()?;
    let stage = state.learn.stage()?;
    match &question.kind {
        Kind::Number { .. } => stage.draft.value().map(Answer::Number),
        Kind::Order(_) => {
            let truth = stage.truth.as_ref()?;
            let items = question.items(truth, state.prefs.learned.language);
            let is_complete = items.len() == stage.draft.order.len();
            is_complete.then(|| Answer::Order(stage.draft.order.clone()))
        }
        Kind::Choice(choices) => {
            let chosen = stage.draft.chosen;
            chosen.filter(|at| *at < choices.len()).map(Answer::Choice)
        }
        Kind::Click => {
            let target = candidates(state).into_iter().nth(stage.draft.chosen?);
            target.map(Answer::Click)
        }
    }
}

/// Submits `item` as the answer if the open question accepts it. Returns true in that case.
pub(in crate::update) fn is_answer(state: &mut State, item: Option<Item>) -> bool {
    let Some(target) = item.and_then(|item| target(state, item)) else {
        return false;
    };
    give(state, &Answer::Click(target));
    true
}

fn target(state: &State, item: Item) -> Option<Target> {
    match (state.learn.click()?, item) {
        (Value::Batch(_), Item::Batch(row)) => {
            let batch = state.session.run.batches().get(row)?;
            Some(Target::Batch(batch.id))
        }
        (Value::Batch(_), _) | (_, Item::Batch(_) | Item::Range(..) | Item::Activity(_)) => None,
        (_, Item::Lane(lane)) => Some(Target::Part(Part::of_lane(lane))),
        (_, Item::Sampler) => Some(Target::Part(Part::Sampler)),
    }
}

/// Returns the items that can be clicked as an answer, in the order of the pipeline.
pub fn candidates(state: &State) -> Vec<Target> {
    let run = &state.session.run;
    match state.learn.click() {
        Some(Value::Batch(_)) => {
            let batches = state.pipeline();
            let batches = batches.batches();
            batches.map(|batch| Target::Batch(batch.id)).collect()
        }
        Some(_) => parts(run).into_iter().map(Target::Part).collect(),
        None => Vec::new(),
    }
}

/// Returns the parts of the pipeline from left to right, including those without a batch so far.
fn parts(run: &Run) -> Vec<Part> {
    let workers = planned_workers(run);
    let crew = u32::try_from(workers).unwrap_or(u32::MAX);
    let mut all = vec![Part::Sampler];
    for worker in (0..crew).filter_map(|worker| worker.try_into().ok()) {
        all.push(Part::IndexQueue(worker));
        all.push(Part::Worker(worker));
    }
    let pins = run.info.pinning.is_some() && workers > 0;
    let rest = [
        (workers == 0, Part::Main),
        (workers > 0, Part::ResultQueue),
        (pins, Part::PinThread),
        (pins, Part::DataQueue),
        (workers > 0, Part::ReorderBuffer),
        (true, Part::Trainer),
    ];
    all.extend(
        rest.into_iter()
            .filter(|(is_there, _)| *is_there)
            .map(|(_, part)| part),
    );
    all
}

/// Returns the command of a digit key in a lesson. It selects a choice, item or part, or is typed into the number.
/// Only [`Action::GoOn`] submits the answer.
pub fn by_digit(state: &State, digit: usize) -> Option<Command> {
    let question = state.learn.question()?;
    let stage = state.learn.stage()?;
    let truth = stage.truth.as_ref()?;
    let mut draft = stage.draft.clone();
    let at = digit.checked_sub(1);
    match &question.kind {
        Kind::Number { .. } => draft.number += &digit.to_string(),
        Kind::Choice(all) => draft.chosen = Some(at.filter(|at| *at < all.len())?),
        Kind::Order(_) => {
            let items = question.items(truth, state.prefs.learned.language);
            draft.toggle(at.filter(|at| *at < items.len())?);
        }
        Kind::Click => draft.chosen = Some(at.filter(|at| *at < candidates(state).len())?),
    }
    Some(LearnCommand::Draft(draft).into())
}

/// Returns true while digits belong to the lesson or quiz, so they do not switch workspaces.
pub fn takes_digits(state: &State) -> bool {
    matches!(state.learn.page, Some(Page::Lesson(_) | Page::Quiz(_)))
}

/// Returns the reason why an action of lessons is impossible. Returns `None` if it is possible.
pub(in crate::update) fn obstacle(state: &State, action: Action) -> Option<&'static str> {
    let Some(page) = &state.learn.page else {
        let is_always = matches!(
            action,
            Action::Learn | Action::ToggleLecture | Action::ChangeLanguage
        );
        return (!is_always).then_some(say!("No lesson is open: press Ctrl+L to choose one"));
    };
    match action {
        Action::GoOn => advance_obstacle(state, page),
        Action::SkipStep => match page {
            Page::Lesson(playing) => match playing.play.phase() {
                Phase::Asking | Phase::Trying(_) => None,
                Phase::Reading | Phase::Answered(_) | Phase::Reached | Phase::Finished => {
                    Some(say!("Nothing to skip: press Enter to continue"))
                }
            },
            Page::Quiz(quizzing) if quizzing.entry().is_some() => None,
            Page::Quiz(_) | Page::Case(_) | Page::Contents => Some(say!("No question is open")),
        },
        Action::PreviousPage => match page {
            Page::Lesson(playing) if playing.play.phase() == &Phase::Finished => None,
            Page::Lesson(playing) if playing.play.position().0 > 0 => None,
            Page::Lesson(_) => Some(say!("This is the first step of the lesson")),
            Page::Quiz(_) | Page::Case(_) | Page::Contents => Some(say!("No lesson is open")),
        },
        Action::ReturnToStep => match has_wandered(state) {
            true => None,
            false => Some(say!("The window already shows this step")),
        },
        _ => None,
    }
}

/// Returns the reason why the key for continuing has no effect.
fn advance_obstacle(state: &State, page: &Page) -> Option<&'static str> {
    if state
        .learn
        .stage()
        .is_some_and(|stage| stage.replay.is_some())
        || draft(state).is_some()
    {
        return None;
    }
    match page {
        Page::Contents => Some(say!("Choose a lesson from the list")),
        Page::Lesson(playing) if playing.play.can_advance() => None,
        Page::Lesson(playing) => match playing.play.phase() {
            Phase::Trying(_) => Some(say!(
                "Reach the goal first, or press Shift+Enter to skip it"
            )),
            Phase::Reading
            | Phase::Asking
            | Phase::Answered(_)
            | Phase::Reached
            | Phase::Finished => Some(say!(
                "Answer the question first, or press Shift+Enter to skip it"
            )),
        },
        Page::Quiz(quizzing) => match quizzing.entry() {
            Some(_) => Some(say!(
                "Answer the question first, or press Shift+Enter to skip it"
            )),
            None => None,
        },
        Page::Case(detecting) => match (&detecting.case, &detecting.solved) {
            (_, Some(_)) => None,
            (Some(case), None)
                if detecting.named.len() == case.count() && !detecting.chosen.is_empty() =>
            {
                None
            }
            (Some(_), None) => Some(say!("Name the cause and choose a remedy first")),
            (None, None) => Some(say!("The case is being prepared")),
        },
    }
}
