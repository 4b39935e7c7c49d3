//! Errors of a loader: PyTorch's exceptions, and errors without a counterpart in PyTorch.

use std::borrow::Cow;
use std::fmt;

use loadscope_trace::{BatchId, WorkerId};
use loadscope_words::say;

/// Name of a Python exception type, such as `ValueError`.
///
/// PyTorch programs distinguish errors by type, so the engine keeps the type of every error that PyTorch would raise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionKind {
    name: Cow<'static, str>,
    /// True for a type that cannot be created from a message alone. PyTorch re-raises such an error as RuntimeError.
    needs_arguments: bool,
}

impl ExceptionKind {
    const fn plain(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            needs_arguments: false,
        }
    }

    /// Returns the same type, marked as one that cannot be created from a message alone.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self {
            needs_arguments: true,
            ..self
        }
    }

    /// Python's `AssertionError`.
    pub const ASSERTION_ERROR: Self = Self::plain("AssertionError");
    /// Python's `AttributeError`.
    pub const ATTRIBUTE_ERROR: Self = Self::plain("AttributeError");
    /// Python's `IndexError`.
    pub const INDEX_ERROR: Self = Self::plain("IndexError");
    /// Python's `KeyError`.
    pub const KEY_ERROR: Self = Self::plain("KeyError");
    /// Python's `RuntimeError`.
    pub const RUNTIME_ERROR: Self = Self::plain("RuntimeError");
    /// Python's `StopIteration`.
    pub const STOP_ITERATION: Self = Self::plain("StopIteration");
    /// Python's `TypeError`.
    pub const TYPE_ERROR: Self = Self::plain("TypeError");
    /// Python's `UnboundLocalError`.
    pub const UNBOUND_LOCAL_ERROR: Self = Self::plain("UnboundLocalError");
    /// Python's `ValueError`.
    pub const VALUE_ERROR: Self = Self::plain("ValueError");
    /// Python's `ZeroDivisionError`.
    pub const ZERO_DIVISION_ERROR: Self = Self::plain("ZeroDivisionError");

    /// Returns the type that PyTorch's `ExceptionWrapper.reraise` raises.
    fn passed_on(self) -> Self {
        match self.needs_arguments {
            true => Self::RUNTIME_ERROR,
            false => self,
        }
    }

    /// Returns the name of the type in Python.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl From<&'static str> for ExceptionKind {
    fn from(name: &'static str) -> Self {
        Self::plain(name)
    }
}

impl From<String> for ExceptionKind {
    fn from(name: String) -> Self {
        Self {
            name: Cow::Owned(name),
            needs_arguments: false,
        }
    }
}

impl fmt::Display for ExceptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Error of a loader, from its plan, its dataset or its engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoaderError {
    /// Exception that PyTorch raises in the same place, with its text.
    #[error("{kind}: {message}")]
    Python {
        /// Type of the exception.
        kind: ExceptionKind,
        /// Error message of PyTorch, without the type.
        message: String,
    },
    /// Failure to open a dataset. The text contains the problem, the place and the remedy.
    #[error("{0}")]
    Dataset(String),
    /// Invalid text form of a dataset. The text contains the valid forms.
    #[error("{0}")]
    Spec(String),
    /// Failure of a libtorch operation that the engine needs.
    #[error("{}", say!("libtorch could not {doing}: {message}", doing = .doing, message = .message))]
    Torch {
        /// Operation, as the end of "could not …".
        doing: String,
        /// First line of libtorch's message.
        message: String,
    },
    /// Panic of a dataset or a collate function.
    #[error("panicked: {message}")]
    Panic {
        /// Panic message.
        message: String,
    },
    /// Failure to load a batch. The next batch follows.
    #[error("{cause} ({})", place(*worker, *batch, *sample))]
    Worker {
        /// Worker that failed. `None`: the main process.
        worker: Option<WorkerId>,
        /// Failed batch.
        batch: BatchId,
        /// Dataset index of the failed sample, if there is a single one.
        sample: Option<usize>,
        /// Cause of the failure.
        cause: Box<LoaderError>,
    },
    /// Failure to copy a batch to page-locked memory. The next batch follows.
    #[error("{cause} (in the pin thread, {batch})")]
    Pinning {
        /// Failed batch.
        batch: BatchId,
        /// Cause of the failure.
        cause: Box<LoaderError>,
    },
    /// Unexpected end of workers. Their batches are lost, and the others follow.
    #[error(
        "RuntimeError: DataLoader worker (pid(s) {}) exited unexpectedly: {cause}",
        numbers(workers)
    )]
    WorkerDied {
        /// Thread ids of the operating system. 0: unknown.
        workers: Vec<u64>,
        /// Cause, in PyTorch's words.
        cause: String,
    },
    /// Failure to start a thread. The threads that were already started have ended.
    #[error("{}", say!("{what} could not be started: {message}. {remedy}", what = .what, message = .message, remedy = .remedy))]
    Thread {
        /// Name of the thread: `worker 3 of 8`, counted from 1.
        what: String,
        /// Cause of the failure.
        message: String,
        /// Advice to the user.
        remedy: &'static str,
    },
    /// Interrupt of a wait for a batch. Python's `KeyboardInterrupt`.
    #[error("interrupted")]
    Interrupted,
    /// End of all workers before the last batch.
    #[error("{}", say!("the workers ended before all batches arrived. This is a bug in Loadscope."))]
    WorkersGone,
}

fn numbers(list: &[u64]) -> String {
    let list: Vec<String> = list.iter().map(u64::to_string).collect();
    list.join(", ")
}

fn place(worker: Option<WorkerId>, batch: BatchId, sample: Option<usize>) -> String {
    let mut place = match worker {
        Some(worker) => format!("in worker {worker}"),
        None => "in the main process".to_owned(),
    };
    if let Some(sample) = sample {
        place.push_str(&format!(", sample {sample}"));
    }
    format!("{place}, {batch}")
}

impl LoaderError {
    /// Creates an error that PyTorch also raises.
    pub fn python(kind: ExceptionKind, message: impl Into<String>) -> Self {
        Self::Python {
            kind,
            message: message.into(),
        }
    }

    /// Creates a `RuntimeError`.
    pub fn runtime(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::RUNTIME_ERROR, message)
    }

    /// Creates a `TypeError`.
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::TYPE_ERROR, message)
    }

    /// Creates a `ValueError`.
    pub fn value_error(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::VALUE_ERROR, message)
    }

    /// Returns the type that Python code would receive: `RuntimeError` for errors without a counterpart in PyTorch.
    pub fn exception_kind(&self) -> ExceptionKind {
        match self {
            Self::Python { kind, .. } => kind.clone(),
            Self::Dataset(_) | Self::Spec(_) => ExceptionKind::VALUE_ERROR,
            Self::Worker {
                worker: None,
                cause,
                ..
            } => cause.exception_kind(),
            Self::Worker { cause, .. } | Self::Pinning { cause, .. } => {
                cause.exception_kind().passed_on()
            }
            Self::Interrupted => ExceptionKind::from("KeyboardInterrupt"),
            Self::Torch { .. }
            | Self::Panic { .. }
            | Self::Thread { .. }
            | Self::WorkerDied { .. }
            | Self::WorkersGone => ExceptionKind::RUNTIME_ERROR,
        }
    }

    /// Returns `str(exception)` as in Python: without the type. Errors from a worker are wrapped as by PyTorch's `ExceptionWrapper`.
    pub fn python_message(&self) -> String {
        match self {
            Self::Python { message, .. } => message.clone(),
            Self::Worker {
                worker: None,
                cause,
                ..
            } => cause.python_message(),
            Self::Worker {
                worker: Some(worker),
                cause,
                ..
            } => cause.wrapped(&format!("in DataLoader worker process {worker}")),
            // PyTorch names CUDA's current device. Memory that is locked without a GPU has none, so the default 0 is used.
            Self::Pinning { cause, .. } => cause.wrapped("in pin memory thread for device 0"),
            Self::WorkerDied { workers, .. } => format!(
                "DataLoader worker (pid(s) {}) exited unexpectedly",
                numbers(workers)
            ),
            other => other.to_string(),
        }
    }

    /// Returns the text of PyTorch's `ExceptionWrapper`, which adds the place of the error.
    fn wrapped(&self, place: &str) -> String {
        let kind = self.exception_kind();
        let text = self.python_message();
        format!("Caught {kind} {place}.\nOriginal {kind}: {text}")
    }

    /// Returns true for a map-style dataset's `StopIteration`. PyTorch silently ends the epoch on it.
    pub fn is_stop_iteration(&self) -> bool {
        self.exception_kind() == ExceptionKind::STOP_ITERATION
    }
}

impl From<SampleError> for LoaderError {
    fn from(error: SampleError) -> Self {
        let kind = ExceptionKind::from(error.kind);
        let kind = if error.needs_arguments {
            kind.with_arguments()
        } else {
            kind
        };
        Self::python(kind, error.message)
    }
}

/// Exception of a dataset that cannot load a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleError {
    /// Type of the exception in Python: `IndexError`, `OSError`.
    pub kind: String,
    /// Problem, place and remedy.
    pub message: String,
    /// True for a type that cannot be created from a message alone. PyTorch re-raises such an error as RuntimeError.
    pub needs_arguments: bool,
}

impl SampleError {
    /// Creates an error of a Python type.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            needs_arguments: false,
        }
    }

    /// Returns the same error, marked as one whose type cannot be created from a message alone.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self {
            needs_arguments: true,
            ..self
        }
    }

    /// Creates an `IndexError` for an index beyond the end.
    pub fn out_of_range(index: usize, len: usize) -> Self {
        Self::new(
            "IndexError",
            format!("index {index} is out of range for a dataset of {len} samples"),
        )
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for SampleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_errors_have_pythons_text() {
        let error = LoaderError::value_error("timeout option should be non-negative");
        assert_eq!(
            error.to_string(),
            "ValueError: timeout option should be non-negative"
        );
        assert_eq!(error.exception_kind().as_str(), "ValueError");
    }
}
