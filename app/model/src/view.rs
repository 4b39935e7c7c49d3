//! View state: visible time range, time cursor, selection.

use loadscope_trace::{Activity, Lane, Nanos};
use loadscope_words::say;
use serde::{Deserialize, Serialize};

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
    /// Hot lines, flame graph and source of the selection.
    Code,
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

/// Typed text and chosen line of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// Typed text.
    pub text: String,
    /// Chosen line, counted from 0.
    pub chosen: usize,
}

/// A group of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneGroup {
    /// The reorder buffer, a group by itself.
    Reorder,
    /// The workers with their index queues.
    Workers,
    /// The queues between workers, pin thread and main process.
    Queues,
    /// Gauges: measured quantities over time.
    Gauges,
    /// The trainers of the other loaders of the session.
    Loaders,
}

impl LaneGroup {
    /// All groups, from top to bottom.
    pub const ALL: [Self; 5] = [
        Self::Reorder,
        Self::Workers,
        Self::Queues,
        Self::Gauges,
        Self::Loaders,
    ];

    /// Returns the group of a lane. Returns `None` if the lane does not fold.
    pub fn of(lane: Lane) -> Option<Self> {
        match lane {
            Lane::Reorder => Some(Self::Reorder),
            Lane::Worker(_) | Lane::IndexQueue(_) => Some(Self::Workers),
            Lane::ResultQueue | Lane::DataQueue => Some(Self::Queues),
            Lane::Trainer | Lane::Pin | Lane::Main => None,
        }
    }

    /// Returns the name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reorder => say!("reorder buffer"),
            Self::Workers => say!("Workers"),
            Self::Queues => say!("Queues"),
            Self::Gauges => say!("Gauges"),
            Self::Loaders => say!("Other loaders"),
        }
    }

    /// Returns a one-sentence description.
    pub fn about(self) -> &'static str {
        match self {
            Self::Reorder => {
                say!("Batches that wait for an earlier one, and batches ready for the trainer")
            }
            Self::Workers => say!("All workers together"),
            Self::Queues => {
                say!("Batches that wait between the workers, the pin thread and the main process")
            }
            Self::Gauges => say!("Measured quantities over time"),
            Self::Loaders => {
                say!("Trainers of the other loaders and ranks: training in green, waiting in red")
            }
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
