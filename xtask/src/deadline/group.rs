//! The processes of a test binary, and signals.

use std::process::Command;

#[cfg(not(unix))]
pub use others::{catch_signals, kill, kill_all, start_group};
#[cfg(unix)]
pub use unix::{catch_signals, kill, kill_all, start_group};

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt as _;
    use std::sync::atomic::{AtomicU64, Ordering};

    use libc::{SIG_ERR, SIG_IGN, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, c_int, pid_t};

    use super::{Command, descendants};

    /// One bit per received signal.
    static RECEIVED: AtomicU64 = AtomicU64::new(0);

    extern "C" fn note(number: c_int) {
        RECEIVED.fetch_or(1 << number, Ordering::Relaxed);
    }

    /// Signals that ask this process to end.
    pub struct Signals {
        /// One bit per signal that this process inherited as ignored.
        ignored: u64,
    }

    /// Installs handlers for the signals that ask this process to end. Started programs get the default handlers.
    pub fn catch_signals() -> Signals {
        let mut ignored = 0;
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            // SAFETY: the handler only changes an atomic number.
            let before = unsafe { libc::signal(number, note as *const () as libc::sighandler_t) };
            if before == SIG_IGN || before == SIG_ERR {
                ignored |= 1 << number;
            }
        }
        Signals { ignored }
    }

    impl Signals {
        /// Returns the number of a received signal.
        pub fn received(&self) -> Option<u8> {
            let received = RECEIVED.load(Ordering::Relaxed) & !self.ignored;
            let number = u8::try_from(received.trailing_zeros()).ok();
            number.filter(|_| received != 0)
        }
    }

    /// Starts the command in its own session and process group.
    pub fn start_group(command: &mut Command) {
        // SAFETY: between fork and exec it makes one system call.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
    }

    /// Kills the process group of `leader`.
    pub fn kill(leader: u32) {
        // Group 0 is the group of xtask, and -1 is every process.
        let leader = pid_t::try_from(leader).ok().filter(|leader| *leader > 1);
        if let Some(leader) = leader {
            // SAFETY: kill reads no memory.
            unsafe { libc::kill(-leader, SIGKILL) };
        }
    }

    /// Kills a process, its group and its descendants, also those in other groups.
    pub fn kill_all(process: u32) {
        let descendants = descendants(process);
        kill(process);
        for one in descendants
            .into_iter()
            .filter_map(|d| pid_t::try_from(d).ok())
            .filter(|process| *process > 1)
        {
            // SAFETY: kill reads no memory.
            unsafe { libc::kill(one, SIGKILL) };
        }
    }
}

#[cfg(not(unix))]
mod others {
    use super::Command;

    /// No signals.
    pub struct Signals;

    pub fn catch_signals() -> Signals {
        Signals
    }

    impl Signals {
        pub fn received(&self) -> Option<u8> {
            None
        }
    }

    pub fn start_group(_: &mut Command) {}

    /// Does nothing, because Windows has no process groups.
    pub fn kill(_: u32) {}

    /// Kills a process and its descendants.
    pub fn kill_all(process: u32) {
        let mut command = Command::new("taskkill");
        command.args(["/T", "/F", "/PID", &process.to_string()]);
        // A failure is ignored, because no other means is available.
        let _ = command.output();
    }
}

/// Returns all descendants of a process.
#[cfg(unix)]
fn descendants(of: u32) -> Vec<u32> {
    let mut command = Command::new("ps");
    // Without ps, only the process group is killed.
    let list = command.args(["-A", "-o", "pid=", "-o", "ppid="]).output();
    let list = list.map_or_else(|_| Vec::new(), |output| output.stdout);
    let list = String::from_utf8_lossy(&list);
    let processes: Vec<(u32, u32)> = list
        .lines()
        .filter_map(|line| {
            let (process, parent) = line.trim().split_once(' ')?;
            Some((process.parse().ok()?, parent.trim().parse().ok()?))
        })
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = processes.iter().filter(|(_, p)| *p == parent);
        found.extend(children.map(|(process, _)| *process));
        next += 1;
    }
    found.split_off(1)
}
