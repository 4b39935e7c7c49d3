//! What is read or looked at on a thread of its own.

use std::path::PathBuf;

use loadscope_insight::background::Background;
use loadscope_model::command::Command;
use loadscope_session::Opened;

/// A recording that is being read.
pub(super) struct Reading {
    pub path: PathBuf,
    pub job: Background<Result<Opened, String>>,
}

/// What is looked at.
pub(super) struct Looking {
    pub path: PathBuf,
    /// A folder that holds no recording may hold pictures.
    pub or_data: bool,
    /// What is done once it is being opened.
    pub then: Option<Command>,
    pub job: Background<Result<(), String>>,
}
