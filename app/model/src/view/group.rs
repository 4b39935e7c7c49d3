//! Groups of lanes that fold together.

use loadscope_trace::Lane;
use loadscope_words::say;

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
