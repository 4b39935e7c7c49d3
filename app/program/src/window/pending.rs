//! Background reads.

use std::path::PathBuf;

use loadscope_insight::background::Background;
use loadscope_model::command::Command;
use loadscope_session::Opened;

/// Recording that is being read.
pub(super) struct Reading {
    pub path: PathBuf,
    pub job: Background<Result<Opened, String>>,
}

/// Path that is being checked.
pub(super) struct PathCheck {
    pub path: PathBuf,
    /// True to open a path without a recording as data or images.
    pub or_data: bool,
    /// Command to run after the path is opened.
    pub then: Option<Command>,
    pub job: Background<Result<(), String>>,
}
