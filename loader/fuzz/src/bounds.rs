//! Resource limits per input: heap memory and CPU time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Current size of the heap, bytes. It excludes memory of C libraries.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// Maximum size of the heap since the last reset, bytes.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Heap size that ends the program, bytes.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Allocator that counts the size of the heap.
struct CountingAllocator;

impl CountingAllocator {
    fn count_alloc(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
        if live > PEAK.load(Relaxed) {
            PEAK.store(live, Relaxed);
        }
        // The panic allocates memory too, so the limit is removed first.
        if live > LIMIT.load(Relaxed) {
            LIMIT.store(usize::MAX, Relaxed);
            fail_with(live);
        }
    }

    fn count_free(bytes: usize) {
        LIVE.fetch_sub(bytes, Relaxed);
    }
}

/// Ends the process with a message. An allocator must not unwind, and a panic in an `extern "C"` function aborts.
extern "C" fn fail_with(live: usize) -> ! {
    panic!("an input takes {} MiB of memory", live >> 20);
}

// SAFETY: all calls are passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count_alloc(layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count_alloc(layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::count_free(layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block may exist at the same time.
        Self::count_alloc(size);
        // SAFETY: the caller upholds the contract.
        let new = unsafe { System.realloc(at, layout, size) };
        Self::count_free(if new.is_null() { size } else { layout.size() });
        new
    }
}

/// Resource limits of an input.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Heap size, bytes.
    pub memory: usize,
    /// CPU time.
    pub time: Duration,
}

/// Resource use of an input.
#[derive(Clone, Copy, Debug)]
pub struct ResourceUse {
    /// Maximum heap size, bytes.
    pub memory: usize,
    /// CPU time.
    pub time: Duration,
}

impl Bounds {
    /// Limits for an optimized build.
    pub const STRICT: Self = Self {
        memory: 512 << 20,
        time: Duration::from_secs(1),
    };

    /// Limits for a debug build on a busy host.
    pub const LENIENT: Self = Self {
        memory: 512 << 20,
        time: Duration::from_secs(20),
    };

    /// Makes the program abort as soon as it exceeds the memory limit.
    pub fn abort_beyond(self) {
        LIMIT.store(LIVE.load(Relaxed).saturating_add(self.memory), Relaxed);
    }

    /// # Panics
    /// If a limit is exceeded.
    pub fn check(self, spent: ResourceUse) {
        let ResourceUse { memory, time } = spent;
        assert!(memory <= self.memory, "{} MiB of memory", memory >> 20);
        assert!(time <= self.time, "{time:?} of the processor");
    }
}

impl ResourceUse {
    /// Runs `work` and measures it. The memory is that of all threads.
    pub fn measure(work: impl FnOnce()) -> Self {
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

/// Returns the CPU time of this thread.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
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
    fn memory_and_time_of_a_call_are_measured() {
        let spent = ResourceUse::measure(|| {
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
        assert!(std::panic::catch_unwind(|| most.check(spent)).is_err());
        Bounds::STRICT.check(ResourceUse::measure(|| ()));
    }
}
