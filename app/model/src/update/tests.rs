use loadscope_trace::{BatchId, Event, EventKind, Lane, Level, Nanos, Origin, Run, RunId, Stage};
use proptest::prelude::*;

use super::*;
use crate::command::Action;
use crate::prefs::Prefs;
use crate::state::{SessionState, Source, ViewState};
use crate::view::{Cursor, Item, TimeView};
use loadscope_insight::landmarks::Landmarks;

mod runs;

fn apply(run: &mut Run, ms: i64, kind: EventKind) {
    run.apply(&Event {
        at: Nanos::from_millis(ms),
        run: RunId(0),
        kind,
    });
}

/// Returns a state with a run of two workers and three batches. Batch 1 arrives before batch 0, and batch 2 fails.
fn state() -> State {
    let mut run = Run::default();
    run.info.options.num_workers = 2;
    let id = |idx| BatchId { epoch: 0, idx };
    let enter = |idx, stage| EventKind::Entered {
        batch: id(idx),
        stage,
    };
    apply(&mut run, 0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..3 {
        let kind = EventKind::dispatched(id(idx), Some(idx as u16 % 2), [u64::from(idx)]);
        apply(&mut run, 1 + i64::from(idx), kind);
    }
    let wait = EventKind::Consumer { waiting: true };
    let failed = EventKind::Message(Box::new(loadscope_trace::Message {
        level: Level::Error,
        text: "ValueError".to_owned(),
        about: Some(id(2)),
        worker: Some(0),
        sample: None,
    }));
    for (ms, kind) in [
        (4, wait.clone()),
        (5, enter(0, Stage::Fetching)),
        (6, enter(1, Stage::Fetching)),
        (20, enter(1, Stage::Held)),
        (40, enter(0, Stage::Ready)),
        (41, enter(0, Stage::Training)),
        (45, enter(2, Stage::Fetching)),
        (50, enter(0, Stage::Done)),
        (51, enter(1, Stage::Training)),
        (60, enter(1, Stage::Done)),
        (61, wait),
        (90, failed),
        (90, enter(2, Stage::Failed)),
        (91, EventKind::EpochEnded { epoch: 0 }),
        (91, EventKind::RunEnded),
    ] {
        apply(&mut run, ms, kind);
    }
    assert_eq!(run.anomalies(), (0, 0));
    State {
        session: SessionState {
            landmarks: Landmarks::of(&run),
            run,
            source: Source::Finished,
            ..SessionState::default()
        },
        look: ViewState {
            speed: 1.0,
            ..ViewState::default()
        },
        prefs: Prefs {
            asks: true,
            ..Prefs::default()
        },
        ..State::default()
    }
}

fn at_ms(state: &State) -> f64 {
    state.now().as_millis_f64()
}

#[test]
fn jump_actions_go_forward_and_back_or_give_a_hint() {
    let mut state = state();
    state.session.cursor = Cursor::Step(0);
    let mut go = |action: Action| {
        assert_eq!(update(&mut state, action), None);
        (at_ms(&state), state.overlay.hint.clone())
    };
    assert_eq!(go(Action::NextOutOfOrder), (20.0, None));
    assert_eq!(go(Action::NextBatch), (41.0, None));
    assert_eq!(go(Action::NextBatch), (51.0, None));
    assert_eq!(go(Action::NextStall), (61.0, None));
    let none = Some("No later wait. Press P for the previous one.".to_owned());
    assert_eq!(go(Action::NextStall), (61.0, none));
    assert_eq!(go(Action::PreviousStall), (4.0, None));
    assert_eq!(go(Action::NextTrouble), (90.0, None));
    let none = Some("No later errors, skipped samples or dropped events".to_owned());
    assert_eq!(go(Action::NextTrouble), (90.0, none));
    assert_eq!(go(Action::PreviousBatch), (51.0, None));
    assert_eq!(go(Action::PreviousOutOfOrder), (20.0, None));
    let none = Some("No earlier batch arrived out of order".to_owned());
    assert_eq!(go(Action::PreviousOutOfOrder), (20.0, none));
    let none = Some("No later marker: press M to place one".to_owned());
    assert_eq!(go(Action::NextMarker), (20.0, none));
    go(Action::ToggleMarker);
    go(Action::StepBack);
    assert_eq!(go(Action::NextMarker), (20.0, None));
}

#[test]
fn stage_actions_visit_each_stage_of_the_batch() {
    let mut state = state();
    update(&mut state, Action::NextStage);
    assert!(
        state
            .overlay
            .hint
            .as_ref()
            .is_some_and(|h| h.contains("press /"))
    );
    state.session.selection = Some(Item::Batch(0));
    state.session.cursor = Cursor::Step(0);
    let mut seen = Vec::new();
    while obstacle(&state, Action::NextStage).is_none() {
        update(&mut state, Action::NextStage);
        seen.push(at_ms(&state));
    }
    assert_eq!(seen, [1.0, 5.0, 40.0, 41.0, 50.0]);
    update(&mut state, Action::PreviousStage);
    assert_eq!(at_ms(&state), 41.0);
}

#[test]
fn lane_and_span_actions_move_the_selection() {
    let mut state = state();
    state.session.cursor = Cursor::Step(0);
    update(&mut state, Action::LaneDown);
    assert_eq!(state.session.selection, Some(Item::Lane(Lane::Trainer)));
    update(&mut state, Action::LaneUp);
    assert_eq!(
        state.overlay.hint.as_deref(),
        Some("This is the first lane")
    );
    while state.session.selection != Some(Item::Lane(Lane::Worker(0))) {
        update(&mut state, Action::LaneDown);
        assert_eq!(state.overlay.hint, None);
    }
    update(&mut state, Action::NextSpan);
    assert_eq!(state.session.selection, Some(Item::Batch(0)));
    update(&mut state, Action::NextSpan);
    assert_eq!(state.session.selection, Some(Item::Batch(2)));
    update(&mut state, Action::NextSpan);
    assert!(state.overlay.hint.is_some());
    update(&mut state, Action::PreviousSpan);
    assert_eq!(state.session.selection, Some(Item::Batch(0)));
}

#[test]
fn next_match_goes_to_the_found_batch() {
    let mut state = state();
    update(&mut state, Action::NextMatch);
    assert_eq!(
        state.overlay.hint.as_deref(),
        Some("No search yet: press / to search")
    );
    update(&mut state, Command::Search("errors".to_owned()));
    let (search, run) = (&mut state.look.search, &state.session.run);
    search.advance(
        run,
        &state.session.landmarks,
        &state.place.platform.budget(Duration::from_secs(1)),
    );
    update(&mut state, Action::NextMatch);
    assert_eq!(
        (at_ms(&state), state.session.selection),
        (90.0, Some(Item::Batch(2)))
    );
    assert!(
        state.session.view.is_some(),
        "of the whole run nothing could be seen"
    );
}

#[test]
fn a_paused_run_steps_until_the_goal() {
    let mut state = state();
    state.session.source = Source::Live { paused: true };
    assert_eq!(update(&mut state, Action::NextBatch), None);
    assert_eq!(seek(&mut state), Some(Effect::Step));
    assert_eq!(seek(&mut state), None, "one permit at a time");
    let batch = BatchId { epoch: 1, idx: 0 };
    apply(
        &mut state.session.run,
        100,
        EventKind::EpochStarted { epoch: 1 },
    );
    apply(
        &mut state.session.run,
        100,
        EventKind::dispatched(batch, None, []),
    );
    state.session.landmarks.follow(&state.session.run);
    assert_eq!(seek(&mut state), Some(Effect::Step));
    let stage = Stage::Training;
    apply(
        &mut state.session.run,
        101,
        EventKind::Entered { batch, stage },
    );
    state.session.landmarks.follow(&state.session.run);
    assert_eq!(seek(&mut state), None);
    assert_eq!(state.session.seeking, None);
    // A run that is not paused is paused first.
    state.session.source = Source::Live { paused: false };
    let effect = update(&mut state, Action::NextBatch);
    assert_eq!(effect, Some(Effect::Pause));
    assert!(state.session.seeking.is_some());
    update(&mut state, Action::Escape);
    assert_eq!(state.session.seeking, None);
}

#[test]
fn seeking_a_wait_resumes_the_run_and_pauses_at_the_wait() {
    let mut state = state();
    state.session.source = Source::Live { paused: true };
    let effect = update(&mut state, Action::NextStall);
    assert_eq!(effect, Some(Effect::Resume));
    assert_eq!(seek(&mut state), None);
    let waiting = true;
    apply(
        &mut state.session.run,
        100,
        EventKind::EpochStarted { epoch: 1 },
    );
    apply(&mut state.session.run, 100, EventKind::Consumer { waiting });
    state.session.landmarks.follow(&state.session.run);
    assert_eq!(seek(&mut state), None, "it has waited for no time yet");
    let count = 0;
    apply(&mut state.session.run, 130, EventKind::Dropped { count });
    state.session.landmarks.follow(&state.session.run);
    assert_eq!(seek(&mut state), Some(Effect::Pause));
    assert_eq!(state.session.source, Source::Live { paused: true });
    // Pausing by hand ends the search.
    let effect = update(&mut state, Action::NextTrouble);
    assert_eq!(effect, Some(Effect::Resume));
    let effect = update(&mut state, Action::PauseResume);
    assert_eq!(effect, Some(Effect::Pause));
    assert_eq!((seek(&mut state), state.session.seeking), (None, None));
}

#[test]
fn the_options_are_undone_and_redone() {
    let mut state = state();
    let first = state.prefs.options.clone();
    let mut second = first.clone();
    second.num_workers = 7;
    update(&mut state, Command::Edit(Box::new(second.clone())));
    update(&mut state, Action::Undo);
    assert_eq!(state.prefs.options, first);
    update(&mut state, Action::Undo);
    assert!(state.overlay.hint.is_some());
    update(&mut state, Action::Redo);
    assert_eq!(state.prefs.options, second);
}

#[test]
fn playback_speeds_range_from_0_01_to_10() {
    let mut state = state();
    while obstacle(&state, Action::Slower).is_none() {
        update(&mut state, Action::Slower);
    }
    assert_eq!(state.look.speed, 0.01);
    while obstacle(&state, Action::Faster).is_none() {
        update(&mut state, Action::Faster);
    }
    assert_eq!(state.look.speed, 10.0);
}

fn any_command() -> impl Strategy<Value = Command> {
    let actions: Vec<Action> = Action::all().collect();
    let time = || (-10..120i64).prop_map(Nanos::from_millis);
    let item = prop_oneof![
        (0..5usize).prop_map(Item::Batch),
        Just(Item::Lane(Lane::Worker(0))),
        Just(Item::Lane(Lane::Worker(9))),
        (time(), time()).prop_map(|(a, b)| Item::Range(a.min(b), a.max(b))),
    ];
    prop_oneof![
        8 => prop::sample::select(actions).prop_map(Command::Act),
        1 => time().prop_map(|t| Command::Cursor(Cursor::At(t))),
        1 => (0..40usize).prop_map(|s| Command::Cursor(Cursor::Step(s))),
        1 => item.prop_map(|i| Command::Select(Some(i))),
        1 => (time(), 1..50i64).prop_map(|(t, len)| {
            Command::View(Some(TimeView::new(t, t + Nanos::from_millis(len))))
        }),
        1 => prop::sample::select(vec!["errors", "0", "sample 2", "> 1 ns", "held", "stalls"])
            .prop_map(|t| Command::Search(t.to_owned())),
        1 => (0..9usize).prop_map(Command::Hit),
    ]
}

/// Regression test: Stop in a live page only showed a message.
#[test]
fn a_live_page_cannot_stop_the_watched_program() {
    let of = |in_page, watched, source| {
        let mut state = state();
        state.place.in_page = in_page;
        state.session.watched = watched;
        state.session.source = source;
        state
    };
    let live = || Source::Live { paused: false };
    let mut page = of(true, true, live());
    let why = obstacle(&page, Action::Stop).expect("the page has not started it");
    assert!(why.starts_with("The program is still running. Press Ctrl+C"));
    assert_eq!(update(&mut page, Action::Stop), None);
    assert_eq!(page.overlay.hint.as_deref(), Some(why));
    // The desktop window ends watched programs. Desktop and page end their own runs.
    for (in_page, watched) in [(false, true), (true, false), (false, false)] {
        let mut state = of(in_page, watched, live());
        assert_eq!(update(&mut state, Action::Stop), Some(Effect::Stop));
    }
    let ended = of(true, true, Source::Finished);
    let why = obstacle(&ended, Action::Stop);
    assert_eq!(why, Some("No run is in progress"));
}

proptest! {
    /// Commands in any order never panic. Impossible actions change only the hint.
    /// Going from moment to moment never leaves the time of the run.
    #[test]
    fn any_command_sequence_runs_without_panic(commands in prop::collection::vec(any_command(), 0..40)) {
        let mut state = state();
        for command in commands {
            let impossible = match &command {
                Command::Act(action) => obstacle(&state, *action),
                _ => None,
            };
            let (cursor, view, selection) = (state.session.cursor, state.session.view, state.session.selection);
            update(&mut state, command);
            if let Some(why) = impossible {
                prop_assert_eq!(state.overlay.hint.as_deref(), Some(why));
                prop_assert_eq!((cursor, view, selection), (state.session.cursor, state.session.view, state.session.selection));
            }
            let (search, run) = (&mut state.look.search, &state.session.run);
            search.advance(run, &state.session.landmarks, &state.place.platform.budget(Duration::from_secs(1)));
            seek(&mut state);
            advance(&mut state, Nanos::from_millis(3));
            future::settle(&mut state);
            let pipeline = state.pipeline();
            prop_assert_eq!(pipeline.step, state.step());
            for action in Action::all() {
                obstacle(&state, action);
            }
        }
    }
}
