//! Checks of PyTorch's constructor, in the same order and with the same messages.

use super::LoaderOptions;
use crate::error::{ExceptionKind, LoaderError};
use crate::limits;
use crate::sampler::{PyArg, boolean_argument, positive_int_argument};
use loadscope_words::say;

/// Arguments of `DataLoader(dataset, …)` as given, before any check. The fields have PyTorch's names and defaults.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "they are PyTorch's names and mean what they mean there"
)]
pub struct Arguments {
    /// True for an `IterableDataset`.
    pub iterable: bool,
    pub batch_size: PyArg,
    pub shuffle: PyArg,
    /// `PyArg::None`, or any other value for a sampler.
    pub sampler: PyArg,
    pub batch_sampler: PyArg,
    pub num_workers: PyArg,
    pub drop_last: PyArg,
    pub timeout: PyArg,
    pub multiprocessing_context: PyArg,
    pub prefetch_factor: PyArg,
    pub persistent_workers: PyArg,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            iterable: false,
            batch_size: PyArg::Int(1),
            shuffle: PyArg::None,
            sampler: PyArg::None,
            batch_sampler: PyArg::None,
            num_workers: PyArg::Int(0),
            drop_last: PyArg::Bool(false),
            timeout: PyArg::Int(0),
            multiprocessing_context: PyArg::None,
            prefetch_factor: PyArg::None,
            persistent_workers: PyArg::Bool(false),
        }
    }
}

/// Start methods of worker processes in Python.
const START_METHODS: [&str; 3] = ["fork", "spawn", "forkserver"];

/// Attributes of a loader that cannot be assigned.
const FIXED: [&str; 6] = [
    "batch_size",
    "batch_sampler",
    "sampler",
    "drop_last",
    "dataset",
    "persistent_workers",
];

impl Arguments {
    /// Returns the arguments of these options.
    pub fn of(options: &LoaderOptions) -> Self {
        let int = |v: usize| PyArg::Int(i64::try_from(v).unwrap_or(i64::MAX));
        Self {
            num_workers: int(options.num_workers),
            prefetch_factor: options.prefetch_factor.map_or(PyArg::None, int),
            persistent_workers: PyArg::Bool(options.persistent_workers),
            timeout: PyArg::Float(options.timeout),
            ..Self::default()
        }
    }

    /// Performs PyTorch's checks.
    ///
    /// # Errors
    /// ValueError or TypeError with PyTorch's message, from the first failed check.
    pub fn check(&self) -> Result<(), LoaderError> {
        let workers = self.check_workers()?;
        self.check_context(workers)?;
        if self.iterable {
            self.check_iterable()?;
        } else if self.sampler != PyArg::None && self.shuffle.is_truthy() {
            return refuse("sampler option is mutually exclusive with shuffle");
        }
        self.check_batching()
    }

    fn check_workers(&self) -> Result<f64, LoaderError> {
        let workers = number(&self.num_workers).unwrap_or(0.0);
        if workers < 0.0 {
            return refuse(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
            );
        }
        if workers > limits::WORKERS as f64 {
            let remedy = say!("Use fewer workers.");
            return refuse(limits::too_much(
                "num_workers",
                limits::grouped(limits::WORKERS as u64),
                &self.num_workers,
                remedy,
            ));
        }
        if number(&self.timeout).is_some_and(|t| t < 0.0) {
            return refuse("timeout option should be non-negative");
        }
        match number(&self.prefetch_factor) {
            // PyTorch's message lacks this space, too.
            Some(_) if workers == 0.0 => {
                return refuse(
                    "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 \
                     to enable multiprocessing, otherwise set prefetch_factor to None.",
                );
            }
            Some(factor) if factor < 0.0 => {
                return refuse("prefetch_factor option should be non-negative");
            }
            _ => {}
        }
        if self.persistent_workers.is_truthy() && workers == 0.0 {
            return refuse("persistent_workers option needs num_workers > 0");
        }
        Ok(workers)
    }

    /// Checks the start method, although threads have none, so that the same arguments also work in PyTorch.
    fn check_context(&self, workers: f64) -> Result<(), LoaderError> {
        let context = &self.multiprocessing_context;
        match context {
            PyArg::None => Ok(()),
            _ if workers == 0.0 => refuse(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), \
                 but got num_workers=0",
            ),
            PyArg::Str(method) if START_METHODS.contains(&method.as_str()) => Ok(()),
            PyArg::Str(_) => refuse(format!(
                "multiprocessing_context option should specify a valid start method in \
                 ['fork', 'spawn', 'forkserver'], but got multiprocessing_context={}",
                context.repr()
            )),
            _ => Err(LoaderError::type_error(format!(
                "multiprocessing_context option should be a valid context object or a string specifying \
                 the start method, but got multiprocessing_context={}",
                context.repr()
            ))),
        }
    }

    fn check_iterable(&self) -> Result<(), LoaderError> {
        let unexpected = |name: &str, value: &PyArg| {
            refuse(format!(
                "DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            ))
        };
        // PyTorch tests `shuffle not in {False, None}`, so 0 passes and 1 does not.
        if self.shuffle != PyArg::None && number(&self.shuffle) != Some(0.0) {
            return unexpected("shuffle", &self.shuffle);
        }
        if self.sampler != PyArg::None {
            return unexpected("sampler", &self.sampler);
        }
        if self.batch_sampler != PyArg::None {
            return unexpected("batch_sampler", &self.batch_sampler);
        }
        Ok(())
    }

    fn check_batching(&self) -> Result<(), LoaderError> {
        if self.batch_sampler != PyArg::None {
            let others = number(&self.batch_size) != Some(1.0)
                || self.shuffle.is_truthy()
                || self.sampler != PyArg::None
                || self.drop_last.is_truthy();
            if others {
                return refuse(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
                );
            }
            return Ok(());
        }
        match &self.batch_size {
            PyArg::None if self.drop_last.is_truthy() => refuse(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
            ),
            PyArg::None => Ok(()),
            size => {
                positive_int_argument("batch_size", size, false)?;
                boolean_argument("drop_last", &self.drop_last, ExceptionKind::VALUE_ERROR)?;
                Ok(())
            }
        }
    }
}

/// Checks that an attribute of an existing loader may be assigned. The attributes in `FIXED` may not.
///
/// # Errors
/// ValueError with PyTorch's message.
pub fn check_assignable(attribute: &str) -> Result<(), LoaderError> {
    if FIXED.contains(&attribute) {
        return refuse(format!(
            "{attribute} attribute should not be set after DataLoader is initialized"
        ));
    }
    Ok(())
}

/// Returns PyTorch's warning if there are more workers than processors that the program may use.
pub fn too_many_workers(num_workers: usize, processors: usize) -> Option<String> {
    (num_workers > processors).then(|| {
        format!(
            "This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker \
             in current system is {processors}, which is smaller than what this DataLoader is going to create. \
             Please be aware that excessive worker creation might get DataLoader running slow or even freeze, \
             lower the worker number to avoid potential slowness/freeze if necessary."
        )
    })
}

fn refuse<T>(message: impl Into<String>) -> Result<T, LoaderError> {
    Err(LoaderError::value_error(message))
}

/// Returns the value as a number. In Python bools are numbers.
fn number(arg: &PyArg) -> Option<f64> {
    match arg {
        PyArg::Bool(v) => Some(f64::from(u8::from(*v))),
        PyArg::Int(v) => Some(*v as f64),
        PyArg::Float(v) => Some(*v),
        _ => None,
    }
}
