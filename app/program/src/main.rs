//! `loadscope`: opens the window, or runs a command without one.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use loadscope::cli;

/// For the tensors of libtorch as much as for our own memory. The allocator of the C library never uses the place of a
/// large batch for the next one of the same size: it takes new pages, which the system fills with zeros first. That is a
/// third of the time of batches that are merely copied together, and small batches gain as well.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            cli::complain(format_args!("{error:#}"));
            ExitCode::from(2)
        }
    }
}
