//! What every part of the timeline needs to know in a frame.

use eframe::egui::{Rangef, Rect, pos2};
use loadscope_trace::{Nanos, Shares};

use super::axis::TimeAxis;
use super::lanes::{LaneBox, Lanes};
use super::layout::Grid;
use crate::state::State;
use crate::theme::{Palette, space};
use crate::view::TimeView;

/// One frame.
pub(super) struct Scene<'a> {
    pub state: &'a State,
    pub palette: &'static Palette,
    /// Time to pixels, for ruler and lanes.
    pub axis: TimeAxis,
    pub grid: Grid,
    pub lanes: &'a Lanes,
    /// The whole run.
    pub whole: TimeView,
}

impl Scene<'_> {
    /// The part of the run that is on the screen.
    pub fn on_screen(&self) -> (Nanos, Nanos) {
        let end = self.axis.view.end.min(self.state.run.end());
        (self.axis.view.start.max(Nanos::ZERO).min(end), end)
    }

    /// How the part of a lane that is on the screen was spent, and how much there was to spend.
    pub fn shares(&self, lane: &LaneBox) -> (Shares, Nanos) {
        let (start, end) = self.on_screen();
        let tracks = lane
            .tracks()
            .filter_map(|track| self.state.run.track(track));
        let shares = tracks.fold(Shares::default(), |sum, spans| {
            sum + (spans.until(end) - spans.until(start))
        });
        let time = (end - start).0.saturating_mul(lane.rows as i64);
        (shares, Nanos(time))
    }
}

/// The parts of the widget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Areas {
    pub minimap: Rect,
    pub ruler: Rect,
    /// Lanes with their labels.
    pub lanes: Rect,
    /// Left and right edge of what shows time, in all of them.
    pub time: Rangef,
}

impl Areas {
    const MINIMAP: f32 = 28.0;
    const RULER: f32 = 22.0;
    /// Width of the labels.
    pub const GUTTER: f32 = 144.0;

    pub fn of(rect: Rect) -> Self {
        let below_map = (rect.top() + Self::MINIMAP).min(rect.bottom());
        let below_ruler = (below_map + Self::RULER).min(rect.bottom());
        let left = rect.left() + Self::GUTTER.min(rect.width() / 2.0);
        let part =
            |top, bottom| Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), bottom));
        Self {
            minimap: part(rect.top(), below_map),
            ruler: part(below_map, below_ruler),
            lanes: part(below_ruler, rect.bottom()),
            time: Rangef::new(left, (rect.right() - space::MARGIN).max(left + 1.0)),
        }
    }
}
