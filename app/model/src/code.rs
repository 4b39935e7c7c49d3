//! Code of the selection: the question that the selection and the user's choices ask.

use loadscope_insight::code::{Place, Question, Subject, Work};
use loadscope_trace::{Activity, Lane, Origin};
use loadscope_words::{Text, text};

use crate::state::State;
use crate::view::Item;

/// Reason why a run has no code.
pub const NO_CODE: Text = text!("This run executes no Python code. Record a PyTorch program.");

/// Returns true for a run whose recording can contain Python stacks.
pub fn can_have_code(state: &State) -> bool {
    let run = &state.session.run;
    match run.info.origin {
        // The recorded programs of lessons have none.
        Origin::Pytorch(_) if state.session.lesson_run.is_none() => true,
        _ => !run.stacks().is_empty(),
    }
}

/// Returns the question about the code of the selection.
pub fn question(state: &State) -> Question {
    let choice = &state.session.code;
    let mut work = choice.work;
    let subject = match state.session.selection {
        Some(Item::Batch(row)) => match choice.sample {
            Some(position) => Subject::Sample(row, position),
            None => Subject::Batch(row),
        },
        Some(Item::Range(start, end)) => Subject::Range(start, end),
        Some(Item::Lane(lane)) => match lane {
            Lane::Worker(worker) | Lane::IndexQueue(worker) => Subject::Process(Some(worker)),
            Lane::Trainer => Subject::Process(None),
            Lane::Main => {
                work = work.or(Some(Work::Fetching));
                Subject::Process(None)
            }
            Lane::Reorder | Lane::DataQueue | Lane::Pin | Lane::ResultQueue => Subject::Run,
        },
        Some(Item::Activity(activity)) => {
            work = work_of(activity).or(work);
            Subject::Run
        }
        Some(Item::Sampler) | None => Subject::Run,
    };
    Question {
        subject,
        work,
        over_time: choice.over_time,
    }
}

fn work_of(activity: Activity) -> Option<Work> {
    let mut all = Work::ALL.into_iter();
    all.find(|work| work.activity() == Some(activity))
}

/// Returns the line that the source view shows: the chosen one if it has samples, or the hottest.
pub fn place(state: &State) -> Option<&Place> {
    let profile = state.session.results.code.profile.as_deref()?;
    let chosen = state.session.code.line.as_ref();
    let chosen = chosen.filter(|place| profile.heat(place) > 0);
    chosen.or_else(|| profile.hottest())
}

#[cfg(test)]
mod tests {
    use loadscope_insight::background::Progress;
    use loadscope_insight::code::{CodeChoice, CodeProfile};
    use loadscope_trace::{Event, EventKind, Function, Nanos, RunId, Stack, StackSamples, Stacks};

    use super::*;
    use crate::Model;
    use crate::command::{Action, Command};
    use crate::effect::Effect;
    use crate::state::Source;
    use crate::update::obstacle;
    use crate::view::{LowerPanel, Workspace};

    /// Returns a model with a run whose worker 0 was in two lines of a file.
    fn model() -> Model {
        let function = Function {
            name: "Photos.__getitem__".to_owned(),
            file: "/home/me/dataset.py".to_owned(),
        };
        let stack = |line| Stack {
            caller: None,
            function: 0,
            line,
        };
        let samples = |stack, count| StackSamples {
            stack: Some(stack),
            count,
        };
        let stacks = Stacks {
            worker: Some(0),
            period: Nanos::from_millis(10),
            functions: vec![function],
            stacks: vec![stack(12), stack(30)],
            samples: vec![samples(0, 2), samples(1, 5)],
            ..Stacks::default()
        };
        let mut state = State::default();
        state.session.source = Source::Finished;
        state.session.run.apply(&Event {
            at: Nanos::from_millis(100),
            run: RunId(0),
            kind: EventKind::Stacks(Box::new(stacks)),
        });
        let profile = CodeProfile::of(&state.session.run, question(&state), &Progress::default());
        let profile = profile.expect("it is needed");
        state.session.results.code.profile = Some(profile.into());
        Model::new(state)
    }

    fn at(line: u32) -> Place {
        Place {
            file: "/home/me/dataset.py".to_owned(),
            line,
        }
    }

    #[test]
    fn the_selection_chooses_the_code() {
        let mut model = model();
        let mut subject = |item| {
            model.apply(Command::Select(item));
            question(&model).subject
        };
        let range = Item::Range(Nanos(1), Nanos(2));
        assert_eq!(subject(None), Subject::Run);
        assert_eq!(subject(Some(range)), Subject::Range(Nanos(1), Nanos(2)));
        let lane = |lane| Some(Item::Lane(lane));
        assert_eq!(
            subject(lane(Lane::IndexQueue(3))),
            Subject::Process(Some(3))
        );
        assert_eq!(subject(lane(Lane::Trainer)), Subject::Process(None));
        assert_eq!(subject(lane(Lane::ResultQueue)), Subject::Run);
        assert_eq!(subject(Some(Item::Batch(4))), Subject::Batch(4));
        model.apply(Command::Code(CodeChoice {
            sample: Some(7),
            line: Some(at(12)),
            work: Some(Work::Collating),
            ..CodeChoice::default()
        }));
        assert_eq!(question(&model).subject, Subject::Sample(4, 7));
        // The sample belongs to the batch. The chosen work applies to all.
        model.apply(Command::Select(Some(Item::Batch(5))));
        assert_eq!(question(&model).subject, Subject::Batch(5));
        assert_eq!(question(&model).work, Some(Work::Collating));
        assert_eq!(model.session.code.line, None);
        model.apply(Command::Select(Some(Item::Activity(Activity::Training))));
        assert_eq!(question(&model).work, Some(Work::Training));
    }

    #[test]
    fn the_hottest_line_is_shown_until_another_is_chosen() {
        let mut model = model();
        assert_eq!(place(&model), Some(&at(30)));
        let mut choose = |line| {
            let line = Some(at(line));
            model.apply(Command::Code(CodeChoice {
                line,
                ..CodeChoice::default()
            }));
            place(&model).map(|place| place.line)
        };
        assert_eq!(choose(12), Some(12));
        assert_eq!(choose(13), Some(30), "line 13 has no samples");
        let copied = model.apply(Action::CopyPlace);
        let text = "/home/me/dataset.py:30".to_owned();
        assert_eq!(copied, Some(Effect::Copy(text)));
        let why = obstacle(&model, Action::OpenEditor).unwrap_or_default();
        assert!(why.contains("VISUAL"), "{why}");
        model.set_up().place.editor = Some("gedit".to_owned());
        let opened = model.apply(Action::OpenEditor);
        assert_eq!(opened, Some(Effect::OpenEditor(at(30))));
        model.set_up().place.in_page = true;
        assert!(obstacle(&model, Action::OpenEditor).is_some());
    }

    #[test]
    fn the_code_panel_needs_a_program_with_python_code() {
        let mut model = model();
        model.apply(Action::ShowDiagnose);
        model.apply(Action::ShowCode);
        assert_eq!(model.prefs.workspace, Workspace::Debug);
        assert_eq!(model.look.lower, LowerPanel::Code);
        model.set_up().session.run = loadscope_trace::Run::default();
        assert!(obstacle(&model, Action::ShowCode).is_some());
        model.set_up().session.run.info.origin = Origin::Pytorch("2.6".to_owned());
        assert_eq!(obstacle(&model, Action::ShowCode), None);
    }
}
