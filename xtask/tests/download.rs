//! Tests of the setup of libtorch with a local package index: interrupted, resumed and damaged downloads.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);
const WHEEL: &str = "torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl";

/// Process that ends with its test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Polls until `done` returns true. Panics at the deadline.
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(
            began.elapsed() < DEADLINE,
            "{what}: not within {DEADLINE:?}"
        );
        sleep(Duration::from_millis(20));
    }
}

/// Runs a command until its end. Returns its success and its standard error.
fn finish(command: &mut Command) -> (bool, String) {
    let command = command.stderr(Stdio::piped());
    let mut child = Guarded(command.spawn().expect("python3 starts"));
    let mut errors = child.0.stderr.take().expect("piped");
    let read = move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    };
    let reader = std::thread::Builder::new().spawn(read).expect("a thread");
    let mut status = None;
    wait_until("the command", || {
        status = child.0.try_wait().expect("a child of ours");
        status.is_some()
    });
    let said = reader.join().expect("no panic");
    (status.is_some_and(|status| status.success()), said)
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Package index and an empty cache folder.
struct Scene {
    folder: tempfile::TempDir,
    port: String,
    _index: Guarded,
}

impl Scene {
    fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("mode"), mode).expect("writable");
        let mut index = Guarded(
            Command::new("python3")
                .arg("-B")
                .arg(source("tests/index.py"))
                .arg(folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .expect("python3 starts"),
        );
        let mut port = String::new();
        let output = index.0.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut port).expect("a port");
        Self {
            folder,
            port: port.trim().to_owned(),
            _index: index,
        }
    }

    fn set_mode(&self, mode: &str) {
        fs::write(self.folder.path().join("mode"), mode).expect("writable");
    }

    fn libtorch(&self) -> PathBuf {
        self.folder.path().join("cache/libtorch")
    }

    fn part(&self) -> PathBuf {
        self.folder
            .path()
            .join(format!("cache/libtorch.wheels/{WHEEL}.part"))
    }

    fn requests(&self) -> String {
        fs::read_to_string(self.folder.path().join("requests")).unwrap_or_default()
    }

    fn set_up(&self) -> Command {
        let mut command = Command::new("python3");
        command
            .arg("-B")
            .arg(source("python/libtorch.py"))
            .args(["--platform", "linux-x86_64", "--no-load", "--into"])
            .arg(self.libtorch())
            .env("PIP_CONFIG_FILE", "/dev/null")
            .env(
                "PIP_INDEX_URL",
                format!("http://127.0.0.1:{}/simple", self.port),
            )
            .env("NO_PROXY", "127.0.0.1")
            .env("no_proxy", "127.0.0.1");
        for other in [
            "LOADSCOPE_DOWNLOADER",
            "PIP_EXTRA_INDEX_URL",
            "PIP_NO_INDEX",
            "PIP_PROXY",
        ] {
            command.env_remove(other);
        }
        command
    }

    /// Runs the setup until its end.
    fn finish(&self) -> (bool, String) {
        finish(&mut self.set_up())
    }

    /// Starts the setup, and kills it after half of the wheel. Returns the downloaded bytes.
    fn interrupt(&self) -> u64 {
        let child = Guarded(self.set_up().stderr(Stdio::null()).spawn().expect("starts"));
        let mut before = 0;
        wait_until("half of the wheel", || {
            let now = size(&self.part());
            let still = now > 1 << 20 && now == before;
            before = now;
            still
        });
        drop(child);
        size(&self.part())
    }

    fn assert_complete(&self) {
        let library = self.libtorch();
        let text = |name: &str| fs::read_to_string(library.join(name)).expect(name);
        assert_eq!(text("build-version"), "2.13.0\n");
        assert!(text("setup-stamp").contains("lib/libtorch_cpu.so 3145728"));
        let mut names: Vec<_> = fs::read_dir(library.join("lib"))
            .expect("lib")
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        let expected = "libc10.so libcudart.so.13 libcupti.so.13 libgomp.so.1 libtorch.so \
                        libtorch_cpu.so";
        assert_eq!(names.join(" "), expected);
        let left: Vec<_> = fs::read_dir(self.folder.path().join("cache"))
            .expect("cache")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        assert_eq!(left.len(), 2, "only the library and its lock: {left:?}");
    }
}

#[test]
fn an_interrupted_download_resumes() {
    let scene = Scene::new("stall");
    let have = scene.interrupt();
    assert!(
        !scene.libtorch().exists(),
        "nothing half-made under the name"
    );
    // A killed setup leaves such a folder during unpacking.
    let leftover = scene.folder.path().join("cache/libtorch.tmp-1/lib");
    fs::create_dir_all(leftover).expect("writable");
    scene.set_mode("whole");
    let (ended_well, said) = scene.finish();
    assert!(ended_well, "{said}");
    let asked = format!("{WHEEL} bytes={have}-");
    assert!(scene.requests().contains(&asked), "{}", scene.requests());
    scene.assert_complete();

    let requests = scene.requests();
    assert!(scene.finish().0);
    assert_eq!(scene.requests(), requests, "a second call asks for nothing");
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let scene = Scene::new("stall");
    scene.interrupt();
    scene.set_mode("no-range");
    let (ended_well, said) = scene.finish();
    assert!(ended_well, "{said}");
    scene.assert_complete();
}

#[test]
fn a_damaged_download_is_explained_and_removed() {
    let scene = Scene::new("stall");
    scene.interrupt();
    let mut bytes = fs::read(scene.part()).expect("the part");
    bytes[1000] ^= 1;
    fs::write(scene.part(), bytes).expect("writable");
    scene.set_mode("whole");
    let (ended_well, said) = scene.finish();
    assert!(!ended_well);
    assert!(
        said.contains("wrong checksum") && said.contains(WHEEL),
        "{said}"
    );
    assert!(said.contains("Run the same command again"), "{said}");
    assert!(!scene.part().exists() && !scene.libtorch().exists());

    let (ended_well, said) = scene.finish();
    assert!(ended_well, "{said}");
    scene.assert_complete();
}

#[test]
fn two_concurrent_setups_share_one_download() {
    let scene = Scene::new("whole");
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| scene.finish());
        (scene.finish(), other.join().expect("no panic"))
    });
    assert!(first.0 && second.0, "{} {}", first.1, second.1);
    let downloads = scene.requests().matches(&format!("/files/{WHEEL}")).count();
    assert_eq!(downloads, 1);
    scene.assert_complete();
}

#[test]
fn a_damaged_library_is_assembled_again() {
    let scene = Scene::new("whole");
    assert!(scene.finish().0);
    fs::remove_file(scene.libtorch().join("lib/libc10.so")).expect("there");
    let (ended_well, said) = scene.finish();
    assert!(ended_well, "{said}");
    scene.assert_complete();
}

#[test]
fn the_right_wheels_and_files_are_chosen() {
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(source("tests/selection.py"))
        .env("PYTHONPATH", source("python"));
    let (ended_well, said) = finish(&mut command);
    assert!(ended_well, "{said}");
}
