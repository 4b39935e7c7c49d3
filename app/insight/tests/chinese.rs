//! Tests of Chinese texts. The language is global to the process, so these tests have their own binary.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use loadscope_insight::dataset;
use loadscope_trace::{RunInfo, RunOptions};
use loadscope_words::{Language, set_language};

#[test]
fn a_dataset_of_the_embedded_loader_is_chinese() {
    set_language(Language::Zh);
    let of = |spec: &str, extra: &str, said: &str| {
        dataset(&RunInfo {
            options: RunOptions {
                dataset: spec.to_owned(),
                extra_cost: extra.to_owned(),
                ..RunOptions::default()
            },
            dataset: said.to_owned(),
            dataset_len: Some(1_797),
            ..RunInfo::default()
        })
    };
    let digits = of("digits", "", "1797 handwritten digits");
    assert!(digits.contains("1,797") && !digits.contains("handwritten"));
    let slow = "1797 handwritten digits, slowed down (cost_ms=20)";
    let slow = of("digits", "cost_ms=20", slow);
    assert!(slow.contains("cost_ms=20") && !slow.contains("slowed"));
    let synthetic = "synthetic:len=1797";
    let synthetic = of(synthetic, "", "1797 synthetic samples");
    assert!(synthetic.contains("1,797") && !synthetic.contains("samples"));
    let folder = "folder:/data/pets";
    let folder = of(folder, "", "1797 images of 2 classes in /data/pets");
    assert!(folder.contains("/data/pets") && !folder.contains("images"));
    // The description of another file is copied from the recording.
    let csv = of("csv:/data/a.csv", "", "1797 rows of /data/a.csv");
    assert_eq!(csv, "1797 rows of /data/a.csv");
}
