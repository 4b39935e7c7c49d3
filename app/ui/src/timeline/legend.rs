//! Legend of the colors. A click on one dims everything else.

use std::sync::Arc;

use egui::{
    Color32, CursorIcon, Galley, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use loadscope_trace::{Activity, Lane, Run};
use loadscope_words::say;

use super::input::{self, Requests};
use super::scene::Scene;
use crate::theme::{self, Palette, size, space};
use loadscope_model::command::Command;
use loadscope_model::view::Item;

/// Height of a line, points.
const LINE: f32 = 20.0;
/// Width of a color patch, of the space after it, and of the space between two entries, points.
const PATCH: f32 = 8.0;
const AIR: f32 = 6.0;
const GAP: f32 = 12.0;

/// Entry with its position relative to the upper left corner of the legend.
struct Entry {
    activity: Option<Activity>,
    color: Color32,
    text: Arc<Galley>,
    name: &'static str,
    about: &'static str,
    place: Rect,
}

pub(super) struct Legend {
    entries: Vec<Entry>,
    /// Height, points.
    pub height: f32,
}

fn colors(run: &Run) -> Vec<(Option<Activity>, &'static str, &'static str)> {
    use Activity as A;
    // The colors of charts have no meaning.
    if run.batches().is_empty() {
        return Vec::new();
    }
    let pins = run.lanes().any(|(lane, _)| lane == Lane::Pin);
    let mut all = vec![
        (
            Some(A::Waiting),
            say!("Trainer waits"),
            say!("The trainer waits for a batch that has not arrived"),
        ),
        (
            Some(A::Training),
            say!("Training"),
            say!("A training step uses a batch"),
        ),
        (
            Some(A::Fetching),
            say!("Fetching"),
            say!("A worker reads the samples of a batch"),
        ),
        (
            Some(A::Collating),
            say!("Collating"),
            say!("A worker combines the samples into a batch"),
        ),
    ];
    if pins {
        all.push((
            Some(A::Pinning),
            say!("Pinning"),
            say!("A batch is copied to page-locked memory"),
        ));
    }
    all.push((
        Some(A::Held),
        say!("Held"),
        say!("A finished batch waits for an earlier one"),
    ));
    all.push((
        None,
        say!("In a queue"),
        say!("A batch waits in a queue: queued, returning or ready"),
    ));
    all
}

impl Legend {
    /// Lays out the entries in as many lines as needed.
    pub fn new(ui: &Ui, run: &Run, palette: &Palette, width: f32) -> Self {
        let mut at = pos2(space::MARGIN, 0.0);
        let mut entries = Vec::new();
        for (activity, name, about) in colors(run) {
            let font = theme::sans(size::SMALL);
            let text = ui
                .painter()
                .layout_no_wrap(name.to_owned(), font, palette.text);
            let needed = PATCH + AIR + text.size().x;
            if at.x + needed + space::MARGIN > width && at.x > space::MARGIN {
                at = pos2(space::MARGIN, at.y + LINE);
            }
            let place = Rect::from_min_size(at, vec2(needed, LINE));
            at.x += needed + GAP;
            let color = palette.activity(activity.unwrap_or(Activity::Queued));
            entries.push(Entry {
                activity,
                color,
                text,
                name,
                about,
                place,
            });
        }
        Self {
            entries,
            height: at.y + LINE,
        }
    }

    /// Draws the legend into `rect`.
    pub fn show(&self, ui: &Ui, rect: Rect, scene: &Scene<'_>, requests: &mut Requests) {
        let palette = scene.palette;
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0.0, palette.panel);
        painter.hline(
            rect.x_range(),
            rect.top() + 0.5,
            Stroke::new(1.0, palette.line),
        );
        for entry in &self.entries {
            let place = entry.place.translate(rect.min.to_vec2());
            let item = entry.activity.map(Item::Activity);
            let selected = item.is_some() && scene.state.session.selection == item;
            let patch = Rect::from_center_size(
                pos2(place.left() + PATCH / 2.0, place.center().y),
                vec2(PATCH, PATCH),
            );
            painter.rect_filled(patch, 2.0, entry.color);
            let sense = if item.is_some() {
                Sense::click()
            } else {
                Sense::hover()
            };
            let response = ui.interact(place, ui.scope_id().with(("legend", entry.name)), sense);
            response.widget_info(|| {
                WidgetInfo::selected(Role::Button, true, selected, say!("{} color", entry.name))
            });
            input::show_focus(ui, &response, rect);
            if selected {
                let frame = patch.expand(2.0);
                let stroke = Stroke::new(1.0, palette.strong);
                painter.rect_stroke(frame, 2.0, stroke, StrokeKind::Outside);
            }
            let color = if selected || (item.is_some() && response.hovered()) {
                palette.strong
            } else {
                palette.weak
            };
            let at = pos2(
                place.left() + PATCH + AIR,
                place.center().y - entry.text.size().y / 2.0,
            );
            painter.galley_with_override_text_color(at, Arc::clone(&entry.text), color);
            if response.clicked() {
                requests
                    .commands
                    .push(Command::Select(item.filter(|_| !selected)));
            }
            let response = response.on_hover_text(entry.about);
            if item.is_some() {
                response.on_hover_cursor(CursorIcon::PointingHand);
            }
        }
    }
}
