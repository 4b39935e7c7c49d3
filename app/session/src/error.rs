//! Errors at the start of a session.

use loadscope_live::ProgramError;
use loadscope_plan::error::LoaderError;
use loadscope_trace::LogError;
use loadscope_words::say;

/// Error at the start of a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// This build has no embedded loader.
    #[error("{}", say!("this build has no embedded loader (the wheel and the Debian package have none). Build Loadscope from source with `cargo build --release` (docs/BUILDING.md)."))]
    NoEngine,
    /// The engine refused the options.
    #[error(transparent)]
    Engine(#[from] LoaderError),
    /// The recording cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The watched program cannot be started.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The system could not create a thread.
    #[error("{}", say!("cannot start a thread: {0}. Close other programs and try again.", loadscope_words::cause(.0)))]
    Thread(std::io::Error),
}
