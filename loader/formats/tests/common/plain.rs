//! Conversion of cells to the JSON that `make_data.py` writes.

use std::fmt::Write as _;

use loadscope_formats::Cell;
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub fn plain(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(truth) => json!(truth),
        Cell::Int(number) => json!({"i": number.to_string()}),
        Cell::BigInt(number) => json!({"i": number.to_string()}),
        Cell::Float(number) => json!({"f": hex(&number.to_le_bytes())}),
        Cell::Text(text) => json!({"t": **text}),
        Cell::Bytes(bytes) => json!({"b": hex(bytes)}),
        Cell::Picture(picture) => json!({"p": hex(&picture.bytes)}),
        Cell::Scalar(scalar) => json!({"s": [scalar.dtype().name(), hex(scalar.bytes())]}),
        Cell::Array(array) => {
            json!({"a": [array.dtype().name(), array.shape(), hex(array.bytes())]})
        }
        Cell::List(items) | Cell::Tuple(items) => items.iter().map(plain).collect(),
        Cell::Map(entries) => {
            let entries: Vec<Value> = entries
                .iter()
                .map(|(key, value)| json!([**key, plain(value)]))
                .collect();
            json!({ "m": entries })
        }
    }
}

/// Returns the first difference. `close` is the largest accepted difference of elements of float32 arrays.
pub fn differs(ours: &Value, expected: &Value, close: Option<f64>) -> Option<String> {
    if ours == expected {
        return None;
    }
    if let (Value::Object(a), Value::Object(b)) = (ours, expected) {
        if let (Some(Value::Array(a)), Some(Value::Array(b))) = (a.get("m"), b.get("m"))
            && a.len() == b.len()
        {
            return a.iter().zip(b).find_map(|(a, b)| {
                let what = if a[0] == b[0] {
                    differs(&a[1], &b[1], close)
                } else {
                    Some(format!("{} is not {}", a[0], b[0]))
                };
                what.map(|what| format!("{}: {what}", a[0]))
            });
        }
        if let (Some(a), Some(b), Some(most)) = (a.get("a"), b.get("a"), close)
            && a[0] == b[0]
            && a[1] == b[1]
        {
            let off = furthest(a[2].as_str()?, b[2].as_str()?);
            return (off > most).then(|| format!("differs by {off}, more than {most}"));
        }
    }
    let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
    Some(format!("{} is not {}", short(ours), short(expected)))
}

/// Returns the largest difference between float32 numbers in hexadecimal.
fn furthest(a: &str, b: &str) -> f64 {
    let numbers = |text: &str| -> Vec<f64> {
        let digits = text.as_bytes().chunks_exact(8);
        let number = |digits: &[u8]| {
            let bits = std::str::from_utf8(digits).expect("ASCII");
            f64::from(f32::from_bits(
                u32::from_str_radix(bits, 16)
                    .expect("hexadecimal")
                    .swap_bytes(),
            ))
        };
        digits.map(number).collect()
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
