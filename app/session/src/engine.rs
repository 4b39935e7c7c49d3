//! The embedded loader. Only this module imports it. Builds without it use `no_engine.rs`.

use std::thread::Builder;

pub(super) use loadscope_engine::RunControl as Control;
use loadscope_plan::dataset::Catalog;

use super::SessionError;

mod recorder;

pub(super) use recorder::Job;

/// True, because this build contains the embedded loader.
pub const HAS_ENGINE: bool = true;

/// Catalog that opens each dataset to learn its facts.
pub(super) const CATALOG: &(dyn Catalog + Sync) = &loadscope_engine::dataset::OpeningCatalog;

/// Starts the loader on its own threads.
pub(super) fn start(job: Job) -> Result<(), SessionError> {
    Builder::new()
        .name("recorder".to_owned())
        .spawn(move || job.run())
        .map_err(SessionError::Thread)?;
    Ok(())
}
