//! What the Diagnose workspace is about, apart from how it is shown: why training waits, what other settings would bring,
//! whether that came true, and how another run compares. No window here.

use std::sync::Arc;

use loadscope_trace::Run;

use loadscope_plan::forecast::Setting;
use loadscope_words::say;

pub mod apply;
pub mod compared;
pub mod look;
pub mod what_if;

pub use apply::Check;

/// What is chosen in the Diagnose workspace.
#[derive(Clone, Debug, Default)]
pub struct Diagnose {
    /// What all settings of the table have in common; `None`: as it was recorded.
    pub base: Option<Setting>,
    /// num_workers and prefetch_factor of the setting that is looked at; `None`: the best one.
    pub picked: Option<(usize, usize)>,
    /// The forecast that this run is the outcome of.
    pub check: Option<Check>,
    /// The run that this one is compared with.
    pub other: Option<Other>,
}

/// A run to compare with.
#[derive(Clone, Debug)]
pub struct Other {
    /// Tells it from those that stood here before.
    pub number: u64,
    /// What it is called.
    pub name: String,
    /// What happened in it.
    pub run: Arc<Run>,
    /// True if its file ends in the middle.
    pub cut: bool,
    /// Its part in the comparison.
    pub role: Role,
}

impl Other {
    /// The names of both runs, the earlier one first.
    pub fn names(&self) -> [String; 2] {
        let (name, this) = (self.name.clone(), say!("This run").to_owned());
        match self.role {
            Role::Before | Role::Chosen => [name, this],
            Role::After => [this, name],
        }
    }
}

/// The part of another run in the comparison with the one that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The run before a change, of which the shown one is the outcome.
    Before,
    /// A run that the user chose.
    #[default]
    Chosen,
    /// The outcome of a change to the shown one.
    After,
}
