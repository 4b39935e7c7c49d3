//! Highlighting of a step's parts. They are outlined, and the rest is veiled. If the answer is a click, the parts are clickable.

use egui::{Context, Id, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Style, Ui, WidgetInfo};
use loadscope_lessons::{Part, Phase, Target, Value};
use loadscope_model::command::{Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::update::{candidates, has_wandered};

use crate::kit::parts;
use crate::theme::Palette;

/// Number of frames in which parts scroll into view, because panels open and move at first.
const FRAMES: u32 = 12;
/// Distance below which the pointer counts as resting, points.
const REST_DISTANCE: f32 = 24.0;
/// Tooltip delay that is never reached, seconds.
const INFINITE_DELAY: f32 = 1e6;

/// Starts a frame. Parts are marked in it while a lesson is open.
pub fn begin_frame(ctx: &Context, state: &State) {
    let is_open = state.learn.page.is_some() && !state.learn.shows_contents();
    let frames = ctx.data_mut(|data| {
        let (step, frames): &mut (u64, u32) =
            data.get_temp_mut_or_default(Id::unique("lesson frames"));
        // The answer may refer to other parts than the question.
        let now = state.learn.asked * 2 + u64::from(state.learn.question().is_some());
        if *step != now {
            (*step, *frames) = (now, 0);
        }
        *frames = frames.saturating_add(1);
        *frames
    });
    hold_tooltips(ctx, is_open, state.learn.asked);
    let is_new = is_open && frames < FRAMES;
    // Option rows scroll into view together. Of the other parts only the first does, because two may not fit.
    let mut shown = Vec::new();
    for part in state.learn.parts().iter().filter(|_| is_new) {
        match part {
            Part::Option(_) => shown.push(part.clone()),
            Part::Blame | Part::Forecasts | Part::Coverage
                if shown.iter().all(|p| matches!(p, Part::Option(_))) =>
            {
                shown.push(part.clone());
            }
            _ => {}
        }
    }
    parts::begin_frame(ctx, is_open, &shown);
}

/// Delays tooltips of a step until the pointer moves. The pointer rests where it opened the step, and a tooltip could cover the view.
fn hold_tooltips(ctx: &Context, is_open: bool, step: u64) {
    let pointer = ctx.pointer_latest_pos();
    let rests = ctx.data_mut(|data| {
        let held: &mut (u64, Option<Pos2>) =
            data.get_temp_mut_or_default(Id::unique("lesson pointer"));
        if held.0 != step {
            *held = (step, pointer);
        }
        let moved = held.1.zip(pointer).map(|(then, now)| then.distance(now));
        if moved.is_some_and(|moved| moved > REST_DISTANCE) {
            held.1 = None;
        }
        is_open && held.1.is_some()
    });
    let delay = match rests {
        true => INFINITE_DELAY,
        false => Style::default().interaction.tooltip_delay,
    };
    if ctx.global_style().interaction.tooltip_delay != delay {
        ctx.all_styles_mut(|style| style.interaction.tooltip_delay = delay);
    }
}

/// Outlines the parts of the step, above everything else. `player` is the area of the player.
pub fn show(ui: &Ui, state: &State, player: Option<Rect>) -> Vec<Command> {
    let mut commands = Vec::new();
    let Some(player) = player else {
        return commands;
    };
    let marked = parts::all(ui.ctx());
    if has_wandered(state) {
        return commands;
    }
    let holes: Vec<Rect> = state
        .learn
        .parts()
        .iter()
        .flat_map(|part| places_or_all(&marked, part))
        // A part that is scrolled away may leave a sliver.
        .filter(|rect| rect.height() > 10.0)
        .map(|rect| rect.expand(3.0))
        .collect();
    let window = ui.content_rect();
    let palette = Palette::of(ui);
    // In a trial, the user needs the whole window.
    let tries = state
        .learn
        .playing()
        .is_some_and(|playing| matches!(playing.play.phase(), Phase::Trying(_) | Phase::Reached));
    if !holes.is_empty() {
        let mut free = holes.clone();
        free.push(player);
        for rect in subtract_rects(window, &free).into_iter().filter(|_| !tries) {
            ui.painter().rect_filled(rect, 0.0, palette.veil());
        }
        let stroke = Stroke::new(2.0, palette.strong);
        for hole in &holes {
            ui.painter()
                .rect_stroke(hole.intersect(window), 5.0, stroke, StrokeKind::Inside);
        }
    }
    targets(ui, state, &marked, &mut commands);
    commands
}

/// Returns the areas of a part. An option without effect has no row, so all options represent it.
fn places_or_all(marked: &[(Part, Rect)], part: &Part) -> Vec<Rect> {
    let own = places(marked, part);
    match part {
        Part::Option(_) if own.is_empty() => places(marked, &Part::Options),
        _ => own,
    }
}

/// Returns the areas of a part. A part for all workers has the areas of each worker.
fn places(marked: &[(Part, Rect)], part: &Part) -> Vec<Rect> {
    let is_it = |one: &Part| match (part, one) {
        (Part::Workers, Part::Worker(_)) | (Part::IndexQueues, Part::IndexQueue(_)) => true,
        (part, one) => part == one,
    };
    let all: Vec<Rect> = marked
        .iter()
        .filter(|(one, _)| is_it(one))
        .map(|(_, rect)| *rect)
        .collect();
    // One outline surrounds them, unless another part is between them.
    let whole = all.iter().copied().reduce(Rect::union);
    let between = |whole: Rect| {
        let others = marked
            .iter()
            .filter(|(one, _)| !is_it(one) && matches!(one, Part::Worker(_) | Part::IndexQueue(_)));
        others
            .map(|(_, rect)| rect.intersect(whole))
            .any(|common| common.width() > 4.0 && common.height() > 4.0)
    };
    match whole {
        Some(whole) if all.len() > 1 && !between(whole) => vec![whole],
        Some(_) | None => all,
    }
}

/// Makes the parts clickable and focusable if the answer is a click.
fn targets(ui: &Ui, state: &State, marked: &[(Part, Rect)], commands: &mut Vec<Command>) {
    let Some(Value::Part(_) | Value::Worker(_)) = state.learn.click() else {
        return;
    };
    let palette = Palette::of(ui);
    let language = state.prefs.learned.language;
    for target in candidates(state) {
        let Target::Part(part) = &target else {
            continue;
        };
        for rect in places(marked, part) {
            let id = Id::unique(("lesson target", part.phrase()));
            let response = ui.interact(rect, id, Sense::click());
            let name = part.label(language);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
            if response.hovered() || response.has_focus() {
                let stroke = Stroke::new(3.0, palette.strong);
                ui.painter()
                    .rect_stroke(rect.expand(2.0), 5.0, stroke, StrokeKind::Outside);
            }
            if response.on_hover_text(name).clicked() {
                commands.push(LearnCommand::Target(target.clone()).into());
            }
        }
    }
}

/// Returns `whole` without `holes`, as rectangles that do not overlap.
fn subtract_rects(whole: Rect, holes: &[Rect]) -> Vec<Rect> {
    let edges = holes.iter().flat_map(|hole| [hole.top(), hole.bottom()]);
    let mut edges: Vec<f32> = edges
        .chain([whole.top(), whole.bottom()])
        .map(|y| y.clamp(whole.top(), whole.bottom()))
        .collect();
    edges.sort_by(f32::total_cmp);
    edges.dedup();
    let mut rest = Vec::new();
    for pair in edges.windows(2) {
        let [top, bottom] = [pair[0], pair[1]];
        let middle = f32::midpoint(top, bottom);
        let mut here: Vec<(f32, f32)> = holes
            .iter()
            .filter(|hole| hole.top() < middle && middle < hole.bottom())
            .map(|hole| (hole.left(), hole.right()))
            .collect();
        here.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut left = whole.left();
        let mut add = |from: f32, to: f32| {
            if to > from {
                rest.push(Rect::from_min_max(
                    egui::pos2(from, top),
                    egui::pos2(to, bottom),
                ));
            }
        };
        for (from, to) in here {
            add(left, from.min(whole.right()));
            left = left.max(to);
        }
        add(left, whole.right());
    }
    rest
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every point is either in a hole or in exactly one rectangle.
        #[test]
        fn covers_include_every_point_outside_the_holes_once(
            holes in prop::collection::vec((0.0f32..90.0, 0.0f32..90.0, 1.0f32..40.0, 1.0f32..40.0), 0..6),
            (x, y) in (0.0f32..100.0, 0.0f32..100.0),
        ) {
            let whole = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0));
            let holes: Vec<Rect> = holes
                .into_iter()
                .map(|(x, y, w, h)| Rect::from_min_size(pos2(x, y), vec2(w, h)))
                .collect();
            let inside = |rect: &&Rect| rect.left() < x && x < rect.right() && rect.top() < y && y < rect.bottom();
            let on_edge = holes.iter().any(|r| [r.left(), r.right()].contains(&x) || [r.top(), r.bottom()].contains(&y));
            prop_assume!(!on_edge && x > 0.0 && y > 0.0);
            let in_hole = holes.iter().filter(inside).count();
            let rest = subtract_rects(whole, &holes);
            let covered = rest.iter().filter(inside).count();
            prop_assert_eq!(covered, usize::from(in_hole == 0));
        }
    }
}
