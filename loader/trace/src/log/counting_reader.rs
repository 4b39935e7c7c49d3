//! Byte counter for showing progress.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Input that counts its bytes.
pub(super) struct CountingReader<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    pub fn new(inner: R, consumed: Arc<AtomicU64>) -> Self {
        Self { inner, consumed }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = loop {
            match self.inner.read(buf) {
                // A signal interrupted the call before any byte was read.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.consumed.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
