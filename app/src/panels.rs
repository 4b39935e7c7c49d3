//! The parts of the window around the machine and the timeline.

pub mod batches;
pub mod help;
pub mod inspector;
pub mod notices;
pub mod options;
pub mod plots;
pub mod sampling;
pub mod status;
pub mod toolbar;
pub mod transport;
pub mod welcome;
