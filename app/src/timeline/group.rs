//! Lanes that belong together and fold together.

use loadscope_trace::Lane;

/// A group of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The reorder buffer, a group by itself.
    Reorder,
    /// The workers with their index queues.
    Workers,
    /// The queues between workers, pin thread and main thread.
    Queues,
    /// Quantities over time.
    Gauges,
}

impl Group {
    /// All of them, from top to bottom.
    pub const ALL: [Self; 4] = [Self::Reorder, Self::Workers, Self::Queues, Self::Gauges];

    /// The group of a lane; `None` for those that do not fold.
    pub fn of(lane: Lane) -> Option<Self> {
        match lane {
            Lane::Reorder => Some(Self::Reorder),
            Lane::Worker(_) | Lane::IndexQueue(_) => Some(Self::Workers),
            Lane::ResultQueue | Lane::DataQueue => Some(Self::Queues),
            Lane::Trainer | Lane::Pin | Lane::Main => None,
        }
    }

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reorder => "reorder buffer",
            Self::Workers => "Workers",
            Self::Queues => "Queues",
            Self::Gauges => "Gauges",
        }
    }

    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Reorder => {
                "Batches that have arrived before it was their turn, or whose turn has come"
            }
            Self::Workers => "All workers together",
            Self::Queues => "Where batches wait between workers, pin thread and main thread",
            Self::Gauges => "Quantities over time",
        }
    }
}
