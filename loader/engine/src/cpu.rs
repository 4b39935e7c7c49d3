//! CPU time of the calling thread.

use loadscope_trace::Nanos;

/// CPU time that this thread has used.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a system call")]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes to `time`, which lives until it returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (failed == 0).then(|| std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32).into())
}

/// CPU time that this thread has used: not known here.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    None
}
