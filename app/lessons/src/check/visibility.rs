//! Check of visible parts: a step shows the parts that it names, and does not reveal the answer of an open question.

use loadscope_insight::landmarks::Landmarks;
use loadscope_trace::{Level, Moment as At, Nanos, Run};

use crate::code::ProgramCatalog;
use crate::error::Mistake;
use crate::lesson::{Lesson, Step, Task};
use crate::moment::{Moment, pipeline};
use crate::part::{Part, View};
use crate::query::{Query, QueryContext, RunQuery, simulated};
use crate::question::Question;
use crate::step_layout::{StepLayout, absent};
use loadscope_words::Language;

/// Checks that the parts of a step are visible together at its moment.
pub(super) fn parts(run: &Run, step: &Step) -> Result<(), Mistake> {
    let (at, until) = match &step.task {
        Task::Look { at, .. } => (*at, *at),
        Task::Predict { question, until } => (question.at, *until),
        Task::Try(_) | Task::Code { .. } => (Moment::End, Moment::End),
    };
    let asks = matches!(step.task, Task::Predict { .. });
    if asks {
        if step.parts.contains(&Part::Verdict) {
            return Err(Mistake::new(
                "the verdict is hidden while a question is open",
                "Name it in then = [\"verdict\"]: it is shown once the question is answered.",
            ));
        }
        // Nothing is selected that could reveal the answer.
        seen(run, &step.parts, at, false)?;
    }
    let has_batch = until.batch().is_some();
    match after(run, step)? {
        Some(changed) => seen(&changed, step.parts_after_answer(), until, has_batch),
        None => seen(run, step.parts_after_answer(), until, has_batch),
    }
}

/// Returns the run that shows the answer of a step. `None` means the run of the step.
pub(super) fn after(run: &Run, step: &Step) -> Result<Option<Run>, Mistake> {
    let Task::Predict { question, .. } = &step.task else {
        return Ok(None);
    };
    let Some(changes) = question.query.changes() else {
        return Ok(None);
    };
    let changed = simulated(&changes.apply(&run.info.options)?);
    let remedy = "Change the options behind 'with' in predict.";
    changed
        .map(Some)
        .map_err(|error| Mistake::new(error.to_string(), remedy))
}

fn seen(run: &Run, parts: &[Part], at: Moment, has_batch: bool) -> Result<(), Mistake> {
    if let Some((one, other)) = StepLayout::conflict(parts) {
        let (one, other) = (one.phrase(), other.phrase());
        return Err(Mistake::new(
            format!("'{one}' and '{other}' are never shown at the same time"),
            "Leave one of them out, or make two steps of it.",
        ));
    }
    for part in parts {
        if let Some(why) = absent(part, &run.info.options) {
            return Err(Mistake::new(
                format!("'{}' is not in the window: {why}", part.phrase()),
                "Name another part, or change the options of the run.",
            ));
        }
    }
    let is_selectable = |part: &Part| *part == Part::Sampler || part.lane().is_some();
    let has_selection = has_batch || parts.iter().any(is_selectable);
    if parts.contains(&Part::Inspector) && !has_selection {
        return Err(Mistake::new(
            "the inspector is empty, because nothing is selected",
            "Choose a moment of a batch, or name one part of the pipeline beside it.",
        ));
    }
    let now = instant(run, at).map_or(Nanos::ZERO, |instant| instant.at);
    let mut said = run.messages().iter();
    let has_message = said.any(|(at, message)| *at <= now && message.level > Level::Info);
    if parts.contains(&Part::Messages) && !has_message {
        return Err(Mistake::new(
            "the list of messages is empty at that moment",
            "Choose a later moment, or name another part.",
        ));
    }
    Ok(())
}

/// Returns the transition and the time of a moment.
fn instant(run: &Run, at: Moment) -> Option<At> {
    let place = at.resolve(run, &Landmarks::of(run))?;
    let there = pipeline(run, place);
    Some(At {
        step: there.step,
        at: there.at,
    })
}

/// Checks that an open question does not reveal its answer. Later events and the verdict are hidden. Earlier events are visible.
/// Options, sample order and forecasts are visible if the step names them.
pub(super) fn answer(
    run: &Run,
    step: &Step,
    question: &Question,
    codes: &dyn ProgramCatalog,
    language: Language,
) -> Result<(), Mistake> {
    let view = StepLayout::of(&step.parts).view;
    let elsewhere = |what: &str| {
        Mistake::new(
            format!("{what} shows the answer while it is asked"),
            "Name parts of the pipeline in show, and what shows the answer in then.",
        )
    };
    let earlier = |what: &str| {
        Mistake::new(
            what,
            "Ask earlier: at = an earlier moment, and predict = \"QUERY @ MOMENT\" for what is so at a later one.",
        )
    };
    match &question.query {
        Query::Moment(_) => Err(earlier(
            "the window shows the answer at the moment of the question",
        )),
        Query::At(_, then) => {
            let (now, then) = (instant(run, question.at), instant(run, *then));
            let is_later = now
                .zip(then)
                .is_some_and(|(now, then)| (then.at, then.step) > (now.at, now.step));
            if !is_later {
                return Err(earlier("the question is about a moment that has passed"));
            }
            match gives(run, question, question.at, codes, language) {
                true => Err(earlier("the window shows the same value when it is asked")),
                false => Ok(()),
            }
        }
        Query::Run(query) if query.is_diagnosis() && view != View::Diagnose => Ok(()),
        // Only a worker's inspector shows its seed.
        Query::Run(RunQuery::SeedStep) if !step.parts.contains(&Part::Inspector) => Ok(()),
        Query::Run(_) => match view {
            View::Diagnose => Err(elsewhere("Diagnose")),
            View::Pipeline | View::Sampling
                if gives(run, question, question.at, codes, language) =>
            {
                Err(earlier("what has happened by then gives the answer"))
            }
            View::Pipeline | View::Sampling => Ok(()),
        },
        Query::Order(query) => match view {
            View::Sampling if query.is_of_indices() => Err(elsewhere("Sampling")),
            View::Sampling | View::Diagnose | View::Pipeline => Ok(()),
        },
        Query::With(..) | Query::MoreOrLess(..) | Query::TimesLess(..) => match view {
            View::Diagnose => Err(elsewhere("the table of forecasts")),
            View::Sampling | View::Pipeline => Ok(()),
        },
        Query::Option(_) => Err(elsewhere("the options panel")),
        Query::Line(..) | Query::NumberOfLine(..) => Ok(()),
    }
}

/// Returns true if the run without the events after a moment gives the right answer.
fn gives(
    run: &Run,
    question: &Question,
    at: Moment,
    codes: &dyn ProgramCatalog,
    language: Language,
) -> bool {
    let about = QueryContext::at(run, question.at, codes);
    let Some(truth) = about.and_then(|about| question.truth(about)) else {
        return false;
    };
    let Some(about) = QueryContext::at(run, at, codes) else {
        return false;
    };
    let mut past = run.clone();
    past.hide_after(instant(run, at));
    let query = match &question.query {
        Query::At(query, _) => query,
        query => query,
    };
    let seen = query.answer(QueryContext {
        run: &past,
        ..about
    });
    let given = seen.and_then(|seen| question.right_answer(&seen, language));
    let judged = given.and_then(|given| question.judge_with_truth(truth, &given, language).ok());
    judged.is_some_and(|judged| judged.is_right)
}

/// Checks that no earlier step has shown the answer.
pub(super) fn unseen(
    run: &Run,
    lesson: &Lesson,
    at: usize,
    question: &Question,
    codes: &dyn ProgramCatalog,
) -> Result<(), Mistake> {
    let step = &lesson.steps[at];
    for (number, before) in lesson.steps[..at].iter().enumerate() {
        let has_shown = match before.scene == step.scene {
            true => has_shown(run, before, question, codes, lesson.language),
            false => is_its_run(lesson, step, before, &question.query),
        };
        if has_shown {
            return Err(Mistake::new(
                format!("step {} has shown the answer already", number + 1),
                "Ask before that step, let that step end at an earlier moment or name other parts, or ask about another run.",
            ));
        }
    }
    Ok(())
}

/// Returns true if a step about the same run has shown the answer.
fn has_shown(
    run: &Run,
    before: &Step,
    question: &Question,
    codes: &dyn ProgramCatalog,
    language: Language,
) -> bool {
    let shown = match &before.task {
        Task::Look { at, .. } => *at,
        Task::Predict { until, .. } => *until,
        Task::Try(_) | Task::Code { .. } => Moment::End,
    };
    let view = StepLayout::of(before.parts_after_answer()).view;
    match &question.query {
        Query::Moment(_) => false,
        Query::At(_, then) => {
            let (shown, then) = (instant(run, shown), instant(run, *then));
            let has_passed =
                |(shown, then): (At, At)| (shown.at, shown.step) >= (then.at, then.step);
            shown.zip(then).is_some_and(has_passed)
        }
        Query::Run(query) if query.is_diagnosis() => {
            view == View::Diagnose || before.parts_after_answer().contains(&Part::Verdict)
        }
        Query::Run(RunQuery::SeedStep) => before.parts_after_answer().contains(&Part::Inspector),
        Query::Run(_) => gives(run, question, shown, codes, language),
        Query::Order(query) => view == View::Sampling && query.is_of_indices(),
        Query::With(query, _) | Query::MoreOrLess(query, _) | Query::TimesLess(query, _) => {
            view == View::Diagnose && matches!(**query, Query::Run(_))
        }
        Query::Option(_) | Query::Line(..) | Query::NumberOfLine(..) => false,
    }
}

/// Returns true if an earlier step shows the run of a question about other options.
fn is_its_run(lesson: &Lesson, step: &Step, before: &Step, query: &Query) -> bool {
    let (Query::With(_, changes) | Query::MoreOrLess(_, changes) | Query::TimesLess(_, changes)) =
        query
    else {
        return false;
    };
    let changed = lesson
        .options(step)
        .and_then(|options| changes.apply(options).ok());
    let shown = lesson.options(before);
    changed.is_some() && changed.as_ref() == shown
}

/// Checks that the output of a program is asked before a step shows the program.
pub(super) fn unread(question: &Question, read: &[&str]) -> Result<(), Mistake> {
    match &question.query {
        Query::Line(_, name) | Query::NumberOfLine(_, name) if read.contains(&name.as_str()) => {
            Err(Mistake::new(
                format!("the program {name} was shown before, with what it printed"),
                "Ask before the step that shows it.",
            ))
        }
        _ => Ok(()),
    }
}
