//! Phases of a training step, from the sampled stacks of the main process.

use std::collections::HashMap;

use loadscope_words::say;

use crate::event::Function;
use crate::stack_log::Call;
use crate::{Profile, Run};

/// Part of a training step, as time of the main process. On a GPU, the work of a phase can run later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepPhase {
    /// Copy of a batch to the device.
    Copy,
    /// Modules and functions of `torch.nn`, also losses.
    Forward,
    /// `backward()` and `torch.autograd.grad()`.
    Backward,
    /// Optimizer, learning rate, gradient clipping and scaling.
    Optimizer,
    /// Everything else, such as logging.
    Other,
}

impl StepPhase {
    /// All phases, in their order in a step.
    pub const ALL: [Self; 5] = [
        Self::Copy,
        Self::Forward,
        Self::Backward,
        Self::Optimizer,
        Self::Other,
    ];

    /// Returns the name for scripts.
    pub fn id(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Optimizer => "optimizer",
            Self::Other => "other",
        }
    }

    /// Returns the name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Copy => say!("Copy to the device"),
            Self::Forward => say!("Forward"),
            Self::Backward => say!("Backward"),
            Self::Optimizer => say!("Optimizer"),
            Self::Other => say!("Other code"),
        }
    }
}

/// Number of samples per phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepPhases {
    counts: [u64; StepPhase::ALL.len()],
}

impl StepPhases {
    /// Returns the phases with their numbers of samples, in the order of [`StepPhase::ALL`].
    pub fn counts(&self) -> impl Iterator<Item = (StepPhase, u64)> {
        StepPhase::ALL.into_iter().zip(self.counts)
    }

    /// Returns the number of samples.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns true if a phase other than [`StepPhase::Other`] has samples.
    pub fn is_known(&self) -> bool {
        let known = |(phase, count): (StepPhase, u64)| phase != StepPhase::Other && count > 0;
        self.counts().any(known)
    }

    /// Counts the samples of the training steps of a run.
    pub fn of(run: &Run, training: &Profile) -> Self {
        let mut phases = Self::default();
        let mut finder = PhaseFinder::new(run);
        for (stack, count) in training.counts() {
            phases.add(finder.phase(stack), count);
        }
        phases
    }

    fn add(&mut self, phase: StepPhase, count: u64) {
        let all = StepPhase::ALL.iter().zip(&mut self.counts);
        for (_, sum) in all.filter(|(one, _)| **one == phase) {
            *sum += count;
        }
    }
}

/// Finds the phases of sampled stacks.
pub struct PhaseFinder<'a> {
    run: &'a Run,
    /// Lines of the recorded files.
    sources: HashMap<&'a str, Option<Vec<&'a str>>>,
}

impl<'a> PhaseFinder<'a> {
    /// Creates a finder for the stacks of a run.
    pub fn new(run: &'a Run) -> Self {
        Self {
            run,
            sources: HashMap::new(),
        }
    }

    /// Returns the phase of a stack.
    pub fn phase(&mut self, stack: u32) -> StepPhase {
        let calls: Vec<Call<'a>> = self.run.stacks().calls(stack).collect();
        let mut own = calls.iter();
        let innermost_call = own.find(|call| call.function.waits_for().is_none());
        let is_copy = innermost_call.is_some_and(|call| self.copies(call));
        innermost(&calls, is_copy.then_some(StepPhase::Copy))
    }

    /// Returns true for a line of the user's code that calls `to`, `cuda` or `copy_`. These methods of a tensor are no Python functions.
    fn copies(&mut self, call: &Call<'a>) -> bool {
        let (file, run) = (call.function.file.as_str(), self.run);
        if !call.function.is_user() {
            return false;
        }
        let lines = self.sources.entry(file);
        let lines = lines.or_insert_with(|| run.source(file).map(|text| text.lines().collect()));
        let at = (call.line as usize).checked_sub(1);
        let line = at.and_then(|at| lines.as_ref()?.get(at));
        line.is_some_and(|line| is_copy(line))
    }
}

/// Returns true for a line that copies a tensor. `to(torch.float32)` only converts it.
fn is_copy(line: &str) -> bool {
    let is_place =
        |argument: &str| !argument.starts_with("torch.") || argument.starts_with("torch.device");
    let has_place = line.split(".to(").skip(1).any(is_place);
    has_place || line.contains(".cuda(") || line.contains(".copy_(")
}

/// Returns the phase of the innermost call that has one. The forward pass contains its copies, and the backward pass its recomputed forward
/// passes (gradient checkpointing).
fn innermost(calls: &[Call<'_>], copy: Option<StepPhase>) -> StepPhase {
    use StepPhase::{Backward, Copy, Forward, Optimizer};
    let mut found = copy;
    // `optimizer.step(closure)` calls the forward and the backward pass.
    let mut is_in_closure = false;
    for call in calls {
        is_in_closure |= is_closure(call.function);
        let next = phase_of(call.function).filter(|next| *next != Optimizer || !is_in_closure);
        found = match (found, next) {
            (None, next) => next,
            (Some(Copy), Some(Forward)) => Some(Forward),
            (Some(Copy | Forward), Some(Backward)) => Some(Backward),
            (found, _) => found,
        };
    }
    found.unwrap_or(StepPhase::Other)
}

/// Returns true for a function that an optimizer calls to compute the loss, of the user or of Lightning.
fn is_closure(function: &Function) -> bool {
    let name = function.name.rsplit('.').next().unwrap_or_default();
    name.contains("closure") || function.file.ends_with("loops/optimization/automatic.py")
}

/// Returns the phase of a function of PyTorch, or of a library for training.
fn phase_of(function: &Function) -> Option<StepPhase> {
    /// Functions of libraries that copy a batch.
    const COPIES: [&str; 8] = [
        "to",
        "cuda",
        "to_device",
        "send_to_device",
        "batch_to_device",
        "move_data_to_device",
        "_prepare_input",
        "_prepare_inputs",
    ];
    let file = function.file.as_str();
    let name = function.name.rsplit('.').next().unwrap_or_default();
    let ends = |suffix: &str| file.ends_with(suffix);
    match name {
        "_call_impl" | "_wrapped_call_impl" | "__call__" if ends("torch/nn/modules/module.py") => {
            Some(StepPhase::Forward)
        }
        "backward" | "grad" if ends("torch/_tensor.py") || ends("torch/autograd/__init__.py") => {
            Some(StepPhase::Backward)
        }
        "_engine_run_backward" => Some(StepPhase::Backward),
        "zero_grad" => Some(StepPhase::Optimizer),
        _ if ends("torch/nn/functional.py") => Some(StepPhase::Forward),
        _ if file.contains("/torch/optim/")
            || ends("torch/nn/utils/clip_grad.py")
            || ends("/amp/grad_scaler.py") =>
        {
            Some(StepPhase::Optimizer)
        }
        _ if COPIES.contains(&name) => Some(StepPhase::Copy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the phase of a stack of functions and files, the innermost first.
    fn phase(calls: &[(&str, &str)], is_copy: bool) -> StepPhase {
        let function = |(name, file): &(&str, &str)| Function {
            name: (*name).to_owned(),
            file: (*file).to_owned(),
        };
        let functions: Vec<Function> = calls.iter().map(function).collect();
        let calls = functions.iter().map(|function| Call {
            stack: 0,
            function,
            line: 1,
        });
        let calls: Vec<Call<'_>> = calls.collect();
        innermost(&calls, is_copy.then_some(StepPhase::Copy))
    }

    const MAIN: (&str, &str) = ("main", "/u/train.py");
    const CALL: (&str, &str) = (
        "Module._call_impl",
        "/v/site-packages/torch/nn/modules/module.py",
    );
    const BACKWARD: (&str, &str) = ("Tensor.backward", "/v/site-packages/torch/_tensor.py");
    const STEP: (&str, &str) = (
        "Optimizer.profile_hook_step.<locals>.wrapper",
        "/v/site-packages/torch/optim/optimizer.py",
    );

    #[test]
    fn the_innermost_known_call_is_the_phase() {
        let forward = ("Net.forward", "/u/net.py");
        assert_eq!(phase(&[MAIN], false), StepPhase::Other);
        assert_eq!(phase(&[MAIN], true), StepPhase::Copy);
        assert_eq!(phase(&[forward, CALL, MAIN], false), StepPhase::Forward);
        assert_eq!(phase(&[BACKWARD, MAIN], false), StepPhase::Backward);
        assert_eq!(
            phase(&[("step", "/u/my_sgd.py"), STEP, MAIN], false),
            StepPhase::Optimizer
        );
    }

    #[test]
    fn a_pass_contains_its_copies_and_recomputations() {
        let forward = ("Net.forward", "/u/net.py");
        assert_eq!(phase(&[forward, CALL, MAIN], true), StepPhase::Forward);
        assert_eq!(
            phase(&[forward, CALL, BACKWARD, MAIN], false),
            StepPhase::Backward
        );
    }

    #[test]
    fn a_closure_is_not_the_optimizer() {
        let closure = ("main.<locals>.closure", "/u/train.py");
        let lightning = (
            "Closure.closure",
            "/v/site-packages/lightning/pytorch/loops/optimization/automatic.py",
        );
        let step = ("training_step", "/u/net.py");
        for outside in [closure, lightning] {
            assert_eq!(phase(&[step, outside, STEP, MAIN], false), StepPhase::Other);
            assert_eq!(
                phase(&[CALL, step, outside, STEP], false),
                StepPhase::Forward
            );
            assert_eq!(
                phase(&[BACKWARD, outside, STEP], false),
                StepPhase::Backward
            );
        }
    }

    #[test]
    fn a_conversion_is_no_copy() {
        assert!(is_copy("x = x.to(device, torch.float64)") && is_copy("x = x.cuda()"));
        assert!(is_copy(
            "x, y = x.to(torch.float32), y.to(torch.device('cuda'))"
        ));
        assert!(!is_copy("x = x.to(torch.float32)") && !is_copy("x = goto(device)"));
    }

    #[test]
    fn libraries_copy_batches() {
        let to = (
            "BatchEncoding.to",
            "/v/site-packages/transformers/tokenization_utils_base.py",
        );
        assert_eq!(phase(&[to, MAIN], false), StepPhase::Copy);
        assert_eq!(phase(&[to, CALL, MAIN], false), StepPhase::Forward);
    }
}
