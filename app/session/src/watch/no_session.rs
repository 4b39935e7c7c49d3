//! A program without a session.

use std::time::{Duration, Instant};

use loadscope_live::{End, Program};

/// Polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Maximum wait for a killed program.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Waits for the end of the program, and passes signals to it.
pub(super) fn wait(mut program: Program) -> End {
    loop {
        program.forward_signals();
        if let Some(end) = program.ended() {
            return end;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Kills the program and its remaining processes.
pub(super) fn end(mut program: Program) -> End {
    program.kill();
    let until = Instant::now() + KILL_TIMEOUT;
    let end = loop {
        match program.ended() {
            Some(end) => break end,
            // The system does not end the process.
            None if Instant::now() > until => break End::Code(1),
            None => std::thread::sleep(POLL_INTERVAL),
        }
    };
    program.kill_remaining();
    end
}
