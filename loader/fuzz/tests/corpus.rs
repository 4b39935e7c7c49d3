//! Every input that was worth keeping, once more: those that reach something, and those that found a mistake (`found-…`).

use std::path::{Path, PathBuf};

use loadscope_fuzz::{Bounds, Spent, TARGETS};

/// What the repository can bear.
const MOST_BYTES: u64 = 2 << 20;
const LONGEST: u64 = 50_000;

fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(name);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let paths = corpus(name);
    assert!(!paths.is_empty(), "{name} has no inputs");
    for path in paths {
        let bytes = std::fs::read(&path).expect("it can be read");
        let result = std::panic::catch_unwind(|| {
            Bounds::LENIENT.hold(Spent::on(|| (target.run)(&bytes, true)));
        });
        assert!(result.is_ok(), "{} is not taken", path.display());
    }
}

/// One test for all: the memory that is counted is that of the program.
#[test]
fn everything_that_was_found_is_taken() {
    for target in TARGETS {
        replay(target.name);
    }
}

#[test]
fn the_corpus_is_small() {
    let mut total = 0;
    for target in TARGETS {
        for path in corpus(target.name) {
            let length = path.metadata().expect("it is there").len();
            assert!(length <= LONGEST, "{} is long", path.display());
            total += length;
        }
    }
    assert!(total <= MOST_BYTES, "{total} bytes");
}
