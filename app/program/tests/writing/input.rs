//! The input is never the output.

use std::fs;
use std::os::unix::fs::symlink;

use super::{WRITERS, errors, loadscope, names, recorded, writing};

#[test]
fn the_input_is_refused_as_the_output() {
    let dir = recorded();
    let input = dir.path().join("run.jsonl");
    let before = fs::read(&input).expect("it is there");
    fs::hard_link(&input, dir.path().join("hard")).expect("links");
    symlink("run.jsonl", dir.path().join("soft")).expect("links");
    for name in ["run.jsonl", "./run.jsonl", "hard", "soft"] {
        for writer in [WRITERS[0], WRITERS[2]] {
            let refused = loadscope(dir.path(), &writing(writer, name, true));
            let said = errors(&refused);
            assert_eq!(refused.status.code(), Some(2), "{writer:?} {name}: {said}");
            assert!(said.contains("is the input"), "{said}");
        }
    }
    assert_eq!(fs::read(&input).expect("it is there"), before);
    let damaged = fs::read(dir.path().join("damaged.jsonl")).expect("it is there");
    let refused = loadscope(dir.path(), &writing(WRITERS[4], "./damaged.jsonl", true));
    assert!(
        errors(&refused).contains("is the input"),
        "{}",
        errors(&refused)
    );
    let after = fs::read(dir.path().join("damaged.jsonl")).expect("it is there");
    assert_eq!(after, damaged);
}

/// The names of tables derive from the given name.
#[test]
fn tables_that_would_overwrite_the_input_are_refused() {
    let dir = recorded();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("tables")).expect("room");
    let whole = fs::read(at("run.jsonl")).expect("it is there");
    for (input, out, to) in [
        ("tables/batches.csv", "tables", "csv"),
        ("tables/gauges.parquet", "./tables/", "parquet"),
        ("run.samples.csv", "run.csv", "csv"),
        ("run.batches.parquet", "tables/../run.parquet", "parquet"),
    ] {
        fs::write(at(input), &whole).expect("room");
        let before = names(&at("tables"));
        let refused = loadscope(
            dir.path(),
            &["export", input, "--to", to, "-o", out, "--force"],
        );
        let said = errors(&refused);
        assert_eq!(refused.status.code(), Some(2), "{input}: {said}");
        assert!(said.contains("is the input"), "{said}");
        assert_eq!(fs::read(at(input)).expect("it is there"), whole, "{input}");
        assert_eq!(names(&at("tables")), before);
        fs::remove_file(at(input)).expect("own file");
    }
}

#[test]
fn files_that_a_run_reads_are_refused_as_its_recording() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let weights = dir.path().join("weights");
    let tokens = dir.path().join("tokens");
    let config = dir.path().join("options.toml");
    fs::write(&weights, "1 2 3 4").expect("room");
    fs::write(&tokens, [0_u8; 64]).expect("room");
    fs::write(&config, "dataset = \"synthetic:len=4,cost_ms=0\"\n").expect("room");
    // The output must be named like a recording, so a link with such a name leads to the input.
    for (args, input) in [
        ("run --config options.toml --record ./again.jsonl", &config),
        (
            "run --dataset synthetic:len=4 --sampler weighted:weights --record again.jsonl",
            &weights,
        ),
        ("run --dataset tokens:tokens --record again.jsonl", &tokens),
    ] {
        let again = dir.path().join("again.jsonl");
        fs::hard_link(input, &again).expect("links");
        let before = fs::read(input).expect("it is there");
        let args: Vec<&str> = args.split(' ').chain(["--force"]).collect();
        let refused = loadscope(dir.path(), &args);
        let said = errors(&refused);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("is the input"), "{said}");
        assert_eq!(fs::read(input).expect("it is there"), before, "{args:?}");
        fs::remove_file(again).expect("own file");
    }
}
