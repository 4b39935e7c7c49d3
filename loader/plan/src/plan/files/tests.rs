use std::io::Write as _;

use super::*;
use crate::limits::CLASSES;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

#[test]
fn lists_are_read_from_text_or_json() {
    for text in [
        "3, 1\n2",
        "[3,1,2]",
        "3;1;2\n\n",
        "\n\r\n 3\u{a0}1\t2",
        " \n[3, 1, 2]",
        ",3,1,2,",
    ] {
        let file = file(text);
        assert_eq!(indices(path(&file), 4).unwrap(), [3, 1, 2], "{text:?}");
        assert_eq!(weights(path(&file), 4).unwrap(), [3.0, 1.0, 2.0]);
    }
    let text = file("1\nx 2");
    let error = indices(path(&text), 4).unwrap_err().to_string();
    assert!(
        error.contains("line 2") && error.contains("\"x\""),
        "{error}"
    );
    assert!(indices("/nowhere", 4).is_err());
    assert_eq!(indices(path(&file("")), 4).unwrap(), [0; 0]);
    let error = indices(path(&file("1 7")), 4);
    assert!(error.unwrap_err().to_string().contains("index 7"));
}

#[test]
fn classes_are_read_from_lines_or_json() {
    for text in [
        "a\nb a\nb",
        "a\r\nb, a\r\nb\r\n",
        r#"{"a": [0, 1], "b": [1, 2]}"#,
    ] {
        let file = file(text);
        let classes = classes(path(&file)).unwrap();
        assert_eq!(classes, [vec![0, 1], vec![1, 2]], "{text:?}");
    }
    // A sample without labels has an empty line.
    let file = file("\n\na\n\nb\n");
    assert_eq!(classes(path(&file)).unwrap(), [[2], [4]]);
}

#[test]
fn long_words_are_refused_and_quoted_in_part() {
    let error = |text: &str| {
        let file = file(text);
        weights(path(&file), 4).unwrap_err().to_string()
    };
    let text = error(&format!("1\n2 {}", "9a".repeat(4000)));
    assert!(
        text.contains("line 2, has a word of more than 4,096 bytes"),
        "{text}"
    );
    let text = error(&format!("1 {}", "9a".repeat(1000)));
    assert!(
        text.len() < 400 && text.contains("9a\"… is not a weight"),
        "{text}"
    );
}

#[test]
fn too_many_classes_are_refused() {
    let lines: String = (0..=CLASSES).map(|k| format!("{k}\n")).collect();
    let error = classes(path(&file(&lines))).unwrap_err().to_string();
    assert!(
        error.contains("more than 100,000 different labels"),
        "{error}"
    );
    let pairs: Vec<String> = (0..=CLASSES).map(|k| format!("\"{k}\":[{k}]")).collect();
    let object = format!("{{{}}}", pairs.join(","));
    let error = classes(path(&file(&object))).unwrap_err().to_string();
    assert!(
        error.contains("more than 100,000 different labels"),
        "{error}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn endless_devices_are_refused_at_a_limit() {
    for device in ["/dev/zero", "/dev/urandom"] {
        let error = weights(device, 4).unwrap_err().to_string();
        assert!(error.starts_with(device), "{error}");
        assert!(classes(device).is_err());
    }
    let error = weights("/dev/full", 4).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
    let error = weights("/", 4).unwrap_err().to_string();
    assert_eq!(
        error,
        "/ is a folder, not a regular file. Give the name of a file."
    );
}
