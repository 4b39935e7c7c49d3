//! Installation of a seccomp filter that reports system calls.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use libc::{c_int, c_long, seccomp_data};

/// Returns a BPF program that reports these calls and allows all others.
pub(super) fn filter(numbers: &[c_long]) -> Vec<libc::sock_filter> {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let number = mem::offset_of!(seccomp_data, nr) as u32;
    let mut program = vec![statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        number,
    )];
    for (k, number) in numbers.iter().enumerate() {
        let to_the_end = (numbers.len() - k) as u8;
        program.push(libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: to_the_end,
            jf: 0,
            k: *number as u32,
        });
    }
    program.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_ALLOW,
    ));
    program.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    program
}

/// Installs the filter in this process. Returns the descriptor for the notifications.
pub(super) fn install(filter: &mut [libc::sock_filter]) -> io::Result<RawFd> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and the filter that it points to outlive the calls.
    let listener = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    match RawFd::try_from(listener) {
        Ok(listener) if listener >= 0 => Ok(listener),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Control message with one descriptor.
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    descriptor: RawFd,
    _padding: u32,
}

fn with_message<T>(
    process: &mut c_int,
    control: &mut Control,
    with: impl FnOnce(&mut libc::msghdr) -> T,
) -> T {
    let mut part = libc::iovec {
        iov_base: std::ptr::from_mut(process).cast(),
        iov_len: size_of::<c_int>(),
    };
    // SAFETY: an all-zero msghdr is valid.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = std::ptr::from_mut(control).cast();
    message.msg_controllen = size_of::<Control>();
    with(&mut message)
}

/// Sends a descriptor and the ID of this process to another process.
pub(super) fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut control = Control {
        header: libc::cmsghdr {
            cmsg_len: mem::offset_of!(Control, descriptor) + size_of::<RawFd>(),
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        },
        descriptor,
        _padding: 0,
    };
    // SAFETY: getpid has no arguments and cannot fail.
    let mut process = unsafe { libc::getpid() };
    let sent = with_message(&mut process, &mut control, |message| {
        // SAFETY: all data that the message points to outlives the call.
        unsafe { libc::sendmsg(socket, message, 0) }
    });
    match sent {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Receives a descriptor and the ID of the process that sent it.
pub(super) fn receive(socket: &OwnedFd) -> io::Result<(OwnedFd, c_int)> {
    let mut control = Control {
        // SAFETY: all-zero is valid, because the structure contains only numbers.
        header: unsafe { mem::zeroed() },
        descriptor: -1,
        _padding: 0,
    };
    let mut process = 0;
    let received = with_message(&mut process, &mut control, |message| {
        // SAFETY: all data that the message points to outlives the call.
        unsafe { libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC) }
    });
    // Process 0 would be this process group.
    if received != size_of::<c_int>() as isize || control.descriptor < 0 || process <= 1 {
        return Err(io::Error::other("the process was not started"));
    }
    // SAFETY: the system has just created the descriptor, and nothing else owns it.
    Ok((unsafe { OwnedFd::from_raw_fd(control.descriptor) }, process))
}
