//! Trainers of the other loaders of the session, on the same time axis. The strips show which rank waits while the shown one trains. A
//! click on a loader shows it instead of the current one.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, CursorIcon, Rect, Role, Sense, Ui, WidgetInfo, pos2};
use loadscope_diagnose::{WaitSummary, straggler};
use loadscope_trace::{RunId, percent};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::group_heading;
use super::input::Requests;
use super::scene::Scene;
use crate::kit::strip;
use crate::theme::{self, size, space};
use loadscope_insight::loaders::{Part, names, rank_groups, trainer};
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::LaneGroup;

/// Height of the heading, points.
const HEAD: f32 = 18.0;
/// Height of a row, points.
const ROW: f32 = 16.0;
/// Maximum number of rows. All loaders are listed under *Loaders*.
const MAX_ROWS: usize = 8;
/// Width of a part of a strip, points.
const PART: f32 = 3.0;
/// Width of the share of time that a trainer waited, points.
const NUMBER: f32 = 40.0;

/// Strips of the last frame, cached until something changes.
#[derive(Default)]
pub(super) struct Cache {
    cache_key: Option<(TimeAxis, [u64; 2], RunId)>,
    strips: Vec<Strip>,
}

struct Strip {
    id: RunId,
    name: String,
    full: String,
    waited: f64,
    holds_up: bool,
    parts: Vec<Part>,
}

/// Returns the desired height, points.
pub(super) fn height(state: &State) -> f32 {
    let others = state.session.loaders.count() - 1;
    match (others, state.look.folded.contains(&LaneGroup::Loaders)) {
        (0, _) => 0.0,
        (_, true) => HEAD,
        (n, false) => {
            let more = if n > MAX_ROWS { ROW } else { 0.0 };
            HEAD + n.min(MAX_ROWS) as f32 * ROW + more + space::GAP
        }
    }
}

pub(super) fn show(
    ui: &Ui,
    area: Rect,
    scene: &Scene<'_>,
    cache: &mut Cache,
    requests: &mut Requests,
) {
    if area.height() < HEAD {
        return;
    }
    let palette = scene.palette;
    let painter = ui.painter_at(area);
    let gutter = area.left()..=scene.axis.range.min - 1.0;
    let row = |k: usize, height: f32| {
        let top = area.top()
            + if k == 0 {
                0.0
            } else {
                HEAD + (k - 1) as f32 * ROW
            };
        Rect::from_x_y_ranges(area.x_range(), top..=top + height)
    };
    let all = Rect::from_x_y_ranges(gutter.clone(), area.y_range());
    painter.rect_filled(all, 0.0, palette.panel);
    let heading = Rect::from_x_y_ranges(gutter.clone(), row(0, HEAD).y_range());
    let folded = scene.state.look.folded.contains(&LaneGroup::Loaders);
    let response = group_heading::button(ui, heading, LaneGroup::Loaders, folded, requests);
    if response.hovered() {
        painter.rect_filled(heading, 0.0, palette.hovered());
    }
    group_heading::fold_icon(&painter, heading, folded, palette.weak);
    let at = pos2(heading.left() + space::MARGIN, heading.center().y);
    let font = theme::sans(size::SMALL);
    let label = LaneGroup::Loaders.label();
    painter.text(at, Align2::LEFT_CENTER, label, font, palette.weak);
    if folded {
        return;
    }
    refresh(scene, cache);
    let count = scene.state.session.loaders.count() - 1;
    let room = ((area.height() - HEAD + 1.0) / ROW).max(0.0) as usize;
    // The last row shows the number of loaders that do not fit.
    let shown = match count <= room.min(MAX_ROWS) {
        true => count,
        false => room.saturating_sub(1).min(MAX_ROWS),
    };
    for (k, one) in cache.strips.iter().take(shown).enumerate() {
        loader_strip(ui, row(k + 1, ROW), one, scene, requests);
    }
    if count > shown && room > shown {
        more_loaders(ui, row(shown + 1, ROW), count - shown, scene, requests);
    }
}

/// Draws a loader.
fn loader_strip(ui: &Ui, place: Rect, one: &Strip, scene: &Scene<'_>, requests: &mut Requests) {
    let palette = scene.palette;
    let id = ui.scope_id().with(("other loader", one.id.0));
    let response = ui.interact(place, id, Sense::click());
    let waited = percent(one.waited);
    let spoken = say!("{}, waited {waited}", one.full);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spoken));
    let gutter = Rect::from_x_y_ranges(place.left()..=scene.axis.range.min - 1.0, place.y_range());
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(gutter, 0.0, palette.hovered());
    }
    let font = theme::sans(size::SMALL);
    let mut job = LayoutJob::simple_singleline(one.name.clone(), font, palette.text);
    job.wrap = TextWrapping::truncate_at_width(gutter.width() - space::MARGIN * 2.0 - NUMBER);
    let galley = ui.painter().layout_job(job);
    let at = pos2(
        gutter.left() + space::MARGIN,
        gutter.center().y - galley.size().y / 2.0,
    );
    ui.painter().galley(at, galley, palette.text);
    let (color, font) = match one.holds_up {
        true => (palette.stall, theme::mono(size::SMALL)),
        false => (palette.weak, theme::mono(size::SMALL)),
    };
    let at = pos2(gutter.right() - 6.0, gutter.center().y);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, waited, font, color);
    let room = Rect::from_x_y_ranges(scene.axis.range, place.y_range()).shrink2([0.0, 1.0].into());
    strip::paint(ui, room, &one.parts);
    if response.clicked() {
        requests.commands.push(Command::ShowLoader(one.id));
    }
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text(say!("{spoken}\nShows this loader"));
}

/// Draws the number of further loaders.
fn more_loaders(ui: &Ui, place: Rect, more: usize, scene: &Scene<'_>, requests: &mut Requests) {
    let response = ui.interact(place, ui.scope_id().with("more loaders"), Sense::click());
    let text = say!("{more} more");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
    let at = pos2(place.left() + space::MARGIN, place.center().y);
    let font = theme::sans(size::SMALL);
    let color = scene.palette.weak;
    ui.painter()
        .text(at, Align2::LEFT_CENTER, &text, font, color);
    if response.on_hover_text(say!("Lists all loaders")).clicked() {
        requests.commands.push(Action::ShowLoaders.into());
    }
}

fn refresh(scene: &Scene<'_>, cache: &mut Cache) {
    let state = scene.state;
    let all = state.session.loaders.all(&state.session.run);
    let events = all
        .iter()
        .fold(0, |sum: u64, (_, run)| sum.wrapping_add(run.version()));
    let events = [state.session.run_number, events];
    let key = Some((scene.axis, events, state.session.loaders.shown()));
    if cache.cache_key == key {
        return;
    }
    cache.cache_key = key;
    let names = names(&all);
    let rank_groups = rank_groups(&all);
    let shown = all
        .iter()
        .position(|(id, _)| *id == state.session.loaders.shown())
        .unwrap_or_default();
    // Loaders that do the same on the other ranks come first, because the user wants to compare them.
    let (peers, rest): (Vec<_>, Vec<_>) =
        (rank_groups.into_iter()).partition(|crew| crew.contains(&shown));
    let are_peers = peers.first().is_some_and(|crew| crew.len() > 1);
    let peers = peers.into_iter().flatten();
    let slow = straggler(peers.clone().map(|k| all[k]));
    let parts = (scene.axis.width() / PART).max(1.0) as usize;
    let strip = |(k, is_peer): (usize, bool)| {
        let (id, run) = all[k];
        Strip {
            id,
            name: match is_peer && are_peers {
                true => say!("rank {}", run.info.rank),
                false => names[k].clone(),
            },
            full: names[k].clone(),
            waited: WaitSummary::of(run).share(),
            holds_up: slow.as_ref().is_some_and(|s| s.run == id),
            parts: trainer(run, scene.axis.view.ends(), parts),
        }
    };
    let peers = peers.filter(|k| *k != shown).map(|k| (k, true));
    let rest = rest.into_iter().flatten().map(|k| (k, false));
    cache.strips = peers.chain(rest).take(MAX_ROWS).map(strip).collect();
}
