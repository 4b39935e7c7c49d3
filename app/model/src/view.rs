//! View state: visible time range, time cursor, selection.

use loadscope_trace::{Activity, Lane, Nanos};
use serde::{Deserialize, Serialize};

mod group;

pub use group::LaneGroup;

/// A visible time range. `None` in its place shows everything and follows new events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeView {
    /// Left edge.
    pub start: Nanos,
    /// Right edge, later than the left one.
    pub end: Nanos,
}

impl TimeView {
    /// Minimum width. Narrower views would have pixels finer than the clock.
    pub const NARROWEST: Nanos = Nanos(200);

    /// Creates a view from `start` to `end`, widened to [`TimeView::NARROWEST`].
    pub fn new(start: Nanos, end: Nanos) -> Self {
        Self {
            start,
            end: end.max(start + Self::NARROWEST),
        }
    }

    /// Returns the duration.
    pub fn len(self) -> Nanos {
        self.end - self.start
    }

    /// Returns the left and the right edge.
    pub fn ends(self) -> (Nanos, Nanos) {
        (self.start, self.end)
    }

    /// Returns false, because every view has a duration.
    pub fn is_empty(self) -> bool {
        false
    }

    /// Shrinks (`factor < 1`) or widens the view and keeps `pivot` at the same screen position.
    #[must_use]
    pub fn zoomed(self, pivot: Nanos, factor: f64) -> Self {
        let length = (self.len().0 as f64 * factor).clamp(Self::NARROWEST.0 as f64, 1e17);
        let share = (pivot - self.start).0 as f64 / self.len().0 as f64;
        let start = Nanos((pivot.0 as f64 - share * length).round() as i64);
        Self::new(start, start + Nanos(length.round() as i64))
    }

    /// Returns the view moved by `by`.
    #[must_use]
    pub fn shifted(self, by: Nanos) -> Self {
        Self::new(self.start + by, self.end + by)
    }

    /// Returns the view limited to `whole`: at most as wide, and with its middle inside.
    #[must_use]
    pub fn kept_within(self, whole: Self) -> Self {
        if self.len() >= whole.len() {
            return whole;
        }
        let middle = self.start.0.midpoint(self.end.0);
        let lost = middle - middle.clamp(whole.start.0, whole.end.0);
        self.shifted(Nanos(-lost))
    }
}

/// View in the middle of the window. A new one needs a variant here, an action in the command table, and an arm in
/// `app/window/src/layout.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Workspace {
    /// The pipeline and its events.
    #[default]
    Debug,
    /// The sample order.
    Sampling,
    /// The causes of waits and their remedies.
    Diagnose,
}

impl Workspace {
    /// All workspaces, in the order of their keys.
    pub const ALL: [Self; 3] = [Self::Debug, Self::Sampling, Self::Diagnose];
}

/// Panel below the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LowerPanel {
    /// Lanes of the run over time.
    #[default]
    Timeline,
    /// The table of batches.
    Batches,
    /// Counters over time.
    Plots,
    /// All loaders of the session.
    Loaders,
}

/// Choice of the options in the left panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionsSource {
    /// The options of the next run.
    #[default]
    NextRun,
    /// The options of the shown run, if it was not started from the options panel.
    Run,
}

/// Time cursor. The pipeline and all values "at this time" belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// The latest event.
    #[default]
    Live,
    /// Instant on the run's time axis.
    At(Nanos),
    /// After this number of transitions. Several transitions can have the same timestamp.
    Step(usize),
}

/// A selected or hovered item. All panels share one selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A batch, by its position in [`loadscope_trace::Run::batches`].
    Batch(usize),
    /// A lane of the pipeline: a worker, a queue, the trainer.
    Lane(Lane),
    /// A range of time.
    Range(Nanos, Nanos),
    /// A kind of activity.
    Activity(Activity),
    /// Sampler of the pipeline.
    Sampler,
}

impl Item {
    /// Returns the batch, as a position.
    pub fn batch(self) -> Option<usize> {
        match self {
            Self::Batch(row) => Some(row),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_clamped_view_always_overlaps_the_run(start in -1_000_000i64..1_000_000, len in 200..10_000_000i64) {
            let whole = TimeView::new(Nanos(-10), Nanos(500_000));
            let view = TimeView::new(Nanos(start), Nanos(start + len)).kept_within(whole);
            prop_assert!(view.len() <= whole.len());
            prop_assert!(view.start < whole.end && view.end > whole.start);
            prop_assert_eq!(view.kept_within(whole), view);
        }
    }

    #[test]
    fn clamping_keeps_a_view_inside_the_run() {
        let whole = TimeView::new(Nanos(0), Nanos(1_000_000));
        let view = TimeView::new(Nanos(333), Nanos(77_777));
        assert_eq!(view.kept_within(whole), view);
        assert_eq!(
            TimeView::new(Nanos(-5), Nanos(3_000_000)).kept_within(whole),
            whole
        );
    }

    #[test]
    fn zooming_keeps_the_pivot() {
        let view = TimeView::new(Nanos(1_000), Nanos(101_000));
        let zoomed = view.zoomed(Nanos(26_000), 0.5);
        assert_eq!(zoomed, TimeView::new(Nanos(13_500), Nanos(63_500)));
        assert_eq!(view.zoomed(Nanos(5), 1e-12).len(), TimeView::NARROWEST);
    }
}
