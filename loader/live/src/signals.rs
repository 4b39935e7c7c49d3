//! Signals to this process, and its exit.

#[cfg(unix)]
mod forward;
#[cfg(unix)]
mod handlers;
#[cfg(unix)]
mod inherited;
#[cfg(unix)]
mod process;
#[cfg(target_os = "linux")]
mod witness;

#[cfg(unix)]
pub(crate) use forward::SignalForwarder;
#[cfg(unix)]
pub(crate) use handlers::any_received;
#[cfg(unix)]
pub(crate) use inherited::restore_inherited;
#[cfg(unix)]
pub(crate) use process::ProcessId;

/// Starts to count signals for a program that this process is about to start in its own process group.
/// None of them ends this process. [`Program::forward_signals`](crate::Program::forward_signals) passes them on.
pub fn catch_signals() {
    #[cfg(unix)]
    handlers::install_handlers(inherited::all());
}

/// Starts to count the signals that end a process. They detach a program that this process did not start.
pub fn catch_termination_signals() {
    #[cfg(unix)]
    handlers::install_handlers(handlers::termination_signals());
}

/// Restores the signal handlers from before [`catch_signals`]. Called after the end of the program.
pub fn restore_signals() {
    #[cfg(unix)]
    if let Some(number) = handlers::restore_handlers() {
        // The signal arrived after the end of the program.
        exit_by_signal(number);
    }
}

/// Returns the signals that end a process from outside, except those that this process inherited as ignored, for example from `nohup`.
pub fn termination_signals() -> Vec<i32> {
    #[cfg(unix)]
    return handlers::termination_signals().collect();
    #[cfg(not(unix))]
    vec![signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
}

/// Calls `last` when this process calls `exit`, also from a library. For example, a library exits when the connection
/// to the display is lost.
pub fn at_exit(last: fn()) {
    #[cfg(unix)]
    unix::at_exit(last);
    #[cfg(not(unix))]
    let _ = last;
}

/// Ends this process immediately, without destructors.
pub fn exit_immediately(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

/// Ends this process by the signal that ended its program.
pub fn exit_by_signal(number: i32) -> ! {
    #[cfg(unix)]
    unix::exit_by_signal(number);
    std::process::exit(128 + number)
}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;

    static LAST: OnceLock<fn()> = OnceLock::new();

    extern "C" fn at_last() {
        if let Some(last) = LAST.get() {
            last();
        }
    }

    pub fn at_exit(last: fn()) {
        if LAST.set(last).is_ok() {
            // SAFETY: the function pointer is valid for the whole process. `at_last` does not unwind: a panic in it aborts.
            unsafe { libc::atexit(at_last) };
        }
    }

    /// Reimplements `emulate_default_handler` of signal-hook, which rejects real-time signals and SIGPWR, ignores
    /// SIGIO, and aborts if raising fails.
    pub fn exit_by_signal(number: i32) {
        // SAFETY: the calls only access a limit and a mask that outlive them. The limit prevents a core dump of this
        // process in place of the program's.
        unsafe {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(number, libc::SIG_DFL);
            // This process can have inherited the signal as blocked.
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut only, number);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        }
        // If raising fails, the exit code of the caller shows the signal.
        let _ = signal_hook::low_level::raise(number);
    }
}
