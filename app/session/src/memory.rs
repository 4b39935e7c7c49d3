//! Compressed log of a run in memory, readable while it grows.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Size of a full piece, bytes. Full pieces never change. Less than one piece is copied under the lock.
const PIECE: usize = 256 << 10;

/// The flushed part of the log. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLog(Arc<Mutex<Pieces>>);

#[derive(Debug, Default)]
struct Pieces {
    full: Vec<Arc<[u8]>>,
    /// Data after the full pieces, less than a piece.
    rest: Vec<u8>,
}

impl SharedLog {
    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a snapshot of the log. It copies only the last piece.
    pub fn now(&self) -> LogInMemory {
        let pieces = self.pieces();
        let mut all = pieces.full.clone();
        all.push(Arc::from(&pieces.rest[..]));
        LogInMemory {
            pieces: all,
            at: (0, 0),
        }
    }
}

impl Write for SharedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pieces = self.pieces();
        let room = PIECE - pieces.rest.len();
        let (bytes, _) = bytes.split_at(bytes.len().min(room));
        pieces.rest.extend_from_slice(bytes);
        if pieces.rest.len() == PIECE {
            let full = Arc::from(&pieces.rest[..]);
            pieces.full.push(full);
            pieces.rest.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Snapshot of a log.
#[derive(Debug)]
pub(super) struct LogInMemory {
    pieces: Vec<Arc<[u8]>>,
    /// Index of the piece that is read, and the offset in it.
    at: (usize, usize),
}

impl Read for LogInMemory {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.pieces.get(self.at.0) {
            let rest = &piece[self.at.1..];
            if rest.is_empty() {
                self.at = (self.at.0 + 1, 0);
                continue;
            }
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            self.at.1 += count;
            return Ok(count);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_reads_only_earlier_writes() {
        let mut log = SharedLog::default();
        let bytes: Vec<u8> = (0..3 * PIECE + 17).map(|k| (k % 251) as u8).collect();
        for chunk in bytes.chunks(10_007) {
            log.write_all(chunk).expect("there is room");
        }
        let mut now = log.now();
        log.write_all(b"later").expect("there is room");
        let mut read = Vec::new();
        now.read_to_end(&mut read).expect("it is in memory");
        assert!(read == bytes);
        let mut again = Vec::new();
        log.now().read_to_end(&mut again).expect("it is in memory");
        assert_eq!(again.len(), bytes.len() + 5);
    }

    #[test]
    fn snapshots_share_all_full_pieces_of_a_log() {
        let mut log = SharedLog::default();
        log.write_all(&vec![7; 5 * PIECE + 3])
            .expect("there is room");
        let (one, other) = (log.now(), log.now());
        let shared = one.pieces.iter().zip(&other.pieces);
        assert_eq!(shared.filter(|(a, b)| Arc::ptr_eq(a, b)).count(), 5);
        assert_eq!(one.pieces.last().map(|p| p.len()), Some(3));
    }
}
