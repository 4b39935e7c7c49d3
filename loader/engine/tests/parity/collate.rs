//! Collation.

use loadscope_engine::collate::{CollateSite, default_collate, default_convert};
use loadscope_engine::value::{NamedTuple, Value};
use serde_json::{Value as Json, json};
use tch::{Device, Kind, Tensor};

use super::verdict::{Case, Verdict};

const KINDS: [(&str, Kind); 9] = [
    ("uint8", Kind::Uint8),
    ("int8", Kind::Int8),
    ("int32", Kind::Int),
    ("int64", Kind::Int64),
    ("float16", Kind::Half),
    ("bfloat16", Kind::BFloat16),
    ("float32", Kind::Float),
    ("float64", Kind::Double),
    ("bool", Kind::Bool),
];

/// The described Python value, unless the engine has no such kind of value.
fn parse(json: &Json) -> Result<Value, &'static str> {
    let all = || -> Result<Vec<Value>, &'static str> {
        json["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(parse)
            .collect()
    };
    Ok(match json["t"].as_str().unwrap() {
        "none" => Value::None,
        "bool" => Value::Bool(json["value"].as_bool().unwrap()),
        "int" => Value::Int(json["value"].as_i64().ok_or("integers beyond 64 bits")?),
        "float" => Value::Float(json["value"].as_f64().unwrap()),
        "str" => json["value"].as_str().unwrap().into(),
        "bytes" => Value::Bytes(
            (json["hex"].as_str().unwrap().as_bytes().chunks(2))
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                .collect(),
        ),
        "list" => Value::List(all()?),
        "tuple" => Value::Tuple(all()?),
        // The engine's maps are ordered, and it knows no other mapping type.
        "dict" | "OrderedDict" => Value::Map(
            json["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| {
                    let key = entry[0].as_str().ok_or("keys that are not text")?;
                    Ok((key.to_owned(), parse(&entry[1])?))
                })
                .collect::<Result<_, &str>>()?,
        ),
        "namedtuple" => Value::NamedTuple(NamedTuple {
            name: json["name"].as_str().unwrap().into(),
            fields: (json["fields"].as_array().unwrap().iter())
                .map(|field| field.as_str().unwrap().to_owned())
                .collect(),
            items: all()?,
        }),
        "tensor" => tensor(json).into(),
        "sparse" => {
            let dense = Tensor::eye(2, (Kind::Float, Device::Cpu));
            dense.to_sparse(None, None::<&[i64]>, None).into()
        }
        "ndarray" | "np_scalar" => return Err("NumPy values"),
        _ => return Err("other Python objects"),
    })
}

fn tensor(json: &Json) -> Tensor {
    let dtype = json["dtype"].as_str().unwrap();
    let kind = KINDS.iter().find(|(name, _)| *name == dtype).unwrap().1;
    let shape: Vec<i64> = json["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_i64().unwrap())
        .collect();
    let values: Vec<f64> = (json["values"].as_array().unwrap().iter())
        .map(|v| {
            v.as_f64()
                .unwrap_or_else(|| f64::from(u8::from(v.as_bool().unwrap())))
        })
        .collect();
    Tensor::from_slice(&values).to_kind(kind).reshape(shape)
}

/// As the cases describe values.
fn describe(value: &Value) -> Json {
    let all = |items: &[Value]| items.iter().map(describe).collect::<Vec<_>>();
    match value {
        Value::None => json!({"t": "none"}),
        Value::Bool(v) => json!({"t": "bool", "value": v}),
        Value::Int(v) => json!({"t": "int", "value": v}),
        Value::Float(v) => json!({"t": "float", "value": v}),
        Value::Str(v) => json!({"t": "str", "value": v}),
        Value::Bytes(v) => {
            json!({"t": "bytes", "hex": v.iter().map(|b| format!("{b:02x}")).collect::<String>()})
        }
        Value::List(items) => json!({"t": "list", "items": all(items)}),
        Value::Tuple(items) => json!({"t": "tuple", "items": all(items)}),
        Value::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(k, v)| json!([k, describe(v)]))
                .collect();
            json!({"t": "dict", "items": entries})
        }
        Value::NamedTuple(tuple) => json!({
            "t": "namedtuple", "name": &*tuple.name, "fields": &*tuple.fields, "items": all(&tuple.items),
        }),
        Value::Tensor(tensor) => {
            let kind = tensor.kind();
            let flat = tensor.flatten(0, -1);
            let values = match kind {
                Kind::Bool => json!(Vec::<bool>::try_from(flat).unwrap()),
                Kind::Half | Kind::BFloat16 | Kind::Float | Kind::Double => {
                    json!(Vec::<f64>::try_from(flat).unwrap())
                }
                _ => json!(Vec::<i64>::try_from(flat).unwrap()),
            };
            let dtype = KINDS.iter().find(|(_, k)| *k == kind).unwrap().0;
            json!({"t": "tensor", "dtype": dtype, "shape": tensor.size(), "values": values})
        }
    }
}

/// `OrderedDict` is the engine's only kind of map.
fn plain_maps(json: &Json) -> Json {
    serde_json::from_str(&json.to_string().replace("\"OrderedDict\"", "\"dict\"")).unwrap()
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    let outcome = if case.op == "default_convert" {
        parse(&input["sample"]).map(|sample| Ok(default_convert(sample)))
    } else {
        let site = match input["via"].as_str() {
            Some("worker") => CollateSite::Worker,
            _ => CollateSite::Main,
        };
        let samples: Result<Vec<Value>, _> = input["samples"]
            .as_array()
            .unwrap()
            .iter()
            .map(parse)
            .collect();
        samples.map(|samples| default_collate(samples, site))
    };
    match outcome {
        Err(why) => Verdict::fail("a value that the engine has", why),
        Ok(Ok(value)) => match case.json.get("out") {
            Some(out) => Verdict::equal(&plain_maps(out), &describe(&value)),
            None => Verdict::equal(
                &case.json["error"].to_string(),
                &describe(&value).to_string(),
            ),
        },
        Ok(Err(error)) => {
            let expected = &case.json["error"];
            // What comes out of a worker is wrapped; its last line is the original error.
            let line = match expected["last_line"].as_str() {
                Some(line) => line.to_owned(),
                None => format!(
                    "{}: {}",
                    expected["type"].as_str().unwrap_or("no error"),
                    expected["message"].as_str().unwrap_or_default()
                ),
            };
            Verdict::equal(&line, &error.to_string())
        }
    }
}
