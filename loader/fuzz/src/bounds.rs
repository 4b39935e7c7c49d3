//! What an input may cost: memory of the heap, and time of the processor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Bytes on the heap now. C libraries have their own.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// The most of them since the last question.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// More of them end the program.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

#[global_allocator]
static METER: Meter = Meter;

/// Counts what is on the heap.
struct Meter;

impl Meter {
    fn came(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
        if live > PEAK.load(Relaxed) {
            PEAK.store(live, Relaxed);
        }
        // Saying something takes memory, too.
        if live > MOST.load(Relaxed) {
            MOST.store(usize::MAX, Relaxed);
            end_with(live);
        }
    }

    fn went(bytes: usize) {
        LIVE.fetch_sub(bytes, Relaxed);
    }
}

/// Ends the process with what it took. An allocator must not unwind, and a function of C aborts instead.
extern "C" fn end_with(live: usize) -> ! {
    panic!("an input takes {} MiB of memory", live >> 20);
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::came(layout.size());
        // SAFETY: the caller keeps the promises for us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::came(layout.size());
        // SAFETY: the caller keeps the promises for us.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::went(layout.size());
        // SAFETY: the caller keeps the promises for us.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there for a moment.
        Self::came(size);
        // SAFETY: the caller keeps the promises for us.
        let new = unsafe { System.realloc(at, layout, size) };
        Self::went(if new.is_null() { size } else { layout.size() });
        new
    }
}

/// What an input may cost.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes on the heap.
    pub memory: usize,
    /// Time of the processor.
    pub time: Duration,
}

/// What an input did cost.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Bytes on the heap at the worst moment.
    pub memory: usize,
    /// Time of the processor.
    pub time: Duration,
}

impl Bounds {
    /// For an optimised build.
    pub const STRICT: Self = Self {
        memory: 512 << 20,
        time: Duration::from_secs(1),
    };

    /// The same for a build for development on a host that does other things as well.
    pub const LENIENT: Self = Self {
        memory: 512 << 20,
        time: Duration::from_secs(20),
    };

    /// More memory than this from now on ends the program with an abort, in the very moment.
    pub fn end_beyond(self) {
        MOST.store(LIVE.load(Relaxed).saturating_add(self.memory), Relaxed);
    }

    /// # Panics
    /// If it was more.
    pub fn hold(self, spent: Spent) {
        let Spent { memory, time } = spent;
        assert!(memory <= self.memory, "{} MiB of memory", memory >> 20);
        assert!(time <= self.time, "{time:?} of the processor");
    }
}

impl Spent {
    /// Does something. The memory is that of all threads.
    pub fn on(work: impl FnOnce()) -> Self {
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let start = now();
        work();
        Self {
            memory: PEAK.load(Relaxed).saturating_sub(before),
            time: now().saturating_sub(start),
        }
    }
}

/// The clock of this thread: one that stands still while others have the processor.
#[cfg(unix)]
fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time is there to be written to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_seen() {
        let spent = Spent::on(|| {
            let mut block = vec![1u8; 40 << 20];
            block.resize(50 << 20, 2);
            let mut sum = 0u64;
            for _ in 0..3 {
                sum += block.iter().map(|b| u64::from(*b)).sum::<u64>();
            }
            assert_eq!(sum, 3 * ((40 << 20) + 2 * (10 << 20)));
        });
        assert!(spent.memory >= 50 << 20, "{spent:?}");
        assert!(spent.time > Duration::ZERO);
        let most = Bounds {
            memory: 30 << 20,
            time: Duration::from_secs(60),
        };
        assert!(std::panic::catch_unwind(|| most.hold(spent)).is_err());
        Bounds::STRICT.hold(Spent::on(|| ()));
    }
}
