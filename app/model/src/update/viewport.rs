//! Visible time range and its history.

use loadscope_trace::{Nanos, Track};

use crate::command::Action;
use crate::state::State;
use crate::view::{Item, TimeView};
use loadscope_insight::format;
use loadscope_words::say;

/// Zoom factor of one key press.
pub const ZOOM: f64 = 1.4;
/// Divisor of the visible range for one key press of panning.
const MOVE: i64 = 8;

/// Maximum number of stored views.
const MOST: usize = 100;

/// Stores the previous view and sets the new one.
pub fn set_view(state: &mut State, view: Option<TimeView>) {
    if state.session.view == view {
        return;
    }
    // A continuous zoom or pan is a single step of the history.
    const FAR: f64 = 0.25;
    let gradual = match (state.session.views_before.last(), state.session.view, view) {
        (Some(Some(last)), Some(_), Some(new)) => {
            let change = (last.len().0 as f64 / new.len().0 as f64).ln().abs()
                + (last.start - new.start).0.abs() as f64 / new.len().0 as f64;
            change < FAR
        }
        _ => false,
    };
    if !gradual {
        state.session.views_before.push(state.session.view);
        if state.session.views_before.len() > MOST {
            state.session.views_before.remove(0);
        }
    }
    state.session.views_after.clear();
    state.session.view = view;
}

/// Moves the view if `at` is outside.
pub fn bring_into_view(state: &mut State, at: Nanos) {
    if let Some(view) = state.session.view
        && !(view.start..=view.end).contains(&at)
    {
        let half = Nanos(view.len().0 / 2);
        state.session.view = Some(view.shifted(at - view.start - half));
    }
}

/// Zooms to `start..end` with a margin.
pub fn fit(state: &mut State, start: Nanos, end: Nanos) {
    let air = Nanos((end - start).0 / 10);
    set_view(state, Some(TimeView::new(start - air, end + air)));
}

/// Zooms in if `factor` is below 1, otherwise out.
pub fn zoom(state: &mut State, factor: f64) {
    let shown = state.shown();
    let pivot = Nanos(shown.start.0 + shown.len().0 / 2);
    take(state, shown.zoomed(pivot, factor));
}

/// Moves the view to earlier (-1) or later (1) times.
pub fn pan(state: &mut State, way: i64) {
    let shown = state.shown();
    take(state, shown.shifted(Nanos(way * (shown.len().0 / MOVE))));
}

fn take(state: &mut State, view: TimeView) {
    let view = view.kept_within(state.whole_with_past());
    set_view(state, Some(view));
}

/// Shows the part of the run with complete events. If it is already shown, shows the far past too.
pub fn show_all(state: &mut State) {
    let course = state.whole_with_past();
    let has_past = course != state.whole();
    let view = (has_past && state.session.view.is_none()).then_some(course);
    set_view(state, view);
}

/// Zooms to the selected item.
pub fn fit_selection(state: &mut State) {
    if let Some((start, end)) = extent(state) {
        fit(state, start, end);
    }
}

/// Returns to the previous view.
pub fn back(state: &mut State) {
    let session = &mut state.session;
    if let Some(view) = session.views_before.pop() {
        session.views_after.push(session.view);
        session.view = view;
    }
}

/// Goes to the next view in the history.
pub fn forward(state: &mut State) {
    let session = &mut state.session;
    if let Some(view) = session.views_after.pop() {
        session.views_before.push(session.view);
        session.view = view;
    }
}

/// Returns the view while zoom or pan keys are held.
/// The view zooms in by `zoom` doublings around `pivot` (out if negative) and moves by `pan` view widths.
pub fn drive(state: &State, pivot: Option<Nanos>, zoom: f64, pan: f64) -> TimeView {
    let shown = state.shown();
    let pivot = pivot.unwrap_or(Nanos(shown.start.0.midpoint(shown.end.0)));
    let zoomed = shown.zoomed(pivot, (-zoom).exp2());
    let moved = zoomed.shifted(Nanos((zoomed.len().0 as f64 * pan).round() as i64));
    moved.kept_within(state.whole_with_past())
}

/// Shows `view` while keys are held. The whole movement is one step of the history, stored by the first key press.
pub fn drive_to(state: &mut State, view: TimeView) {
    state.session.views_after.clear();
    state.session.view = Some(view);
}

/// Returns the time range of the selected item.
pub fn extent(state: &State) -> Option<(Nanos, Nanos)> {
    let run = &state.session.run;
    match state.session.selection? {
        Item::Batch(row) => {
            let path = run.path(row);
            let last = path.last()?;
            let end = if last.stage.is_final() {
                last.start
            } else {
                run.end()
            };
            Some((path.first()?.start, end))
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

/// Available zoom factors relative to the system.
const SIZES: [f32; 11] = [0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0];
/// Smallest and largest zoom factor.
pub const SMALLEST: f32 = SIZES[0];
pub const LARGEST: f32 = SIZES[SIZES.len() - 1];

/// Sets the next larger, the next smaller or the system's zoom factor.
pub(super) fn resize(state: &mut State, action: Action) {
    let now = state.prefs.zoom;
    let next = match action {
        Action::Larger => SIZES.into_iter().find(|size| *size > now),
        Action::Smaller => SIZES.into_iter().rev().find(|size| *size < now),
        _ => Some(1.0),
    };
    state.prefs.zoom = next.unwrap_or(now);
    let share = format::percent(f64::from(state.prefs.zoom));
    state.overlay.hint = Some(say!("Zoom: {share}"));
}
