//! State of the Diagnose workspace without its window: causes of waits, forecasts for other settings, their
//! verification, comparison with another run.

use std::sync::Arc;

use loadscope_trace::Run;

use loadscope_plan::forecast::Setting;
use loadscope_words::say;

pub mod apply;
pub mod compared;
pub mod run_analysis;
pub mod what_if;

pub use apply::Check;

/// Choices of the user in the Diagnose workspace.
#[derive(Clone, Debug, Default)]
pub struct Diagnose {
    /// Common values of all settings in the table. `None` means the recorded ones.
    pub base: Option<Setting>,
    /// num_workers and prefetch_factor of the selected setting. `None` means the best one.
    pub picked: Option<(usize, usize)>,
    /// The forecast that this run verifies.
    pub check: Option<Check>,
    /// The run that is compared with this one.
    pub other: Option<ComparedRun>,
}

/// A run to compare with.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// Identity among all runs that were compared.
    pub number: u64,
    /// Display name.
    pub name: String,
    /// Data of the run.
    pub run: Arc<Run>,
    /// True if its file is truncated.
    pub cut: bool,
    /// Role in the comparison.
    pub role: Role,
}

impl ComparedRun {
    /// Returns the names of both runs, the earlier one first.
    pub fn names(&self) -> [String; 2] {
        let (name, this) = (self.name.clone(), say!("This run").to_owned());
        match self.role {
            Role::Before | Role::Chosen => [name, this],
            Role::After => [this, name],
        }
    }
}

/// Role of another run in the comparison with the shown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The other run came before a change, and the shown run is the outcome.
    Before,
    /// The user chose the other run.
    #[default]
    Chosen,
    /// The other run is the outcome of a change to the shown one.
    After,
}
