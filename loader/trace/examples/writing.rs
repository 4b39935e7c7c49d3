//! Benchmark of writing a compressed recording: `cargo run --release -p loadscope-trace --example writing -- RECORDING [TIMES]`.
//!
//! Reads the first million events of a recording and writes them repeatedly. Prints the median time per event and the size of the
//! compressed recording. The time is CPU time on Linux, otherwise wall time.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use loadscope_trace::{Compression, Event, LogReader, LogWriter};

/// Maximum number of events.
const EVENTS: usize = 1_000_000;
/// Events between flushes. A recorder flushes ten times per second, which is about this number at full speed.
const FLUSH_EVERY: usize = 50_000;

/// Writer that counts bytes and drops them.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(events: &[Event]) -> Result<u64, Box<dyn std::error::Error>> {
    let mut log = LogWriter::new(Counted::default(), Compression::Zstd)?;
    for some in events.chunks(FLUSH_EVERY) {
        some.iter().try_for_each(|event| log.write(event))?;
        log.flush()?;
    }
    Ok(log.finish()?.0)
}

/// Returns the CPU time of this thread, ns. Other threads do not count.
fn processor() -> Option<u128> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("the path of a recording is missing")?;
    let times: usize = args.next().map_or(Ok(5), |n| n.parse())?;
    let events: Result<Vec<Event>, _> = LogReader::open(Path::new(&path))?.take(EVENTS).collect();
    let events = events?;
    let (mut took, mut bytes) = (Vec::new(), 0);
    for _ in 0..times.max(1) {
        let (start, before) = (Instant::now(), processor());
        bytes = write(&events)?;
        let spent = match (before, processor()) {
            (Some(before), Some(after)) => after - before,
            _ => start.elapsed().as_nanos(),
        };
        took.push(spent / events.len().max(1) as u128);
    }
    took.sort_unstable();
    println!(
        "{} events, {} ns an event, {bytes} bytes",
        events.len(),
        took[took.len() / 2]
    );
    Ok(())
}
