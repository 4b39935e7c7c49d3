//! What PyTorch raises, and what it has no counterpart for.

use std::borrow::Cow;
use std::fmt;

use loadscope_trace::{BatchId, WorkerId};
use loadscope_words::say;

/// The name of a Python exception type, such as `ValueError`.
///
/// PyTorch's callers tell errors apart by type, so the engine keeps the type of every error that PyTorch would raise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionKind {
    name: Cow<'static, str>,
    /// True for a type that cannot be made from a message alone; workers hand it on as a RuntimeError.
    needs_arguments: bool,
}

impl ExceptionKind {
    const fn plain(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            needs_arguments: false,
        }
    }

    /// The same type, which cannot be made from a message alone.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self {
            needs_arguments: true,
            ..self
        }
    }

    /// `AssertionError`
    pub const ASSERTION_ERROR: Self = Self::plain("AssertionError");
    /// `AttributeError`
    pub const ATTRIBUTE_ERROR: Self = Self::plain("AttributeError");
    /// `IndexError`
    pub const INDEX_ERROR: Self = Self::plain("IndexError");
    /// `KeyError`
    pub const KEY_ERROR: Self = Self::plain("KeyError");
    /// `RuntimeError`
    pub const RUNTIME_ERROR: Self = Self::plain("RuntimeError");
    /// `StopIteration`
    pub const STOP_ITERATION: Self = Self::plain("StopIteration");
    /// `TypeError`
    pub const TYPE_ERROR: Self = Self::plain("TypeError");
    /// `UnboundLocalError`
    pub const UNBOUND_LOCAL_ERROR: Self = Self::plain("UnboundLocalError");
    /// `ValueError`
    pub const VALUE_ERROR: Self = Self::plain("ValueError");
    /// `ZeroDivisionError`
    pub const ZERO_DIVISION_ERROR: Self = Self::plain("ZeroDivisionError");

    /// The type that arrives where a worker or the pin thread passed the error on.
    fn passed_on(self) -> Self {
        match self.needs_arguments {
            true => Self::RUNTIME_ERROR,
            false => self,
        }
    }

    /// The name of the type as Python writes it.
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

/// An error of a loader: of its plan, its dataset or its engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoaderError {
    /// What PyTorch raises in the same place, with its wording.
    #[error("{kind}: {message}")]
    Python {
        /// Type of the exception.
        kind: ExceptionKind,
        /// PyTorch's text.
        message: String,
    },
    /// A dataset could not be opened. Tells what is wrong, where, and what to do.
    #[error("{0}")]
    Dataset(String),
    /// The text that names a dataset could not be understood. Tells what is possible.
    #[error("{0}")]
    Spec(String),
    /// libtorch refused an operation that the engine relies on.
    #[error("{}", say!("libtorch could not {doing}: {message}", doing = .doing, message = .message))]
    Torch {
        /// What was tried, as the end of "could not …".
        doing: String,
        /// The first line of libtorch's message.
        message: String,
    },
    /// A dataset or a collate function panicked.
    #[error("panicked: {message}")]
    Panic {
        /// What it said.
        message: String,
    },
    /// A batch could not be made. The next one still comes.
    #[error("{cause} ({})", place(*worker, *batch, *sample))]
    Worker {
        /// The worker that tried. `None`: the main process.
        worker: Option<WorkerId>,
        /// Which batch.
        batch: BatchId,
        /// The dataset index that failed, if one sample did.
        sample: Option<usize>,
        /// Why.
        cause: Box<LoaderError>,
    },
    /// A batch that a worker made could not be moved to page-locked memory. The next one still comes.
    #[error("{cause} (in the pin thread, {batch})")]
    Pinning {
        /// Which batch.
        batch: BatchId,
        /// Why.
        cause: Box<LoaderError>,
    },
    /// A worker ended without being asked to. The batches given to it are lost; the others still come.
    #[error(
        "RuntimeError: DataLoader worker (pid(s) {}) exited unexpectedly: {cause}",
        numbers(workers)
    )]
    WorkerDied {
        /// The threads' numbers in the operating system; 0 = unknown.
        workers: Vec<u64>,
        /// How, in PyTorch's words.
        cause: String,
    },
    /// A thread could not be started. Those that had been started have ended.
    #[error("{}", say!("{what} could not be started: {message}. {remedy}", what = .what, message = .message, remedy = .remedy))]
    Thread {
        /// Which: `worker 3 of 8`, the first being number 1.
        what: String,
        /// Why.
        message: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The loader was asked to stop while it waited for a batch. Python's `KeyboardInterrupt`.
    #[error("interrupted")]
    Interrupted,
    /// All workers are gone although batches are missing.
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
    /// An error that PyTorch raises, too.
    pub fn python(kind: ExceptionKind, message: impl Into<String>) -> Self {
        Self::Python {
            kind,
            message: message.into(),
        }
    }

    /// `RuntimeError: …`
    pub fn runtime(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::RUNTIME_ERROR, message)
    }

    /// `TypeError: …`
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::TYPE_ERROR, message)
    }

    /// `ValueError: …`
    pub fn value_error(message: impl Into<String>) -> Self {
        Self::python(ExceptionKind::VALUE_ERROR, message)
    }

    /// The type that Python code would see: `RuntimeError` for what has no counterpart in PyTorch.
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

    /// `str(exception)` as Python code would see it: without the type, and what comes from a worker wrapped as PyTorch's
    /// `ExceptionWrapper` does it.
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
            // The device that CUDA has as its current one; where memory is locked without a GPU there is none, and 0 is its default.
            Self::Pinning { cause, .. } => cause.wrapped("in pin memory thread for device 0"),
            Self::WorkerDied { workers, .. } => format!(
                "DataLoader worker (pid(s) {}) exited unexpectedly",
                numbers(workers)
            ),
            other => other.to_string(),
        }
    }

    /// What `ExceptionWrapper` makes of the error: a thread or a process passes it on with the place where it happened.
    fn wrapped(&self, place: &str) -> String {
        let kind = self.exception_kind();
        let text = self.python_message();
        format!("Caught {kind} {place}.\nOriginal {kind}: {text}")
    }

    /// True for a map-style dataset's `StopIteration`, which ends the epoch without a word in PyTorch.
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

/// What a dataset raises when a sample cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleError {
    /// Type of the exception as in Python: `IndexError`, `OSError`.
    pub kind: String,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// True for a type that cannot be made from a message alone; workers hand it on as a RuntimeError, as PyTorch does.
    pub needs_arguments: bool,
}

impl SampleError {
    /// An error of the given Python type.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            needs_arguments: false,
        }
    }

    /// The same error, of a type that cannot be made from a message alone.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self {
            needs_arguments: true,
            ..self
        }
    }

    /// `IndexError` for an index beyond the end.
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
    fn python_errors_read_as_in_python() {
        let error = LoaderError::value_error("timeout option should be non-negative");
        assert_eq!(
            error.to_string(),
            "ValueError: timeout option should be non-negative"
        );
        assert_eq!(error.exception_kind().as_str(), "ValueError");
    }
}
