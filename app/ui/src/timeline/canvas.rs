//! Input for painting the lanes, and the labels of spans.

use egui::{Color32, Pos2, Rangef};
use loadscope_insight::waits::LongWaits;
use loadscope_trace::Run;

use super::axis::TimeAxis;
use super::lanes::Lanes;
use crate::theme::Palette;
use loadscope_model::view::Item;

/// Input for painting the lanes.
pub struct Canvas<'a> {
    /// Run that the lanes show.
    pub run: &'a Run,
    /// Conversion of time to pixels.
    pub axis: TimeAxis,
    /// Lanes with their positions.
    pub lanes: &'a Lanes,
    /// Top of the first lane, points.
    pub top: f32,
    /// Visible vertical range, points.
    pub visible: Rangef,
    /// Colors of the current theme.
    pub palette: &'static Palette,
    /// The selected item, which is highlighted.
    pub selection: Option<Item>,
    /// The waits that are long enough to be red.
    pub long: &'a LongWaits,
}

/// Text in a span.
#[derive(Clone, Debug)]
pub struct Label {
    /// Left end, at half the height.
    pub at: Pos2,
    /// Text of the label, such as a batch.
    pub text: String,
    /// Color of the text.
    pub color: Color32,
}

/// Maximum number of labels. Text is expensive, and users do not read more.
pub(super) const MOST_LABELS: usize = 400;

/// Width of a letter of a label, points.
const LETTER: f32 = 6.6;

/// Returns the approximate width of a label with its margin, points.
pub(super) fn label_width(text: &str) -> f32 {
    text.len() as f32 * LETTER + 8.0
}
