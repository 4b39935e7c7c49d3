//! Samples of every form, made from templates. The counterpart of `tests/reference/cases/samples.py`.

use loadscope_engine::value::{DType, NamedTuple, NdArray, NumpyScalar, Sequence, Value};
use serde_json::Value as Json;
use tch::{Kind, Tensor};

use super::rows::{number, numbers};

/// Makes sample `i` of a template.
pub fn made(template: &Json, i: i64) -> Value {
    let kind = template["t"].as_str().expect("a type");
    let all = || -> Vec<Value> {
        let of = template["of"].as_array().expect("a list");
        of.iter().map(|one| made(one, i)).collect()
    };
    let name = || template["dtype"].as_str().expect("a dtype");
    let text = || format!("s{i}");
    match kind {
        "tuple" => Value::Tuple(all()),
        "list" => Value::List(all()),
        "dict" => {
            let items = all().into_iter().enumerate();
            Value::dict(items.map(|(at, value)| (format!("k{at}"), value)))
        }
        "point" => Value::NamedTuple(NamedTuple {
            name: "Point".into(),
            fields: ["x".to_owned(), "y".to_owned()].into(),
            items: all(),
        }),
        "odd" => {
            let is_odd = template["at"].as_i64() == Some(i);
            made(&template[if is_odd { "is" } else { "else" }], i)
        }
        "int" => Value::Int(i * 3 - 1),
        "float" => Value::Float(i as f64 * 0.5 - 1.0),
        "bool" => Value::Bool(i % 2 == 1),
        "complex" => Value::Complex(i as f64 * 0.5, (1 - i) as f64),
        "str" => Value::Str(text()),
        "bytes" => Value::Bytes(format!("b{i}").into_bytes()),
        "none" => Value::None,
        "set" => Value::Other("set".into()),
        "range" => Value::Sequence(Sequence {
            name: "range".into(),
            keeps_type: false,
            items: (i % 3..3).map(Value::Int).collect(),
        }),
        "tensor" => seen(filled(template, i), template["as"].as_str()).into(),
        "ndarray" => NdArray::Numbers(filled(template, i)).into(),
        "np" => NumpyScalar::Number(tensor(name(), &[], i)).into(),
        "np_str" => NumpyScalar::Str(text()).into(),
        "ndarray_str" => NdArray::Other {
            dtype: format!("<U{}", text().len()).into(),
            shape: vec![1],
            items: vec![Value::Str(text())],
        }
        .into(),
        other => panic!("unknown type {other}"),
    }
}

fn filled(template: &Json, i: i64) -> Tensor {
    let mut shape: Vec<i64> = numbers(&template["shape"])
        .into_iter()
        .map(|size| size as i64)
        .collect();
    if template["ragged"].is_u64() && i % number(&template["ragged"]) as i64 != 0 {
        shape[0] += 1;
    }
    tensor(template["dtype"].as_str().expect("a dtype"), &shape, i)
}

/// Makes a tensor that counts from `i`.
fn tensor(name: &str, shape: &[i64], i: i64) -> Tensor {
    let dtype = DType::from_name(name).expect("a dtype");
    let count: i64 = shape.iter().product();
    let flat = if name == "bool" {
        Tensor::from_slice(&(i..i + count).map(|k| k % 2 == 1).collect::<Vec<_>>())
    } else if name.starts_with("complex") {
        let parts = (i..i + count).flat_map(|k| [k as f64, (1 - k) as f64]);
        let parts = Tensor::from_slice(&parts.collect::<Vec<_>>());
        parts.view([count, 2]).view_as_complex()
    } else {
        Tensor::from_slice(&(i..i + count).map(|k| k % 100).collect::<Vec<_>>())
    };
    let made = dtype.convert(&flat).expect("libtorch converts");
    made.reshape(shape)
}

/// Returns a view of the same numbers with another layout, or of other numbers in the same memory.
fn seen(tensor: Tensor, how: Option<&str>) -> Tensor {
    match how {
        Some("transposed") if tensor.dim() > 1 => tensor.transpose(0, 1),
        Some("conjugate") if is_complex(&tensor) => tensor.conj(),
        Some("strided") if tensor.dim() > 0 => {
            Tensor::cat(&[&tensor, &tensor], 0).slice(0, None, None, 2)
        }
        _ => tensor,
    }
}

fn is_complex(tensor: &Tensor) -> bool {
    matches!(
        DType::of(tensor),
        Some(DType::Kind(
            Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble
        ))
    )
}
