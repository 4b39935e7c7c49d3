//! The embedded loader: the only file here that names it. In a build without it, `no_engine.rs` stands in its place.

use std::thread::Builder;

pub(super) use loadscope_engine::RunControl as Control;
use loadscope_plan::dataset::Catalog;

use super::SessionError;

mod recorder;

pub(super) use recorder::Job;

/// True: this build can run loaders itself.
pub const HAS_ENGINE: bool = true;

/// Knows every dataset, by opening it.
pub(super) const CATALOG: &(dyn Catalog + Sync) = &loadscope_engine::dataset::Opening;

/// Starts the loader on threads of its own.
pub(super) fn start(job: Job) -> Result<(), SessionError> {
    Builder::new()
        .name("recorder".to_owned())
        .spawn(move || job.run())
        .map_err(SessionError::Thread)?;
    Ok(())
}
