//! A child process that shows whether a signal was sent to the whole process group or only to this process.
//!
//! The system has no such information. If the witness also received a signal, it was sent to the group, so the program has received it too.

use std::fs;
use std::mem::zeroed;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::handlers::SIGNAL_SLOTS;
use super::inherited::bit;
use super::process::ProcessId;

/// Name of the process. It must not match `killall loadscope` or `pkill -f train.py`.
const NAME: &[u8] = b"signal-witness\0";

/// Timeout of its start.
const START_TIMEOUT: Duration = Duration::from_secs(1);

/// Signals that the witness received, in memory shared by both processes.
struct SharedCounts {
    /// 1 after the witness has started to count.
    is_ready: AtomicU32,
    /// Received signals as bits.
    waiting: AtomicU64,
    counts: [AtomicU32; SIGNAL_SLOTS],
}

/// A child process that blocks and counts all signals. It ends with this process.
pub(super) struct Witness {
    process: ProcessId,
    seen: &'static SharedCounts,
}

impl Witness {
    /// Starts the witness. Returns `None` if the system cannot create a process. The witness ends when the calling thread ends.
    pub fn start() -> Option<Self> {
        let seen = shared()?;
        let arguments = arguments();
        // SAFETY: the masks are all-zero, are then filled, and outlive the calls. The child only makes async-signal-safe calls.
        unsafe {
            let parent = libc::getpid();
            let (mut every, mut before): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
            libc::sigfillset(&raw mut every);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
            let process = libc::fork();
            if process == 0 {
                witness(parent, seen, arguments, &every);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
            // A `Self` with an invalid id must never exist, because its drop kills the process.
            let process = ProcessId::new(process)?;
            let witness = Self { process, seen };
            witness.wait_until_ready();
            Some(witness)
        }
    }

    /// Waits until the witness counts, at most a second.
    fn wait_until_ready(&self) {
        let began = Instant::now();
        while self.seen.is_ready.load(Ordering::Acquire) == 0 && began.elapsed() < START_TIMEOUT {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Returns the received signals that are not taken yet, as bits.
    pub fn waiting(&self) -> u64 {
        self.seen.waiting.load(Ordering::Acquire)
    }

    /// Discards the received signals.
    pub fn forget(&self) {
        self.seen.waiting.store(0, Ordering::Relaxed);
        let counts = self.seen.counts.iter();
        counts.for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// Takes the number of times that the witness received a signal.
    ///
    /// # Errors
    /// If the number is not known.
    pub fn take(&self, number: i32) -> Result<u32, Unknown> {
        match pending(&self.process.get().to_string()) {
            None => return Err(self.why_unknown()),
            Some(bits) if bits & bit(number) != 0 => return Err(Unknown::NotYet),
            Some(_) => {}
        }
        // Under load, this process can receive the signal after the witness.
        if pending("self").is_some_and(|bits| bits & bit(number) != 0) {
            return Err(Unknown::NotYet);
        }
        self.seen.waiting.fetch_and(!bit(number), Ordering::AcqRel);
        let place = usize::try_from(number).unwrap_or(0);
        let count = self.seen.counts.get(place);
        Ok(count.map_or(0, |count| count.swap(0, Ordering::Relaxed)))
    }

    /// Returns the reason why the state of the witness cannot be read.
    fn why_unknown(&self) -> Unknown {
        // SAFETY: the system writes the all-zero information. The child stays a zombie until it is waited for.
        let has_ended = unsafe {
            let mut info: libc::siginfo_t = zeroed();
            let id = self.process.get().unsigned_abs();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let asked = libc::waitid(libc::P_PID, id, &raw mut info, options);
            asked != 0 || info.si_pid() != 0
        };
        match has_ended {
            true => Unknown::Gone,
            false => Unknown::NotYet,
        }
    }
}

/// Returns the pending signals of a process as bits. A running process returns all bits, because it can be about to count one. Returns
/// `None` if it has ended.
fn pending(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name));
    let bits = u64::from_str_radix(field("ShdPnd:")?.trim(), 16).ok()?;
    match field("State:")?.trim_start().chars().next()? {
        'Z' | 'X' => None,
        // This process is always running while it reads its own state.
        'R' | 'D' if process != "self" => Some(u64::MAX),
        _ => Some(bits),
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.process.signal(libc::SIGKILL);
        // SAFETY: the call accesses no memory of this process.
        unsafe {
            libc::waitpid(self.process.get(), null_mut(), 0);
        }
    }
}

/// Reason why the number is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// One of the processes has the signal but has not counted it yet.
    NotYet,
    /// The witness has ended.
    Gone,
}

/// Returns the start and end address of the arguments of this process.
fn arguments() -> Option<(usize, usize)> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses can contain spaces. Field 3 follows it. Fields 48 and 49 are the arguments.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(48 - 3);
    let mut next = || fields.next()?.parse::<usize>().ok();
    let (start, end) = (next()?, next()?);
    (start != 0 && start < end).then_some((start, end))
}

/// Allocates memory that is shared with child processes, for the lifetime of this process.
fn shared() -> Option<&'static SharedCounts> {
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_SHARED | libc::MAP_ANONYMOUS,
    );
    // SAFETY: the memory is new, all-zero, of the right size and never unmapped. All-zero counters are valid.
    unsafe {
        let memory = libc::mmap(null_mut(), size_of::<SharedCounts>(), access, kind, -1, 0);
        (memory != libc::MAP_FAILED).then(|| &*memory.cast::<SharedCounts>())
    }
}

/// Runs the main loop of the child.
///
/// # Safety
/// The caller must be a newly forked child with all signals blocked.
unsafe fn witness(
    parent: libc::pid_t,
    seen: &SharedCounts,
    arguments: Option<(usize, usize)>,
    every: &libc::sigset_t,
) -> ! {
    // SAFETY: the function only makes async-signal-safe system calls. The arguments are writable memory of this process that nothing else
    // reads here.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(0);
        }
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        if let Some((start, end)) = arguments {
            let place = ptr::with_exposed_provenance_mut::<u8>(start);
            ptr::write_bytes(place, 0, end - start);
            ptr::copy_nonoverlapping(NAME.as_ptr(), place, NAME.len().min(end - start) - 1);
        }
        // The child must not keep pipes open or file systems busy.
        if libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) != 0 {
            (0..1024).for_each(|file| _ = libc::close(file));
        }
        libc::chdir(c"/".as_ptr());
        seen.is_ready.store(1, Ordering::Release);
        loop {
            let mut number = 0;
            if libc::sigwait(every, &raw mut number) != 0 {
                continue;
            }
            if let Some(count) = usize::try_from(number)
                .ok()
                .and_then(|n| seen.counts.get(n))
            {
                count.fetch_add(1, Ordering::Relaxed);
                seen.waiting.fetch_or(bit(number), Ordering::Release);
            }
        }
    }
}

/// Every signal has a bit and a counter.
const _: () = assert!(SIGNAL_SLOTS == u64::BITS as usize + 1);

#[cfg(test)]
mod tests {
    use super::super::inherited::all;
    use super::*;

    #[test]
    fn a_witness_counts_every_signal_and_ends_with_its_owner() {
        let witness = Witness::start().expect("room for a process");
        for number in all() {
            // SAFETY: the call accesses no memory of this process.
            let sent = unsafe { libc::kill(witness.process.get(), number) };
            assert_eq!(sent, 0, "{number}");
            let until = Instant::now() + Duration::from_secs(20);
            let count = loop {
                match witness.take(number) {
                    Ok(0) | Err(Unknown::NotYet) if Instant::now() < until => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    other => break other,
                }
            };
            assert_eq!(count, Ok(1), "{number}");
            assert_eq!(witness.take(number), Ok(0), "{number}");
        }
        let process = witness.process.get();
        let line = fs::read(format!("/proc/{process}/cmdline")).expect("it runs");
        assert!(line.starts_with(&NAME[..NAME.len() - 1]), "{line:?}");
        let open = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
        assert_eq!(open.count(), 0);
        drop(witness);
        // SAFETY: the call accesses no memory of this process.
        assert_eq!(unsafe { libc::kill(process, 0) }, -1);
    }
}
