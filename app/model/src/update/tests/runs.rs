//! Tests of kept, restored and rejected runs, save prompts, and typed paths.

use loadscope_insight::session_event::SessionEvent;

use super::*;

#[test]
fn only_quitting_with_unsaved_runs_asks_a_question() {
    let mut state = state();
    for (action, effect) in [
        (Action::Run, Effect::Start),
        (Action::Simulate, Effect::Simulate),
        (Action::Close, Effect::Close),
    ] {
        assert_eq!(update(&mut state, action), Some(effect));
    }
    assert_eq!(update(&mut state, Action::Quit), None);
    assert!(state.overlay.question.is_some());
    assert_eq!(update(&mut state, Command::Answer(Answer::Cancel)), None);
    assert_eq!(state.overlay.question, None);
    update(&mut state, Action::Quit);
    let effect = update(&mut state, Command::Answer(Answer::Save));
    assert_eq!(effect, Some(Effect::AskSave));
    assert!(state.overlay.question.as_ref().is_some_and(|q| q.saving));
    // A run kept in the journal stays unsaved. A discarded one does not.
    let effect = update(&mut state, Command::Answer(Answer::Keep));
    assert_eq!((effect, state.unsaved()), (Some(Effect::Quit), 1));
    update(&mut state, Action::Quit);
    let effect = update(&mut state, Command::Answer(Answer::Discard));
    assert_eq!((effect, state.unsaved()), (Some(Effect::Quit), 0));
    // No prompt for a saved or simulated run, or if prompts are disabled.
    state.session.discarded = false;
    state.session.saved = Some(state.session.run.events());
    assert_eq!(update(&mut state, Action::Quit), Some(Effect::Quit));
    state.session.saved = None;
    state.prefs.asks = false;
    assert_eq!(update(&mut state, Action::Quit), Some(Effect::Quit));
    state.prefs.asks = true;
    state.session.run.info.origin = Origin::Simulation;
    assert_eq!(update(&mut state, Action::Quit), Some(Effect::Quit));
}

/// Regression test: demo runs were neither kept nor counted, so *Keep for next time* lost the "before" of a comparison.
#[test]
fn demo_runs_count_as_unsaved_next_to_other_runs() {
    let demo = || {
        let mut state = state();
        state.session.run.info.options = crate::prefs::demo();
        state
    };
    let mut state = demo();
    assert!(!state.keeps(&state.session), "alone it can be repeated");
    assert_eq!(
        (update(&mut state, Action::Quit), state.unsaved()),
        (Some(Effect::Quit), 0)
    );
    state.session.number = 1;
    begin(&mut state);
    let others = demo().session;
    state.session = SessionState {
        number: 2,
        ..others
    };
    assert_eq!(state.unsaved(), 0, "two of the demo");
    let Some(kept) = state.runs.get(1) else {
        panic!("the first one is in the list");
    };
    assert!(!state.keeps(&kept.session));
    // With other options, the second run is not a demo. The first one was compared with it.
    state.session.run.info.options.num_workers = 7;
    assert_eq!(state.unsaved(), 2);
    let kept = &state.runs.get(1).expect("kept").session;
    assert!(state.keeps(kept) && state.keeps(&state.session));
    assert_eq!(update(&mut state, Action::Quit), None);
    // After the second run is saved, only the demo is left.
    state.session.saved = Some(state.session.run.events());
    assert_eq!(state.unsaved(), 0);
}

/// Regression test: after a missing folder or a no to *Replace?*, the path had to be typed again.
#[test]
fn a_failed_path_is_shown_again_for_correction() {
    use crate::effect::Output;
    use crate::typing::{PathFor, TypedPath};

    let typed = |what| TypedPath {
        what,
        text: "/no/folder/run.jsonl".to_owned(),
    };
    let mut state = state();
    let enter = |state: &mut State, what| {
        update(state, Command::Typed(typed(what)));
        assert_eq!(state.overlay.typing, None);
    };
    enter(&mut state, PathFor::Save);
    update(&mut state, SessionEvent::NotSaved("no folder".to_owned()));
    assert_eq!(state.overlay.typing, Some(typed(PathFor::Save)));
    enter(&mut state, PathFor::Export);
    update(
        &mut state,
        SessionEvent::NotExported(Some("no folder".to_owned())),
    );
    assert_eq!(state.overlay.typing, Some(typed(PathFor::Export)));
    enter(&mut state, PathFor::Open);
    update(&mut state, Message::NotOpened("no file".to_owned()));
    assert_eq!(state.overlay.typing, Some(typed(PathFor::Open)));
    enter(&mut state, PathFor::Save);
    let exists = Output::Recording("/no/folder/run.jsonl".into());
    update(&mut state, SessionEvent::Exists(exists));
    update(&mut state, Command::Replace(false));
    assert_eq!(state.overlay.typing, Some(typed(PathFor::Save)));
    // A path that was used successfully is not shown again.
    enter(&mut state, PathFor::Save);
    update(
        &mut state,
        SessionEvent::Saved("/no/folder/run.jsonl".into()),
    );
    update(&mut state, SessionEvent::NotSaved("another one".to_owned()));
    assert_eq!(state.overlay.typing, None);
}

/// Regression test: the path of an image folder was shown again with the error of the next run.
#[test]
fn a_typed_path_returns_only_after_its_own_error() {
    use crate::typing::{PathFor, TypedPath};
    use PathFor as P;

    let why = || "it failed".to_owned();
    let loading = Source::Loading {
        path: "/no/run.jsonl".into(),
        share: 0.0,
    };
    let live = Source::Live { paused: false };
    let ended = || Message::Session(SessionEvent::Ended(Some(why())));
    let errors: [(Source, Message, &[PathFor]); 6] = [
        (live.clone(), ended(), &[]),
        (Source::Simulating, ended(), &[]),
        (loading, ended(), &[P::Open, P::OpenFolder]),
        (
            live.clone(),
            SessionEvent::NotSaved(why()).into(),
            &[P::Save],
        ),
        (
            live.clone(),
            SessionEvent::NotExported(Some(why())).into(),
            &[P::Export],
        ),
        (
            live,
            Message::NotOpened(why()),
            &[P::Open, P::OpenFolder, P::Compare],
        ),
    ];
    let all = [
        P::Open,
        P::OpenFolder,
        P::Save,
        P::Compare,
        P::Export,
        P::Folder,
    ];
    for (source, error, concerned) in errors {
        for what in all {
            let text = "/no/run.jsonl".to_owned();
            let typed = TypedPath { what, text };
            let mut state = state();
            update(&mut state, Command::Typed(typed.clone()));
            state.session.source = source.clone();
            update(&mut state, error.clone());
            let expected = concerned.contains(&what).then_some(typed);
            assert_eq!(state.overlay.typing, expected, "{what:?} after {error:?}");
        }
    }
    // The path of a folder counts as successful at its use, because only the run can fail later.
    let mut state = state();
    let typed = TypedPath {
        what: P::Folder,
        text: "/pictures".to_owned(),
    };
    let command = Command::for_path(P::Folder, typed.path());
    update(&mut state, Command::Typed(typed));
    update(&mut state, command);
    assert_eq!(state.overlay.typed, None);
}

/// Regression test: the notice to remove was identified by a text prefix from another crate. A reworded notice would have stayed after a
/// successful export.
#[test]
fn export_errors_stay_until_an_export_succeeds() {
    let mut state = state();
    let texts = |state: &State| {
        let notices = state.session.notices.iter();
        notices.map(|n| n.text.clone()).collect::<Vec<_>>()
    };
    update(&mut state, SessionEvent::Failed("another one".to_owned()));
    for why in ["no folder", "no room"] {
        let why = Some(why.to_owned());
        update(&mut state, SessionEvent::NotExported(why));
    }
    assert_eq!(texts(&state), ["Another one", "No folder", "No room"]);
    update(&mut state, SessionEvent::Exported(vec!["/run.json".into()]));
    assert_eq!(texts(&state), ["Another one"]);
}

fn begin(state: &mut State) {
    let source = Source::Live { paused: false };
    let watched = false;
    update(state, Message::Begun { source, watched });
}

/// Regression test: refused options such as `extra_cost=len=24,fail=5`, or a missing folder, lost the shown run.
#[test]
fn a_refused_run_returns_to_the_previous_run() {
    let mut state = state();
    state.session.number = 1;
    let before = state.session.run.events();
    begin(&mut state);
    assert_eq!((state.session.run.events(), state.runs.all().len()), (0, 1));
    let refused = SessionEvent::Ended(Some("there is no folder".to_owned()));
    let effect = update(&mut state, refused);
    assert_eq!(effect, Some(Effect::ShowRun(1)));
    update(&mut state, Message::Shown(1));
    assert_eq!(
        (state.session.run.events(), state.runs.all().len()),
        (before, 0)
    );
    assert_eq!(state.session.notices.len(), 1, "the sentence stays");
    // A run that never started uses no number.
    begin(&mut state);
    assert_eq!(state.session.number, 2);
}

#[test]
fn shown_runs_are_restored_and_events_reach_their_run() {
    let mut state = state();
    state.session.number = 1;
    state.session.selection = Some(Item::Batch(2));
    let first = state.session.run.events();
    begin(&mut state);
    let number = state.session.run_number;
    let at = |ms, kind| Event {
        at: Nanos::from_millis(ms),
        run: RunId(0),
        kind,
    };
    let batch = BatchId { epoch: 0, idx: 0 };
    let events = vec![
        at(0, EventKind::EpochStarted { epoch: 0 }),
        at(1, EventKind::dispatched(batch, Some(0), [])),
    ];
    update(&mut state, SessionEvent::Events(events));
    // The second run continues while the first is shown.
    update(&mut state, Message::Shown(1));
    assert_eq!(state.session.selection, Some(Item::Batch(2)));
    assert!(state.session.run_number > number, "panels see another run");
    let more = SessionEvent::Events(vec![at(5, EventKind::RunEnded)]);
    update(&mut state, Message::SessionFor(2, more));
    update(
        &mut state,
        Message::SessionFor(2, SessionEvent::Ended(None)),
    );
    assert_eq!(state.session.run.events(), first);
    let second = state.runs.get(2).expect("kept");
    assert_eq!(second.session.run.events(), 3);
    assert_eq!(second.session.source, Source::Finished);
    assert!(second.line.took.is_some(), "it has ended");
    update(&mut state, Command::StarRun(2));
    update(&mut state, Command::StarRun(1));
    assert!(state.session.starred && state.runs.all()[0].session.starred);
    update(&mut state, Message::Dropped(2));
    assert!(state.runs.all().is_empty());
    update(&mut state, Message::Shown(2));
    assert_eq!(state.session.number, 1, "what is gone is not shown");
}

/// Regression test: *Run the program with other settings* ran the program of `loadscope watch`.
/// The action must run the program of the shown run.
#[test]
fn try_program_uses_the_program_of_the_shown_run() {
    use crate::watching::Program;

    let program = |name: &str| Program {
        command: vec!["python".into(), name.into()],
        folder: Some("/work".into()),
    };
    let mut state = state();
    state.session.number = 1;
    let shown = |state: &State| state.session.program.as_ref().map(Program::shown);
    let refused = "Only available for programs started here or with `loadscope watch`";
    assert_eq!(obstacle(&state, Action::TryProgram), Some(refused));
    update(&mut state, Message::Watches(program("a.py")));
    assert_eq!(obstacle(&state, Action::TryProgram), None);
    begin(&mut state);
    assert_eq!(shown(&state), None, "another run is begun");
    update(&mut state, Message::Watches(program("b.py")));
    assert_eq!(shown(&state).as_deref(), Some("python b.py"));
    update(&mut state, Message::Shown(1));
    assert_eq!(shown(&state).as_deref(), Some("python a.py"));
}

/// Regression test: input during the file dialog was lost, and a form closed meanwhile was shown again.
#[test]
fn a_chosen_script_fills_only_an_open_form() {
    use crate::watching::{ProgramToWatch, Watching};

    let mut state = state();
    state.overlay.watching = Some(Watching {
        program: ProgramToWatch::default(),
        problem: Some("There is no file train.py".to_owned()),
    });
    assert_eq!(
        update(&mut state, Command::Perform(Effect::AskScript)),
        Some(Effect::AskScript)
    );
    let typed = ProgramToWatch {
        arguments: "--epochs 3".to_owned(),
        ..ProgramToWatch::default()
    };
    update(&mut state, Command::AskProgram(Some(Box::new(typed))));
    let chosen = Command::UseScript("/work/train.py".into());
    update(&mut state, chosen.clone());
    let asked = state.overlay.watching.clone().expect("it is open");
    assert_eq!(asked.problem, None);
    let ProgramToWatch {
        script,
        arguments,
        folder,
        ..
    } = asked.program;
    assert_eq!(
        [&*script, &arguments, &folder],
        ["train.py", "--epochs 3", "/work"]
    );
    update(&mut state, Command::AskProgram(None));
    update(&mut state, chosen);
    assert_eq!(state.overlay.watching, None);
}

#[test]
fn stored_program_arguments_have_masked_secrets() {
    let mut state = state();
    state.prefs.watched.arguments = "--api-key abc --epochs 3".to_owned();
    let kept = state.prefs_to_keep().watched.arguments;
    assert_eq!(kept, "--api-key *** --epochs 3");
    // The dialog keeps the secret until the window closes.
    assert_eq!(state.prefs.watched.arguments, "--api-key abc --epochs 3");
}

/// Regression test: a saved run, or one opened with a hidden future, had no thumbnail on the start page.
#[test]
fn saved_and_opened_files_get_start_page_thumbnails() {
    let saved = "/runs/saved.jsonl.zst";
    let mut all = state();
    update(&mut all, Message::Saving(saved.into()));
    update(&mut all, SessionEvent::Saved(saved.into()));
    assert!(all.prefs.sketches.get(saved.as_ref()).is_some());
    let opened = "/runs/opened.jsonl.zst";
    let mut state = state();
    state.prefs.hides_future = true;
    let run = std::mem::take(&mut state.session.run);
    state.session.source = Source::Loading {
        path: opened.into(),
        share: 0.5,
    };
    let loaded = SessionEvent::Loaded {
        landmarks: Box::new(Landmarks::of(&run)),
        run: Box::new(run),
        loaders: Box::default(),
        at: Some(Nanos::from_millis(20)),
        cut: false,
        notes: Vec::new(),
    };
    update(&mut state, loaded);
    assert!(state.hides_future());
    assert!(state.prefs.sketches.get(opened.as_ref()).is_some());
    // The thumbnail is stored in the preferences.
    let kept = state.prefs_to_keep().sketches;
    assert!(kept.get(opened.as_ref()).is_some());
}
