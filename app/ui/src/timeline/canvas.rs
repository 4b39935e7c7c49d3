//! What is needed to paint all lanes, and the texts in spans.

use egui::{Color32, Pos2, Rangef};
use loadscope_insight::waits::LongWaits;
use loadscope_trace::Run;

use super::axis::TimeAxis;
use super::lanes::Lanes;
use crate::theme::Palette;
use loadscope_model::view::Item;

/// What is needed to paint all lanes.
pub struct Canvas<'a> {
    /// What happened.
    pub run: &'a Run,
    /// Time to pixels.
    pub axis: TimeAxis,
    /// The lanes.
    pub lanes: &'a Lanes,
    /// Where the first lane begins.
    pub top: f32,
    /// What can be seen of the lanes.
    pub visible: Rangef,
    /// Colours.
    pub palette: &'static Palette,
    /// What stands out.
    pub selection: Option<Item>,
    /// Which waits are long enough to be red.
    pub long: &'a LongWaits,
}

/// Text in a span.
#[derive(Clone, Debug)]
pub struct Label {
    /// Left, in the middle of the height.
    pub at: Pos2,
    /// What it says.
    pub text: String,
    /// Its colour.
    pub colour: Color32,
}

/// Text is the expensive part: more labels than this are not read.
pub(super) const MOST_LABELS: usize = 400;

/// Width of a letter of a label, points.
const LETTER: f32 = 6.6;

/// About how wide a label is, with its air.
pub(super) fn label_width(text: &str) -> f32 {
    text.len() as f32 * LETTER + 8.0
}
