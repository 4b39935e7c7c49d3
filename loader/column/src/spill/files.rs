//! Mapped temporary files.
#![allow(unsafe_code, reason = "a file is mapped")]

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, fallocate, fstatvfs, statfs};

/// Maximum size of the chunks in memory if a spill folder exists, bytes.
const BUDGET: usize = 128 << 20;

/// Size of a mapped file, bytes.
const SEGMENT: usize = 64 << 20;

/// Disk space that stays free, bytes.
const MIN_FREE_DISK: u64 = 1 << 30;

/// Folder of the files.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Size of the chunks in memory, bytes.
static IN_MEMORY: AtomicUsize = AtomicUsize::new(0);

/// The newest file and its number of used bytes.
static LATEST: Mutex<Option<(Arc<Segment>, usize)>> = Mutex::new(None);

/// A mapped file. Its disk blocks are freed with its last chunk. The blocks of the newest file are freed at the end of the process.
pub(crate) struct Segment(MmapRaw);

/// Spills new chunks above the memory budget to the first of these folders on a local disk. Without such a folder, all chunks stay in
/// memory.
pub fn spill_to(folders: impl IntoIterator<Item = PathBuf>) {
    if let Some(folder) = folders.into_iter().find(|folder| is_disk(folder)) {
        // Later calls have no effect.
        let _ = FOLDER.set(folder);
    }
}

/// Returns true if the folder supports unnamed files and is neither in memory nor remote.
fn is_disk(folder: &Path) -> bool {
    // A file of a server that stops answering would block every reader of the column.
    const MEMORY_OR_REMOTE: [i64; 13] = [
        0x0102_1994, // tmpfs
        0x8584_58f6, // ramfs
        0x6969,      // NFS
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x6573_5546, // FUSE, virtiofs
        0x0bd0_0bd0, // Lustre
        0x00c3_6400, // Ceph
        0x0102_1997, // 9p
        0x4750_4653, // GPFS
        0x1983_0326, // BeeGFS
        0x5346_414f, // OpenAFS
        0x6b41_4653, // AFS of the kernel
    ];
    #[allow(
        clippy::unnecessary_cast,
        reason = "other processors have another type here"
    )]
    let kind = statfs(folder).map(|about| about.f_type as i64);
    kind.is_ok_and(|kind| !MEMORY_OR_REMOTE.contains(&kind))
        && tempfile::tempfile_in(folder).is_ok()
}

/// Adds to the bytes in memory.
pub(crate) fn add_bytes_in_memory(bytes: usize) {
    IN_MEMORY.fetch_add(bytes, Ordering::Relaxed);
}

/// Subtracts from the bytes in memory.
pub(crate) fn subtract_bytes_in_memory(bytes: usize) {
    IN_MEMORY.fetch_sub(bytes, Ordering::Relaxed);
}

/// Returns room for `count` items in a file if the memory budget is used up.
pub(crate) fn allocate<T>(count: usize) -> Option<(NonNull<T>, Arc<Segment>)> {
    let bytes = count * size_of::<T>();
    let folder = FOLDER.get()?;
    if IN_MEMORY.load(Ordering::Relaxed) + bytes <= BUDGET || bytes == 0 || bytes > SEGMENT {
        return None;
    }
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    let room = latest.take().and_then(|(mut segment, used)| {
        // A file without chunks is used from its start again.
        let is_free = Arc::get_mut(&mut segment).is_some();
        let used = if is_free { 0 } else { used };
        let start = used.next_multiple_of(align_of::<T>());
        (start + bytes <= SEGMENT).then_some((segment, start))
    });
    let (segment, start) = match room {
        Some(room) => room,
        None => (new_segment(folder)?, 0),
    };
    // SAFETY: `start` is within the mapping, which never moves.
    let at = unsafe { segment.0.as_mut_ptr().add(start) };
    *latest = Some((Arc::clone(&segment), start + bytes));
    Some((NonNull::new(at)?.cast(), segment))
}

/// Maps a new file. Its blocks are reserved first, because a write to a page without a block would end the process.
fn new_segment(folder: &Path) -> Option<Arc<Segment>> {
    let file = tempfile::tempfile_in(folder).ok()?;
    reserve(file.as_fd(), SEGMENT as u64)?;
    let map = MmapOptions::new().len(SEGMENT).map_raw(&file).ok()?;
    Some(Arc::new(Segment(map)))
}

fn reserve(file: impl AsFd, bytes: u64) -> Option<()> {
    let about = fstatvfs(&file).ok()?;
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    if free < MIN_FREE_DISK.saturating_add(bytes) {
        return None;
    }
    fallocate(file, FallocateFlags::empty(), 0, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn a_memory_file_system_does_not_count_as_disk() {
        assert!(!is_disk(Path::new("/no/such/folder")));
        if Path::new("/dev/shm").is_dir() {
            assert!(!is_disk(Path::new("/dev/shm")));
        }
    }

    #[test]
    fn a_file_longer_than_the_disk_is_not_reserved() {
        let file = tempfile::tempfile().expect("a temporary file");
        assert_eq!(reserve(file.as_fd(), 1 << 60), None);
    }

    /// One test covers all cases, because the budget is per process.
    #[test]
    fn chunks_above_the_budget_spill_to_a_file() {
        // A test host may have no disk. Then all chunks stay in memory.
        spill_to([std::env::temp_dir(), PathBuf::from("/var/tmp")]);
        let many = (BUDGET + 2 * SEGMENT) / size_of::<u64>();
        let mut column: Column<u64> = (0..many as u64).collect();
        assert!(IN_MEMORY.load(Ordering::Relaxed) < BUDGET + SEGMENT || FOLDER.get().is_none());
        let last = many - 1000;
        let snapshot = column.clone();
        column[last] = 7;
        column[0] = 8;
        assert_eq!((column[last], column[0]), (7, 8));
        assert_eq!((snapshot[last], snapshot[0]), (last as u64, 0));
        assert!(snapshot.iter().copied().eq(0..many as u64));
        drop(snapshot);
        column.truncate(last);
        column.push(9);
        assert_eq!((column.len(), column[last]), (last + 1, 9));
        drop(column);
        assert!(IN_MEMORY.load(Ordering::Relaxed) < BUDGET);
        // The newest file is used again.
        let again: Column<u64> = (0..many as u64).rev().collect();
        assert!(again.iter().copied().eq((0..many as u64).rev()));
    }
}
