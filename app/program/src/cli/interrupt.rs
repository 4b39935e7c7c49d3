//! Signals that ask a command to end. The first one is obeyed in order, so that what was written is whole; a second one ends the
//! program at once.

#[cfg(unix)]
pub(super) use unix::{came, take};

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicI32, Ordering};

    /// The signal that came; 0: none.
    static CAME: AtomicI32 = AtomicI32::new(0);

    const TAKEN: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    extern "C" fn note(number: libc::c_int) {
        let first = CAME.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        if first.is_err() {
            // SAFETY: _exit is one of the calls that a signal handler may make, and does not return.
            unsafe { libc::_exit(128 + number) }
        }
    }

    /// From now on signals that ask this process to end are noted. One that it was told to ignore, by `nohup` say, stays ignored.
    pub fn take() {
        for number in TAKEN {
            // SAFETY: an all-zero sigaction is a valid one, every field that matters is set, and the system fills in the old
            // one. The handler touches an atomic number and makes one call, both of which are allowed in it.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(number, std::ptr::null(), &raw mut before);
                if before.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(number, &raw const action, std::ptr::null_mut());
            }
        }
    }

    /// The exit code of a program that was ended by the signal that came.
    pub fn came() -> Option<u8> {
        let number = CAME.load(Ordering::Acquire);
        (number != 0).then_some(128 | number as u8)
    }
}

#[cfg(not(unix))]
pub(super) use other::{came, take};

#[cfg(not(unix))]
mod other {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CAME: AtomicBool = AtomicBool::new(false);

    /// From now on Ctrl-C is noted.
    pub fn take() {
        // Without a handler Ctrl-C ends the program at once.
        let _ = ctrlc::set_handler(|| {
            if CAME.swap(true, Ordering::AcqRel) {
                std::process::exit(130);
            }
        });
    }

    /// The exit code of a program that was interrupted, if it was.
    pub fn came() -> Option<u8> {
        CAME.load(Ordering::Acquire).then_some(130)
    }
}
