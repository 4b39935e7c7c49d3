//! Simulated runs for tests.

use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Run, RunOptions};

/// Simulates a run with these options.
pub fn simulated(options: &RunOptions) -> Run {
    let mut run = Run::default();
    let events = simulate(options, &SyntheticCatalog).expect("sound options");
    events.iter().for_each(|e| run.apply(e));
    run
}
