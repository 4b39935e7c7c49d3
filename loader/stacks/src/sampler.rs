//! Sampler of the Python stacks of processes. It reads their memory while they run.

#[cfg(target_os = "linux")]
mod blocked;
mod blocks;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod lines;
#[cfg(target_os = "linux")]
mod object;
#[cfg(target_os = "linux")]
mod record;
mod samples;
#[cfg(target_os = "linux")]
mod targets;
#[cfg(target_os = "linux")]
mod thread;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod walk;

use std::io;

pub use samples::{NodeId, Samples, StackNode, StackSamples};

/// Thread that reads the stack of the main thread of each process, and stops none. Dropping it ends the thread.
///
/// Waits for work are no samples: those of a worker of a `DataLoader` for its next task, and those of the main process for a worker.
pub struct Sampler {
    #[cfg(target_os = "linux")]
    thread: thread::SamplerThread,
}

impl Sampler {
    /// Starts a thread that samples `rate` times per second.
    ///
    /// # Errors
    /// If the thread cannot be started. On systems other than Linux always.
    pub fn start(rate: u32) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        return Ok(Self {
            thread: thread::SamplerThread::start(rate)?,
        });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = rate;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Replaces the processes.
    pub fn set_processes(&self, pids: Vec<u32>) {
        #[cfg(target_os = "linux")]
        self.thread.set_processes(pids);
        #[cfg(not(target_os = "linux"))]
        drop(pids);
    }

    /// Returns the samples since the previous call, and the nodes that they use for the first time.
    pub fn take(&self) -> Samples {
        #[cfg(target_os = "linux")]
        return self.thread.take();
        #[cfg(not(target_os = "linux"))]
        Samples::default()
    }
}
