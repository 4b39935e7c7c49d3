//! Simulates a run and applies its events in slices.

use std::vec::IntoIter;

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::platform::Budget;
use loadscope_insight::session_event::SessionEvent;
use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Event, Run, RunOptions};

/// Number of events between two checks of the budget.
const EVENTS_PER_SLICE: usize = 512;

/// Simulation in progress.
pub enum Simulation {
    /// Requested options, before the first slice.
    Pending(Box<RunOptions>),
    /// Run so far, and the remaining events.
    Applying(Box<Run>, IntoIter<Event>),
}

impl Simulation {
    /// Creates a simulation of these options.
    pub fn new(options: RunOptions) -> Self {
        Self::Pending(Box::new(options))
    }

    /// Continues until the budget is spent. Returns the run when it is complete.
    ///
    /// # Errors
    /// If the options cannot be simulated. The error is a message with the reason.
    pub fn resume(&mut self, budget: &Budget) -> Result<Option<SessionEvent>, String> {
        if let Self::Pending(options) = self {
            let events = simulate(options, &SyntheticCatalog).map_err(|e| e.to_string())?;
            *self = Self::Applying(Box::default(), events.into_iter());
        }
        let Self::Applying(run, events) = self else {
            return Ok(None);
        };
        loop {
            let before = events.len();
            events
                .by_ref()
                .take(EVENTS_PER_SLICE)
                .for_each(|e| run.apply(&e));
            if before < EVENTS_PER_SLICE {
                let run = std::mem::take(run);
                let landmarks = Box::new(Landmarks::of(&run));
                return Ok(Some(SessionEvent::Simulated { run, landmarks }));
            }
            if budget.is_spent() {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_simulated_in_slices() {
        let options = RunOptions {
            dataset: "synthetic:len=4000".to_owned(),
            batch_size: Some(8),
            num_workers: 2,
            ..RunOptions::default()
        };
        let mut simulation = Simulation::new(options);
        let mut slices = 0;
        let run = loop {
            slices += 1;
            assert!(slices < 10_000, "it comes to no end");
            let done = simulation.resume(&Budget::none()).expect("it is possible");
            if let Some(SessionEvent::Simulated { run, .. }) = done {
                break run;
            }
        };
        assert!(slices > 3, "{slices}");
        assert_eq!(run.batches().len(), 500);
    }

    #[test]
    fn a_dataset_that_needs_files_is_refused() {
        let options = RunOptions {
            dataset: "folder:/pictures".to_owned(),
            ..RunOptions::default()
        };
        assert!(Simulation::new(options).resume(&Budget::none()).is_err());
    }
}
