//! Live recording that the server sends in pieces of whole lines.

use std::io::Cursor;

use loadscope_trace::{Event, Lines, LogReader, Nanos};

/// Parser of the pieces.
#[derive(Default)]
pub struct LiveParser {
    /// First line of the recording. Each piece is parsed after it.
    header: Vec<u8>,
    lines: Lines,
    /// Number of parsed lines.
    read: u64,
    newest: Option<Nanos>,
}

impl LiveParser {
    /// Parses the events of a piece.
    ///
    /// # Errors
    /// If the piece is not a part of a recording.
    pub fn parse(&mut self, piece: &[u8]) -> Result<Vec<Event>, String> {
        let is_first = self.header.is_empty();
        let mut text = self.header.clone();
        text.extend_from_slice(piece);
        let mut reader = LogReader::new(Cursor::new(text)).map_err(|e| e.to_string())?;
        if is_first {
            let end = piece.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(piece.len(), |end| end + 1);
            self.header.extend(piece.iter().take(length));
        }
        let mut events = Vec::new();
        while reader.read_lines(&mut self.lines) {
            let block = self.lines.parse();
            events.extend(block.events);
            if let Some(error) = block.failed {
                return Err(error.offset_lines(self.read).to_string());
            }
            self.read += block.lines;
        }
        // A late event gets the newest time so far. The recording keeps its original time.
        for event in &mut events {
            let newest = self.newest.get_or_insert(event.at);
            *newest = event.at.max(*newest);
            event.at = *newest;
        }
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Compression, EventKind, LogWriter, RunId};

    use super::*;

    #[test]
    fn pieces_of_a_recording_yield_all_events() {
        let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
        for at in 0..100 {
            let kind = EventKind::Dropped { count: 1 };
            let (at, run) = (Nanos(at), RunId(0));
            log.write(&Event { at, run, kind }).expect("a vector");
        }
        let bytes = log.finish().expect("a vector");
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        let mut parser = LiveParser::default();
        let mut events = Vec::new();
        for piece in lines.chunks(7) {
            events.extend(parser.parse(&piece.concat()).expect("whole lines"));
        }
        assert_eq!(events.len(), 100);
        assert_eq!(events.last().map(|e| e.at), Some(Nanos(99)));
        assert!(parser.parse(b"nonsense\n").is_err());
        assert!(LiveParser::default().parse(b"nonsense\n").is_err());
    }
}
