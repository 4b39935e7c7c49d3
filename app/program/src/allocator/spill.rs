//! Very large lists on disk.
//!
//! A recording of ten million batches is larger, once it is folded, than the memory that people have to spare. So lists that would take
//! all large places together beyond [`BUDGET`] lie in files without a name, mapped to memory: the system writes to the disk what is not
//! looked at, and reads it when it is. Such a file is gone with the process, however that ends.
//!
//! Nothing here allocates: it is called by the allocator.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Large places that lie in memory have so many bytes together, at most, where there is a disk for the others.
const BUDGET: usize = 128 << 20;

/// So much of the disk is left to others, bytes.
const SPARE: u64 = 1 << 30;

/// So many places may lie on disk at a time.
const MOST: usize = 512;

/// The folder whose disk is used; null: none.
static FOLDER: AtomicPtr<libc::c_char> = AtomicPtr::new(null_mut());

/// Bytes of the large places that lie in memory.
static IN_MEMORY: AtomicUsize = AtomicUsize::new(0);

/// The places that lie on disk.
static ON_DISK: Mutex<[Place; MOST]> = Mutex::new([Place::NONE; MOST]);

/// A place that lies on disk.
#[derive(Clone, Copy)]
struct Place {
    /// Where it is mapped; 0: this entry is free.
    at: usize,
    file: RawFd,
}

impl Place {
    const NONE: Self = Self { at: 0, file: -1 };
}

/// From now on lists that there is no room for in memory lie on the first of these that is a disk: the folder for temporary files,
/// `/var/tmp`, the user's cache. Where none is, all stay in memory.
pub fn use_the_disk() {
    let folders = [
        Some(std::env::temp_dir()),
        Some(PathBuf::from("/var/tmp")),
        dirs::cache_dir(),
    ];
    let folder = folders
        .into_iter()
        .flatten()
        .find_map(|folder| disk(&folder));
    if let Some(folder) = folder {
        // It is used until the end of the process.
        FOLDER.store(folder.into_raw(), Ordering::Release);
    }
}

/// The folder, if files without a name can be made there, and are not memory or on another host.
fn disk(folder: &Path) -> Option<CString> {
    const MEMORY_OR_FAR: [i64; 6] = [
        0x0102_1994, // tmpfs
        0x8584_58f6, // ramfs
        0x6969,      // NFS
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x6573_5546, // FUSE
    ];
    let folder = CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut about = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path ends with a zero, and the system fills `about` in where it returns 0.
    let kind = unsafe {
        (libc::statfs(folder.as_ptr(), about.as_mut_ptr()) == 0).then(|| about.assume_init().f_type)
    };
    #[allow(
        clippy::unnecessary_cast,
        reason = "other processors have another type here"
    )]
    let kind = kind? as i64;
    if MEMORY_OR_FAR.contains(&kind) {
        return None;
    }
    let file = create(&folder)?;
    close(file);
    Some(folder)
}

/// A file without a name.
fn create(folder: &CStr) -> Option<RawFd> {
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero; nothing that exists is opened.
    let file = unsafe { libc::open(folder.as_ptr(), flags, 0o600) };
    (file >= 0).then_some(file)
}

fn close(file: RawFd) {
    // SAFETY: the file belongs to this module, which forgets it.
    unsafe { libc::close(file) };
}

fn on_disk() -> MutexGuard<'static, [Place; MOST]> {
    ON_DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// False if so many bytes more are better off on disk.
pub(super) fn fits(more: usize) -> bool {
    IN_MEMORY.load(Ordering::Relaxed).saturating_add(more) <= BUDGET
        || FOLDER.load(Ordering::Acquire).is_null()
}

/// Counts a place in memory.
pub(super) fn count(size: usize) {
    IN_MEMORY.fetch_add(size, Ordering::Relaxed);
}

/// Takes back what was counted.
pub(super) fn uncount(size: usize) {
    IN_MEMORY.fetch_sub(size, Ordering::Relaxed);
}

/// Sees to it that the file has blocks of the disk for `size` bytes: a page without one would end the process when it is written.
fn reserve(file: RawFd, size: usize) -> bool {
    let mut about = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the system fills `about` in where it returns 0.
    let about =
        unsafe { (libc::fstatvfs(file, about.as_mut_ptr()) == 0).then(|| about.assume_init()) };
    let free = about.map_or(0, |about| about.f_bavail.saturating_mul(about.f_frsize));
    let Ok(end) = libc::off_t::try_from(size) else {
        return false;
    };
    if free < SPARE.saturating_add(size as u64) {
        return false;
    }
    // SAFETY: the file belongs to this module.
    unsafe { libc::fallocate(file, 0, 0, end) == 0 }
}

/// A place of so many bytes on disk, all of them zero; null if there is none.
pub(super) fn map(size: usize) -> *mut u8 {
    let folder = FOLDER.load(Ordering::Acquire);
    if folder.is_null() {
        return null_mut();
    }
    let mut places = on_disk();
    let Some(free) = places.iter_mut().find(|place| place.at == 0) else {
        return null_mut();
    };
    // SAFETY: the name was made by `use_the_disk` and is never freed.
    let Some(file) = create(unsafe { CStr::from_ptr(folder) }) else {
        return null_mut();
    };
    let (access, sharing) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    let at = match reserve(file, size) {
        // SAFETY: new pages of a file that no one else has, at a place that the system chooses.
        true => unsafe { libc::mmap(null_mut(), size, access, sharing, file, 0) },
        false => libc::MAP_FAILED,
    };
    if at == libc::MAP_FAILED {
        close(file);
        return null_mut();
    }
    *free = Place {
        at: at.addr(),
        file,
    };
    at.cast()
}

/// True if the place lies on disk.
pub(super) fn has(at: *mut u8) -> bool {
    on_disk().iter().any(|place| place.at == at.addr())
}

/// Gives a place on disk back.
///
/// # Safety
/// It was given by [`map`] or [`remap`] with this size and is not used any more.
pub(super) unsafe fn unmap(at: *mut u8, size: usize) {
    let mut places = on_disk();
    let Some(place) = places.iter_mut().find(|place| place.at == at.addr()) else {
        return;
    };
    // SAFETY: by the caller's promise.
    unsafe { libc::munmap(at.cast(), size) };
    close(place.file);
    *place = Place::NONE;
}

/// Makes a place on disk longer or shorter; null if there is no room, and then it stays as it is.
///
/// # Safety
/// It was given by [`map`] or [`remap`] with `before` bytes; of what is returned that is not null, the old place is not used any more.
pub(super) unsafe fn remap(at: *mut u8, before: usize, size: usize) -> *mut u8 {
    let mut places = on_disk();
    let Some(place) = places.iter_mut().find(|place| place.at == at.addr()) else {
        return null_mut();
    };
    if size > before && !reserve(place.file, size) {
        return null_mut();
    }
    // SAFETY: these pages were mapped with `before` bytes, and the file has at least `size`.
    let moved = unsafe { libc::mremap(at.cast(), before, size, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED {
        return null_mut();
    }
    if let (true, Ok(end)) = (size < before, libc::off_t::try_from(size)) {
        // SAFETY: what is cut off is not mapped any more. If it does not work, the disk has less room until the place is given back.
        unsafe { libc::ftruncate(place.file, end) };
    }
    place.at = moved.addr();
    moved.cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_no_disk() {
        assert!(disk(Path::new("/no/such/folder")).is_none());
        if Path::new("/dev/shm").is_dir() {
            assert!(disk(Path::new("/dev/shm")).is_none());
        }
    }

    #[test]
    fn a_file_longer_than_the_disk_is_not_promised() {
        let Some(folder) = disk(&std::env::temp_dir()) else {
            return;
        };
        let file = create(&folder).expect("it could be made a moment ago");
        assert!(!reserve(file, 1 << 60));
        close(file);
    }
}
