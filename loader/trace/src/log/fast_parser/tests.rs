//! Comparison of the fast parser with serde.

use proptest::prelude::*;

use super::super::wire::Line;
use super::*;

/// Parses one line with the fast parser.
fn parse_fast(line: &[u8]) -> Option<Event> {
    let text = [line, b"\n{"].concat();
    let (event, length) = FastParser::default().parse(&text)?;
    assert_eq!(length, line.len() + 1);
    Some(event)
}

fn parse_with_serde(line: &[u8]) -> Option<Event> {
    serde_json::from_slice::<Line<'_>>(line)
        .ok()?
        .into_event()
        .ok()
}

#[test]
fn index_lists_have_little_spare_capacity() {
    let line = br#"{"t":5,"e":"dispatched","epoch":0,"batch":3,"indices":[1,2,3]}"#;
    let follows = vec![b' '; 1 << 18];
    let text = [&line[..], b"\n", &follows].concat();
    let (event, _) = FastParser::default()
        .parse(&text)
        .expect("it is an ordinary line");
    let EventKind::Dispatched(dispatch) = event.kind else {
        panic!("it tells of a dispatch");
    };
    assert!(dispatch.indices.capacity() <= 4);
}

#[test]
fn ordinary_lines_are_parsed_like_serde() {
    for line in [
        r#"{"t":12,"e":"entered","epoch":0,"batch":3,"stage":"held"}"#,
        r#"{ "t" : -12 , "e" : "entered", "batch": 3, "epoch": 1, "stage": "ready" }"#,
        r#"{"t":0,"run":2,"e":"consumer","waiting":false}"#,
        r#"{"t":5,"e":"dispatched","epoch":0,"batch":3,"worker":7,"indices":[1, 2,3]}"#,
        r#"{"t":5,"e":"dispatched","epoch":0,"batch":3,"indices":[]}"#,
        r#"{"t":5,"e":"fetched","epoch":0,"batch":3,"starts":[1,20],"walls":[3,4]}"#,
        r#"{"t":5,"e":"fetched","epoch":0,"batch":3,"starts":[1,20],"walls":[3,4],"cpus":[null,2],"stages":[["decode",[1,2]],["read",[0,0]]]}"#,
    ] {
        let event = parse_fast(line.as_bytes());
        assert!(event.is_some(), "{line}");
        assert_eq!(event, parse_with_serde(line.as_bytes()), "{line}");
        assert_eq!(
            FastParser::default().parse(line.as_bytes()),
            None,
            "it may go on"
        );
    }
}

#[test]
fn unusual_lines_are_left_to_serde() {
    for line in [
        "",
        "{}",
        r#"{"t":1,"e":"run_ended"}"#,
        r#"{"t":1,"t":1,"e":"consumer","waiting":true}"#,
        r#"{"t":01,"e":"consumer","waiting":true}"#,
        r#"{"t":-0,"e":"consumer","waiting":true}"#,
        r#"{"t":1.0,"e":"consumer","waiting":true}"#,
        r#"{"t":1e3,"e":"consumer","waiting":true}"#,
        r#"{"t":9223372036854775808,"e":"consumer","waiting":true}"#,
        r#"{"t":1,"e":"consumer","waiting":true} x"#,
        r#"{"t":1,"e":"consumer","waiting":true,}"#,
        r#"{"t":1,"e":"consumer"}"#,
        r#"{"t":1,"e":"consumer","waiting":null}"#,
        r#"{"t":1,"e":"entered","epoch":0,"batch":-3,"stage":"held"}"#,
        r#"{"t":5,"e":"fetched","epoch":0,"batch":3,"starts":[1,20],"walls":[3]}"#,
        r#"{"t":5,"e":"fetched","epoch":0,"batch":3,"starts":[1,20],"walls":[3,4,5]}"#,
        r#"{"t":5,"e":"fetched","epoch":0,"batch":3,"starts":[1,20]}"#,
        r#"{"t":5,"e":"dispatched","epoch":0,"batch":3,"worker":70000,"indices":[1]}"#,
        r#"{"t":5,"e":"dispatched","epoch":0,"batch":3,"indices":[1,]}"#,
    ] {
        assert_eq!(parse_fast(line.as_bytes()), None, "{line}");
    }
}

proptest! {
    #[test]
    fn numbers_of_any_length_are_read(value in any::<i64>(), shift in 0..64u32, after in prop::sample::select(vec![",", "}", "]", " ", ".5", "e3", "x", "/", ":", ""]), pad in 0..10usize) {
        let value = value >> shift;
        let text = format!("{value}{after}{}", "7 ".repeat(pad));
        let mut text = Tokens { rest: text.as_bytes() };
        let read = text.int();
        let fits = value.unsigned_abs() < 10u64.pow(18) && !matches!(after, ".5" | "e3");
        let fits = fits && !(after.is_empty() && pad > 0);
        if fits {
            prop_assert_eq!(read, Some(value));
            prop_assert!(text.rest.starts_with(after.as_bytes()));
        } else if !after.is_empty() {
            prop_assert_eq!(read, None);
        }
    }

    /// For any changed line, an accepted event equals that of the serde parser.
    #[test]
    fn accepted_lines_equal_those_of_serde(
        t in any::<i64>(), batch in any::<u32>(), which in 0..3usize,
        at in any::<prop::sample::Index>(), byte in prop::option::of(prop::sample::select(b"0129-.,:[]{}\" enwtx".to_vec())),
    ) {
        let lines = [
            format!(r#"{{"t":{t},"e":"entered","epoch":0,"batch":{batch},"stage":"held"}}"#),
            format!(r#"{{"t":{t},"e":"fetched","epoch":0,"batch":{batch},"starts":[{t},-5],"walls":[1,0],"cpus":[null,3],"stages":[["read",[1,2]]]}}"#),
            format!(r#"{{"t":{t},"e":"dispatched","epoch":0,"batch":{batch},"worker":3,"indices":[{batch}, 12]}}"#),
        ];
        let mut line = lines[which].clone().into_bytes();
        if let Some(byte) = byte {
            let at = at.index(line.len());
            line[at] = byte;
        }
        if let Some(event) = parse_fast(&line) {
            prop_assert_eq!(Some(event), parse_with_serde(&line), "{}", String::from_utf8_lossy(&line));
        }
    }
}
