//! CPU time of the calling thread.

use loadscope_trace::Nanos;

/// Returns the CPU time of this thread.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a system call")]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes to `time`, which is alive until it returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (failed == 0).then(|| std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32).into())
}

/// Returns `None`: the CPU time of a thread is not available on this platform.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    None
}
