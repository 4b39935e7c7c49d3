//! The system call of a thread, decoded to a wait.

use std::fs;
use std::path::Path;

use super::descriptor::{Files, descriptor, file_lock};
use super::stat::{Memory, Stat, Task};
use crate::process::State;
use crate::wait::{Descriptor, Direction, Wait};

/// Futex operations: the mask of the command, the flag of a futex without shared memory.
const FUTEX_COMMAND: u64 = 0x7f;
const FUTEX_PRIVATE: u64 = 0x80;

/// Descriptor of the working directory, as 32 bits.
const AT_FDCWD: u64 = 0xffff_ff9c;

/// Event of `poll`.
const POLLOUT: u32 = 4;

/// Maximum number of descriptors of a `poll` that are read.
const MAX_POLLED: u64 = 64;

/// Parts of a system call that decide about its wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Futex,
    Read,
    Write,
    /// `struct pollfd`, their number, and a timeout: a number, or an address for `ppoll`.
    Poll {
        is_number: bool,
    },
    Select,
    Epoll,
    Wait4,
    WaitId,
    Sleep,
    /// Position of the path in the arguments.
    Path(usize),
    FileLock,
    Other,
}

/// Number, name and form of the system calls that wait.
#[rustfmt::skip]
const CALLS: &[(libc::c_long, &str, Form)] = &[
    (libc::SYS_futex, "futex", Form::Futex),
    (libc::SYS_read, "read", Form::Read),
    (libc::SYS_pread64, "pread64", Form::Read),
    (libc::SYS_readv, "readv", Form::Read),
    (libc::SYS_recvfrom, "recvfrom", Form::Read),
    (libc::SYS_recvmsg, "recvmsg", Form::Read),
    (libc::SYS_accept, "accept", Form::Read),
    (libc::SYS_accept4, "accept4", Form::Read),
    (libc::SYS_getdents64, "getdents64", Form::Read),
    (libc::SYS_fstat, "fstat", Form::Read),
    (libc::SYS_write, "write", Form::Write),
    (libc::SYS_pwrite64, "pwrite64", Form::Write),
    (libc::SYS_writev, "writev", Form::Write),
    (libc::SYS_sendto, "sendto", Form::Write),
    (libc::SYS_sendmsg, "sendmsg", Form::Write),
    (libc::SYS_connect, "connect", Form::Write),
    (libc::SYS_fsync, "fsync", Form::Write),
    (libc::SYS_fdatasync, "fdatasync", Form::Write),
    (libc::SYS_ftruncate, "ftruncate", Form::Write),
    (libc::SYS_fallocate, "fallocate", Form::Write),
    (libc::SYS_close, "close", Form::Write),
    (libc::SYS_ioctl, "ioctl", Form::Write),
    (libc::SYS_ppoll, "ppoll", Form::Poll { is_number: false }),
    (libc::SYS_pselect6, "pselect6", Form::Select),
    (libc::SYS_epoll_pwait, "epoll_pwait", Form::Epoll),
    (libc::SYS_wait4, "wait4", Form::Wait4),
    (libc::SYS_waitid, "waitid", Form::WaitId),
    (libc::SYS_nanosleep, "nanosleep", Form::Sleep),
    (libc::SYS_clock_nanosleep, "clock_nanosleep", Form::Sleep),
    (libc::SYS_openat, "openat", Form::Path(1)),
    (libc::SYS_newfstatat, "newfstatat", Form::Path(1)),
    (libc::SYS_statx, "statx", Form::Path(1)),
    (libc::SYS_unlinkat, "unlinkat", Form::Path(1)),
    (libc::SYS_flock, "flock", Form::FileLock),
    (libc::SYS_fcntl, "fcntl", Form::FileLock),
    (libc::SYS_restart_syscall, "restart_syscall", Form::Other),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait", Form::Other),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, "poll", Form::Poll { is_number: true }),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, "select", Form::Select),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait, "epoll_wait", Form::Epoll),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open", Form::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_stat, "stat", Form::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause, "pause", Form::Other),
];

/// System call with its arguments.
struct Call {
    name: String,
    form: Form,
    arguments: [u64; 6],
}

impl Call {
    /// Parses `/proc/PID/task/TID/syscall`. Returns `None` for a thread that executes code.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number: libc::c_long = words.next()?.parse().ok().filter(|n| *n >= 0)?;
        let mut arguments = [0; 6];
        for (argument, word) in arguments.iter_mut().zip(words) {
            *argument = u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()?;
        }
        let known = CALLS.iter().find(|(n, ..)| *n == number);
        let (name, form) = match known {
            Some((_, name, form)) => ((*name).to_owned(), *form),
            None => (format!("system call {number}"), Form::Other),
        };
        Some(Self {
            name,
            form,
            arguments,
        })
    }
}

/// Returns the wait of a thread.
pub fn wait_of(pid: u32, task: &Task, memory: Option<&Memory>, files: &Files) -> Wait {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{}/syscall", task.tid));
    match text.ok().as_deref().and_then(Call::parse) {
        Some(call) => decode(pid, &call, memory, files),
        None if task.stat.state == State::Blocked => Wait::PageFault,
        None => Wait::Running,
    }
}

/// Returns the system call in which a main thread waits, with the kind of its object, from the text of `/proc/PID/task/TID/syscall`. Returns
/// `None` for a thread that runs or waits for a core. No file is accessed, because a server can have stopped answering.
pub fn blocking_call(pid: u32, text: &str, memory: &Memory) -> Option<(String, &'static str)> {
    if let Some(call) = Call::parse(text) {
        let object = object(pid, &call, memory);
        return Some((call.name, object));
    }
    // A thread that runs has no numbers.
    let has_stopped = text.starts_with("-1");
    let stat = has_stopped.then(|| Stat::of(&format!("/proc/{pid}/task/{pid}")))??;
    (stat.state == State::Blocked).then(|| ("page fault".to_owned(), "file"))
}

/// Returns the kind of object that a system call waits for.
fn object(pid: u32, call: &Call, memory: &Memory) -> &'static str {
    let of = |fd: u64| {
        let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
        match link.to_str().unwrap_or_default() {
            link if link.starts_with("pipe:") => "pipe",
            link if link.starts_with("socket:") => "socket",
            _ if link.is_absolute() => "file",
            _ => "kernel",
        }
    };
    let [first, second, ..] = call.arguments;
    match call.form {
        Form::Futex => "lock",
        Form::Read | Form::Write => of(first),
        Form::Poll { .. } => match memory.number(first).filter(|_| second > 0) {
            Some(fd) => of(fd.into()),
            None => "sleep",
        },
        // `time.sleep` before Python 3.11.
        Form::Select if first == 0 => "sleep",
        Form::Epoll => "socket",
        Form::Wait4 | Form::WaitId => "process",
        Form::Sleep => "sleep",
        Form::Path(_) | Form::FileLock => "file",
        Form::Select | Form::Other => "kernel",
    }
}

fn decode(pid: u32, call: &Call, memory: Option<&Memory>, files: &Files) -> Wait {
    let [first, second, third, fourth, ..] = call.arguments;
    let io = |on: Vec<Descriptor>, timed: bool| Wait::Io {
        call: call.name.clone(),
        on,
        timed,
    };
    let poll = |on: Vec<Descriptor>, timed: bool| match timed && on.is_empty() {
        true => Wait::Sleep,
        false => io(on, timed),
    };
    let transfer = |direction| io(vec![descriptor(pid, first, direction, files)], false);
    match call.form {
        Form::Futex => futex(first, second, fourth),
        Form::Read => transfer(Direction::Read),
        Form::Write => transfer(Direction::Write),
        Form::Poll { is_number } => {
            let on = polled(pid, (first, second), memory, files);
            // A negative number is no limit. The kernel reads 32 bits.
            let is_limit = third & 0xffff_ffff < 1 << 31;
            poll(on, if is_number { is_limit } else { third != 0 })
        }
        // `time.sleep` before Python 3.11.
        Form::Select if first == 0 => Wait::Sleep,
        Form::Epoll => poll(watched(pid, first, files), fourth & 0xffff_ffff < 1 << 31),
        Form::Wait4 => Wait::Child {
            // Zero and negative numbers are groups of children.
            pid: u32::try_from(first)
                .ok()
                .filter(|n| (1..1 << 31).contains(n)),
        },
        Form::WaitId => Wait::Child {
            pid: u32::try_from(second).ok().filter(|_| first == 1),
        },
        Form::Sleep => Wait::Sleep,
        Form::Path(at) => match on_path(pid, call, at, memory, files) {
            Some(on) => io(vec![on], false),
            None => Wait::Other {
                call: call.name.clone(),
            },
        },
        Form::FileLock => io(vec![file_lock(pid, first, files)], false),
        Form::Select | Form::Other => Wait::Other {
            call: call.name.clone(),
        },
    }
}

/// Returns the file of a call with a path. The descriptor of a folder precedes the path, and without a path it is the file.
fn on_path(
    pid: u32,
    call: &Call,
    at: usize,
    memory: Option<&Memory>,
    files: &Files,
) -> Option<Descriptor> {
    let path = match call.arguments.get(at)? {
        0 => String::new(),
        address => memory?.text(*address)?,
    };
    let before = at.checked_sub(1).and_then(|at| call.arguments.get(at));
    let folder = before
        .map(|fd| fd & 0xffff_ffff)
        .filter(|fd| *fd != AT_FDCWD);
    Some(match folder {
        Some(fd) if path.is_empty() => descriptor(pid, fd, Direction::Read, files),
        _ => Descriptor {
            fd: None,
            direction: Direction::Read,
            resource: files.at_path(pid, folder, Path::new(&path)),
        },
    })
}

fn futex(address: u64, operation: u64, timeout: u64) -> Wait {
    let timed = timeout != 0;
    match operation & FUTEX_COMMAND {
        // FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI.
        0 | 6 | 9 | 11 if operation & FUTEX_PRIVATE != 0 => Wait::Lock { address, timed },
        0 | 6 | 9 | 11 => Wait::SharedLock {
            address,
            timed,
            peers: Vec::new(),
        },
        _ => Wait::Other {
            call: "futex".to_owned(),
        },
    }
}

/// Returns the descriptors of `poll`: an array of `struct pollfd` with 8 bytes each.
fn polled(
    pid: u32,
    (address, count): (u64, u64),
    memory: Option<&Memory>,
    files: &Files,
) -> Vec<Descriptor> {
    let read = |at: u64| {
        let entry = address.wrapping_add(at.wrapping_mul(8));
        // The kernel skips negative descriptors.
        let fd = memory?.number(entry).filter(|fd| *fd < 1 << 31)?;
        let events = memory?.number(entry.wrapping_add(4))?;
        let direction = match events & POLLOUT {
            0 => Direction::Read,
            _ => Direction::Write,
        };
        Some(descriptor(pid, u64::from(fd), direction, files))
    };
    (0..count.min(MAX_POLLED)).filter_map(read).collect()
}

/// Returns the descriptors of an epoll descriptor.
fn watched(pid: u32, fd: u64, files: &Files) -> Vec<Descriptor> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
    let watched = info.lines().filter_map(|l| l.strip_prefix("tfd:"));
    let fds = watched.filter_map(|l| l.split_ascii_whitespace().next()?.parse().ok());
    fds.map(|fd| descriptor(pid, fd, Direction::Read, files))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::Resource;

    fn wait(text: &str) -> Wait {
        let call = Call::parse(text).expect("a system call");
        decode(1, &call, None, &Files::default())
    }

    #[test]
    fn a_futex_is_private_or_shared_and_has_a_limit_or_none() {
        let futex = |rest: &str| wait(&format!("{} 0x7f00 {rest} 0x0 0x1 0x2", libc::SYS_futex));
        let plain = futex("0x189 0x0 0x0 0x0");
        assert!(matches!(
            plain,
            Wait::Lock {
                timed: false,
                address: 0x7f00
            }
        ));
        let timed = futex("0x80 0x0 0x1 0x0");
        assert!(matches!(timed, Wait::Lock { timed: true, .. }));
        let shared = futex("0x109 0x0 0x0 0x0");
        assert!(matches!(shared, Wait::SharedLock { timed: false, .. }));
    }

    #[test]
    fn a_select_without_descriptors_is_a_sleep() {
        let text = format!("{} 0x0 0x0 0x0 0x0 0x7f00 0x0 0x1 0x2", libc::SYS_pselect6);
        assert_eq!(wait(&text), Wait::Sleep);
    }

    #[test]
    fn a_path_is_relative_to_its_folder_and_without_a_path_the_folder_is_the_file() {
        let folder = fs::File::open("/usr").expect("a folder");
        let fd = std::os::fd::AsRawFd::as_raw_fd(&folder);
        let own = std::process::id();
        let memory = Memory::open(own).expect("its own memory");
        let current = std::env::current_dir().expect("a folder");
        let (none, name, whole) = (c"", c"lib", c"/usr/lib");
        let cases = [
            (i64::from(fd), none, "/usr".to_owned(), true),
            (i64::from(fd), name, "/usr/lib".to_owned(), false),
            (i64::from(fd), whole, "/usr/lib".to_owned(), false),
            (-100, name, format!("{}/lib", current.display()), false),
        ];
        for (fd, path, wanted, has_fd) in cases {
            let address = path.as_ptr().addr();
            let text = format!("{} {fd:#x} {address:#x} 0 0 0 0", libc::SYS_newfstatat);
            let call = Call::parse(&text).expect("a system call");
            let wait = decode(own, &call, Some(&memory), &Files::default());
            let [on] = wait.descriptors() else {
                unreachable!("{wait:?}");
            };
            let resource = Resource::File {
                path: wanted,
                file_system: String::new(),
            };
            assert_eq!((&on.resource, on.fd.is_some()), (&resource, has_fd));
        }
    }

    #[test]
    fn a_running_thread_has_no_system_call() {
        assert!(Call::parse("running").is_none() && Call::parse("-1 0x1 0x2").is_none());
        let waited = format!("{} 0xffffffffffffffff 0x0 0x0 0x0 0 0 0 0", libc::SYS_wait4);
        assert_eq!(wait(&waited), Wait::Child { pid: None });
    }
}
