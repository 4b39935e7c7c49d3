//! Output of Python's datasets, as written by `tests/formats/expected.py`.

use std::path::Path;
use std::process::Command;

use loadscope_engine::value::{DType, Key, NumpyScalar, Value};
use serde_json::Value as Json;
use tch::{Device, Kind, Tensor};

/// Runs a script of `tests/formats` with a folder as its argument.
pub fn run(python: &Path, script: &str, folder: &Path) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
    let said = Command::new(python)
        .arg(scripts.join(script))
        .arg(folder)
        // PyTorch must not load this build's libtorch.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("Python starts");
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{text}");
}

/// Returns the samples of one dataset.
pub fn samples(folder: &Path, name: &str) -> Vec<Value> {
    let read = |ending: &str| {
        std::fs::read(folder.join(format!("{name}.{ending}"))).expect("it was written")
    };
    let json: Vec<Json> = serde_json::from_slice(&read("json")).expect("it is JSON");
    let bytes = read("bin");
    json.iter().map(|json| value(json, &bytes)).collect()
}

fn value(json: &Json, bytes: &[u8]) -> Value {
    let object = json.as_object().expect("a value is an object");
    let (kind, inner) = object
        .iter()
        .find(|(key, _)| !matches!(key.as_str(), "shape" | "at" | "len"))
        .expect("a kind");
    let all = || {
        inner
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| value(one, bytes))
            .collect()
    };
    match kind.as_str() {
        "value" => match inner {
            Json::Null => Value::None,
            Json::Bool(truth) => (*truth).into(),
            other => other.as_str().expect("a text").into(),
        },
        "int" => {
            let number: i128 = inner
                .as_str()
                .and_then(|text| text.parse().ok())
                .expect("a number");
            i64::try_from(number).map_or(Value::BigInt(number), Value::Int)
        }
        "float" => float(inner.as_str().expect("a text")).into(),
        "bytes" => {
            let each = inner.as_array().expect("a list").iter();
            Value::Bytes(
                each.map(|byte| byte.as_u64().expect("a byte") as u8)
                    .collect(),
            )
        }
        "tensor" => tensor(json, inner, bytes).into(),
        "scalar" => NumpyScalar::Number(tensor(json, inner, bytes)).into(),
        "list" => Value::List(all()),
        "tuple" => Value::Tuple(all()),
        "dict" => {
            let pairs = inner.as_array().expect("a list").iter();
            Value::dict(pairs.map(|pair| {
                let key = pair[0].as_str().expect("a key");
                (Key::from(key), value(&pair[1], bytes))
            }))
        }
        other => panic!("no {other}"),
    }
}

fn tensor(json: &Json, dtype: &Json, bytes: &[u8]) -> Tensor {
    let size: Vec<i64> = (json["shape"].as_array().expect("sizes").iter())
        .map(|size| size.as_i64().expect("a size"))
        .collect();
    let number = |key: &str| json[key].as_u64().expect("a number") as usize;
    let data = &bytes[number("at")..number("at") + number("len")];
    let dtype = DType::from_name(dtype.as_str().expect("a name")).expect("a dtype");
    let DType::Kind(kind) = dtype else {
        // tch has no name for these dtypes, and no test needs them.
        panic!("{} is not compared here", dtype.name());
    };
    if data.is_empty() {
        return Tensor::zeros(&size[..], (kind, Device::Cpu));
    }
    Tensor::from_data_size(data, &size, kind)
}

/// Parses the output of Python's `float.hex`, such as `0x1.8p+1`.
fn float(text: &str) -> f64 {
    match text {
        "nan" => return f64::NAN,
        "inf" => return f64::INFINITY,
        "-inf" => return f64::NEG_INFINITY,
        _ => {}
    }
    let (negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (digits, exponent) = text
        .trim_start_matches("0x")
        .split_once('p')
        .expect("an exponent");
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{part}"), 16).expect("digits");
    let exponent: i32 = exponent.parse().expect("an exponent");
    let size = mantissa as f64 * 2f64.powi(exponent - 4 * part.len() as i32);
    if negative { -size } else { size }
}

/// Returns the largest and the mean difference between the pixels of two images.
pub fn difference(ours: &Tensor, theirs: &Tensor) -> (i64, f64) {
    assert_eq!(ours.size(), theirs.size());
    let apart = (ours.to_kind(Kind::Int64) - theirs.to_kind(Kind::Int64)).abs();
    (
        apart.max().int64_value(&[]),
        apart
            .to_kind(Kind::Double)
            .mean(Kind::Double)
            .double_value(&[]),
    )
}

/// Returns the parts of a sample: the image, and the rest.
pub fn parts(sample: &Value) -> (&Tensor, &Value) {
    match sample {
        Value::Tuple(parts) => match parts.as_slice() {
            [Value::Tensor(picture), rest] => (picture, rest),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
