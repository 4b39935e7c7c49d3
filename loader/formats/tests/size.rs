//! The first batch comes soon, and an epoch takes no more memory than a part of it: `cargo xtask size` does the same at full size.
#![cfg(all(
    feature = "arrow",
    feature = "parquet",
    feature = "sql",
    feature = "tar",
    feature = "audio"
))]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[allow(
    dead_code,
    reason = "the command finds a format by its name, the test takes all"
)]
#[path = "../examples/size/made.rs"]
mod made;
#[path = "../examples/size/measure.rs"]
mod measure;

/// On a host that does other things as well, in a build for development.
const FIRST: f64 = 20.0;
/// What an epoch may add behind its first quarter, MB: parts of tables that are kept once they are decoded are among it.
const GROWTH: f64 = 40.0;

#[test]
fn every_format_begins_soon_and_keeps_its_memory() {
    for format in made::FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let count = if format.has_files { 600 } else { 30_000 };
        (format.make)(folder.path(), count).expect("data");
        let measured = measure::measure(format, folder.path()).expect(format.name);
        eprintln!("{}: {}", format.name, measured.json());
        assert_eq!(measured.rows, count, "{}", format.name);
        assert!(
            measured.first > 0.0 && measured.first < FIRST,
            "{}",
            format.name
        );
        let [_, quarter, end] = measured.memory;
        assert!(
            end - quarter < GROWTH,
            "{}: from {quarter} to {end} MB",
            format.name
        );
    }
}
