use super::*;
use tempfile::TempDir;

/// Creates a folder with the given files. Each image is one of the smallest real PNGs.
fn tree(files: &[&str]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if file.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            image::RgbImage::from_pixel(2, 2, image::Rgb([1, 2, 3]))
                .save_with_format(&path, image::ImageFormat::Png)
                .unwrap();
        }
    }
    root
}

fn names(folder: &ImageFolder) -> Vec<(String, u32)> {
    let relative = |path: &Path| {
        let path = path.strip_prefix(folder.root()).unwrap();
        path.to_string_lossy().replace('\\', "/")
    };
    folder
        .files()
        .iter()
        .map(|(path, label)| (relative(path), *label))
        .collect()
}

#[test]
fn sample_order_matches_torchvision() {
    let root = tree(&[
        "cat/b.png",
        "cat/a.JPG",
        "cat/z/1.jpeg",
        "cat/z-y/2.png",
        "cat/z/x/3.png",
        "Dog/10.png",
        "Dog/9.png",
        "empty/",
        "cat/notes.txt",
        "cat/old.webp",
        "cat/older.bmp",
        "stray.png",
    ]);
    let folder = ImageFolder::open(root.path(), 8).unwrap();
    assert_eq!(folder.classes(), ["Dog", "cat"]);
    let expected = [
        ("Dog/10.png", 0),
        ("Dog/9.png", 0),
        ("cat/a.JPG", 1),
        ("cat/b.png", 1),
        ("cat/old.webp", 1),
        ("cat/older.bmp", 1),
        ("cat/z/1.jpeg", 1),
        ("cat/z-y/2.png", 1),
        ("cat/z/x/3.png", 1),
    ];
    // `sorted(os.walk(..))` compares whole paths as text, and '-' sorts before '/'.
    let mut expected: Vec<_> = expected
        .map(|(name, label)| (name.to_owned(), label))
        .into();
    expected[4..].sort_by_key(|(name, _)| name.rsplit_once('/').map(|(dir, _)| dir.to_owned()));
    assert_eq!(names(&folder), expected);
    let notes = folder.notes().join(" ");
    assert!(notes.contains("skipped 1 image directly in"), "{notes}");
    let sample = folder.get(0, &mut SampleClock::off()).unwrap();
    assert_eq!(sample.tensors()[0].size(), [3, 8, 8]);
}

#[test]
fn a_flat_folder_is_one_class() {
    let root = tree(&["b.png", "a.png", "empty/"]);
    let folder = ImageFolder::open(root.path(), 4).unwrap();
    assert_eq!(folder.classes().len(), 1);
    assert_eq!(
        names(&folder),
        [("a.png".to_owned(), 0), ("b.png".to_owned(), 0)]
    );
}

#[test]
fn unusable_folders_fail_with_a_remedy() {
    let fails = |path: &Path, size: u32, part: &str| {
        let error = ImageFolder::open(path, size).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let root = tree(&["a/x.gif", "b/"]);
    fails(root.path(), 8, "no images in");
    fails(root.path(), 8, ".tiff, .webp, in one subfolder per class");
    fails(&root.path().join("c"), 8, "c: not found. Check the path.");
    fails(&root.path().join("a/x.gif"), 8, "is a file, not a folder");
    fails(root.path(), 0, "Choose an image size");
    fails(root.path(), 1 << 30, "Choose an image size");
}

#[test]
fn a_removed_file_is_a_sample_error() {
    let root = tree(&["a/1.png", "a/2.png"]);
    let folder = ImageFolder::open(root.path(), 4).unwrap();
    fs::remove_file(root.path().join("a/2.png")).unwrap();
    let mut clock = SampleClock::on();
    clock.begin_sample();
    assert!(folder.get(0, &mut clock).is_ok());
    let stages: Vec<_> = clock
        .take_stages()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(stages, ["read", "decode", "resize"]);
    let error = folder.get(1, &mut clock).unwrap_err();
    assert_eq!(error.kind, "OSError");
    assert!(error.message.contains("2.png"), "{error}");
    assert_eq!(folder.get(2, &mut clock).unwrap_err().kind, "IndexError");
}

#[cfg(unix)]
#[test]
fn circular_links_do_not_hang_the_scan() {
    let root = tree(&["a/b/1.png"]);
    std::os::unix::fs::symlink(root.path().join("a"), root.path().join("a/b/back")).unwrap();
    std::os::unix::fs::symlink(root.path().join("a"), root.path().join("again")).unwrap();
    let folder = ImageFolder::open(root.path(), 4).unwrap();
    assert_eq!(folder.classes(), ["a", "again"]);
    assert_eq!(folder.len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn kernel_folders_are_refused_or_skipped() {
    let error = ImageFolder::open(Path::new("/proc"), 4).unwrap_err();
    assert!(
        error.to_string().contains("Name the folder that contains"),
        "{error}"
    );
    let root = tree(&["a/1.png"]);
    std::os::unix::fs::symlink("/proc", root.path().join("b")).unwrap();
    std::os::unix::fs::symlink("/proc", root.path().join("a/deep")).unwrap();
    let folder = ImageFolder::open(root.path(), 4).unwrap();
    assert_eq!((folder.classes(), folder.len()), (&["a".to_owned()][..], 1));
}

#[test]
fn a_folder_scan_stops_at_its_limits() {
    let mut scan = Scan::new(Path::new("all"));
    for _ in 0..MAX_NON_IMAGES {
        assert_eq!(scan.count_entry(false, 8), Ok(()));
    }
    let error = scan.count_entry(false, 8).unwrap_err().to_string();
    assert!(
        error.contains("first 1,000,000 files and folders in all contain no image."),
        "{error}"
    );
    // After one image, the higher limit applies.
    scan.pictures = 1;
    assert_eq!(scan.count_entry(true, 8), Ok(()));
    scan.entries = MAX_ENTRIES;
    let error = scan.count_entry(true, 8).unwrap_err().to_string();
    assert!(
        error.contains("all contains more than 20,000,000 files"),
        "{error}"
    );
    scan.entries = 2;
    assert!(scan.count_entry(true, MAX_PATH_BYTES).is_err());
}
