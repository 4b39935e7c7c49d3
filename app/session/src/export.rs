//! Background export of runs for other tools, and the compressed recording in memory for a page.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use loadscope_exchange::{ExportError, ImportError};
use loadscope_files::{Existing, WriteError, check_not_input};
use loadscope_trace::fleet::names;
use loadscope_trace::{Compression, Event, EventKind, LogWriter, Run, RunId};
use loadscope_words::say;

use super::event_source::each_in_order;
use super::session::Origin;
use super::{Session, SessionError, SessionEvent};
use loadscope_insight::session_event::Output;

pub use loadscope_exchange::Format as ExportFormat;

/// Writes loaders of a session to `path`. `names` has the name of each loader. `progress` receives the finished fraction, and returns
/// false to cancel.
///
/// # Errors
/// If a file cannot be written, or if `progress` returned false.
pub fn export_runs(
    runs: &[(RunId, &Run)],
    names: &[String],
    format: ExportFormat,
    path: &Path,
    existing: Existing,
    progress: impl FnMut(f32) -> bool,
) -> Result<Vec<PathBuf>, ExportError> {
    loadscope_exchange::export_named(runs, names, format, path, existing, progress)
}

/// Refuses an export that would overwrite its input. Checks `out`, and all files that a table export derives from it.
///
/// # Errors
/// If one of them is the same file as `input`, or is in the folder `input`.
pub fn refuse_export_onto(
    input: &Path,
    format: ExportFormat,
    out: &Path,
) -> Result<(), WriteError> {
    check_not_input(out, input)?;
    let files = loadscope_exchange::files(format, out);
    files
        .iter()
        .try_for_each(|file| check_not_input(file, input))
}

impl Session {
    /// Exports `runs` to `path` in the background, in the format of its extension.
    /// Runs that may still grow are copied first, so their owner waits only for the copy.
    pub fn export(&mut self, runs: Vec<(RunId, Arc<Run>)>, path: &Path, existing: Existing) {
        self.cancel_export = Arc::new(AtomicBool::new(false));
        let cancel = Arc::clone(&self.cancel_export);
        let (path, input) = (path.to_owned(), self.input().map(Path::to_owned));
        let (out, wake) = (self.to_window.clone(), Arc::clone(&self.wake));
        let grows = !matches!(self.origin, Origin::File { .. });
        let job = move || {
            let all = runs.into_iter();
            let runs: Vec<(RunId, Arc<Run>)> = all.map(|run| copied(run, grows)).collect();
            let runs: Vec<(RunId, &Run)> = runs.iter().map(|(id, run)| (*id, &**run)).collect();
            let progress = |share| {
                let _ = out.send(SessionEvent::Exporting(share));
                wake();
                !cancel.load(Ordering::Acquire)
            };
            let format = ExportFormat::for_path(&path);
            let allowed = match (&input, format) {
                (Some(input), Some(format)) => refuse_export_onto(input, format, &path),
                (Some(input), None) => check_not_input(&path, input),
                (None, _) => Ok(()),
            };
            let Some(format) = format else {
                let why = allowed
                    .err()
                    .map_or_else(|| unknown(&path), |e| say!("The run was not exported: {e}"));
                let _ = out.send(SessionEvent::NotExported(Some(why)));
                wake();
                return;
            };
            let exported = allowed.map_err(ExportError::from).and_then(|()| {
                export_runs(&runs, &names(&runs), format, &path, existing, progress)
            });
            let event = match exported {
                Ok(files) => SessionEvent::Exported(files),
                Err(ExportError::Cancelled) => SessionEvent::NotExported(None),
                Err(ExportError::Refused(WriteError::Exists(file))) => {
                    SessionEvent::Exists(Output::Export(path.clone(), Some(file)))
                }
                Err(e) => SessionEvent::NotExported(Some(say!("The run was not exported: {e}"))),
            };
            let _ = out.send(event);
            wake();
        };
        if let Err(e) = Builder::new().name("exporter".to_owned()).spawn(job) {
            let why = SessionError::Thread(e).to_string();
            let _ = self.to_window.send(SessionEvent::NotExported(Some(why)));
        }
    }

    /// Cancels the current export.
    pub fn cancel_export(&self) {
        self.cancel_export.store(true, Ordering::Release);
    }
}

/// Returns the error for an unknown extension.
fn unknown(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    say!(
        "The run was not exported: {} has no known extension. Use {}.",
        name.to_string_lossy(),
        ExportFormat::ENDINGS
    )
}

/// Returns the complete run. A growing run, or one with a hidden end, is copied.
fn copied((id, run): (RunId, Arc<Run>), grows: bool) -> (RunId, Arc<Run>) {
    if !grows && run.hidden_after().is_none() {
        return (id, run);
    }
    let mut whole = Run::clone(&run);
    whole.hide_after(None);
    (id, Arc::new(whole))
}

/// A recording in memory.
#[derive(Debug)]
pub struct Packed {
    /// A compressed recording.
    pub bytes: Vec<u8>,
    /// True if the input is truncated. False for several recordings, whose truncation [`super::open`] reports.
    pub cut: bool,
}

/// Reads a recording, a folder of recordings or a trace of another tool, and writes its events as one recording.
/// Without `contents`, the images, waveforms, numbers and texts of batches are omitted.
///
/// # Errors
/// If the input cannot be opened or is damaged.
pub fn packed(path: &Path, contents: bool) -> Result<Packed, ImportError> {
    let mut log = LogWriter::new(Vec::new(), Compression::Zstd)?;
    let cut = each_in_order(path, &mut |event| match contents {
        true => log.write(event),
        false => match without_contents(event) {
            Some(event) => log.write(&event),
            None => Ok(()),
        },
    })?;
    Ok(Packed {
        bytes: log.finish()?,
        cut,
    })
}

/// Returns the event without batch contents. Returns `None` if nothing else is in it.
fn without_contents(event: &Event) -> Option<Cow<'_, Event>> {
    let is_content = |event: &Event| matches!(event.kind, EventKind::Content(_));
    let events = match &event.kind {
        EventKind::Content(_) => return None,
        EventKind::Kept(kept) => &kept.events,
        EventKind::State(state) => &state.events,
        _ => return Some(Cow::Borrowed(event)),
    };
    if !events.iter().any(is_content) {
        return Some(Cow::Borrowed(event));
    }
    let mut event = event.clone();
    match &mut event.kind {
        EventKind::Kept(kept) => kept.events.retain(|e| !is_content(e)),
        EventKind::State(state) => state.events.retain(|e| !is_content(e)),
        _ => {}
    }
    Some(Cow::Owned(event))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::Cursor;

    use loadscope_trace::{BatchContent, BatchId, Field, FieldData, LogReader, Nanos, RunId};

    use super::*;

    /// Regression test: a Chrome trace was written for every extension.
    #[test]
    fn unknown_export_extensions_are_refused_with_a_list() {
        for (name, format) in [
            ("run.json", Some(ExportFormat::Chrome)),
            ("run.JSON.gz", Some(ExportFormat::Chrome)),
            ("run.parquet", Some(ExportFormat::Parquet)),
            ("run.csv", Some(ExportFormat::Csv)),
            ("run.txt", None),
            ("run", None),
        ] {
            assert_eq!(ExportFormat::for_path(Path::new(name)), format, "{name}");
        }
        let why = unknown(Path::new("/data/run.txt"));
        assert!(why.contains("run.txt") && why.contains(".parquet"), "{why}");
    }

    #[test]
    fn an_export_onto_its_input_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| dir.path().join(name);
        let input = at("run.samples.csv");
        fs::write(&input, "x").expect("room");
        fs::hard_link(&input, at("gauges.csv")).expect("links");
        fs::create_dir(at("sub")).expect("room");
        for (out, format, refused) in [
            (
                "run.samples.csv",
                ExportFormat::Chrome,
                Some("run.samples.csv"),
            ),
            ("run.csv", ExportFormat::Csv, Some("run.samples.csv")),
            (
                "sub/../run.CSV",
                ExportFormat::Csv,
                Some("sub/../run.samples.csv"),
            ),
            ("", ExportFormat::Csv, Some("gauges.csv")),
            ("run.parquet", ExportFormat::Parquet, None),
            ("new", ExportFormat::Csv, None),
            ("trace.json", ExportFormat::Chrome, None),
        ] {
            let found = refuse_export_onto(&input, format, &at(out));
            match (found, refused) {
                (Ok(()), None) => {}
                (Err(WriteError::IsInput(file)), Some(name)) => assert_eq!(file, at(name)),
                (found, _) => panic!("{out}: {found:?}"),
            }
        }
        // The input is a folder, so an export must not replace a file in it.
        let into = |out: &str| refuse_export_onto(dir.path(), ExportFormat::Csv, &at(out));
        assert!(into("run.csv").is_err() && into("").is_err());
        assert!(into("new.csv").is_ok() && into("new").is_ok());
    }

    const SECRET: &str = "a text of a sample";

    fn recorded() -> tempfile::NamedTempFile {
        let batch = BatchId { epoch: 0, idx: 0 };
        let text = FieldData::Text(vec![SECRET.to_owned()]);
        let field = Field::new("[0]", "str", [], text);
        let fields = vec![field];
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(batch, None, [1, 2]),
            EventKind::Content(BatchContent { batch, fields }.into()),
        ];
        let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
        for (at, kind) in kinds.into_iter().enumerate() {
            let (at, run) = (Nanos(at as i64), RunId(0));
            log.write(&Event { at, run, kind }).expect("a vector");
        }
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::io::Write::write_all(&mut file.as_file(), &log.finish().expect("a vector"))
            .expect("there is room");
        file
    }

    fn events(packed: Packed) -> Vec<Event> {
        assert!(!packed.cut);
        let log = LogReader::new(Cursor::new(packed.bytes)).expect("a recording");
        log.map(|event| event.expect("it is sound")).collect()
    }

    #[test]
    fn a_page_omits_only_unwanted_contents() {
        let file = recorded();
        let whole = events(packed(file.path(), true).expect("it is sound"));
        assert_eq!(whole.len(), 3);
        assert!(format!("{whole:?}").contains(SECRET));
        let rest = events(packed(file.path(), false).expect("it is sound"));
        assert_eq!(rest[..], whole[..2]);
    }

    #[test]
    fn a_folder_is_packed_into_a_page_as_one_recording() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert!(packed(dir.path(), true).is_err());
        for name in ["a.jsonl", "b.jsonl"] {
            let kept = recorded().persist(dir.path().join(name));
            kept.expect("it is on the same file system");
            let events = events(packed(dir.path(), false).expect("it is sound"));
            let runs: BTreeSet<RunId> = events.iter().map(|event| event.run).collect();
            let expected = if name == "a.jsonl" { 1 } else { 2 };
            assert_eq!(runs.len(), expected);
            assert!(!format!("{events:?}").contains(SECRET));
        }
    }

    #[test]
    fn a_file_that_is_no_recording_is_not_packed() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::io::Write::write_all(&mut file.as_file(), b"</script>").expect("there is room");
        assert!(packed(file.path(), true).is_err());
    }
}
