//! Cases of `default_collate` and `default_convert`.

use loadscope_engine::collate::{CollateSite, default_collate, default_convert};
use loadscope_engine::value::{
    DType, Key, Mapping, NamedTuple, NdArray, NumpyScalar, Sequence, Value,
};
use serde_json::{Value as Json, json};
use tch::{Device, Kind, Tensor};

use super::verdict::{Case, Verdict};

/// Parses a described Python value.
fn parse(json: &Json) -> Value {
    let all = || -> Vec<Value> {
        let items = json["items"].as_array().unwrap();
        items.iter().map(parse).collect()
    };
    match json["t"].as_str().unwrap() {
        "none" => Value::None,
        "bool" | "int" | "float" | "str" => element(&json["value"]),
        "complex" => {
            let [real, imaginary] = pair(&json["value"]).expect("two numbers");
            Value::Complex(real, imaginary)
        }
        "bytes" => Value::Bytes(
            (json["hex"].as_str().unwrap().as_bytes().chunks(2))
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect(),
        ),
        "list" => Value::List(all()),
        "tuple" => Value::Tuple(all()),
        "range" => {
            let values = json["values"].as_array().unwrap();
            Value::Sequence(Sequence {
                name: "range".into(),
                keeps_type: false,
                items: values.iter().map(element).collect(),
            })
        }
        "namedtuple" => Value::NamedTuple(NamedTuple {
            name: json["name"].as_str().unwrap().into(),
            fields: (json["fields"].as_array().unwrap().iter())
                .map(|field| field.as_str().unwrap().to_owned())
                .collect(),
            items: all(),
        }),
        "tensor" => tensor(json, &json["values"]).into(),
        "sparse" => {
            let dense = Tensor::eye(2, (Kind::Float, Device::Cpu));
            dense.to_sparse(None, None::<&[i64]>, None).into()
        }
        "ndarray" => array(json).into(),
        "np_scalar" => match &json["value"] {
            Json::String(text) => NumpyScalar::Str(text.clone()).into(),
            value => NumpyScalar::Number(tensor(json, &json!([value]))).into(),
        },
        "other" => Value::Other(json["type"].as_str().unwrap().into()),
        // Any other type is a mapping of the named type, with pairs of keys and values.
        mapping => {
            let entries = json["items"].as_array().unwrap().iter();
            let entries = entries.map(|entry| (key(&entry[0]), parse(&entry[1])));
            Mapping::new(mapping, entries.collect()).into()
        }
    }
}

/// Parses a number, text or truth value given as plain JSON.
fn element(json: &Json) -> Value {
    match json {
        Json::Bool(v) => Value::Bool(*v),
        Json::String(v) => Value::Str(v.clone()),
        Json::Number(v) => match (v.as_i64(), v.as_u64()) {
            (Some(v), _) => Value::Int(v),
            (None, Some(v)) => Value::BigInt(v.into()),
            _ => Value::Float(v.as_f64().unwrap()),
        },
        _ => Value::None,
    }
}

fn key(json: &Json) -> Key {
    match json {
        Json::String(text) => text.as_str().into(),
        Json::Number(number) => number.as_i64().unwrap().into(),
        Json::Bool(v) => Key::Bool(*v),
        Json::Array(items) => Key::Tuple(items.iter().map(key).collect()),
        _ => Key::None,
    }
}

fn sizes(json: &Json) -> Vec<i64> {
    let sizes = json["shape"].as_array().into_iter().flatten();
    sizes.map(|v| v.as_i64().unwrap()).collect()
}

fn array(json: &Json) -> NdArray {
    let dtype = json["dtype"].as_str().unwrap();
    if DType::from_name(dtype).is_some() {
        return NdArray::Numbers(tensor(json, &json["values"]));
    }
    let values = json["values"].as_array().unwrap();
    NdArray::Other {
        dtype: dtype.into(),
        shape: sizes(json),
        items: values.iter().map(element).collect(),
    }
}

fn pair(json: &Json) -> Option<[f64; 2]> {
    let pair = json.as_array()?;
    Some([pair.first()?.as_f64()?, pair.get(1)?.as_f64()?])
}

fn tensor(json: &Json, values: &Json) -> Tensor {
    let values = values.as_array().unwrap().iter();
    let dtype = DType::from_name(json["dtype"].as_str().unwrap()).unwrap();
    if dtype.name().starts_with("torch.complex") {
        let parts: Vec<f64> = values.filter_map(pair).flatten().collect();
        let parts = Tensor::from_slice(&parts).reshape([-1, 2]);
        let numbers = dtype.convert(&parts.view_as_complex());
        return numbers.unwrap().reshape(sizes(json));
    }
    let ints: Option<Vec<i64>> = values.clone().map(Json::as_i64).collect();
    let flat = match ints {
        Some(ints) => Tensor::from_slice(&ints),
        None => {
            let number = |v: &Json| match v {
                Json::Bool(v) => f64::from(u8::from(*v)),
                v => v.as_f64().unwrap(),
            };
            let numbers: Vec<f64> = values.map(number).collect();
            Tensor::from_slice(&numbers)
        }
    };
    dtype.convert(&flat).unwrap().reshape(sizes(json))
}

/// Describes a value in the format of the cases.
pub fn describe(value: &Value) -> Json {
    let all = |items: &[Value]| items.iter().map(describe).collect::<Vec<_>>();
    match value {
        Value::None => json!({"t": "none"}),
        Value::Bool(v) => json!({"t": "bool", "value": v}),
        Value::Int(v) => json!({"t": "int", "value": v}),
        Value::BigInt(v) => json!({"t": "int", "value": u64::try_from(*v).unwrap()}),
        Value::Float(v) => json!({"t": "float", "value": v}),
        Value::Complex(real, imaginary) => json!({"t": "complex", "value": [real, imaginary]}),
        Value::Str(v) => json!({"t": "str", "value": v}),
        Value::Bytes(v) => {
            json!({"t": "bytes", "hex": v.iter().map(|b| format!("{b:02x}")).collect::<String>()})
        }
        Value::List(items) => json!({"t": "list", "items": all(items)}),
        Value::Tuple(items) => json!({"t": "tuple", "items": all(items)}),
        Value::Sequence(sequence) => {
            json!({"t": &*sequence.name, "values": all(&sequence.items)})
        }
        Value::Map(mapping) => {
            let entries = mapping.entries.iter();
            let entries: Vec<_> = entries
                .map(|(k, v)| json!([key_json(k), describe(v)]))
                .collect();
            json!({"t": &*mapping.name, "items": entries})
        }
        Value::NamedTuple(tuple) => json!({
            "t": "namedtuple", "name": &*tuple.name, "fields": &*tuple.fields, "items": all(&tuple.items),
        }),
        Value::Tensor(tensor) => {
            let dtype = DType::of(tensor).unwrap().numpy_name();
            json!({"t": "tensor", "dtype": dtype, "shape": tensor.size(), "values": elements(tensor)})
        }
        Value::Array(array) => {
            let values = match array {
                NdArray::Numbers(tensor) => elements(tensor),
                NdArray::Other { items, .. } => items.iter().map(bare).collect(),
            };
            json!({"t": "ndarray", "dtype": array.dtype(), "shape": array.shape(), "values": values})
        }
        Value::Scalar(scalar) => {
            let value = match scalar {
                NumpyScalar::Str(text) => json!(text),
                NumpyScalar::Number(tensor) => elements(tensor)[0].clone(),
                _ => Json::Null,
            };
            json!({"t": "np_scalar", "dtype": scalar.dtype(), "value": value})
        }
        Value::Other(name) => json!({"t": "other", "type": &**name}),
    }
}

fn key_json(key: &Key) -> Json {
    match key {
        Key::Str(text) => json!(&**text),
        Key::Int(v) => json!(v),
        Key::Bool(v) => json!(v),
        Key::None => Json::Null,
        Key::Tuple(items) => items.iter().map(key_json).collect(),
    }
}

fn bare(value: &Value) -> Json {
    match value {
        Value::Str(text) => json!(text),
        other => describe(other)["value"].clone(),
    }
}

/// Returns the elements of a tensor, row-major.
fn elements(tensor: &Tensor) -> Vec<Json> {
    fn list<T: Into<Json>>(values: Vec<T>) -> Vec<Json> {
        values.into_iter().map(Into::into).collect()
    }
    let flat = tensor.reshape([-1]);
    match DType::of(tensor).unwrap() {
        DType::Kind(Kind::Bool) => list(Vec::<bool>::try_from(flat).unwrap()),
        DType::Kind(Kind::Half | Kind::BFloat16 | Kind::Float | Kind::Double) => {
            list(Vec::<f64>::try_from(flat).unwrap())
        }
        DType::Kind(Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble) => {
            let parts = flat.to_kind(Kind::ComplexDouble).resolve_conj();
            list(Vec::<Vec<f64>>::try_from(parts.view_as_real()).unwrap())
        }
        _ => list(Vec::<i64>::try_from(flat.to_kind(Kind::Int64)).unwrap()),
    }
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    let outcome = if case.op == "default_convert" {
        default_convert(parse(&input["sample"]))
    } else {
        let site = match input["via"].as_str() {
            Some("worker") => CollateSite::Worker,
            _ => CollateSite::Main,
        };
        let samples = input["samples"].as_array().unwrap();
        default_collate(samples.iter().map(parse).collect(), site)
    };
    match outcome {
        Ok(value) => case.returns(&describe(&value)),
        Err(error) => match case.json["error"]["last_line"].as_str() {
            // A worker's error is wrapped. Its last line is the original error.
            Some(line) => Verdict::equal(&line.to_owned(), &error.to_string()),
            None => {
                let text = error.to_string();
                let (kind, message) = text.split_once(": ").unwrap_or((&text, ""));
                case.raises(kind, message)
            }
        },
    }
}
