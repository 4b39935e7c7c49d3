#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_only_when_it_is_complete() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("report.html");
    let mut file = AtomicFile::create(&path, Existing::Keep).expect("a free name");
    file.write_all(b"half").expect("room");
    assert!(!path.exists());
    file.write_all(b" and half").expect("room");
    file.commit().expect("room");
    assert_eq!(fs::read(&path).expect("it is there"), b"half and half");
    assert_eq!(names(dir.path()), ["report.html"]);
}

#[test]
fn an_existing_file_is_replaced_whole_and_on_request() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("old");
    fs::write(&path, "old").expect("room");
    let kept = AtomicFile::create(&path, Existing::Keep);
    assert!(matches!(kept, Err(WriteError::Exists(_))));
    let mut file = AtomicFile::create(&path, Existing::Replace).expect("on request");
    file.write_all(b"new").expect("room");
    assert_eq!(fs::read(&path).expect("still there"), b"old");
    drop(file);
    assert_eq!(fs::read(&path).expect("still there"), b"old");
    AtomicFile::write_all_to(&path, Existing::Replace, b"new").expect("room");
    assert_eq!(fs::read(&path).expect("replaced"), b"new");
    assert_eq!(names(dir.path()), ["old"]);
}

#[test]
fn a_file_created_by_others_meanwhile_is_kept() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("both");
    let mut file = AtomicFile::create(&path, Existing::Keep).expect("a free name");
    file.write_all(b"mine").expect("room");
    fs::write(&path, "theirs").expect("room");
    assert!(matches!(file.commit(), Err(WriteError::Exists(_))));
    assert_eq!(fs::read(&path).expect("it is there"), b"theirs");
    assert_eq!(names(dir.path()), ["both"]);
}

#[test]
fn only_part_files_of_killed_writers_are_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("x.csv");
    let stale = dir.path().join(".x.csv.abcdef.part");
    let foreign = dir.path().join(".y.csv.abcdef.part");
    let long = dir.path().join(".x.csv.of.mine.part");
    for left in [&stale, &foreign, &long] {
        fs::write(left, "left").expect("room");
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        let file = File::options().write(true).open(left).expect("it is there");
        file.set_modified(past).expect("times");
    }
    let first = AtomicFile::create(&path, Existing::Keep).expect("a free name");
    let second = AtomicFile::create(&path, Existing::Keep).expect("a free name");
    assert!(!stale.exists() && foreign.exists() && long.exists());
    first.commit().expect("room");
    assert!(matches!(second.commit(), Err(WriteError::Exists(_))));
}

#[cfg(unix)]
#[test]
fn links_are_replaced_and_never_followed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (target, link) = (dir.path().join("target"), dir.path().join("link"));
    fs::write(&target, "precious").expect("room");
    std::os::unix::fs::symlink(&target, &link).expect("links");
    assert!(AtomicFile::create(&link, Existing::Keep).is_err());
    AtomicFile::write_all_to(&link, Existing::Replace, b"new").expect("room");
    assert_eq!(fs::read(&target).expect("untouched"), b"precious");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_file());
}

/// Another user of the folder can create links with the names of temporary files.
#[cfg(unix)]
#[test]
fn links_named_like_part_files_are_not_followed_or_removed() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (precious, path) = (dir.path().join("precious"), dir.path().join("x.csv"));
    fs::write(&precious, "precious").expect("room");
    let links = [".x.csv.abcdef.part", ".x.csv.part", "x.csv.part"];
    for link in links {
        symlink(&precious, dir.path().join(link)).expect("links");
    }
    // Files are old enough for the sweep after 500 ms.
    std::thread::sleep(std::time::Duration::from_millis(600));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let mut file = AtomicFile::create(&path, Existing::Replace).expect("room");
        file.write_all(b"new").expect("room");
        // A predictable name could already be taken.
        seen.extend(names(dir.path()));
        file.commit().expect("room");
        sweep_folder(dir.path());
    }
    let parts = seen.iter().filter(|name| name.ends_with(".part"));
    assert_eq!(parts.count(), links.len() + 20, "{seen:?}");
    assert_eq!(fs::read(&precious).expect("it is there"), b"precious");
    for link in links {
        assert!(fs::read_link(dir.path().join(link)).is_ok(), "{link}");
    }
}

#[cfg(unix)]
#[test]
fn permissions_are_default_or_those_of_the_replaced_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    let (new, like) = (dir.path().join("new"), dir.path().join("like"));
    fs::write(&like, "").expect("room");
    AtomicFile::write_all_to(&new, Existing::Keep, b"x").expect("room");
    assert_eq!(mode(&new), mode(&like));
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).expect("own file");
    AtomicFile::write_all_to(&new, Existing::Replace, b"y").expect("room");
    assert_eq!(mode(&new), 0o600);
}

#[cfg(unix)]
#[test]
fn devices_stay_devices_and_full_ones_are_reported() {
    use std::os::unix::fs::FileTypeExt as _;
    AtomicFile::write_all_to(Path::new("/dev/null"), Existing::Keep, b"x").expect("it takes all");
    let full = AtomicFile::write_all_to(Path::new("/dev/full"), Existing::Replace, b"x");
    assert!(matches!(full, Err(WriteError::Full { doing: "write", .. })));
    for device in ["/dev/null", "/dev/full"] {
        let kind = fs::metadata(device).expect("a device").file_type();
        assert!(kind.is_char_device(), "{device}");
    }
}

#[cfg(unix)]
#[test]
#[expect(unsafe_code, reason = "a pipe")]
fn a_pipe_gets_all_bytes_and_is_refused_without_a_reader() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("pipe");
    let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("no zero");
    // SAFETY: mkfifo only reads the name, which is valid during the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let refused = AtomicFile::create(&path, Existing::Keep);
    assert!(matches!(refused, Err(WriteError::NoReader(_))));
    let reader = std::thread::Builder::new()
        .spawn({
            let path = path.clone();
            move || fs::read(path).expect("a pipe")
        })
        .expect("a thread");
    let large = vec![7; 1 << 20];
    AtomicFile::write_all_to(&path, Existing::Keep, &large).expect("a reader");
    assert_eq!(reader.join().expect("it read"), large);
}
