//! Virtual file systems of the kernel.

use std::path::Path;

/// Returns true for a file or folder of a virtual file system, such as `/proc` and `/sys`.
/// A search in it may never end. Reading its files may block or change something.
#[cfg(target_os = "linux")]
pub fn is_on_virtual_filesystem(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    /// Magic numbers of proc, sys, debug, trace, security, config, bpf, pstore, both control groups and devpts.
    const MAGIC_NUMBERS: [u64; 11] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6265_6570,
        0xcafe_4a11,
        0x6165_676c,
        0x0027_e0eb,
        0x6367_7270,
        0x1cd1,
    ];
    let Ok(name) = std::ffi::CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: an all-zero statfs is valid. The call reads the name and writes to `found`, which are both valid during the call.
    unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        if libc::statfs(name.as_ptr(), &raw mut found) != 0 {
            return false;
        }
        // The type of `f_type` differs between systems. All numbers fit into 32 bits.
        MAGIC_NUMBERS.contains(&(found.f_type as u64 & 0xffff_ffff))
    }
}

/// Returns false, because other systems have no such file systems.
#[cfg(not(target_os = "linux"))]
pub fn is_on_virtual_filesystem(_: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn kernel_files_are_distinguished_from_others() {
        for theirs in ["/proc", "/proc/self/status", "/sys"] {
            assert!(is_on_virtual_filesystem(Path::new(theirs)), "{theirs}");
        }
        let dir = tempfile::tempdir().expect("a temporary folder");
        for other in [dir.path(), Path::new("/"), Path::new("/nowhere")] {
            assert!(!is_on_virtual_filesystem(other), "{}", other.display());
        }
    }
}
