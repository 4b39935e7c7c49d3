//! Header of a NumPy array: a Python literal before its bytes.

use loadscope_words::say;

use crate::array::Dtype;
use crate::error::{Fault, FormatError, Place};
use crate::slices::{Endian, Layout, Order};

/// Magic number of NumPy files. Two bytes of the version follow.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum length of a header, bytes. NumPy itself reads at most 10,000.
const MOST: usize = 1 << 20;

/// Maximum nesting of a literal.
const DEEPEST: usize = 8;

/// Returns the layout of the array at the start of `bytes`, and the offset of its elements.
///
/// # Errors
/// If the header is missing or damaged, or its dtype is not numeric.
pub(crate) fn read(bytes: &[u8], place: &Place) -> Result<(Layout, usize), FormatError> {
    let damaged = |reason: String| {
        let remedy = say!("Save it again with numpy.save, or copy it again");
        FormatError::new(Fault::Damaged, place.clone(), reason, remedy)
    };
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(damaged(
            say!("it does not begin with NumPy's magic bytes").to_owned(),
        ));
    };
    let (length, begin) = match *rest {
        [1, 0, a, b, ..] => (usize::from(u16::from_le_bytes([a, b])), MAGIC.len() + 4),
        [2 | 3, 0, a, b, c, d, ..] => (
            usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX),
            MAGIC.len() + 6,
        ),
        [major, minor, ..] if major > 3 || major == 0 || minor > 0 => {
            return Err(damaged(say!(
                "its format version is {major}.{minor}, and 1.0, 2.0 and 3.0 are supported"
            )));
        }
        _ => {
            return Err(damaged(
                say!("it is truncated inside its header").to_owned(),
            ));
        }
    };
    if length > MOST {
        return Err(damaged(say!(
            "its header declares {length} bytes, more than the limit of {MOST}"
        )));
    }
    let Some(header) = bytes.get(begin..begin + length) else {
        return Err(damaged(
            say!("it is truncated inside its header").to_owned(),
        ));
    };
    let literal = std::str::from_utf8(header)
        .ok()
        .and_then(|text| Reader { text }.whole());
    let Some(Literal::Dict(entries)) = literal else {
        return Err(damaged(say!("its header is not a Python dict").to_owned()));
    };
    let entry = |name: &str| {
        let found = entries.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value)
            .ok_or_else(|| damaged(say!("its header has no '{name}'")))
    };
    let (dtype, endian) = dtype(entry("descr")?, place)?;
    let order = match entry("fortran_order")? {
        Literal::Bool(true) => Order::Fortran,
        Literal::Bool(false) => Order::C,
        _ => {
            return Err(damaged(
                say!("'fortran_order' in its header is not a bool").to_owned(),
            ));
        }
    };
    let sizes = match entry("shape")? {
        Literal::Sequence(sizes) => (sizes.iter())
            .map(|size| match size {
                Literal::Int(size) => Some(*size),
                _ => None,
            })
            .collect::<Option<Vec<usize>>>(),
        _ => None,
    };
    let Some(shape) = sizes else {
        return Err(damaged(
            say!("'shape' in its header is not a tuple of sizes").to_owned(),
        ));
    };
    let layout = Layout {
        dtype,
        shape,
        order,
        endian,
    };
    Ok((layout, begin + length))
}

/// Parses the dtype and byte order in `descr`.
fn dtype(descr: &Literal, place: &Place) -> Result<(Dtype, Endian), FormatError> {
    let refused = |what: &str, remedy: &str| {
        bail!(WrongType, place.clone(), say!("its elements are {what}, which tensors do not support");
            remedy)
    };
    let text = match descr {
        Literal::Text(text) => text.as_str(),
        Literal::Sequence(_) => {
            return refused(
                say!("records (a structured dtype)"),
                say!("Save each field as a separate array, for example with numpy.savez"),
            );
        }
        _ => {
            bail!(Damaged, place.clone(), say!("'descr' in its header is not a dtype");
                say!("Save it again with numpy.save"));
        }
    };
    let (endian, kind) = match text.split_at_checked(1) {
        Some(("<", kind)) => (Endian::LITTLE, kind),
        Some((">", kind)) => (Endian::BIG, kind),
        Some(("|" | "=", kind)) => (Endian::Native, kind),
        _ => (Endian::Native, text),
    };
    let dtype = match kind {
        "b1" | "?" => Dtype::Bool,
        "i1" => Dtype::Int8,
        "i2" => Dtype::Int16,
        "i4" => Dtype::Int32,
        "i8" => Dtype::Int64,
        "u1" => Dtype::UInt8,
        "u2" => Dtype::UInt16,
        "u4" => Dtype::UInt32,
        "u8" => Dtype::UInt64,
        "f2" => Dtype::Float16,
        "f4" => Dtype::Float32,
        "f8" => Dtype::Float64,
        "c8" => Dtype::Complex64,
        "c16" => Dtype::Complex128,
        other => {
            let numbers = say!("Save an array of numbers");
            return match other.as_bytes().first() {
                Some(b'U') => refused(
                    say!("texts"),
                    say!("Save numbers for them, or use csv or jsonl"),
                ),
                Some(b'S' | b'a') => {
                    refused(say!("byte strings"), say!("Save them as numbers (uint8)"))
                }
                Some(b'O') => refused(say!("Python objects (pickled)"), numbers),
                Some(b'M' | b'm') => refused(say!("dates or times"), say!("Save them as int64")),
                Some(b'V') => refused(
                    say!("records or raw bytes (void)"),
                    say!("Save each field as a separate array, or bfloat16 in a safetensors file"),
                ),
                Some(b'f' | b'c') => refused(
                    say!("floats of more than 64 bits"),
                    say!("Save them as float64"),
                ),
                _ => refused(&say!("of an unknown dtype ('{text}')"), numbers),
            };
        }
    };
    Ok((dtype, endian))
}

/// Subset of Python's literals for headers.
#[derive(Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    Bool(bool),
    Int(usize),
    /// Tuple or list.
    Sequence(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

/// Parser of a literal.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    /// Parses the whole text as one literal.
    fn whole(mut self) -> Option<Literal> {
        let value = self.value(0)?;
        self.space();
        self.text.is_empty().then_some(value)
    }

    fn space(&mut self) {
        self.text = self.text.trim_start();
    }

    /// Consumes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        self.space();
        match self.text.strip_prefix(token) {
            Some(rest) => {
                self.text = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Literal> {
        if depth > DEEPEST {
            return None;
        }
        if self.take("{") {
            let mut entries = Vec::new();
            while !self.take("}") {
                let key = self.quoted()?;
                self.take(":").then_some(())?;
                entries.push((key, self.value(depth + 1)?));
                if !self.take(",") {
                    self.take("}").then_some(())?;
                    break;
                }
            }
            return Some(Literal::Dict(entries));
        }
        for (open, close) in [("(", ")"), ("[", "]")] {
            if self.take(open) {
                return self.sequence(close, depth);
            }
        }
        if self.take("True") {
            return Some(Literal::Bool(true));
        }
        if self.take("False") {
            return Some(Literal::Bool(false));
        }
        if self.text.starts_with(['\'', '"']) {
            return self.quoted().map(Literal::Text);
        }
        let digits = self.text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.text.split_at_checked(digits)?;
        self.text = rest;
        // Python 2 wrote long integers with an L.
        self.take("L");
        number.parse().ok().map(Literal::Int)
    }

    fn sequence(&mut self, close: &str, depth: usize) -> Option<Literal> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            if !self.take(",") {
                self.take(close).then_some(())?;
                break;
            }
        }
        Some(Literal::Sequence(items))
    }

    /// Parses a quoted text without resolving escapes. Only field names have escapes, and their text is unused.
    fn quoted(&mut self) -> Option<String> {
        self.space();
        let quote = self
            .text
            .chars()
            .next()
            .filter(|c| matches!(c, '\'' | '"'))?;
        let rest = self.text.get(1..)?;
        let mut escaped = false;
        let end = rest.find(|c| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        let (text, after) = rest.split_at_checked(end)?;
        self.text = after.get(1..)?;
        Some(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.bytes());
        bytes
    }

    fn says(text: &str) -> String {
        match read(&header(text), &Place::named("a.npy")) {
            Ok((layout, _)) => format!("{layout:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn npy_headers_are_parsed() {
        let text = "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4L), }      \n";
        let (layout, begin) = read(&header(text), &Place::default()).unwrap();
        assert_eq!(begin, 10 + text.len());
        assert_eq!(
            layout,
            Layout {
                dtype: Dtype::Float32,
                shape: vec![3, 4],
                order: Order::Fortran,
                endian: Endian::BIG,
            }
        );
        assert_eq!(layout.size(), Some(48));
    }

    #[test]
    fn dtypes_without_a_tensor_type_are_refused() {
        let with = |descr: &str| {
            says(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': (2,)}}"
            ))
        };
        for (descr, what) in [
            ("[('a', '<f4'), ('b', '<i8', (2, 2))]", "structured"),
            ("'<U5'", "texts"),
            ("'|S3'", "byte strings"),
            ("'|O'", "Python objects"),
            ("'<M8[ns]'", "dates"),
            ("'|V2'", "void"),
            ("'<f16'", "more than 64 bits"),
            ("'<q9'", "unknown dtype"),
        ] {
            assert!(with(descr).contains(what), "{}", with(descr));
        }
    }

    #[test]
    fn damaged_headers_are_refused_with_the_reason() {
        for (text, what) in [
            ("", "not a Python dict"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
                "not a Python dict",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
                "not a Python dict",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
                "not a tuple",
            ),
            (
                "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}",
                "not a bool",
            ),
            ("{'fortran_order': False, 'shape': (2,)}", "no 'descr'"),
            (
                "{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
                "is not a dtype",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (((((((((((((1",
                "not a Python dict",
            ),
        ] {
            assert!(says(text).contains(what), "{text}: {}", says(text));
        }
        let version = read(b"\x93NUMPY\x04\x00aaaa", &Place::default()).unwrap_err();
        assert!(version.to_string().contains("version is 4.0"), "{version}");
        let long = read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff", &Place::default()).unwrap_err();
        assert!(long.to_string().contains("4294967295 bytes"), "{long}");
    }
}
