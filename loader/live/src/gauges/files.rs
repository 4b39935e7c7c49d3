//! Folders from which a process reads samples, and the types of their file systems.

use std::fs;
use std::path::Path;

use super::proc;

/// Maximum number of file descriptors to look at per process.
const MAX_DESCRIPTORS: usize = 256;

/// Returns the folders of data files that a process has open for reading, or else has mapped, with the types of their file systems.
pub(super) fn folders(pid: u64) -> Vec<(String, String)> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    let descriptors = descriptors.into_iter().flatten().flatten();
    let folder = |descriptor: fs::DirEntry| {
        let path = fs::read_link(descriptor.path()).ok()?;
        let folder = data_folder(path.to_str()?)?.to_owned();
        let name = descriptor.file_name();
        let info = proc::read(pid, &format!("fdinfo/{}", name.to_str()?))?;
        is_read_only_file(&info).then_some(folder)
    };
    let descriptors = descriptors.take(MAX_DESCRIPTORS);
    let mut folders: Vec<String> = descriptors.filter_map(folder).collect();
    if folders.is_empty() {
        let maps = proc::read(pid, "maps").unwrap_or_default();
        let mapped = maps.lines().filter_map(proc::mapped_file);
        folders.extend(mapped.filter_map(data_folder).map(str::to_owned));
    }
    folders.sort_unstable();
    folders.dedup();
    let mounts = proc::read(pid, "mountinfo").unwrap_or_default();
    let with_type = |folder: String| Some((file_system(&mounts, &folder)?.to_owned(), folder));
    folders.into_iter().filter_map(with_type).collect()
}

/// Returns the folder of a file. Returns `None` for devices, deleted files, and the files of Python's packages.
fn data_folder(path: &str) -> Option<&str> {
    const SYSTEM: [&str; 6] = ["/dev/", "/proc/", "/sys/", "/etc/", "/usr/", "/memfd:"];
    const CODE: [&str; 3] = ["py", "pyc", "so"];
    let (folder, name) = path.rsplit_once('/')?;
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    let is_code = extension.is_some_and(|e| CODE.contains(&e))
        || name.contains(".so.")
        || path.contains("/site-packages/")
        // The interpreter: `/home/me/conda/bin/python3.11`.
        || path.contains("/bin/");
    let is_data = path.starts_with('/')
        && !SYSTEM.iter().any(|prefix| path.starts_with(prefix))
        && !path.ends_with(" (deleted)")
        && !is_code;
    is_data.then_some(if folder.is_empty() { "/" } else { folder })
}

/// Returns true for a file that is open for reading only. `info` is the text of `/proc/PID/fdinfo/FD`.
fn is_read_only_file(info: &str) -> bool {
    const ACCESS: u32 = 0o3;
    const DIRECTORY: u32 = 0o200_000;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    flags.is_some_and(|flags| flags & (ACCESS | DIRECTORY) == 0)
}

/// Returns the type of the file system of a folder. `mounts` is the text of `/proc/PID/mountinfo`.
fn file_system<'a>(mounts: &'a str, folder: &str) -> Option<&'a str> {
    let mount = |line: &'a str| {
        let (mount, system) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?.replace("\\040", " ");
        let rest = folder.strip_prefix(point.trim_end_matches('/'))?;
        let is_inside = rest.is_empty() || rest.starts_with('/');
        is_inside.then_some((point.len(), system.split(' ').next()?))
    };
    // A later mount at the same place hides an earlier one.
    let found = mounts.lines().filter_map(mount);
    found.max_by_key(|(len, _)| *len).map(|(_, system)| system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_has_the_file_system() {
        let mounts = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:50 / /mnt/my\\040data ro,nosuid shared:3 - nfs4 server:/export rw,vers=4.2
41 27 0:51 / /mnt/my\\040data ro shared:4 - fuse.s3fs s3fs rw
";
        assert_eq!(file_system(mounts, "/home/me"), Some("ext4"));
        assert_eq!(file_system(mounts, "/"), Some("ext4"));
        assert_eq!(file_system(mounts, "/mnt/my data/a"), Some("fuse.s3fs"));
        assert_eq!(file_system(mounts, "/mnt/my data2"), Some("ext4"));
        assert_eq!(file_system("nonsense", "/"), None);
    }

    #[test]
    fn only_data_files_count() {
        assert_eq!(data_folder("/data/train/1.jpg"), Some("/data/train"));
        assert_eq!(data_folder("/1.bin"), Some("/"));
        for path in [
            "/dev/shm/torch_1",
            "socket:[7]",
            "/data/1.bin (deleted)",
            "/v/lib/python3.11/site-packages/a/b.json",
            "/lib/libc.so.6",
            "/home/me/train.py",
        ] {
            assert_eq!(data_folder(path), None, "{path}");
        }
        let info =
            |flags: &str| is_read_only_file(&format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t27\n"));
        assert!(info("0100000") && info("02000000"));
        assert!(!info("0100001") && !info("0100002") && !info("0300000"));
        assert!(!is_read_only_file(""));
    }
}
