//! Time and memory for opening a recording of 1 M batches and 10 M samples.
//!
//! `BATCHES=100000 cargo bench -p loadscope --bench opening` makes a smaller recording. `BATCHES=10000000` makes one that is too large for
//! memory. `RECORDING=FILE` opens an existing recording.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]
#![allow(clippy::disallowed_methods, reason = "a file to measure with")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::alloc::{GlobalAlloc, Layout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loadscope_session::{Session, SessionEvent, read_run};
use loadscope_trace::{Compression, LogWriter, Run};

mod recording;

use recording::Recording;

const SAMPLES: u32 = 10;

/// Allocator of the program. On request, it counts live allocations. Shared counters slow threads down, so timed runs do not count.
struct Counting;

static INNER: loadscope::allocator::Allocator = loadscope::allocator::Allocator;
static COUNTS: AtomicBool = AtomicBool::new(false);
/// The high start value keeps the count positive when earlier allocations are freed.
static LIVE: AtomicUsize = AtomicUsize::new(1 << 40);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grown(by: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        let live = LIVE.fetch_add(by, Ordering::Relaxed) + by;
        MOST.fetch_max(live, Ordering::Relaxed);
    }
}

fn shrunk(by: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        LIVE.fetch_sub(by, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to mimalloc unchanged.
#[expect(unsafe_code, reason = "an allocator that counts")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { INNER.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        shrunk(layout.size());
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { INNER.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrunk(layout.size());
        grown(size);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { INNER.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn write(recording: &Recording, path: &Path) {
    let file = std::fs::File::create(path).expect("there is room");
    let mut log = LogWriter::new(file, Compression::for_path(path)).expect("it can be written");
    recording.for_each_event(|event| log.write(&event).expect("it can be written"));
    log.finish().expect("it can be written");
}

fn open(path: &Path) -> Run {
    let start = Instant::now();
    let (run, _) = read_run(path, |_| true).expect("it was written just now");
    let took = start.elapsed();
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    println!(
        "{:<6} {:5.0} MB  opened in {:5.2} s   {:5.0} ns an event",
        path.extension().unwrap_or_default().to_string_lossy(),
        size as f64 / 1e6,
        took.as_secs_f64(),
        took.as_nanos() as f64 / run.events() as f64,
    );
    run
}

/// Prints the memory for opening a recording.
fn weigh(path: &Path) {
    let before = LIVE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let run = read_run(path, |_| true).expect("it was written just now");
    COUNTS.store(false, Ordering::Relaxed);
    let kept = LIVE.load(Ordering::Relaxed) - before;
    let most = MOST.load(Ordering::Relaxed) - before;
    println!(
        "       {:4.0} MB kept, {:4.0} MB at most",
        kept as f64 / 1e6,
        most as f64 / 1e6
    );
    drop(run);
}

/// Returns a value of `/proc/self/status`, MB.
fn resident(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
    kilobytes.and_then(|n| n.parse().ok()).unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// Opens the recording as the window does, and takes a snapshot 50 times per second.
fn look(path: &Path) {
    const EVERY: Duration = Duration::from_millis(20);
    let start = Instant::now();
    let session = Session::open(path, Arc::new(|| {})).expect("there is a thread");
    let partial = session.partial().expect("it is a file").clone();
    let (mut first, mut most, mut longest) = (None, 0.0f64, Duration::ZERO);
    let mut shown = None;
    let run = 'read: loop {
        while let Ok(event) = session.events.try_recv() {
            if let SessionEvent::Loaded { run, .. } = event {
                break 'read run;
            }
        }
        let asked = Instant::now();
        if let Some(read) = partial.take(shown) {
            longest = longest.max(asked.elapsed());
            first.get_or_insert((start.elapsed(), read.run.batches().len()));
            shown = Some(read.loaders.shown());
        }
        most = most.max(resident("RssAnon:"));
        std::thread::sleep(EVERY);
    };
    let (first, batches) = first.unwrap_or((start.elapsed(), run.batches().len()));
    let (all, own) = (start.elapsed(), resident("RssAnon:"));
    loadscope::allocator::release_free_memory();
    println!(
        "       looked at while it is read: {batches} batches after {:.2} s, all {} after {:.2} s; a look waits for {:.0} ms at most",
        first.as_secs_f64(),
        run.batches().len(),
        all.as_secs_f64(),
        longest.as_secs_f64() * 1e3,
    );
    println!(
        "       memory of the process's own {:.0} MB at most, then {:.0} MB; beside it {:.0} MB of files that the system may drop from memory",
        most.max(own),
        resident("RssAnon:"),
        resident("RssFile:"),
    );
}

fn main() {
    loadscope_trace::spill_to([std::env::temp_dir(), "/var/tmp".into()]);
    if let Some(path) = std::env::var_os("RECORDING") {
        let path = Path::new(&path);
        look(path);
        for _ in 0..3 {
            drop(open(path));
        }
        weigh(path);
        return;
    }
    let batches = std::env::var("BATCHES").ok().and_then(|n| n.parse().ok());
    let batches: u32 = batches.unwrap_or(1_000_000);
    let recording = Recording::batches(batches, SAMPLES);
    let dir = tempfile::tempdir().expect("a temporary folder");
    for name in ["recording.jsonl", "recording.jsonl.zst"] {
        let path = dir.path().join(name);
        write(&recording, &path);
        // The peak memory is measured first, because earlier reads leave memory that is not returned.
        look(&path);
        for _ in 0..3 {
            drop(open(&path));
        }
        weigh(&path);
        std::fs::remove_file(&path).expect("it was written just now");
    }
    let before = LIVE.load(Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let run = recording.run();
    COUNTS.store(false, Ordering::Relaxed);
    let kept = LIVE.load(Ordering::Relaxed) - before;
    let memory = run.memory();
    let a_span = |bytes: usize| bytes as f64 / memory.spans as f64;
    let a_sample = memory.sample_bytes as f64 / (f64::from(batches) * f64::from(SAMPLES));
    println!(
        "{batches} batches, {} spans: {:.1} bytes a stage span ({:.1} for itself, {:.1} for the change of stage), \
         {:.1} for what is known of its batch, {a_sample:.1} bytes a sample; {:.0} of {:.0} MB in all",
        memory.spans,
        a_span(memory.span_bytes + memory.transition_bytes),
        a_span(memory.span_bytes),
        a_span(memory.transition_bytes),
        a_span(memory.batch_bytes),
        (memory.span_bytes + memory.transition_bytes + memory.batch_bytes + memory.sample_bytes)
            as f64
            / 1e6,
        kept as f64 / 1e6,
    );
}
