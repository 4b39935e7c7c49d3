//! Signals to one process, or to one process group.

/// The number of a process, above 1. `kill` sends to the own process group for 0, and to every process for -1: the result of a failed `fork`,
/// and the negated number of process 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId(libc::pid_t);

impl ProcessId {
    /// `None` for 1 and below.
    pub fn new(number: libc::pid_t) -> Option<Self> {
        (number > 1).then_some(Self(number))
    }

    /// The number of a child that the standard library started.
    pub fn of(number: u32) -> Option<Self> {
        Self::new(number.try_into().ok()?)
    }

    /// The number, above 1.
    #[cfg(any(target_os = "linux", test))]
    pub fn get(self) -> libc::pid_t {
        self.0
    }

    /// Sends a signal to the process. The caller has not waited for its end, so no other process has the number.
    #[expect(unsafe_code, reason = "a signal")]
    pub fn signal(self, number: i32) {
        // SAFETY: kill reads no memory. The number names one process.
        unsafe {
            libc::kill(self.0, number);
        }
    }

    /// Sends a signal to the group that this process leads. A group without processes receives nothing.
    #[expect(unsafe_code, reason = "a signal")]
    pub fn signal_group(self, number: i32) {
        // SAFETY: kill reads no memory. As long as a process of the group exists, no other group has its number.
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
