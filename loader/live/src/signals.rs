//! Signals to this process, and its end.

#[cfg(unix)]
mod inherited;
#[cfg(unix)]
mod passing;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod taken;
#[cfg(target_os = "linux")]
mod witness;

#[cfg(unix)]
pub(crate) use inherited::hand_down;
#[cfg(unix)]
pub(crate) use passing::Passing;
#[cfg(unix)]
pub(crate) use process::ProcessId;
#[cfg(unix)]
pub(crate) use taken::any_came;

/// From now on every signal that a process can handle is for the program, which this process is about to start in its own process group
/// ([`Program::pass_signals_on`](crate::Program::pass_signals_on)). None of them ends this process.
pub fn take_signals() {
    #[cfg(unix)]
    taken::take(inherited::all());
}

/// From now on signals that end a process let a program go that this process did not start.
pub fn take_ending_signals() {
    #[cfg(unix)]
    taken::take(taken::ending());
}

/// The program has ended: signals act on this process as before [`take_signals`].
pub fn give_signals_back() {
    #[cfg(unix)]
    if let Some(number) = taken::give_back() {
        // It came after the end of the program.
        end_by(number);
    }
}

/// Signals that end a process from outside, apart from those that this process was started to ignore, by `nohup` for example.
pub fn ending_signals() -> Vec<i32> {
    #[cfg(unix)]
    return taken::ending().collect();
    #[cfg(not(unix))]
    vec![signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
}

/// Calls `last` when this process ends by `exit`, from wherever it is called: a library does when the display is gone.
pub fn at_exit(last: fn()) {
    #[cfg(unix)]
    unix::at_exit(last);
    #[cfg(not(unix))]
    let _ = last;
}

/// Ends this process at once, with nothing of it taken down.
pub fn end_at_once(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

/// Ends this process by a signal, as its program was ended.
pub fn end_by(number: i32) -> ! {
    #[cfg(unix)]
    unix::end_by(number);
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
            // SAFETY: the function lives as long as the program, and does not unwind: a panic in it aborts.
            unsafe { libc::atexit(at_last) };
        }
    }

    /// By hand: signal-hook's `emulate_default_handler` refuses real-time signals and SIGPWR, takes SIGIO for harmless, and
    /// aborts where raising fails.
    pub fn end_by(number: i32) {
        // SAFETY: none reads memory of ours, apart from a limit and a mask that live through the calls. The memory that would be
        // dumped is not the program's.
        unsafe {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(number, libc::SIG_DFL);
            // It may be one that this process inherited as blocked.
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut only, number);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        }
        // The exit code tells it where this fails.
        let _ = signal_hook::low_level::raise(number);
    }
}
