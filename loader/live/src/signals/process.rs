//! Signals to one process, or to one process group.

/// A process id above 1. `kill` treats 0 as the own process group and -1 as every process.
/// A failed `fork` returns -1, and -1 is the negated id of process 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId(libc::pid_t);

impl ProcessId {
    /// Returns `None` for ids up to 1.
    pub fn new(number: libc::pid_t) -> Option<Self> {
        (number > 1).then_some(Self(number))
    }

    /// Returns the id of a child that the standard library started.
    pub fn of(number: u32) -> Option<Self> {
        Self::new(number.try_into().ok()?)
    }

    /// Returns the id, above 1.
    #[cfg(any(target_os = "linux", test))]
    pub fn get(self) -> libc::pid_t {
        self.0
    }

    /// Sends a signal to the process. The caller has not waited for it, so the id is not reused.
    #[expect(unsafe_code, reason = "a signal")]
    pub fn signal(self, number: i32) {
        // SAFETY: `kill` accesses no memory. The id names one process.
        unsafe {
            libc::kill(self.0, number);
        }
    }

    /// Sends a signal to the process group that this process leads. An empty group receives nothing.
    #[expect(unsafe_code, reason = "a signal")]
    pub fn signal_group(self, number: i32) {
        // SAFETY: `kill` accesses no memory. While the group has a process, no other group has its id.
        unsafe {
            libc::kill(-self.0, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_name_many_processes_are_refused() {
        for many in [libc::pid_t::MIN, -2, -1, 0, 1] {
            assert_eq!(ProcessId::new(many), None, "{many}");
        }
        assert_eq!(ProcessId::of(0), None);
        assert_eq!(ProcessId::of(u32::MAX), None);
        assert_eq!(ProcessId::new(7).map(ProcessId::get), Some(7));
    }
}
