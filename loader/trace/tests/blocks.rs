//! Reading in blocks of lines equals reading line by line.

use std::io::{Cursor, Read};

use loadscope_trace::{
    BatchId, Compression, Event, EventKind, Lines, LogReader, LogWriter, Nanos, RunId, Stage,
};
use proptest::prelude::*;

/// Reader that returns a few bytes at a time, like a pipe.
struct Dribble(Cursor<Vec<u8>>, usize);

impl Read for Dribble {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let most = buf.len().min(self.1);
        self.0.read(&mut buf[..most])
    }
}

/// Events, whether the file is truncated, and the error.
type Outcome = (Vec<Event>, bool, Option<String>);

fn by_line(bytes: &[u8]) -> Option<Outcome> {
    let mut reader = LogReader::new(Cursor::new(bytes.to_vec())).ok()?;
    let (mut events, mut failed) = (Vec::new(), None);
    for event in &mut reader {
        match event {
            Ok(event) => events.push(event),
            Err(e) => failed = Some(e.to_string()),
        }
    }
    Some((events, reader.is_truncated(), failed))
}

fn by_block(input: impl Read + Send + 'static) -> Option<Outcome> {
    let mut reader = LogReader::new(input).ok()?;
    let (mut events, mut cut, mut failed, mut before) = (Vec::new(), false, None, 1);
    let mut lines = Lines::default();
    while reader.read_lines(&mut lines) {
        assert!(!cut && failed.is_none(), "nothing comes after the end");
        let block = lines.parse();
        events.extend(block.events);
        cut = block.cut;
        failed = block.failed.map(|e| e.offset_lines(before).to_string());
        before += block.lines;
    }
    assert!(!reader.read_lines(&mut lines));
    Some((events, cut, failed))
}

fn log(events: usize, compression: Compression) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), compression).expect("memory does not fail");
    for k in 0..events {
        let batch = BatchId {
            epoch: 0,
            idx: k as u32,
        };
        let kind = match k % 3 {
            0 => EventKind::dispatched(batch, Some(3), vec![k as u64; k % 7]),
            1 => EventKind::Entered {
                batch,
                stage: Stage::Fetching,
            },
            _ => EventKind::RunEnded,
        };
        let event = Event {
            at: Nanos(k as i64),
            run: RunId(0),
            kind,
        };
        log.write(&event).expect("memory does not fail");
    }
    log.finish().expect("memory does not fail")
}

#[test]
fn several_blocks_give_the_events_of_single_lines() {
    for compression in [Compression::None, Compression::Zstd] {
        let bytes = log(20_000, compression);
        let lines = by_line(&bytes).expect("our own header");
        assert_eq!(lines.0.len(), 20_000);
        assert_eq!(by_block(Cursor::new(bytes)), Some(lines));
    }
}

#[test]
fn a_line_longer_than_a_block_is_read() {
    let mut bytes = log(3, Compression::None);
    let more = log(10_000, Compression::None);
    bytes.extend(vec![b' '; 3 << 20]);
    bytes.push(b'\n');
    let header = more.iter().position(|b| *b == b'\n').expect("lines") + 1;
    bytes.extend(&more[header..]);
    let lines = by_line(&bytes).expect("our own header");
    assert_eq!(lines.0.len(), 10_003);
    assert_eq!(by_block(Cursor::new(bytes)), Some(lines));
}

#[test]
fn a_line_above_the_length_limit_is_refused() {
    let mut bytes = log(5, Compression::None);
    bytes.extend(vec![b'x'; 65 << 20]);
    let lines = by_line(&bytes).expect("our own header");
    assert!(
        lines
            .2
            .as_deref()
            .is_some_and(|why| why.starts_with("line 7 "))
    );
    assert_eq!(by_block(Cursor::new(bytes)), Some(lines));
}

#[test]
fn a_damaged_line_before_a_cut_is_refused() {
    let mut text = log(50, Compression::None);
    text.extend(b"{\"t\":}\n");
    // The white space is longer than a block of zstd, but shorter than a block of the reader.
    text.extend(vec![b' '; 1 << 18]);
    let mut bytes = zstd::bulk::compress(&text, 1).expect("a vector");
    bytes.truncate(bytes.len() - 3);
    let lines = by_line(&bytes).expect("our own header");
    assert!(!lines.1 && lines.2.is_some(), "the end was not read");
    assert_eq!(by_block(Cursor::new(bytes)), Some(lines));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The file is truncated anywhere, one byte is changed, and it is read in pieces of any size.
    #[test]
    fn damaged_files_read_the_same_in_blocks_and_lines(
        zstd in any::<bool>(), cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(),
        byte in prop::option::of(any::<u8>()), most in 1..5_000usize,
    ) {
        let mut bytes = log(200, if zstd { Compression::Zstd } else { Compression::None });
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Some(byte) = byte.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let lines = by_line(&bytes);
        prop_assert_eq!(by_block(Dribble(Cursor::new(bytes), most)), lines);
    }
}
