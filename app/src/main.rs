//! `loadscope`: opens the window, or runs a command without one.

use std::process::ExitCode;

use loadscope::cli;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("loadscope: {error:#}");
            ExitCode::from(2)
        }
    }
}
