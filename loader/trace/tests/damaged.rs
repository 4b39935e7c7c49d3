//! Damaged and foreign files: each error names the problem.

use std::io::Cursor;

use loadscope_trace::{LogReader, read_log};

fn read_error(text: impl Into<Vec<u8>>) -> String {
    match LogReader::new(Cursor::new(text.into())) {
        Err(e) => e.to_string(),
        Ok(reader) => reader
            .filter_map(Result::err)
            .next()
            .map(|e| e.to_string())
            .unwrap_or_default(),
    }
}

#[test]
fn foreign_files_are_refused_with_the_reason() {
    assert!(read_error("").contains("it is empty"));
    assert!(read_error([0xFFu8, 0xD8, 0xFF, 0xE0, 0, 16]).contains("binary"));
    assert!(read_error("hello\n").contains("not a JSON object"));
    assert!(read_error("{\"traceEvents\": []}\n").contains("`loadscope`"));
    assert!(read_error("{\"loadscope\": \"one\"}\n").contains("not a whole number"));
    let newer = read_error("{\"loadscope\": 99}\n");
    assert!(
        newer.contains("version 99") && newer.contains("newer Loadscope"),
        "{newer}"
    );
}

#[test]
fn damaged_lines_are_refused_with_the_reason() {
    let second = |line: &str| read_error(format!("{{\"loadscope\":1}}\n{line}\n"));
    let missing = second(r#"{"t":1,"e":"entered","epoch":0,"stage":"held"}"#);
    assert!(
        missing.contains("line 2") && missing.contains("`batch`"),
        "{missing}"
    );
    assert!(
        second(r#"{"t":1,"e":"entered","epoch":0,"batch":0,"stage":"asleep"}"#).contains("asleep")
    );
    assert!(second(r#"{"t":1,"e":"run_ended","colour":3}"#).contains("colour"));
    assert!(second(r#"{"t":"now","e":"run_ended"}"#).contains("line 2"));
    assert!(
        second(r#"{"t":1,"e":"fetched","epoch":0,"batch":0,"starts":[1,2],"walls":[1]}"#)
            .contains("`walls`")
    );
    let deep = format!("{{\"t\":1,\"e\":{}", "[".repeat(100_000));
    assert!(second(&deep).contains("line 2"));
}

#[test]
fn an_endless_line_is_refused_at_64_mib() {
    /// Header followed by endless repetitions of one byte.
    struct Endless(Cursor<&'static [u8]>);
    impl std::io::Read for Endless {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buf)? {
                0 => {
                    buf.fill(b' ');
                    Ok(buf.len())
                }
                n => Ok(n),
            }
        }
    }
    let mut reader =
        LogReader::new(Endless(Cursor::new(b"{\"loadscope\":1}\n"))).expect("a sound header");
    let error = reader
        .next()
        .expect("an error")
        .expect_err("no event")
        .to_string();
    assert!(error.contains("longer than 64 MiB"), "{error}");
    assert!(reader.next().is_none());
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = read_log("no/such/file.jsonl".as_ref(), |_, _| true).expect_err("it is missing");
    assert!(error.to_string().contains("no/such/file.jsonl"));
}
