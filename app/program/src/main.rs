//! `loadscope`: opens the window, or runs a command without one.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use loadscope::cli;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            cli::print_message(cli::error_sentence(&error));
            ExitCode::from(2)
        }
    }
}
