//! Signal handlers that count the signals to this process.

use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use super::inherited::{action, all, bit, is_ignored, real_time, set};

/// Length of arrays that are indexed by signal number.
pub(super) const SIGNAL_SLOTS: usize = 65;

/// Counted signals that are not taken yet, as bits.
static PENDING: AtomicU64 = AtomicU64::new(0);
/// Number of signals from processes.
static BY_PROCESS: [AtomicU32; SIGNAL_SLOTS] = [const { AtomicU32::new(0) }; SIGNAL_SLOTS];
/// Number of signals from the kernel: terminal keys and timers.
static BY_KERNEL: [AtomicU32; SIGNAL_SLOTS] = [const { AtomicU32::new(0) }; SIGNAL_SLOTS];
/// Id of the counting process.
static OWNER: AtomicI32 = AtomicI32::new(0);
/// Actions from before the handlers.
static OLD_ACTIONS: OnceLock<Vec<(i32, libc::sigaction)>> = OnceLock::new();

/// Signals of faults in the process itself.
const FAULTS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Signals of timers, which survive `exec`: `perl -e 'alarm 60; exec @ARGV' loadscope record …`.
const TIMERS: [i32; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// Signals of a terminal.
const TERMINAL: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGCONT,
    libc::SIGWINCH,
];

/// Stop signals that a process can handle.
pub(super) const STOPS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// Returns the signals that end a process from outside, except those that this process inherited as ignored.
pub(crate) fn termination_signals() -> impl Iterator<Item = i32> {
    // Writing to a closed pipe or beyond the limit of file sizes returns an error instead.
    const OTHERS: [i32; 6] = [
        libc::SIGPIPE,
        libc::SIGXFSZ,
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
    ];
    #[cfg(target_vendor = "apple")]
    const HARMLESS: [i32; 2] = [libc::SIGIO, libc::SIGINFO];
    #[cfg(not(target_vendor = "apple"))]
    const HARMLESS: [i32; 0] = [];
    all().filter(|number| {
        let ends = !FAULTS.contains(number)
            && !STOPS.contains(number)
            && !OTHERS.contains(number)
            && !HARMLESS.contains(number);
        ends && !is_ignored(*number)
    })
}

/// Installs counting handlers for `numbers`. The calling thread and its later threads block only SIGTTOU.
/// The system then permits them to write to the terminal of another process group.
pub(super) fn install_handlers(numbers: impl Iterator<Item = i32>) {
    OWNER.store(own_pid(), Ordering::Relaxed);
    let before = numbers.filter_map(|number| Some((number, action(number)?)));
    let before = OLD_ACTIONS.get_or_init(|| before.collect());
    before
        .iter()
        .for_each(|(number, _)| install_handler(*number));
    mask(libc::SIG_SETMASK);
}

/// Unblocks SIGTTOU in the calling thread.
pub(super) fn unblock() {
    mask(libc::SIG_UNBLOCK);
}

/// Changes SIGTTOU in the mask of the calling thread.
fn mask(how: i32) {
    // SAFETY: the mask is all-zero, is then filled, and outlives the calls.
    unsafe {
        let mut only: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, libc::SIGTTOU);
        libc::pthread_sigmask(how, &raw const only, null_mut());
    }
}

/// Restores the actions from before. Returns a counted signal that ends a process, if any.
pub(super) fn restore_handlers() -> Option<i32> {
    for (number, before) in OLD_ACTIONS.get().into_iter().flatten() {
        // SAFETY: the system returned the action.
        unsafe { libc::sigaction(*number, before, null_mut()) };
    }
    termination_signals().find(|number| BY_PROCESS[index(*number)].load(Ordering::Relaxed) > 0)
}

fn install_handler(number: i32) {
    // SAFETY: the handler only makes async-signal-safe calls, and the action outlives the call.
    unsafe {
        let mut new: libc::sigaction = zeroed();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = handle_signal;
        new.sa_sigaction = handler as *const () as libc::sighandler_t;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        if FAULTS.contains(&number) {
            // Rust's handler for a stack overflow runs after this one.
            new.sa_flags |= libc::SA_ONSTACK;
        }
        // Handlers do not nest, because the alternate stack has no space for several.
        libc::sigfillset(&raw mut new.sa_mask);
        libc::sigaction(number, &raw const new, null_mut());
    }
}

extern "C" fn handle_signal(number: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid `siginfo_t`.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    if own_pid() != OWNER.load(Ordering::Relaxed) {
        // This process is a child between `fork` and `exec`.
        if !is_ignored(number) {
            set(number, libc::SIG_DFL);
            // SAFETY: the call accesses no memory of this process.
            unsafe { libc::raise(number) };
        }
        return;
    }
    let counter = match code > 0 {
        true if FAULTS.contains(&number) => return restore_action(number),
        true if TERMINAL.contains(&number) || TIMERS.contains(&number) => &BY_KERNEL,
        // SIGCHLD, SIGIO and SIGXCPU from the kernel are about this process only.
        true => return,
        // The kernel sends SIGPIPE and SIGXFSZ with this process as the sender.
        false if sender == own_pid() => return,
        false => &BY_PROCESS,
    };
    // As in the kernel, SIGCONT and stop signals cancel each other.
    let cancelled = match number {
        libc::SIGCONT => &STOPS[..],
        _ if STOPS.contains(&number) => &[libc::SIGCONT],
        _ => &[],
    };
    for other in cancelled {
        BY_PROCESS[index(*other)].store(0, Ordering::Relaxed);
        BY_KERNEL[index(*other)].store(0, Ordering::Relaxed);
    }
    counter[index(number)].fetch_add(1, Ordering::Relaxed);
    PENDING.fetch_or(bit(number), Ordering::Release);
}

/// Restores the earlier action. The faulting instruction runs again and triggers it.
fn restore_action(number: i32) {
    let before = OLD_ACTIONS.get().into_iter().flatten();
    for (_, before) in before.filter(|(taken, _)| *taken == number) {
        // SAFETY: the system returned the action.
        unsafe { libc::sigaction(number, before, null_mut()) };
    }
}

fn own_pid() -> i32 {
    // SAFETY: the call accesses no memory of this process.
    unsafe { libc::getpid() }
}

fn index(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0).min(SIGNAL_SLOTS - 1)
}

/// Returns the counted signals that are not taken yet, as bits.
pub(super) fn waiting() -> u64 {
    PENDING.load(Ordering::Acquire)
}

/// Returns true if a signal arrived since the last call.
pub(crate) fn any_received() -> bool {
    PENDING.swap(0, Ordering::AcqRel) != 0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SignalCounts {
    pub by_process: u32,
    pub by_kernel: u32,
}

impl SignalCounts {
    /// Takes and resets the counts of a signal.
    pub fn take(number: i32) -> Self {
        PENDING.fetch_and(!bit(number), Ordering::AcqRel);
        let taken =
            |counts: &[AtomicU32; SIGNAL_SLOTS]| counts[index(number)].swap(0, Ordering::Relaxed);
        Self {
            by_process: taken(&BY_PROCESS),
            by_kernel: taken(&BY_KERNEL),
        }
    }

    /// Returns the number of signals from processes and from the kernel.
    pub fn all(self) -> u32 {
        self.by_process.saturating_add(self.by_kernel)
    }

    /// Returns how many times to pass the signal on to a program in the same process group.
    /// `seen` is the number of times that another process of the group received it, if known.
    pub fn for_program(self, number: i32, seen: Option<u32>) -> u32 {
        match seen {
            Some(seen) if real_time().contains(&number) => self.all().saturating_sub(seen),
            // The system merges signals in quick succession.
            Some(0) => self.all(),
            Some(_) => 0,
            None if TIMERS.contains(&number) => self.all(),
            // The terminal sends to the whole group.
            None => self.by_process,
        }
    }
}

/// Stops this process with the default action of `number`. Returns when it is continued.
pub(super) fn stop(number: i32) {
    set(number, libc::SIG_DFL);
    // Raised in this thread. Another thread could receive the signal only after the handler is installed again.
    // SAFETY: the call accesses no memory of this process.
    unsafe { libc::raise(number) };
    if OLD_ACTIONS
        .get()
        .into_iter()
        .flatten()
        .any(|(taken, _)| *taken == number)
    {
        install_handler(number);
    }
}

/// Returns the signal that stopped a child since the last call.
pub(super) fn stopped(child: u32) -> Option<i32> {
    // SAFETY: the system writes the all-zero information.
    unsafe {
        let mut info: libc::siginfo_t = zeroed();
        let options = libc::WSTOPPED | libc::WNOHANG;
        let found = libc::waitid(libc::P_PID, child, &raw mut info, options) == 0;
        (found && info.si_pid() != 0).then(|| info.si_status())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_reaches_a_program_of_the_same_group_once() {
        let came = |by_process, by_kernel| SignalCounts {
            by_process,
            by_kernel,
        };
        let real_time = *real_time().end();
        for (number, came, seen, expected) in [
            (libc::SIGUSR1, came(1, 0), Some(0), 1),
            (libc::SIGUSR1, came(1, 0), Some(1), 0),
            (libc::SIGUSR1, came(2, 0), Some(1), 0),
            (libc::SIGINT, came(0, 1), Some(1), 0),
            // The terminal was closed, and only the session leader is notified.
            (libc::SIGHUP, came(0, 1), Some(0), 1),
            (libc::SIGALRM, came(0, 1), Some(0), 1),
            (libc::SIGUSR1, came(1, 0), None, 1),
            (libc::SIGINT, came(0, 1), None, 0),
            (libc::SIGALRM, came(0, 1), None, 1),
            (real_time, came(3, 0), Some(1), 2),
            (real_time, came(0, 0), Some(1), 0),
        ] {
            assert_eq!(
                came.for_program(number, seen),
                expected,
                "{number} {came:?} {seen:?}"
            );
        }
    }
}
