//! What a run was asked to do. The form in the window, the command line and a TOML file share [`RunOptions`].

use serde::{Deserialize, Serialize};

use crate::Stage;

/// The arguments of `DataLoader` under PyTorch's names, and the training loop around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// `digits`, `folder:PATH` or `synthetic:key=value,…`.
    pub dataset: String,
    /// Side of the square to which the pictures of a folder are resized, pixels.
    pub image_size: u32,
    /// Time and faults added to the samples on purpose, `cost_ms=10,tail=0.01:40`; empty: none.
    pub extra_cost: String,
    /// Samples a batch.
    pub batch_size: usize,
    /// A new random order in every epoch.
    pub shuffle: bool,
    /// Seed of `generator`; `None`: a fresh seed for every run.
    pub seed: Option<u64>,
    /// Worker threads; 0: the trainer's thread fetches by itself.
    pub num_workers: usize,
    /// Batches in flight per worker; `None`: 2.
    pub prefetch_factor: Option<usize>,
    /// Drop a last batch that is not full.
    pub drop_last: bool,
    /// Hand batches out in the order of the sampler.
    pub in_order: bool,
    /// Copy batches to page-locked memory.
    pub pin_memory: PinMemory,
    /// Keep the workers alive between epochs.
    pub persistent_workers: bool,
    /// How often the dataset is gone through.
    pub epochs: u32,
    /// How long the simulated training step takes, ms.
    pub step_ms: f64,
    /// What to do when a sample fails.
    pub on_error: OnError,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            dataset: "digits".to_owned(),
            image_size: 224,
            extra_cost: String::new(),
            batch_size: 32,
            shuffle: false,
            seed: None,
            num_workers: 0,
            prefetch_factor: None,
            drop_last: false,
            in_order: true,
            pin_memory: PinMemory::Off,
            persistent_workers: false,
            epochs: 1,
            step_ms: 0.0,
            on_error: OnError::Stop,
        }
    }
}

impl RunOptions {
    /// The value of `prefetch_factor` that is in force: PyTorch's default is 2, and without workers there is none.
    pub fn prefetch(&self) -> usize {
        if self.num_workers == 0 {
            0
        } else {
            self.prefetch_factor.unwrap_or(2)
        }
    }

    /// The most batches that may be in flight or held: `prefetch_factor × num_workers`.
    pub fn window(&self) -> usize {
        self.prefetch().saturating_mul(self.num_workers)
    }

    /// The line of Python that makes the same loader. Arguments that have PyTorch's default are left out.
    pub fn python_line(&self) -> String {
        let mut args = vec![
            "dataset".to_owned(),
            format!("batch_size={}", self.batch_size),
        ];
        let mut flag = |on: bool, text: &str| {
            if on {
                args.push(text.to_owned());
            }
        };
        flag(self.shuffle, "shuffle=True");
        flag(
            self.num_workers > 0,
            &format!("num_workers={}", self.num_workers),
        );
        if let Some(factor) = self.prefetch_factor {
            flag(true, &format!("prefetch_factor={factor}"));
        }
        flag(self.pin_memory != PinMemory::Off, "pin_memory=True");
        flag(self.drop_last, "drop_last=True");
        flag(self.persistent_workers, "persistent_workers=True");
        flag(!self.in_order, "in_order=False");
        if let Some(seed) = self.seed {
            flag(
                true,
                &format!("generator=torch.Generator().manual_seed({seed})"),
            );
        }
        format!("DataLoader({})", args.join(", "))
    }
}

/// `pin_memory`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinMemory {
    /// No pinning.
    #[default]
    Off,
    /// CUDA's page-locked memory; without a GPU a warning and no pinning, as in PyTorch.
    On,
    /// Pooled buffers locked with `mlock`: real page-locked memory without a GPU. Not something PyTorch has.
    Mlock,
}

/// What to do when a sample fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// End the run, as a training loop without `try` does.
    #[default]
    Stop,
    /// Note it and go on with the next batch.
    Continue,
}

/// How a run introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunInfo {
    /// What it was asked to do.
    pub options: RunOptions,
    /// Who tells.
    pub origin: Origin,
    /// The dataset in words: `1,797 handwritten digits`.
    pub dataset: String,
    /// Number of samples; `None` if it is not known.
    pub dataset_len: Option<u64>,
    /// `len(loader)`; `None` if it is not known.
    pub batches_per_epoch: Option<u64>,
    /// Names of the labels.
    pub classes: Vec<String>,
    /// Rank within the training job.
    pub rank: u32,
    /// Number of ranks.
    pub world_size: u32,
    /// Processor cores that the program may use.
    pub cores: u32,
    /// Stages that the source measures; the others are "not measured", which is not zero.
    pub measured: Vec<Stage>,
    /// Whether batches really go to page-locked memory, and how.
    pub pinning: Option<String>,
    /// Wall-clock time of the clock anchor, ns since 1970.
    pub started_unix_ns: i64,
}

/// Who tells what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The embedded engine ran it.
    #[default]
    Engine,
    /// The scheduler with a virtual clock.
    Simulation,
    /// A PyTorch program of this version.
    Pytorch(String),
    /// Converted from what another tool wrote.
    Import(String),
}

impl Origin {
    /// In a few words.
    pub fn label(&self) -> String {
        match self {
            Self::Engine => "embedded engine".to_owned(),
            Self::Simulation => "simulation".to_owned(),
            Self::Pytorch(version) => format!("PyTorch {version}"),
            Self::Import(from) => format!("imported from {from}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_line_leaves_defaults_out() {
        assert_eq!(
            RunOptions::default().python_line(),
            "DataLoader(dataset, batch_size=32)"
        );
        let options = RunOptions {
            shuffle: true,
            num_workers: 4,
            seed: Some(7),
            in_order: false,
            pin_memory: PinMemory::On,
            ..RunOptions::default()
        };
        assert_eq!(
            options.python_line(),
            "DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4, pin_memory=True, \
             in_order=False, generator=torch.Generator().manual_seed(7))"
        );
        assert_eq!(options.window(), 8);
    }
}
