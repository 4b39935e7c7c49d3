//! Writing runs for other tools, in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use loadscope_exchange::ExportError;
pub use loadscope_exchange::Format as ExportFormat;
use loadscope_files::{Existing, WriteError};
use loadscope_trace::{Run, RunId};

use super::{Origin, Session, SessionError, Update};
use loadscope_insight::unsaved::Output;

/// Writes the loaders of a session to `path`; `progress` hears how far it is and says whether to go on.
///
/// # Errors
/// If a file cannot be written, or `progress` said no.
pub fn export_runs(
    runs: &[(RunId, &Run)],
    format: ExportFormat,
    path: &Path,
    existing: Existing,
    progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    loadscope_exchange::export(runs, format, path, existing, progress)
}

impl Session {
    /// Writes `runs` to `path` as its name asks for, in the background. Runs that may still grow are copied there first: until then
    /// their owner waits, and not for as long as the export takes.
    pub fn export(&mut self, runs: Vec<(RunId, Arc<Run>)>, path: &Path, existing: Existing) {
        self.cancel_export = Arc::new(AtomicBool::new(false));
        let cancel = Arc::clone(&self.cancel_export);
        let path = path.to_owned();
        let (out, wake) = (self.to_window.clone(), Arc::clone(&self.wake));
        let grows = !matches!(self.origin, Origin::File { .. });
        let job = move || {
            let runs: Vec<(RunId, Arc<Run>)> = match grows {
                true => runs.into_iter().map(copied).collect(),
                false => runs,
            };
            let runs: Vec<(RunId, &Run)> = runs.iter().map(|(id, run)| (*id, &**run)).collect();
            let progress = |share| {
                let _ = out.send(Update::Exporting(share));
                wake();
                !cancel.load(Ordering::Acquire)
            };
            let format = ExportFormat::for_path(&path);
            let update = match export_runs(&runs, format, &path, existing, progress) {
                Ok(files) => Update::Exported(files),
                Err(ExportError::Cancelled) => Update::NotExported(None),
                Err(ExportError::Refused(WriteError::Exists(file))) => {
                    Update::Exists(Output::Export(path.clone(), Some(file)))
                }
                Err(e) => Update::NotExported(Some(format!("The run was not exported: {e}"))),
            };
            let _ = out.send(update);
            wake();
        };
        if let Err(e) = Builder::new().name("exporter".to_owned()).spawn(job) {
            let why = SessionError::Thread(e).to_string();
            let _ = self.to_window.send(Update::NotExported(Some(why)));
        }
    }

    /// Breaks the export off that is under way.
    pub fn cancel_export(&self) {
        self.cancel_export.store(true, Ordering::Release);
    }
}

fn copied((id, run): (RunId, Arc<Run>)) -> (RunId, Arc<Run>) {
    (id, Arc::new(Run::clone(&run)))
}
