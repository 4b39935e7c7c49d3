//! Colors of spans, which depend on the selection.

use egui::Color32;
use loadscope_model::view::Item;
use loadscope_trace::{Activity, Lane};

use super::canvas::Canvas;
use crate::theme::Palette;

/// Colors of the activities on one lane, which depend on the selection.
pub(super) struct SpanColors {
    full: [Color32; Activity::ALL.len()],
    dimmed: [Color32; Activity::ALL.len()],
    /// Colors of waits that are too short to be red: normal and dimmed.
    short: [Color32; 2],
    selection: Option<Item>,
    lane_in_focus: bool,
}

impl SpanColors {
    pub fn new(canvas: &Canvas<'_>, shows: impl Fn(Lane) -> bool) -> Self {
        let full = Activity::ALL.map(|a| canvas.palette.activity(a));
        Self {
            full,
            dimmed: full.map(|color| canvas.palette.dimmed(color)),
            short: [
                canvas.palette.wait,
                canvas.palette.dimmed(canvas.palette.wait),
            ],
            selection: canvas.selection,
            lane_in_focus: matches!(canvas.selection, Some(Item::Lane(lane)) if shows(lane)),
        }
    }

    /// Returns the color of an activity. `batch` is `None` for several batches together.
    pub fn of(&self, activity: Activity, batch: Option<usize>) -> Color32 {
        let in_focus = match self.selection {
            None | Some(Item::Range(..) | Item::Sampler) => true,
            Some(Item::Batch(row)) => batch == Some(row),
            Some(Item::Lane(_)) => self.lane_in_focus,
            Some(Item::Activity(selected)) => selected == activity,
        };
        let colors = if in_focus { &self.full } else { &self.dimmed };
        colors[activity as usize]
    }

    /// Returns the color of a wait that is too short to be red.
    pub fn of_short_wait(&self, batch: Option<usize>) -> Color32 {
        let is_dimmed = self.of(Activity::Waiting, batch) != self.full[Activity::Waiting as usize];
        self.short[usize::from(is_dimmed)]
    }

    /// Returns the color of text on `ground`. It is dimmed together with its span.
    pub fn text(&self, palette: &Palette, ground: Color32) -> Color32 {
        let text = palette.text_on(ground);
        if self.full.contains(&ground) || self.short[0] == ground {
            text
        } else {
            text.lerp_to_gamma(ground, 0.4)
        }
    }
}
