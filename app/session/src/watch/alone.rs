//! A program that no session follows.

use std::time::{Duration, Instant};

use loadscope_live::{End, Program};

/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// So long one that is killed is waited for.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Waits until it has ended, and passes signals on to it.
pub(super) fn wait(mut program: Program) -> End {
    loop {
        program.pass_signals_on();
        if let Some(end) = program.ended() {
            return end;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ends it at once, and what it left behind.
pub(super) fn end(mut program: Program) -> End {
    program.kill();
    let until = Instant::now() + AT_ONCE;
    let end = loop {
        match program.ended() {
            Some(end) => break end,
            // The system does not let it go.
            None if Instant::now() > until => break End::Code(1),
            None => std::thread::sleep(LOOK_EVERY),
        }
    };
    program.clear_up();
    end
}
