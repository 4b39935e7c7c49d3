//! Reading a recording that another process is still writing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded};
use loadscope_files::{has_writer, is_being_written};
use loadscope_session::describe_open_error;
use loadscope_trace::{Event, LogError, LogReader};
use loadscope_words::{say, shell_quoted};

use crate::serve::{Spool, USUAL_SIZE, Writer};

/// Polling interval for new bytes.
const EVERY: Duration = Duration::from_millis(200);

/// Capacity of the channel from the reader to the spool, in events.
const AHEAD: usize = 10_000;

/// File that may still grow. A read at its end blocks until the file grows or its writer closes it.
struct Tail {
    file: File,
    /// Sender that is dropped at the first read at the end of the file.
    behind: Option<Sender<()>>,
}

impl Read for Tail {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // The writer is checked before the read, because it can add bytes and close the file in between.
            let grows = has_writer(&self.file);
            let read = self.file.read(into)?;
            if read > 0 || into.is_empty() || !grows {
                return Ok(read);
            }
            self.behind = None;
            sleep(EVERY);
        }
    }
}

/// Copies the growing recording at `path` into a spool for the pages, until its writer closes it.
///
/// Returns after the present content of the file: otherwise a page could miss events that the spool has already reduced to sums.
/// Returns `None` if no process writes the file, or if the recording has parts. Pages then show the recording in its current state.
///
/// # Errors
/// If the file is not a recording, or no temporary file or thread can be created.
pub(super) fn follow(path: &Path) -> anyhow::Result<Option<Arc<Spool>>> {
    if !path.is_file() || !is_being_written(path) {
        return Ok(None);
    }
    let refused = |e: LogError| anyhow!(describe_open_error(path, &e.into()));
    let opened = File::open(path).map_err(|cause| LogError::Open {
        path: path.to_owned(),
        cause,
    });
    let (behind, caught_up) = bounded(0);
    let tail = Tail {
        file: opened.map_err(refused)?,
        behind: Some(behind),
    };
    let reader = LogReader::new(tail).map_err(refused)?;
    if reader.parts().is_some() {
        return Ok(None);
    }
    let (spool, writer) = new_spool(USUAL_SIZE)?;
    let (send, receive) = bounded(AHEAD);
    let truncated = say!(
        "the recording is truncated. To get an intact file, run `loadscope repair {}`.",
        shell_quoted(path)
    );
    let start = |name: &str| Builder::new().name(name.to_owned());
    start("tail")
        .spawn(move || send_all(reader, &send, truncated))
        .context(say!("cannot start a thread"))?;
    start("spool")
        .spawn(move || copy(&receive, writer))
        .context(say!("cannot start a thread"))?;
    // Nothing is sent: the reader drops the sender.
    let _ = caught_up.recv();
    Ok(Some(spool))
}

/// Creates a spool for the pages, with its writer.
///
/// # Errors
/// If no temporary file can be created.
pub(super) fn new_spool(most: u64) -> anyhow::Result<(Arc<Spool>, Writer)> {
    Spool::new(most).context(say!(
        "cannot create a temporary file for the live view (TMPDIR sets the folder)"
    ))
}

/// Sends all events, then the error of a damaged recording or the text `truncated`.
fn send_all(mut reader: LogReader, send: &Sender<Result<Event, String>>, truncated: String) {
    for event in reader.by_ref() {
        if send.send(event.map_err(|e| e.to_string())).is_err() {
            return;
        }
    }
    if reader.is_truncated() {
        let _ = send.send(Err(truncated));
    }
}

/// Writes received events in batches. An error ends the spool with its message.
fn copy(receive: &Receiver<Result<Event, String>>, mut writer: Writer) {
    while let Ok(first) = receive.recv() {
        let mut events = Vec::new();
        let mut failed = None;
        for next in std::iter::once(first).chain(receive.try_iter().take(AHEAD)) {
            match next {
                Ok(event) => events.push(event),
                Err(why) => failed = Some(why),
            }
        }
        writer.write(&events);
        if let Some(why) = failed {
            writer.end(&why);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use loadscope_files::{Existing, GrowingFile};
    use loadscope_trace::{Compression, EventKind, LogWriter, Nanos, RunId};

    use super::*;

    fn written(count: u64, compression: Compression) -> Vec<u8> {
        let mut log = LogWriter::new(Vec::new(), compression).expect("a vector");
        for count in 1..=count {
            let event = Event {
                at: Nanos(count as i64),
                run: RunId(0),
                kind: EventKind::Dropped { count },
            };
            log.write(&event).expect("a vector");
        }
        log.finish().expect("a vector")
    }

    #[test]
    fn a_growing_file_is_followed_to_its_end() {
        for compression in [Compression::None, Compression::Zstd] {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let path = dir.path().join("run.jsonl");
            let whole = written(30_000, compression);
            let (first, rest) = whole.split_at(whole.len() / 2);
            let mut growing = GrowingFile::create(&path, Existing::Keep, b"").expect("a free name");
            growing.write_all(first).expect("there is room");
            growing.flush().expect("there is room");
            let spool = follow(&path).expect("a recording").expect("it grows");
            sleep(EVERY * 2);
            assert_eq!(spool.end(), None, "the file has a writer");
            growing.write_all(rest).expect("there is room");
            growing.finish().expect("there is room");
            let (end, why) = loop {
                match spool.end() {
                    Some(end) => break end,
                    None => sleep(EVERY),
                }
            };
            let plain = written(30_000, Compression::None);
            assert_eq!((end, &*why), (plain.len() as i64, ""));
            assert!(follow(&path).expect("a recording").is_none());
        }
    }

    #[test]
    fn a_truncated_recording_ends_with_the_remedy() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run.jsonl");
        let whole = written(30_000, Compression::Zstd);
        let mut growing = GrowingFile::create(&path, Existing::Keep, b"").expect("a free name");
        growing
            .write_all(&whole[..whole.len() - 30])
            .expect("there is room");
        growing.flush().expect("there is room");
        let spool = follow(&path).expect("a recording").expect("it grows");
        drop(growing);
        let (_, why) = loop {
            match spool.end() {
                Some(end) => break end,
                None => sleep(EVERY),
            }
        };
        assert!(why.contains("loadscope repair"), "{why}");
    }
}
