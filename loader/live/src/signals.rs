//! Signals to this process, and its end.

#[cfg(unix)]
pub(crate) use unix::next;

/// From now on signals that ask this process to end do not end it: it ends with its program, which is asked instead
/// ([`Program::pass_signals_on`](crate::Program::pass_signals_on)).
pub fn take_signals() {
    #[cfg(unix)]
    unix::take();
}

/// From now on they end this process again: its program has ended, and no one else is to be asked.
pub fn give_signals_back() {
    #[cfg(unix)]
    unix::give_back();
}

/// True if the parent of this process made it ignore a signal, as `nohup` does: it stays ignored then, here and in the
/// programs that are started.
pub fn is_ignored(number: i32) -> bool {
    #[cfg(unix)]
    return unix::is_ignored(number);
    #[cfg(not(unix))]
    {
        let _ = number;
        false
    }
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
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::low_level;

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

    /// One bit for each signal that came.
    static CAME: AtomicU64 = AtomicU64::new(0);

    /// The system's own answer is wanted again.
    static GIVEN_BACK: AtomicBool = AtomicBool::new(false);

    pub fn give_back() {
        GIVEN_BACK.store(true, Ordering::Relaxed);
        // One that came before, and was not passed on any more.
        if let Some(number) = next() {
            end_by(number);
        }
    }

    const TAKEN: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

    pub fn take() {
        for number in TAKEN.into_iter().filter(|number| !is_ignored(*number)) {
            let note = move |info: &libc::siginfo_t| {
                if GIVEN_BACK.load(Ordering::Relaxed) {
                    // It ends this process; where that fails, there is nothing better to do in a signal handler.
                    let _ = low_level::emulate_default_handler(number);
                    return;
                }
                // What the terminal sends (a positive code) goes to the whole group, the program included.
                if info.si_code <= 0 {
                    CAME.fetch_or(1 << number, Ordering::Relaxed);
                }
            };
            // The registry below signal-hook: who sent a signal is asked there alone, unless a C compiler is at hand.
            // SAFETY: the action only touches an atomic number, which is allowed in a signal handler.
            let taken = unsafe { signal_hook_registry::register_sigaction(number, note) };
            // One that cannot be taken ends this process, as without.
            let _ = taken;
        }
    }

    /// signal-hook takes an ignored signal like any other, and has no question for it.
    pub fn is_ignored(number: i32) -> bool {
        // SAFETY: the system fills in what an all-zero sigaction has room for.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(number, std::ptr::null(), &raw mut before) == 0
                && before.sa_sigaction == libc::SIG_IGN
        }
    }

    pub fn next() -> Option<i32> {
        let number = CAME.load(Ordering::Relaxed).trailing_zeros();
        if number >= u64::BITS {
            return None;
        }
        CAME.fetch_and(!(1 << number), Ordering::Relaxed);
        i32::try_from(number).ok()
    }

    /// By hand: signal-hook's `emulate_default_handler` refuses real-time signals and SIGPWR, takes SIGIO for harmless, and
    /// aborts where raising fails.
    pub fn end_by(number: i32) {
        // SAFETY: neither reads memory of ours, apart from a limit that lives through the call. The memory that would be
        // dumped is not the program's.
        unsafe {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
            libc::signal(number, libc::SIG_DFL);
        }
        // The exit code tells it where this fails.
        let _ = low_level::raise(number);
    }
}
