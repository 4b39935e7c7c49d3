//! Errors in Chinese contain the place, the reason and the remedy. The language is process-wide, so this test has its own test binary.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use loadscope_formats::csv::Csv;
use loadscope_formats::jsonl::JsonLines;
use loadscope_formats::{Rows as _, Untimed};
use loadscope_words::{Language, set_language};

#[test]
fn chinese_errors_name_the_place_and_the_remedy() {
    set_language(Language::Zh);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = |name: &str| folder.path().join(name);
    let shown = |name: &str| path(name).display().to_string();

    let missing = Csv::open(&path("none.csv"), None).expect_err("it is not there");
    assert_eq!(
        missing.to_string(),
        format!("{}：不存在。请检查路径。", shown("none.csv"))
    );

    std::fs::write(path("a.csv"), "name,price\ncup,3,4\n").expect("it can be written");
    let wide = Csv::open(&path("a.csv"), None).expect_err("its first row is too wide");
    assert_eq!(
        wide.to_string(),
        format!(
            "{}，第 2 行：第一行有 3 个字段，表头只有 2 个名称。请给每列一个名称，包括给行编号的列。",
            shown("a.csv")
        )
    );

    std::fs::write(path("a.jsonl"), "{\"a\": 1}\n{\"a\": nan}\n").expect("it can be written");
    let lines = JsonLines::open(&path("a.jsonl")).expect("its lines are counted");
    let damaged = lines.row(1, &mut Untimed).expect_err("nan is not JSON");
    assert_eq!(
        damaged.to_string(),
        format!(
            "{}，第 2 行，第 7 列，行索引 1：缺少 JSON 值。请更正那里的 JSON。",
            shown("a.jsonl")
        )
    );
}
