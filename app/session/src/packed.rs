//! A compressed recording in memory, for a page.

use std::borrow::Cow;
use std::path::Path;

use loadscope_exchange::ImportError;
use loadscope_trace::{Compression, Event, EventKind, LogWriter};

use super::event_source::{EventSource, each_in_order};

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
    let heading = EventSource::File(path.to_owned()).recording_kind()?;
    let mut log = LogWriter::with_header(Vec::new(), Compression::Zstd, heading)?;
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
mod tests {
    use std::collections::BTreeSet;
    use std::io::Cursor;

    use loadscope_trace::{BatchContent, BatchId, Field, FieldData, LogReader, Nanos, RunId};

    use super::*;

    const SECRET: &str = "a text of a sample";

    fn recorded() -> tempfile::NamedTempFile {
        let batch = BatchId { epoch: 0, idx: 0 };
        let text = FieldData::Text(vec![SECRET.to_owned()]);
        let field = Field::new("[0]", "str", [], text);
        let fields = vec![field];
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(batch, None, [1, 2]),
            EventKind::Content(Box::new(BatchContent { batch, fields })),
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
