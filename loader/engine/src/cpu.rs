//! CPU time of the calling thread.

use loadscope_trace::Nanos;

/// Returns the CPU time of this thread.
#[cfg(unix)]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(std::time::Duration::try_from(time).ok()?.into())
}

/// Returns `None`: the CPU time of a thread is not available on this platform.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Option<Nanos> {
    None
}
