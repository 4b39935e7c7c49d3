//! Panels of the window around the pipeline and the timeline.

pub mod batches;
pub mod code;
pub mod diagnose;
pub mod file_drop;
pub mod glossary;
pub mod help;
pub mod inspector;
pub mod learn;
pub mod loaders;
mod menus;
pub mod messages;
pub mod notices;
pub mod options;
pub mod palette;
pub mod plots;
pub mod question;
pub mod runs;
pub mod sampling;
pub mod search;
pub mod status;
pub mod toolbar;
pub mod transport;
pub mod watch_dialog;
pub mod welcome;

pub use crate::kit::parts::{all as marked, mark};
