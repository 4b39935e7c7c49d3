//! Errors of reading a program.

use loadscope_words::say;

/// Reason why a program cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StacksError {
    /// No process has this id.
    NoProcess(u32),
    /// The process is a zombie.
    HasEnded(u32),
    /// The process ended during the read.
    Ended(u32),
    /// The system refuses the memory of the process to root.
    ForbiddenToRoot(u32),
    /// The process belongs to another user.
    OtherUser(u32),
    /// The system refuses the memory of the process to its own user.
    Forbidden(u32),
    /// Neither the process nor a descendant is CPython.
    NotPython(u32),
    /// The Python stacks cannot be read, with the reason.
    Unreadable(u32, String),
    /// The system has no `/proc`.
    UnsupportedSystem,
}

impl std::fmt::Display for StacksError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::NoProcess(pid) => say!(
                "process {pid} does not exist. Check its ID with `ps -ef`. If it runs in a container, run this command inside the container."
            ),
            Self::HasEnded(pid) => {
                say!("process {pid} has already ended. Its parent has not read its exit code.")
            }
            Self::Ended(pid) => say!("process {pid} ended while it was read"),
            Self::ForbiddenToRoot(pid) => say!(
                "the system does not allow reading the memory of process {pid}. A container needs --cap-add=SYS_PTRACE, and with `sysctl kernel.yama.ptrace_scope` of 3 no process can be read."
            ),
            Self::OtherUser(pid) => say!(
                "process {pid} belongs to another user. Run this command as that user, or with sudo."
            ),
            Self::Forbidden(pid) => say!(
                "the system does not allow reading the memory of process {pid}. Run this command with sudo, or allow it with `sysctl -w kernel.yama.ptrace_scope=0`. A container needs --cap-add=SYS_PTRACE."
            ),
            Self::NotPython(pid) => say!(
                "process {pid} is not Python and has no Python child process. Name the Python process of the training."
            ),
            // The words of py-spy.
            Self::Unreadable(pid, why) if why.contains("Unsupported version") => say!(
                "cannot read the Python stacks of process {pid}: {why}. This version reads CPython 3.9 to 3.15. Update Loadscope for a newer Python."
            ),
            Self::Unreadable(pid, why) => say!(
                "cannot read the Python stacks of process {pid}: {why}. Run this command again."
            ),
            Self::UnsupportedSystem => {
                say!("`dump` needs Linux. Run it on the host of the training.").to_owned()
            }
        };
        f.write_str(&text)
    }
}

impl std::error::Error for StacksError {}
