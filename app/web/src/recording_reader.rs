//! Reads a recording in slices, because a browser has one thread and the page must stay responsive.

use std::io::Cursor;

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::platform::Budget;
use loadscope_insight::session_event::SessionEvent;
use loadscope_insight::waits::point_of_interest;
use loadscope_trace::{Event, Fleet, Lines, LogError, LogReader, Merge, Run, RunId, count, plural};
use loadscope_words::say;

/// Recording in memory that is being read.
pub struct RecordingReader {
    reader: LogReader,
    lines: Lines,
    merge: Merge,
    fleet: Fleet,
    /// Landmarks of the first loader, found during reading. For a long run, finding them all at once takes longer than a frame.
    landmarks: Landmarks,
    /// Size of the recording, bytes.
    size: usize,
    /// Number of parsed lines.
    read: u64,
    cut: bool,
    state: LoadState,
}

/// Next step of reading.
enum LoadState {
    /// Parse a block of lines into events.
    ParseLines,
    /// Apply the events whose order is final.
    ApplyOrdered,
    /// Apply the last events.
    ApplyRemaining,
    /// Assemble the result.
    Assemble,
    /// The result was returned.
    Done,
}

/// Progress of reading.
pub enum ReadProgress {
    /// Share that was read, 0 to 1.
    Partial(f32),
    /// Complete recording.
    Complete(Box<LoadedRecording>),
    /// Error of a damaged recording.
    Failed(LogError),
}

/// All loaders of a recording.
pub struct LoadedRecording {
    /// Shown loader.
    pub run: Run,
    /// Other loaders.
    pub loaders: Loaders,
    /// Landmarks of the shown loader.
    pub landmarks: Landmarks,
    /// True if the recording is truncated.
    pub cut: bool,
}

impl LoadedRecording {
    /// Converts the result into the event of a session that has read a file.
    pub fn into_session_event(self) -> SessionEvent {
        SessionEvent::Loaded {
            at: point_of_interest(&self.run),
            landmarks: Box::new(self.landmarks),
            run: Box::new(self.run),
            loaders: Box::new(self.loaders),
            cut: self.cut,
            notes: Vec::new(),
        }
    }
}

impl RecordingReader {
    /// Starts to read.
    ///
    /// # Errors
    /// If the bytes are not a recording of this version.
    pub fn new(bytes: Vec<u8>) -> Result<Self, LogError> {
        let size = bytes.len().max(1);
        Ok(Self {
            reader: LogReader::new(Cursor::new(bytes))?,
            lines: Lines::default(),
            merge: Merge::default(),
            fleet: Fleet::default(),
            landmarks: Landmarks::default(),
            size,
            // The header is the first line.
            read: 1,
            cut: false,
            state: LoadState::ParseLines,
        })
    }

    /// Reads until the budget is spent.
    pub fn resume(&mut self, budget: &Budget) -> ReadProgress {
        loop {
            match self.state {
                LoadState::ParseLines => match self.reader.read_lines(&mut self.lines) {
                    true => {
                        let block = self.lines.parse();
                        self.merge.push(block.events, block.length);
                        self.state = LoadState::ApplyOrdered;
                        if let Some(error) = block.failed {
                            self.state = LoadState::Done;
                            return ReadProgress::Failed(error.offset_lines(self.read));
                        }
                        self.read += block.lines;
                        self.cut |= block.cut;
                    }
                    false => self.state = LoadState::ApplyRemaining,
                },
                LoadState::ApplyOrdered => {
                    let fleet = &mut self.fleet;
                    self.merge.drain_ready(|event| fleet.apply(event));
                    self.update_landmarks();
                    self.state = LoadState::ParseLines;
                }
                LoadState::ApplyRemaining => {
                    let fleet = &mut self.fleet;
                    self.merge.drain_all(|event| fleet.apply(event));
                    self.update_landmarks();
                    self.state = LoadState::Assemble;
                }
                LoadState::Assemble => {
                    self.state = LoadState::Done;
                    return ReadProgress::Complete(Box::new(self.assemble()));
                }
                LoadState::Done => return ReadProgress::Partial(1.0),
            }
            if budget.is_spent() {
                return ReadProgress::Partial(self.share());
            }
        }
    }

    /// Updates the landmarks from the applied events. With several loaders, the shown one is known only at the end.
    fn update_landmarks(&mut self) {
        let mut runs = self.fleet.runs();
        if let (Some((_, run)), None) = (runs.next(), runs.next()) {
            self.landmarks.follow(run);
        }
    }

    fn share(&self) -> f32 {
        (self.reader.consumed() as f64 / self.size as f64) as f32
    }

    fn assemble(&mut self) -> LoadedRecording {
        let mut fleet = std::mem::take(&mut self.fleet);
        let first = fleet.runs().next();
        let (run, at) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
        let mut warn = |text: String| fleet.apply(&Event::warning(run, at, text));
        let late = self.merge.late();
        if late > 0 {
            warn(say!(
                "{} arrived late (shown at the arrival time)",
                plural(late, say!(n: "event"), say!(n: "events"))
            ));
        }
        let left_out = fleet.left_out();
        if left_out > 0 {
            let text = say!(
                "{} skipped: a recording can have at most {} loaders",
                plural(left_out, say!(n: "event"), say!(n: "events")),
                count(Fleet::MAX_RUNS as u64)
            );
            fleet.apply(&Event::warning(run, at, text));
        }
        fleet.close();
        let (loaders, run) = Loaders::of(fleet, None::<RunId>);
        let mut landmarks = std::mem::take(&mut self.landmarks);
        match loaders.are_many() {
            true => landmarks = Landmarks::of(&run),
            false => landmarks.follow(&run),
        }
        LoadedRecording {
            run,
            loaders,
            landmarks,
            cut: self.cut,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_plan::dataset::SyntheticCatalog;
    use loadscope_plan::simulate::simulate;
    use loadscope_trace::{Compression, LogWriter, RunOptions};

    use super::*;

    fn recorded() -> Vec<u8> {
        let options = RunOptions {
            dataset: "synthetic:len=20000".to_owned(),
            num_workers: 4,
            batch_size: Some(4),
            ..RunOptions::default()
        };
        let events = simulate(&options, &SyntheticCatalog).expect("it can be simulated");
        let log = LogWriter::new(Vec::new(), Compression::Zstd).expect("a vector");
        let mut log = log.with_frame_size(100_000);
        for event in &events {
            log.write(event).expect("a vector");
        }
        log.finish().expect("a vector")
    }

    fn read(bytes: Vec<u8>) -> (usize, Result<LoadedRecording, LogError>) {
        let mut reading = RecordingReader::new(bytes).expect("it has a header");
        for slices in 0..100_000 {
            match reading.resume(&Budget::none()) {
                ReadProgress::Partial(share) => assert!((0.0..=1.0).contains(&share)),
                ReadProgress::Complete(whole) => return (slices, Ok(*whole)),
                ReadProgress::Failed(error) => return (slices, Err(error)),
            }
        }
        panic!("it comes to no end");
    }

    #[test]
    fn a_recording_read_in_slices_equals_the_written_one() {
        let (slices, whole) = read(recorded());
        let whole = whole.expect("it is sound");
        assert_eq!(whole.run.batches().len(), 5_000);
        assert!(slices > 10 && !whole.cut, "{slices} slices");
        assert_eq!(whole.landmarks, Landmarks::of(&whole.run));
    }

    #[test]
    fn a_truncated_recording_is_read_up_to_the_cut() {
        let mut bytes = recorded();
        bytes.truncate(bytes.len() / 2);
        let whole = read(bytes).1.expect("what is there is sound");
        assert!(whole.cut && !whole.run.batches().is_empty());
    }

    #[test]
    fn a_file_without_a_header_is_refused() {
        assert!(RecordingReader::new(b"<html></html>".to_vec()).is_err());
    }
}
