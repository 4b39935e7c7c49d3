//! Objects of file descriptors and paths.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::wait::{Descriptor, Direction, Resource, is_served};

/// Mounts and TCP connections that a process sees.
#[derive(Debug, Default)]
pub struct Files {
    /// Mount point and type of the file system.
    mounts: Vec<(PathBuf, String)>,
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

    /// Returns the file at a path. Does not access a file system that can stop answering.
    pub fn at_path(&self, pid: u32, path: &Path) -> Resource {
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let path = folder.join(path);
        let kind = self.file_system(&path).unwrap_or_default().to_owned();
        let shown = path.display().to_string();
        let file = Resource::File {
            path: shown.clone(),
            file_system: kind,
        };
        if self.file_system(&path).is_some_and(is_served) {
            return file;
        }
        let outside = format!("/proc/{pid}/root{shown}");
        let found = fs::symlink_metadata(outside).map(|found| found.file_type());
        match found {
            Ok(kind) if kind.is_fifo() => Resource::Fifo {
                path: shown,
                peers: Vec::new(),
            },
            _ => file,
        }
    }

    /// Returns the type of the file system of a path: that of the longest mount point.
    fn file_system(&self, path: &Path) -> Option<&str> {
        let mounts = self.mounts.iter().filter(|(at, _)| path.starts_with(at));
        // The last mount on a folder hides the earlier ones.
        let longest = mounts.max_by_key(|(at, _)| at.as_os_str().len())?;
        Some(&longest.1)
    }
}

/// Parses a line of `mountinfo`: the fifth field is the mount point, and the type follows the hyphen.
fn mount(line: &str) -> Option<(PathBuf, String)> {
    let (before, after) = line.split_once(" - ")?;
    let point = before.split(' ').nth(4)?.replace("\\040", " ");
    Some((point.into(), after.split(' ').next()?.to_owned()))
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
        files.at_path(pid, &link)
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
        let holder = is_local.then(|| lock_holder(pid, fd)).flatten();
        found.resource = Resource::FileLock { path, holder };
    }
    found
}

/// Returns the process that holds the lock of a file.
fn lock_holder(pid: u32, fd: u64) -> Option<u32> {
    let found = fs::metadata(format!("/proc/{pid}/fd/{fd}")).ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let inode = format!(":{}", found.ino());
    let held = locks.lines().filter(|line| !line.contains("->"));
    let mut holders = held.filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (holder, file) = (fields.next()?, fields.next()?);
        file.ends_with(&inode).then(|| holder.parse().ok())?
    });
    holders.find(|holder| *holder != pid)
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
    #[cfg(target_endian = "little")]
    fn a_connection_has_a_remote_address() {
        let line = "1: 0100007F:0016 0200000A:7369 01 0:0 00:0 0 0 0 4242 1 0";
        let wanted = ("4242".to_owned(), "10.0.0.2:29545".to_owned());
        assert_eq!(connection(line), Some(wanted));
    }
}
