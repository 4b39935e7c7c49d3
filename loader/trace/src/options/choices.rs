//! Options with a few named values.

use serde::{Deserialize, Serialize};

/// Values of `pin_memory`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinMemory {
    /// No pinning.
    #[default]
    Off,
    /// CUDA's page-locked memory. Without a GPU, there is a warning and no pinning, as in PyTorch.
    On,
    /// Pooled buffers locked with `mlock`: page-locked memory without a GPU. PyTorch does not have this.
    Mlock,
}

impl PinMemory {
    /// Returns the value in Python. `mlock`, which PyTorch does not have, keeps its name.
    pub fn python(self) -> &'static str {
        match self {
            Self::Off => "False",
            Self::On => "True",
            Self::Mlock => "mlock",
        }
    }
}

/// Reaction to a failed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// End the run, like a training loop without `try`.
    #[default]
    Stop,
    /// Report the error and continue with the next batch.
    Continue,
    /// Leave the sample out of its batch, and report the total at the end.
    Skip,
    /// Leave the sample out of its batch, and report each error.
    Log,
}

impl OnError {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Continue => "continue",
            Self::Skip => "skip",
            Self::Log => "log",
        }
    }
}
