use super::*;
use crate::cell::fields;
use crate::stages::Untimed;

fn table(text: impl AsRef<[u8]>) -> Result<Csv, FormatError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    #[allow(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(&path, text).unwrap();
    Csv::open(&path, None)
}

fn rows(text: &str) -> Vec<Cell> {
    let table = table(text).unwrap();
    (0..table.len())
        .map(|row| table.row(row, &mut Untimed).unwrap())
        .collect()
}

#[test]
fn fields_have_types_and_nulls() {
    let found = rows("\u{feff}a,b,c,d\n1,1,True,x\n-2,,NA,\"y, \"\"z\"\"\"\n\n  \n3,2.5,false\n");
    let row = |a: i64, b: f64, c: Cell, d: Cell| {
        fields([("a", a.into()), ("b", b.into()), ("c", c), ("d", d)])
    };
    assert_eq!(found[0], row(1, 1.0, true.into(), "x".into()));
    assert_eq!(found[2], row(3, 2.5, false.into(), Cell::Null));
    let Cell::Map(entries) = &found[1] else {
        panic!("{:?}", found[1])
    };
    assert!(matches!(entries[1].1, Cell::Float(b) if b.is_nan()));
    assert_eq!(
        (&entries[2].1, &entries[3].1),
        (&Cell::Null, &"y, \"z\"".into())
    );
    assert_eq!(found.len(), 3);
}

#[test]
fn repeated_and_empty_column_names_become_unique() {
    let found = rows("a,,a,\"b\nc\",a.1\n1,2,3,4,5");
    let names = ["a", "Unnamed: 1", "a.2", "b\nc", "a.1"];
    let expected = names.iter().zip(1i64..).map(|(name, n)| (*name, n.into()));
    assert_eq!(found, [fields(expected)]);
}

#[test]
fn all_kinds_of_line_ends_are_read() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,b", "1,\"x\ny\"", "2,z"].join(end);
        let found = rows(&text);
        let expected = [(1, "x\ny"), (2, "z")];
        let expected =
            expected.map(|(a, b): (i64, &str)| fields([("a", a.into()), ("b", b.into())]));
        assert_eq!(found, expected, "{end:?}");
        assert_eq!(rows(&(text + end)), expected);
    }
}

/// Quoted texts contain lines that look like rows, over many chunks. Chunks with a wrong guess are scanned again.
#[test]
fn wrong_guesses_about_quotes_are_corrected() {
    let mut text = "id,text,number\n".to_owned();
    let mut expected = Vec::new();
    for id in 0..160_000i64 {
        let review = match id % 7 {
            0 => "1,a,2\n".repeat((id % 100) as usize),
            1 => format!("\"{id}\"\n\n\"\r\n"),
            _ => format!("plain {id}"),
        };
        text += &format!("{id},\"{}\",{id}.5\n", review.replace('"', "\"\""));
        let cell = if review.is_empty() {
            Cell::Null
        } else {
            review.into()
        };
        expected.push(fields([
            ("id", id.into()),
            ("text", cell),
            ("number", (id as f64 + 0.5).into()),
        ]));
    }
    assert!(text.len() > 9 << 20, "several parts");
    let table = table(&text).unwrap();
    assert_eq!(table.len(), expected.len());
    for (row, expected) in expected.iter().enumerate().step_by(53) {
        assert_eq!(table.row(row, &mut Untimed).as_ref(), Ok(expected));
    }
}

#[test]
fn errors_name_the_broken_row() {
    let says = |text: &[u8], row| match table(text) {
        Ok(table) => table.row(row, &mut Untimed).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let wide = says(b"a,b\n\"x\n\",2\n1,2,3\n", 1);
    assert!(
        wide.contains("a.csv, line 4, row 1: the row has 3 fields, the header 2"),
        "{wide}"
    );
    let open = says(b"a,b\n1,2\n3,\"4\n5,6\n", 0);
    assert!(
        open.contains("line 3: the file ends within quotes"),
        "{open}"
    );
    let bytes = says(b"a,b\n1,x\n2,\xff\n", 1);
    assert!(
        bytes.contains("line 3, row 1, 'b': '\u{fffd}' is not UTF-8"),
        "{bytes}"
    );
    assert!(says(b"", 0).contains("it is empty"));
    assert!(says(b"\n \n", 0).contains("it is empty"));
    assert!(says(b"a,b\n1,2,3\n", 0).contains("line 2: the first row has 3 fields"));
    assert!(says(b"a,\xff\n1,2\n", 0).contains("column 2 is not UTF-8"));
    assert!(says(b"a\n1\n", 1).contains("row 1 is beyond its 1 rows"));
    let notes = table(b"a;b\n1;2\n1,2\n").unwrap().notes;
    assert!(notes[0].contains("1 row has more fields"), "{notes:?}");
    assert!(notes[1].contains("set sep=semicolon"), "{notes:?}");
}

#[test]
fn columns_and_labels_are_read_in_one_pass() {
    let found = table("label,name\n2,x\n\n0,\"y\nz\"\n1,\n").unwrap();
    assert_eq!(found.labels(), Some(vec![2, 0, 1]));
    let names = found.column("name").unwrap().unwrap();
    assert_eq!(names, ["x".into(), "y\nz".into(), Cell::Null]);
    assert!(found.column("none").is_none());
    for without in ["label,a\nx,1\n", "label,y\n1,2\n", "label\n-1\n", "a\n1\n"] {
        assert_eq!(table(without).unwrap().labels(), None, "{without}");
    }
    let broken = table(b"a,b\n1,x\n2,\xff\n").unwrap().column("b").unwrap();
    let error = broken.unwrap_err().to_string();
    assert!(error.contains("line 3, row 1, 'b'"), "{error}");
}
