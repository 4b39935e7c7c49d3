//! User code that panics or ends its worker.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use loadscope_words::say;

use crate::error::LoaderError;

/// Panic payload of a thread that ends with this exit code.
struct WorkerExit(i32);

/// Ends the calling worker at once, as `os._exit(code)` ends a worker process.
///
/// The worker's batches are lost, and the consumer gets an error. In any other thread, the call is an ordinary panic.
pub fn exit_worker(code: i32) -> ! {
    if crate::get_worker_info().is_none() {
        panic!("exit_worker({code}) was called outside of a worker");
    }
    // `panic!` would print a message, but this exit is deliberate.
    resume_unwind(Box::new(WorkerExit(code)))
}

/// Runs user code and converts a panic to an error.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, LoaderError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Ok(result),
        Err(payload) if payload.is::<WorkerExit>() => resume_unwind(payload),
        Err(payload) => Err(LoaderError::Panic {
            message: panic_text(&*payload),
        }),
    }
}

/// Describes a worker's death in PyTorch's words.
pub(crate) fn describe_death(payload: &(dyn Any + Send)) -> String {
    let how = match payload.downcast_ref::<WorkerExit>() {
        Some(WorkerExit(code)) => format!("exited unexpectedly with exit code {code}"),
        None => format!("panicked: {}", panic_text(payload)),
    };
    format!(
        "{how}. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace."
    )
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or(say!("no message")).to_owned()
}
