//! Data of a frame that all parts of the timeline share.

use egui::{Rangef, Rect, pos2};
use loadscope_insight::waits::LongWaits;
use loadscope_trace::{Nanos, Shares, Track};

use super::axis::TimeAxis;
use super::lanes::{Form, LaneBox, Lanes};
use super::layout::Grid;
use super::process;
use super::stacks::Stacks;
use crate::theme::{Palette, space};
use loadscope_model::state::State;
use loadscope_model::view::TimeView;

/// Data of a frame.
pub(super) struct Scene<'a> {
    pub state: &'a State,
    pub palette: &'static Palette,
    /// Conversion of time to pixels for the ruler and the lanes.
    pub axis: TimeAxis,
    pub grid: Grid,
    /// The trainer's lane, which does not scroll.
    pub pinned: &'a Lanes,
    /// The other lanes.
    pub lanes: &'a Lanes,
    /// The waits that are long enough to be red.
    pub long: &'a LongWaits,
    /// Sampled stacks below the lanes.
    pub stacks: &'a Stacks,
    /// The whole run, including its old part.
    pub whole: TimeView,
}

/// Version of a drawing of the run. The drawing is repainted when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Run number and number of events. The drawing contains all of them.
    Events(u64, u64),
    /// While data arrive: run number and number of time steps. The drawing may lack data newer than the last step.
    Steps(u64, i64),
}

/// Maximum age of a drawing while data arrive, ns.
const MAX_AGE: f64 = 250e6;

impl Scene<'_> {
    /// Returns the version of a drawing of the run on `axis`.
    pub fn version(&self, axis: &TimeAxis) -> Version {
        let session = &self.state.session;
        if !self.state.flows() {
            return Version::Events(session.run_number, session.run.version());
        }
        let step = (axis.ns_per_point() * f64::from(Grid::BUCKET)).clamp(1.0, MAX_AGE);
        Version::Steps(session.run_number, session.run.end().0 / step as i64)
    }

    /// Returns the part of the run on the screen.
    pub fn on_screen(&self) -> (Nanos, Nanos) {
        let end = self.axis.view.end.min(self.state.session.run.end());
        (self.axis.view.start.max(Nanos::ZERO).min(end), end)
    }

    /// Returns the time per activity of a lane on the screen, and the total time.
    pub fn shares_of(&self, lane: &LaneBox) -> (Shares, Nanos) {
        if lane.form != Form::Process {
            return self.shares(lane.tracks());
        }
        let (start, end) = self.on_screen();
        (
            process::shares(&self.state.session.run, start, end),
            end - start,
        )
    }

    /// Returns the time per activity of some tracks on the screen, and the total time.
    pub fn shares(&self, tracks: impl Iterator<Item = Track>) -> (Shares, Nanos) {
        let (start, end) = self.on_screen();
        let mut whole = 0i64;
        let mut sum = Shares::default();
        for track in tracks {
            whole = whole.saturating_add((end - start).0);
            if let Some(spans) = self.state.session.run.track(track) {
                sum = sum + (spans.until(end) - spans.until(start));
            }
        }
        (sum, Nanos(whole))
    }
}

/// Part of the lanes on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Visible area, with the labels.
    pub area: Rect,
    /// Top of the part's first lane. The top is above the area when the lanes are scrolled.
    pub top: f32,
    pub lanes: &'a Lanes,
}

impl Part<'_> {
    /// Returns the upper and lower edge of a track on the screen.
    pub fn edges(&self, track: Track) -> Option<Rangef> {
        let (from, to) = self.lanes.edges(track)?;
        Some(Rangef::new(self.top + from, self.top + to))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Areas {
    pub minimap: Rect,
    pub ruler: Rect,
    /// The trainer's lane with its label.
    pub pinned: Rect,
    /// The trainers of other loaders.
    pub others: Rect,
    /// Lanes with their labels.
    pub lanes: Rect,
    /// Colors of the activities, at the bottom.
    pub legend: Rect,
    /// Left and right edge of the time axis in all areas.
    pub time: Rangef,
}

impl Areas {
    const MINIMAP: f32 = 28.0;
    const RULER: f32 = 22.0;
    /// Width of the labels, points.
    pub const GUTTER: f32 = 144.0;

    /// Divides `rect`, with the given heights for the trainer's lane, the other loaders and the legend.
    pub fn of(rect: Rect, pinned: f32, others: f32, legend: f32) -> Self {
        let below_map = (rect.top() + Self::MINIMAP).min(rect.bottom());
        let below_ruler = (below_map + Self::RULER).min(rect.bottom());
        let below_pinned = (below_ruler + pinned).min(rect.bottom());
        // The other loaders leave space for the lanes of the current loader.
        let others = others.min((rect.bottom() - below_pinned) / 3.0);
        let below_others = below_pinned + others.max(0.0);
        let legend = (rect.bottom() - legend).max(below_others);
        let part =
            |top, bottom| Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), bottom));
        Self {
            minimap: part(rect.top(), below_map),
            ruler: part(below_map, below_ruler),
            pinned: part(below_ruler, below_pinned),
            others: part(below_pinned, below_others),
            lanes: part(below_others, legend),
            legend: part(legend, rect.bottom()),
            time: Self::time(rect),
        }
    }

    /// Returns the left and right edge of the time axis in `rect`.
    pub fn time(rect: Rect) -> Rangef {
        let left = rect.left() + Self::GUTTER.min(rect.width() / 2.0);
        Rangef::new(left, (rect.right() - space::MARGIN).max(left + 1.0))
    }
}
