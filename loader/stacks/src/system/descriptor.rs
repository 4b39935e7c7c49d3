//! Objects of file descriptors and paths.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use crate::wait::{Descriptor, Direction, Resource, is_served};

/// Maximum number of symbolic links in a path, as in the kernel.
const MAX_LINKS: u32 = 40;

/// Mount of a file system.
#[derive(Debug)]
struct Mount {
    id: String,
    /// Device numbers as in `/proc/locks`.
    device: String,
    point: PathBuf,
    /// Type of the file system.
    kind: String,
}

/// Mounts and TCP connections that a process sees.
#[derive(Debug, Default)]
pub struct Files {
    mounts: Vec<Mount>,
    /// Remote address of a connected socket, by inode.
    remotes: HashMap<String, String>,
}

impl Files {
    /// Reads the mounts and connections of a process.
    pub fn of(pid: u32) -> Self {
        let text = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let mounts = text("mountinfo").unwrap_or_default();
        let mut remotes = HashMap::new();
        for table in ["net/tcp", "net/tcp6"] {
            let table = text(table).unwrap_or_default();
            remotes.extend(table.lines().skip(1).filter_map(connection));
        }
        Self {
            mounts: mounts.lines().filter_map(mount).collect(),
            remotes,
        }
    }

    /// Returns the file at a path, which is relative to the folder of a descriptor, or to the working directory. Does not access a file
    /// system that can stop answering.
    pub fn at_path(&self, pid: u32, folder: Option<u64>, path: &Path) -> Resource {
        let folder = match folder {
            Some(fd) => format!("/proc/{pid}/fd/{fd}"),
            None => format!("/proc/{pid}/cwd"),
        };
        let path = fs::read_link(folder).unwrap_or_default().join(path);
        let real = self.without_links(pid, &path);
        let path = path.display().to_string();
        let kind = self.file_system(&real).unwrap_or_default();
        let is_fifo = || {
            let found = fs::symlink_metadata(from_outside(pid, &real));
            found.is_ok_and(|found| found.file_type().is_fifo())
        };
        if !is_served(kind) && is_fifo() {
            let peers = Vec::new();
            return Resource::Fifo { path, peers };
        }
        Resource::File {
            path,
            file_system: kind.to_owned(),
        }
    }

    /// Returns a path without symbolic links. Links on a file system that can stop answering remain, and are not read.
    fn without_links(&self, pid: u32, path: &Path) -> PathBuf {
        let (mut at, mut rest, mut links) = (PathBuf::from("/"), path.to_owned(), 0);
        loop {
            let mut components = rest.components();
            let Some(next) = components.next() else {
                return at;
            };
            let mut after = components.as_path().to_owned();
            match next {
                Component::RootDir | Component::Prefix(_) => at = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => drop(at.pop()),
                Component::Normal(name) => {
                    at.push(name);
                    if links == MAX_LINKS || self.file_system(&at).is_some_and(is_served) {
                        return at.join(after);
                    }
                    if let Ok(target) = fs::read_link(from_outside(pid, &at)) {
                        links += 1;
                        at.pop();
                        after = target.join(after);
                    }
                }
            }
            rest = after;
        }
    }

    /// Returns the type of the file system of a path: that of the longest mount point.
    fn file_system(&self, path: &Path) -> Option<&str> {
        let mounts = self
            .mounts
            .iter()
            .filter(|one| path.starts_with(&one.point));
        // The last mount on a folder hides the earlier ones.
        let longest = mounts.max_by_key(|one| one.point.as_os_str().len())?;
        Some(&longest.kind)
    }
}

/// Returns the path of a file of a process that can have another root directory.
fn from_outside(pid: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Parses a line of `mountinfo`: the first field is the id, the third the device, the fifth the mount point. The type follows the hyphen.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let (id, device) = (fields.next()?, fields.nth(1)?);
    let (major, minor) = device.split_once(':')?;
    Some(Mount {
        id: id.to_owned(),
        device: device_text(major.parse().ok()?, minor.parse().ok()?),
        point: fields.nth(1)?.replace("\\040", " ").into(),
        kind: after.split(' ').next()?.to_owned(),
    })
}

fn device_text(major: u32, minor: u32) -> String {
    format!("{major:02x}:{minor:02x}")
}

/// Parses a line of `net/tcp`: the third field is the remote address, the tenth the inode.
fn connection(line: &str) -> Option<(String, String)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, port) = fields.get(2)?.split_once(':')?;
    let port = u16::from_str_radix(port, 16)
        .ok()
        .filter(|port| *port > 0)?;
    let word = |at: usize| {
        let digits = address.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    let address = match address.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        _ => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::from(Ipv6Addr::from(bytes)).to_canonical()
        }
    };
    Some(((*fields.get(9)?).to_owned(), format!("{address}:{port}")))
}

/// Returns the object of a file descriptor.
pub fn descriptor(pid: u32, fd: u64, direction: Direction, files: &Files) -> Descriptor {
    let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
    let name = link.display().to_string();
    let inode = |kind: &str| name.strip_prefix(kind)?.strip_suffix(']');
    let resource = if name.starts_with("pipe:[") {
        Resource::Pipe {
            id: name,
            peers: Vec::new(),
        }
    } else if let Some(inode) = inode("socket:[") {
        Resource::Socket {
            remote: files.remotes.get(inode).cloned(),
        }
    } else if link.is_absolute() {
        files.at_path(pid, None, &link)
    } else {
        Resource::Other { name }
    };
    Descriptor {
        fd: Some(fd),
        direction,
        resource,
    }
}

/// Returns the file lock of a descriptor.
pub fn file_lock(pid: u32, fd: u64, files: &Files) -> Descriptor {
    let mut found = descriptor(pid, fd, Direction::Write, files);
    if let Resource::File { path, file_system } = found.resource {
        // A file of a server is not accessed, because the server can have stopped answering.
        let is_local = !is_served(&file_system);
        let locked = is_local.then(|| locked_file(pid, fd, files)).flatten();
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let holder = locked.and_then(|file| lock_holder(&locks, &file, pid));
        found.resource = Resource::FileLock { path, holder };
    }
    found
}

/// Returns a file as `/proc/locks` names it: device and inode.
fn locked_file(pid: u32, fd: u64, files: &Files) -> Option<String> {
    let found = fs::metadata(format!("/proc/{pid}/fd/{fd}")).ok()?;
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
    let mut lines = info.lines();
    let id = lines.find_map(|line| line.strip_prefix("mnt_id:"));
    // Some file systems, such as btrfs, report another device in `stat`.
    let mount = (files.mounts.iter()).find(|mount| Some(&*mount.id) == id.map(str::trim));
    let (major, minor) = (
        rustix::fs::major(found.dev()),
        rustix::fs::minor(found.dev()),
    );
    let device = mount.map_or_else(|| device_text(major, minor), |mount| mount.device.clone());
    Some(format!("{device}:{}", found.ino()))
}

/// Returns the other process that holds the lock of a file, from the text of `/proc/locks`. `None` if there are several.
fn lock_holder(locks: &str, file: &str, pid: u32) -> Option<u32> {
    let held = locks.lines().filter(|line| !line.contains("->"));
    let holders = held.filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (holder, locked) = (fields.next()?.parse().ok()?, fields.next()?);
        (locked == file && holder != pid && holder > 0).then_some(holder)
    });
    let mut holders: Vec<u32> = holders.collect();
    holders.sort_unstable();
    holders.dedup();
    match holders[..] {
        [holder] => Some(holder),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_file_system_of_its_longest_mount_point() {
        let lines = "22 1 0:20 / / rw - ext4 /dev/a rw\n\
                     23 22 0:21 / /my\\040data rw,noatime shared:1 - nfs4 host:/x rw";
        let files = Files {
            mounts: lines.lines().filter_map(mount).collect(),
            ..Files::default()
        };
        let kind = |path: &str| files.file_system(Path::new(path));
        assert_eq!(kind("/my data/a.jpg"), Some("nfs4"));
        assert_eq!(kind("/my"), Some("ext4"));
    }

    #[test]
    fn a_link_to_a_served_file_system_is_not_followed() {
        let own = std::process::id();
        let folder = std::env::temp_dir().join(format!("loadscope-links-{own}"));
        let folder = folder.display();
        let script = format!(
            "rm -rf {folder} && mkdir -p {folder}/served {folder}/local && cd {folder} && mkfifo served/p local/p && \
             ln -s ../served local/out && ln -s {folder}/local in && ln -s loop loop"
        );
        let status = std::process::Command::new("sh")
            .args(["-c", &script])
            .status();
        assert!(status.is_ok_and(|status| status.success()));
        let lines = format!(
            "22 1 8:2 / / rw - ext4 /dev/a rw\n23 22 0:21 / {folder}/served rw - nfs4 host:/x rw"
        );
        let files = Files {
            mounts: lines.lines().filter_map(mount).collect(),
            ..Files::default()
        };
        let kind = |path: &str| match files.at_path(own, None, Path::new(path)) {
            Resource::Fifo { .. } => "fifo".to_owned(),
            Resource::File { file_system, .. } => file_system,
            other => format!("{other:?}"),
        };
        assert_eq!(kind(&format!("{folder}/in/./p")), "fifo");
        assert_eq!(kind(&format!("{folder}/in/out/../local/p")), "nfs4");
        assert_eq!(kind(&format!("{folder}/in/out/p")), "nfs4");
        assert_eq!(kind(&format!("{folder}/loop/p")), "ext4");
        assert_eq!(kind(&format!("{folder}/none/p")), "ext4");
        assert!(fs::remove_dir_all(folder.to_string()).is_ok());
    }

    #[test]
    fn a_lock_has_one_holder_on_the_same_device() {
        let locks = "1: FLOCK  ADVISORY  WRITE 20 08:02:131 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 30 08:03:131 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 31 08:03:131 0 EOF\n\
                     3: POSIX  ADVISORY  READ 40 08:02:7 0 10\n\
                     4: POSIX  ADVISORY  READ 41 08:02:7 0 10\n\
                     5: OFDLCK ADVISORY  WRITE -1 08:02:8 0 EOF";
        let cases = [
            ("08:02:131", 5, Some(20)),
            ("08:03:131", 5, Some(30)),
            ("08:02:7", 5, None),
            ("08:02:7", 41, Some(40)),
            ("08:02:8", 5, None),
            ("08:02:31", 5, None),
        ];
        for (file, pid, holder) in cases {
            assert_eq!(lock_holder(locks, file, pid), holder, "{file}");
        }
        let mount = mount("22 1 259:10 / / rw - ext4 /dev/a rw").expect("it is valid");
        assert_eq!((&*mount.id, &*mount.device), ("22", "103:0a"));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_connection_has_a_remote_address() {
        let line = "1: 0100007F:0016 0200000A:7369 01 0:0 00:0 0 0 0 4242 1 0";
        let wanted = ("4242".to_owned(), "10.0.0.2:29545".to_owned());
        assert_eq!(connection(line), Some(wanted));
    }
}
