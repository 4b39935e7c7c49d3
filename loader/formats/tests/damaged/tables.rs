//! CSV and JSON Lines files.

use super::{Damaged, all};

/// Creates rows of numbers, texts with quotes and line ends, and bools.
pub fn right() -> String {
    let mut right = "id,name,price,ok\n".to_owned();
    for n in 0..60 {
        right += &format!(
            "{n},\"name, \"\"{n}\"\"\nof two lines\",{n}.5,{}\n",
            n % 2 == 0
        );
    }
    right
}

#[test]
fn damaged_csv_files_never_panic() {
    let right = right().into_bytes();
    let with = |text: &[u8]| [right.as_slice(), text].concat();
    let mut damaged: Vec<Damaged> = [
        ("nothing", b"".to_vec()),
        ("only ends of lines", b"\r\n\r\n\n".to_vec()),
        ("only blanks", b"  \n \n".to_vec()),
        ("only a mark", b"\xef\xbb\xbf".to_vec()),
        ("names without UTF-8", b"a,\xff\n1,2\n".to_vec()),
        ("an open quote in the header", b"a,\"b\n1,2\n".to_vec()),
        ("an open quote at the end", with(b"7,\"x\n")),
        ("a lone quote", with(b"\"")),
        ("more fields", with(b"7,x,1,True,5\n")),
        ("many more fields", with(&b",".repeat(1_000_000))),
        ("text without UTF-8", with(b"7,\xc3\x28,1,True\n")),
        (
            "half of a character in UTF-16",
            b"a\0,\0b\0\n\0\0\xd8".to_vec(),
        ),
        ("first row wider", b"a,b\n1,2,3\n".to_vec()),
        ("no names", b"\n\n\"".to_vec()),
        ("header of quotes", b"\"\"\"\n1\n".to_vec()),
    ]
    .map(|(name, bytes)| Damaged::refused(name, bytes))
    .into();
    damaged.extend(
        [
            ("zeros", vec![0; 100_000]),
            ("commas", b",".repeat(100_000)),
            ("quotes", b"\"".repeat(100_000)),
            (
                "a row of a megabyte",
                with(&[b"7,".as_slice(), &b"x".repeat(1 << 20)].concat()),
            ),
            ("returns", b"a\r".repeat(50_000)),
            ("open quotes everywhere", b"a,\"b\n".repeat(20_000)),
            ("a digit a million times", with(&b"9".repeat(1 << 20))),
        ]
        .map(|(name, bytes)| Damaged::survived(name, bytes)),
    );
    all("csv", "a.csv", damaged, &right, 20);
}

#[test]
fn damaged_jsonl_files_never_panic() {
    let mut right = String::new();
    for n in 0..60 {
        right += &format!(
            "{{\"id\": {n}, \"text\": \"a\\n\\u00e4ö\", \"list\": [1, [2.5, null]], \"ok\": true}}\n"
        );
    }
    let right = right.into_bytes();
    let damaged = [
        ("no JSON", b"hello\n".to_vec()),
        ("half an object", b"{\"a\": \n".to_vec()),
        ("no closing brace", b"{\"a\": 1\n".to_vec()),
        ("an array without its end", b"[\n1,\n2\n".to_vec()),
        ("two values", b"1 2\n".to_vec()),
        ("a comma too many", b"[1,]\n".to_vec()),
        ("nan in small letters", b"[nan]\n".to_vec()),
        ("infinity in short", b"{\"a\": inf}\n".to_vec()),
        ("single quotes", b"{'a': 1}\n".to_vec()),
        ("no UTF-8", b"\"\xff\xfe\"\n".to_vec()),
        ("half a surrogate", b"\"\\ud800\"\n".to_vec()),
        ("wrong escape", b"\"\\x41\"\n".to_vec()),
        ("control character", b"\"\x01\"\n".to_vec()),
        ("beyond 128 bits", b"9".repeat(40)),
        ("leading zero", b"012\n".to_vec()),
        ("no key", b"{1: 2}\n".to_vec()),
        ("open text", b"\"abc\n".to_vec()),
        ("deep lists", b"[".repeat(1_000_000)),
        ("deep objects", b"{\"a\":".repeat(1_000_000)),
        ("zeros", vec![0; 1000]),
        ("half a mark", b"\xef\xbb{}".to_vec()),
        ("half of a character in UTF-16", b"\0{\0}\0".to_vec()),
    ]
    .map(|(name, bytes)| Damaged::refused(name, bytes));
    all("jsonl", "a.jsonl", damaged.into(), &right, 60);
}
