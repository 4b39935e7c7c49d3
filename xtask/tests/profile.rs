//! Settings of the release profile.

use std::path::Path;

/// Counts and times in recordings are untrusted. If they overflow, the release must panic like the tests, which run with the checks of a
/// development build.
#[test]
fn the_release_checks_for_overflow() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let text = std::fs::read_to_string(manifest).expect("the manifest of the workspace");
    let (_, rest) = text
        .split_once("\n[profile.release]\n")
        .expect("a profile of the release");
    let section = rest.split("\n[").next().unwrap_or_default();
    let is_set = section.lines().any(|line| {
        line.split('#').next().unwrap_or_default().replace(' ', "") == "overflow-checks=true"
    });
    assert!(is_set, "overflow-checks = true is missing in {section}");
}
