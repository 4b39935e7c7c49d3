//! The thread that simulates a run, builds it and writes its log.

use crossbeam_channel::Sender;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Compression, LogWriter, Run, RunOptions};

use super::engine::CATALOG;
use super::memory::SharedLog;
use super::{SessionError, SessionEvent, Waker};
use loadscope_insight::landmarks::Landmarks;

/// Configuration of a simulation.
pub(super) struct Job {
    pub options: RunOptions,
    pub shared: SharedLog,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
}

impl Job {
    /// Simulates the run and reports the result.
    pub fn run(self) {
        let ended = match self.simulate() {
            Ok(run) => {
                let landmarks = Box::new(Landmarks::of(&run));
                let run = Box::new(run);
                let _ = self.out.send(SessionEvent::Simulated { run, landmarks });
                None
            }
            Err(e) => Some(e.to_string()),
        };
        let _ = self.out.send(SessionEvent::Ended(ended));
        (self.wake)();
    }

    fn simulate(&self) -> Result<Run, SessionError> {
        let events = simulate(&self.options, CATALOG)?;
        // The log is written at once, so the run can be saved like any other.
        let mut log = LogWriter::new(self.shared.clone(), Compression::Zstd)?;
        let mut run = Run::default();
        for event in events {
            log.write(&event)?;
            run.apply(&event);
        }
        log.finish()?;
        Ok(run)
    }
}
