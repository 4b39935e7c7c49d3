use super::*;

const HEAD: &[u8] = b"head ";

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn part_files_of_killed_processes_are_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    fs::write(&path, "old").expect("room");
    let begun = |target: &Path| {
        let part = new_part(target, WriteMode::Append).expect("room");
        let (file, at) = part.keep().expect("room");
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(2);
        file.set_modified(long_ago).expect("its own file");
        at
    };
    let left = begun(&path);
    let next = GrowingFile::create(&path, Existing::Replace, HEAD).expect("room");
    assert!(!left.exists(), "the next one for this name removes it");
    drop(next);
    let (left, other) = (begun(&path), dir.path().join(".hidden"));
    fs::write(&other, "not ours").expect("room");
    crate::sweep_folder(dir.path());
    assert!(!left.exists() && other.exists() && path.exists());
}

#[test]
fn a_second_writer_is_refused_with_and_without_force() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let mut first = GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
    first.write_all(b"first").expect("room");
    for existing in [Existing::Keep, Existing::Replace] {
        let second = GrowingFile::create(&path, existing, HEAD);
        assert!(matches!(second, Err(WriteError::InUse(_))), "{existing:?}");
        let export = crate::AtomicFile::create(&path, existing);
        assert!(matches!(export, Err(WriteError::InUse(_))), "{existing:?}");
    }
    first.finish().expect("room");
    assert_eq!(fs::read(&path).expect("it is there"), b"head first");
    assert!(matches!(
        GrowingFile::create(&path, Existing::Keep, HEAD),
        Err(WriteError::Exists(_))
    ));
}

#[test]
fn an_old_recording_is_replaced_when_the_new_one_is_complete() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    fs::write(&path, "old").expect("room");
    let mut new = GrowingFile::create(&path, Existing::Replace, HEAD).expect("on request");
    new.write_all(b"new").expect("room");
    let name = new
        .current_path()
        .file_name()
        .expect("a name")
        .to_string_lossy();
    assert!(
        name.starts_with("run.unfinished-") && name.ends_with(".jsonl.zst"),
        "{name}"
    );
    assert_eq!(fs::read(&path).expect("still there"), b"old");
    new.finish().expect("room");
    assert_eq!(fs::read(&path).expect("replaced"), b"head new");
    assert_eq!(count(dir.path()), 1);
}

#[test]
fn an_empty_or_discarded_recording_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
    assert_eq!(count(dir.path()), 0);
    fs::write(&path, "old").expect("room");
    let mut new = GrowingFile::create(&path, Existing::Replace, HEAD).expect("on request");
    new.write_all(b"new").expect("room");
    new.discard();
    assert_eq!(fs::read(&path).expect("untouched"), b"old");
    assert_eq!(count(dir.path()), 1);
}

#[test]
fn finish_fails_for_a_removed_or_replaced_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    for theirs in [None, Some("another's")] {
        let mut new = GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
        new.write_all(b"mine").expect("room");
        fs::remove_file(&path).expect("own folder");
        if let Some(theirs) = theirs {
            fs::write(&path, theirs).expect("room");
        }
        assert!(matches!(new.finish(), Err(WriteError::Vanished(_))));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), theirs);
    }
}

#[test]
fn finish_names_the_new_path_of_a_moved_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (path, moved) = (dir.path().join("run.jsonl"), dir.path().join("moved.jsonl"));
    let mut new = GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
    new.write_all(b"mine").expect("room");
    fs::rename(&path, &moved).expect("own folder");
    let text = new.finish().expect_err("it is elsewhere").to_string();
    let says = match cfg!(target_os = "linux") {
        true => format!("is now {}", moved.display()),
        false => "was removed or replaced".to_owned(),
    };
    assert!(text.contains(&says), "{text}");
}

#[test]
fn finish_fails_for_a_file_truncated_by_others() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let mut new = GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
    new.write_all(b"first").expect("room");
    fs::write(&path, "theirs\n").expect("own folder");
    new.write_all(b"second").expect("room");
    assert!(matches!(new.finish(), Err(WriteError::Changed(_))));
    // Data after the truncation follow without a hole.
    assert_eq!(fs::read(&path).expect("readable"), b"theirs\nsecond");
}

#[test]
fn a_file_name_of_254_bytes_is_accepted() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for existing in [Existing::Keep, Existing::Replace] {
        let path = dir.path().join(format!("{}.jsonl", "ä".repeat(124)));
        let mut new = GrowingFile::create(&path, existing, HEAD).expect("a name of 254 bytes");
        new.write_all(b"mine").expect("room");
        assert_eq!(new.finish().expect("room"), path);
    }
}

#[test]
fn discard_keeps_a_file_that_replaced_its_own() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let new = GrowingFile::create(&path, Existing::Keep, HEAD).expect("a free name");
    fs::remove_file(&path).expect("own folder");
    fs::write(&path, "another's").expect("room");
    new.discard();
    assert_eq!(fs::read(&path).expect("untouched"), b"another's");
}

#[test]
fn each_default_name_is_used_by_one_writer() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let names = || (1..=64).map(|n| dir.path().join(format!("run-{n}.jsonl")));
    let made: Vec<PathBuf> = std::thread::scope(|threads| {
        let handles: Vec<_> = (0..16)
            .map(|_| {
                threads.spawn(|| {
                    let new = GrowingFile::create_free(names(), HEAD).expect("enough names");
                    let path = new.path().to_owned();
                    new.finish().expect("room");
                    path
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().expect("no panic"))
            .collect()
    });
    let mut unique = made.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), made.len(), "{made:?}");
}
