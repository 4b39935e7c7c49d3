//! Limits for the time of the first batch and the memory of an epoch.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[path = "size/made.rs"]
mod made;
#[path = "size/measure.rs"]
mod measure;

/// Time limit of the first batch on a busy host in a debug build, seconds.
const FIRST: f64 = 20.0;
/// Maximum memory growth after the first quarter of an epoch, MB. The growth includes cached chunks of tables.
const GROWTH: f64 = 40.0;

#[test]
fn every_format_starts_fast_with_constant_memory() {
    for format in made::FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let count = if format.has_files { 600 } else { 30_000 };
        (format.make)(folder.path(), count).expect("data");
        let measured = measure::measure(format, folder.path()).expect(format.dataset);
        eprintln!("{}: {measured:?}", format.dataset);
        assert_eq!(measured.rows, count, "{}", format.dataset);
        assert!(
            measured.first > 0.0 && measured.first < FIRST,
            "{}",
            format.dataset
        );
        let [_, quarter, end] = measured.memory;
        assert!(
            end - quarter < GROWTH,
            "{}: from {quarter} to {end} MB",
            format.dataset
        );
    }
}
