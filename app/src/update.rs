//! The one place that changes the state. What needs the engine, a file or a dialog comes out as an [`Effect`].

use std::path::PathBuf;

use loadscope_trace::{Nanos, Stage, Track};

use crate::clipboard::{self, Picture};
use crate::command::{Action, Command};
use crate::prefs;
use crate::state::{Lower, Source, State};
use crate::view::{Cursor, Item, TimeView};

mod possible;

pub use possible::is_possible;

/// What has to be done outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the engine with the form.
    Start,
    /// Break off what is under way.
    Stop,
    /// Close the gate.
    Pause,
    /// Open the gate.
    Resume,
    /// Let one transition through.
    Step,
    /// Forget the session.
    Close,
    /// Read this file.
    Open(PathBuf),
    /// Write the recording there.
    Save(PathBuf),
    /// Ask for a file to open.
    AskOpen,
    /// Ask for a file to save to.
    AskSave,
    /// Ask for a folder of pictures.
    AskFolder,
    /// Ask where to save this picture.
    AskPicture(Picture),
    /// Put this on the clipboard.
    Copy(String),
    /// From dark to light or back.
    ToggleTheme,
    /// Close the window.
    Quit,
}

/// Carries a command out.
pub fn update(state: &mut State, command: Command) -> Option<Effect> {
    match command {
        Command::Act(action) => return act(state, action),
        Command::View(view) => set_view(state, view),
        Command::Cursor(cursor) => {
            state.playing = false;
            state.cursor = cursor;
        }
        Command::Select(item) => {
            state.selection = item;
            state.enlarged = None;
        }
        Command::Enlarge(picture) => state.enlarged = picture,
        Command::Copy(text) => return Some(Effect::Copy(text)),
        Command::Hover(item) => state.hovering = item.or(state.hovering),
        Command::Edit(options) => state.options = *options,
        Command::Open(path) => return Some(Effect::Open(path)),
        Command::SaveTo(path) => return Some(Effect::Save(path)),
        Command::UseFolder(path) => {
            state.options.dataset = format!("folder:{}", path.display());
            // The demo's slowness is not the user's.
            state.options.extra_cost.clear();
            state.options_open = true;
        }
        Command::Say(notice) => state.notices.push(notice),
        Command::Speed(speed) => state.speed = speed,
        Command::Theme(theme) => state.theme = theme,
        Command::Dismiss(at) => {
            if at < state.notices.len() {
                state.notices.remove(at);
            }
        }
    }
    None
}

fn act(state: &mut State, action: Action) -> Option<Effect> {
    match action {
        Action::RunDemo => {
            state.options = prefs::demo();
            return Some(Effect::Start);
        }
        Action::Run => return Some(Effect::Start),
        Action::Stop => return Some(Effect::Stop),
        Action::Open => return Some(Effect::AskOpen),
        Action::Save if state.has_run() => return Some(Effect::AskSave),
        Action::Save => {}
        Action::ChooseFolder => return Some(Effect::AskFolder),
        Action::SavePicture => return Picture::enlarged(state).map(Effect::AskPicture),
        Action::CopyValues | Action::CopyContent | Action::CopyIndices | Action::CopyVariables => {
            return clipboard::text(state, action).map(Effect::Copy);
        }
        Action::Close => return Some(Effect::Close),
        Action::Quit => return Some(Effect::Quit),
        Action::PauseResume | Action::StepForward => return play_or_step(state, action),
        Action::StepBack
        | Action::NextBatch
        | Action::PreviousBatch
        | Action::NextStall
        | Action::PreviousStall
        | Action::FollowLive => travel(state, action),
        Action::ZoomIn
        | Action::ZoomOut
        | Action::PanLeft
        | Action::PanRight
        | Action::ShowAll
        | Action::FitSelection
        | Action::ViewBack
        | Action::ViewForward => look(state, action),
        Action::NextSpan => next_span(state, true),
        Action::PreviousSpan => next_span(state, false),
        Action::Escape => escape(state),
        Action::ShowTimeline => state.lower = Lower::Timeline,
        Action::ShowBatches => state.lower = Lower::Batches,
        Action::ShowPlots => state.lower = Lower::Plots,
        Action::ToggleOptions => state.options_open = !state.options_open,
        Action::ToggleInspector => state.inspector_open = !state.inspector_open,
        Action::ToggleVariables => state.variables_open = !state.variables_open,
        Action::ToggleMotion => state.still = !state.still,
        // The window knows which theme is shown.
        Action::ToggleTheme => return Some(Effect::ToggleTheme),
        Action::Help => state.help_open = !state.help_open,
    }
    None
}

/// Innermost first: help, the enlarged picture, selection, cursor, view.
fn escape(state: &mut State) {
    if state.help_open {
        state.help_open = false;
    } else if state.enlarged.is_some() {
        state.enlarged = None;
    } else if state.selection.is_some() {
        state.selection = None;
    } else if state.cursor != Cursor::Live {
        state.cursor = Cursor::Live;
        state.playing = false;
    } else {
        set_view(state, None);
    }
}

/// Pausing and stepping mean the engine while it runs and one looks at now, and the recording otherwise.
fn play_or_step(state: &mut State, action: Action) -> Option<Effect> {
    let at_now = state.cursor == Cursor::Live;
    match (&mut state.source, action) {
        (Source::Live { paused }, Action::PauseResume) => {
            *paused = !*paused;
            let effect = if *paused {
                Effect::Pause
            } else {
                Effect::Resume
            };
            state.cursor = Cursor::Live;
            Some(effect)
        }
        (Source::Live { paused }, _) if at_now => {
            let effect = if *paused { Effect::Step } else { Effect::Pause };
            *paused = true;
            Some(effect)
        }
        (_, Action::PauseResume) => {
            if !state.playing && state.now() >= state.run.end() {
                state.cursor = Cursor::Step(0);
            }
            state.playing = !state.playing && !state.run.transitions().is_empty();
            None
        }
        _ => {
            let next = state.machine().step + 1;
            let last = state.run.transitions().len();
            if state.source.is_live() && next >= last {
                // At the end of what has happened, stepping means the engine again.
                state.cursor = Cursor::Live;
            } else {
                go_to_step(state, next.min(last));
            }
            None
        }
    }
}

fn go_to_step(state: &mut State, step: usize) {
    state.playing = false;
    state.cursor = Cursor::Step(step);
    bring_into_view(state, state.now());
}

/// Moves the view, if it has to, so that `at` can be seen.
fn bring_into_view(state: &mut State, at: Nanos) {
    if let Some(view) = state.view
        && !(view.start..=view.end).contains(&at)
    {
        let half = Nanos(view.len().0 / 2);
        state.view = Some(view.shifted(at - view.start - half));
    }
}

fn travel(state: &mut State, action: Action) {
    let now = state.now();
    let step = state.machine().step;
    let yielded =
        |t: &loadscope_trace::Transition| matches!(t.stage, Stage::Training | Stage::Failed);
    let transitions = state.run.transitions();
    let target = match action {
        Action::StepBack => Some(step.saturating_sub(1)),
        Action::NextBatch => transitions[step..]
            .iter()
            .position(yielded)
            .map(|k| step + k + 1),
        Action::PreviousBatch => {
            let before = &transitions[..step.saturating_sub(1)];
            Some(before.iter().rposition(yielded).map_or(0, |k| k + 1))
        }
        _ => None,
    };
    if let Some(target) = target {
        go_to_step(state, target);
        return;
    }
    let waits = state.run.waits();
    // Waits that are nothing beside the longest one are not what is looked for.
    let end = state.run.end();
    let length = |w: &loadscope_trace::Wait| w.end.min(end) - w.start;
    let longest = waits.iter().map(length).max().unwrap_or_default();
    let is_stall = |w: &loadscope_trace::Wait| length(w).0.saturating_mul(20) >= longest.0;
    let wait = match action {
        Action::NextStall => waits.iter().find(|w| w.start > now && is_stall(w)),
        Action::PreviousStall => waits.iter().rev().find(|w| w.start < now && is_stall(w)),
        _ => None,
    };
    match wait.map(|w| w.start) {
        Some(at) => {
            state.playing = false;
            state.cursor = Cursor::At(at);
            bring_into_view(state, at);
        }
        None if action == Action::FollowLive => {
            state.playing = false;
            state.cursor = Cursor::Live;
            set_view(state, None);
        }
        None => {}
    }
}

/// Remembers the view before and takes the new one.
fn set_view(state: &mut State, view: Option<TimeView>) {
    if state.view == view {
        return;
    }
    // A continuous zoom or pan is one step back, not a hundred.
    const FAR: f64 = 0.25;
    let gradual = match (state.views_before.last(), state.view, view) {
        (Some(Some(last)), Some(_), Some(new)) => {
            let change = (last.len().0 as f64 / new.len().0 as f64).ln().abs()
                + (last.start - new.start).0.abs() as f64 / new.len().0 as f64;
            change < FAR
        }
        _ => false,
    };
    if !gradual {
        state.views_before.push(state.view);
        if state.views_before.len() > 100 {
            state.views_before.remove(0);
        }
    }
    state.views_after.clear();
    state.view = view;
}

fn look(state: &mut State, action: Action) {
    let shown = state.shown();
    let pivot = Nanos(shown.start.0 + shown.len().0 / 2);
    let step = Nanos(shown.len().0 / 8);
    match action {
        Action::ZoomIn => set_view(state, Some(shown.zoomed(pivot, 1.0 / 1.4))),
        Action::ZoomOut => set_view(state, Some(shown.zoomed(pivot, 1.4))),
        Action::PanLeft => set_view(state, Some(shown.shifted(Nanos::ZERO - step))),
        Action::PanRight => set_view(state, Some(shown.shifted(step))),
        Action::ShowAll => set_view(state, None),
        Action::FitSelection => {
            if let Some((start, end)) = extent(state) {
                let air = Nanos((end - start).0 / 10);
                set_view(state, Some(TimeView::new(start - air, end + air)));
            }
        }
        Action::ViewBack => {
            if let Some(view) = state.views_before.pop() {
                state.views_after.push(state.view);
                state.view = view;
            }
        }
        Action::ViewForward => {
            if let Some(view) = state.views_after.pop() {
                state.views_before.push(state.view);
                state.view = view;
            }
        }
        _ => {}
    }
}

/// From when to when the selected thing lasts.
fn extent(state: &State) -> Option<(Nanos, Nanos)> {
    let run = &state.run;
    match state.selection? {
        Item::Batch(row) => {
            let path = run.path(row);
            let last = path.last()?;
            Some((
                path.first()?.start,
                if last.stage.is_final() {
                    last.start
                } else {
                    run.end()
                },
            ))
        }
        Item::Range(start, end) => Some((start, end)),
        Item::Lane(lane) => {
            let rows = run.lanes().find(|(l, _)| *l == lane)?.1 as u16;
            let tracks = (0..rows).filter_map(|row| run.track(Track { lane, row }));
            let spans = || {
                tracks
                    .clone()
                    .flat_map(|t| t.all().first().into_iter().chain(t.all().last()))
            };
            let start = spans().map(|s| s.start).min()?;
            let end = spans().map(|s| s.end.min(run.end())).max()?;
            Some((start, end))
        }
        Item::Activity(_) | Item::Sampler => None,
    }
}

/// Selects the batch after or before the selected one on the lane it is in at the instant that is looked at.
fn next_span(state: &mut State, forwards: bool) {
    let run = &state.run;
    let now = state.now();
    let lane = match state.selection {
        Some(Item::Lane(lane)) => Some(lane),
        Some(Item::Batch(row)) => run.batches().get(row).map(|b| match b.worker {
            Some(worker) => loadscope_trace::Lane::Worker(worker),
            None => loadscope_trace::Lane::Main,
        }),
        _ => None,
    };
    let Some(spans) = lane.and_then(|lane| run.track(Track { lane, row: 0 })) else {
        return;
    };
    let spans = spans.all();
    let at = match state.selection {
        Some(Item::Batch(row)) => spans.iter().position(|s| s.batch() == Some(row)),
        _ => Some(spans.partition_point(|s| s.end <= now)),
    };
    let Some(at) = at else {
        return;
    };
    let current = spans.get(at).and_then(|s| s.batch());
    let other = |s: &&loadscope_trace::Span| s.batch().is_some() && s.batch() != current;
    let found = if forwards {
        spans[at..].iter().find(other)
    } else {
        spans[..at].iter().rev().find(other)
    };
    if let Some(span) = found {
        let start = span.start;
        state.selection = span.batch().map(Item::Batch);
        bring_into_view(state, start);
    }
}

/// Moves the cursor of a recording that is being played by `elapsed` of real time.
pub fn advance(state: &mut State, elapsed: Nanos) {
    if !state.playing {
        return;
    }
    let ahead = Nanos((elapsed.0 as f64 * state.speed) as i64).max(Nanos(1));
    let at = state.now() + ahead;
    if at >= state.run.end() {
        state.playing = false;
        state.cursor = Cursor::At(state.run.end());
    } else {
        state.cursor = Cursor::At(at);
        bring_into_view(state, at);
    }
}
