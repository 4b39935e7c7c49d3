//! Summary of a batch for display: shapes, statistics, small images, labels, texts.

mod complex;
mod limits;
mod numbers;
mod pictures;
mod waves;

use loadscope_trace::{BatchContent, BatchId, Field, FieldData};

use crate::value::{Key, NdArray, NumpyScalar, Sequence, Value};
pub use limits::ContentLimits;
use numbers::Elements;
use pictures::{Layout, Sizing};

/// Maximum number of characters of a kept text.
const TEXT_CHARS: usize = 200;
/// Maximum depth of containers.
const MAX_DEPTH: usize = 32;

/// Describes a collated batch.
///
/// Fields are named by their Python path (`[0]`, `["image"]`). A batch that is a single tensor has one field with an
/// empty name. `pinned` is always false. The limits bound the work for a batch of any size. Statistics of large
/// tensors are those of a subset.
pub fn describe(batch: BatchId, value: &Value, limits: &ContentLimits) -> BatchContent {
    let mut walk = Walk {
        limits,
        fields: Vec::new(),
    };
    walk.visit(String::new(), value, 0);
    BatchContent {
        batch,
        fields: walk.fields,
    }
}

struct Walk<'a> {
    limits: &'a ContentLimits,
    fields: Vec<Field>,
}

impl Walk<'_> {
    /// Adds the fields of a value, recursively. Lists of texts and of images become fields of their own.
    fn visit(&mut self, name: String, value: &Value, depth: usize) {
        if self.fields.len() >= self.limits.fields || depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::List(items) | Value::Tuple(items) | Value::Sequence(Sequence { items, .. }) => {
                match self.texts(items) {
                    Some(data) => {
                        let shape = vec![items.len() as i64];
                        self.fields.push(leaf(name, "str", shape, data));
                    }
                    None if depth > 0 && are_pictures(items) => {
                        let left = self.limits.fields - self.fields.len();
                        let kept = items.iter().take(self.limits.samples.min(left));
                        for (i, item) in kept.enumerate() {
                            if let Value::Tensor(tensor) = item {
                                self.picture(format!("{name}[{i}]"), tensor);
                            }
                        }
                    }
                    None => {
                        for (i, item) in items.iter().enumerate().take(self.limits.fields) {
                            self.visit(format!("{name}[{i}]"), item, depth + 1);
                        }
                    }
                }
            }
            Value::NamedTuple(tuple) => {
                for (field, item) in tuple.fields.iter().zip(&tuple.items) {
                    self.visit(format!("{name}.{field}"), item, depth + 1);
                }
            }
            Value::Map(mapping) => {
                for (key, item) in mapping.entries.iter().take(self.limits.fields) {
                    let key = match key {
                        Key::Str(text) => format!("{text:?}"),
                        other => other.to_string(),
                    };
                    self.visit(format!("{name}[{key}]"), item, depth + 1);
                }
            }
            Value::Tensor(tensor) => self.tensor(name, tensor),
            Value::Bool(v) => self.number(name, value, f64::from(u8::from(*v))),
            Value::Int(v) => self.number(name, value, *v as f64),
            Value::BigInt(v) => self.number(name, value, *v as f64),
            Value::Float(v) => self.number(name, value, *v),
            Value::Complex(re, im) => {
                let data = FieldData::Text(vec![complex::text(*re, *im)]);
                self.fields.push(leaf(name, "complex", vec![], data));
            }
            Value::Str(text) => {
                let data = FieldData::Text(vec![shorten(text)]);
                self.fields.push(leaf(name, "str", vec![], data));
            }
            Value::Bytes(bytes) => {
                let shape = vec![bytes.len() as i64];
                self.fields
                    .push(leaf(name, "bytes", shape, FieldData::Omitted));
            }
            Value::Array(array) => self.fields.push(array_field(name, array, self.limits)),
            Value::Scalar(scalar) => self.fields.push(scalar_field(name, scalar, self.limits)),
            Value::None | Value::Other(_) => {
                let field = leaf(name, value.type_name(), vec![], FieldData::Omitted);
                self.fields.push(field);
            }
        }
    }

    /// Adds a tensor, and its curve and spectrogram if it is a waveform.
    fn tensor(&mut self, name: String, tensor: &tch::Tensor) {
        let waves = waves::of(&name, tensor, self.limits);
        self.fields.push(tensor_field(name, tensor, self.limits));
        self.fields.extend(waves.into_iter().flatten());
    }

    /// Adds an image in its own size.
    fn picture(&mut self, name: String, tensor: &tch::Tensor) {
        let layout = Layout::of_one(&tensor.size());
        let layout = layout.map(|layout| (layout, Sizing::Annotated));
        let field = tensor_field_as(name, tensor, layout, self.limits);
        self.fields.push(field);
    }

    fn number(&mut self, name: String, value: &Value, number: f64) {
        let finite = number.is_finite().then_some(number);
        self.fields.push(Field {
            min: finite,
            max: finite,
            mean: finite,
            nan: u64::from(number.is_nan()),
            inf: u64::from(number.is_infinite()),
            ..leaf(
                name,
                value.type_name(),
                vec![],
                FieldData::Numbers(vec![number]),
            )
        });
    }

    fn texts(&self, items: &[Value]) -> Option<FieldData> {
        texts(items, self.limits)
    }
}

/// Returns the beginnings of the texts. Returns `None` if the list is empty or contains another type.
fn texts(items: &[Value], limits: &ContentLimits) -> Option<FieldData> {
    let text = |item: &Value| match item {
        Value::Str(text) | Value::Scalar(NumpyScalar::Str(text)) => Some(shorten(text)),
        _ => None,
    };
    // All items are checked, because a list may also contain other types than texts.
    let is_text = |item: &Value| matches!(item, Value::Str(_) | Value::Scalar(NumpyScalar::Str(_)));
    if items.is_empty() || !items.iter().all(is_text) {
        return None;
    }
    let kept = items.iter().take(limits.numbers).filter_map(text);
    Some(FieldData::Text(kept.collect()))
}

fn leaf(name: String, dtype: &str, shape: Vec<i64>, data: FieldData) -> Field {
    Field::new(name, dtype, shape, data)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Describes a NumPy array like a tensor, but with NumPy's name of the dtype.
fn array_field(name: String, array: &NdArray, limits: &ContentLimits) -> Field {
    let dtype = format!("numpy.{}", array.dtype());
    match array {
        NdArray::Numbers(tensor) => Field {
            dtype,
            ..tensor_field(name, tensor, limits)
        },
        NdArray::Other { shape, items, .. } => {
            let data = texts(items, limits).unwrap_or(FieldData::Omitted);
            leaf(name, &dtype, shape.clone(), data)
        }
    }
}

fn scalar_field(name: String, scalar: &NumpyScalar, limits: &ContentLimits) -> Field {
    let field = match scalar {
        NumpyScalar::Number(tensor) => tensor_field(name, tensor, limits),
        NumpyScalar::Str(text) => leaf(name, "", vec![], FieldData::Text(vec![shorten(text)])),
        NumpyScalar::Bytes(bytes) => leaf(name, "", vec![bytes.len() as i64], FieldData::Omitted),
        NumpyScalar::Other { .. } => leaf(name, "", vec![], FieldData::Omitted),
    };
    Field {
        dtype: scalar.type_name().to_owned(),
        ..field
    }
}

/// Returns true if `items` are images that do not stack: each is one tensor, `[1|3, H, W]` or `[H, W, 1|3]`.
fn are_pictures(items: &[Value]) -> bool {
    let is_picture = |item: &Value| match item {
        Value::Tensor(tensor) => tensor.defined() && Layout::of_one(&tensor.size()).is_some(),
        _ => false,
    };
    !items.is_empty() && items.iter().all(is_picture)
}

fn tensor_field(name: String, tensor: &tch::Tensor, limits: &ContentLimits) -> Field {
    let layout = layout(&name, tensor);
    tensor_field_as(name, tensor, layout, limits)
}

/// Returns the image layout of a tensor. Masks are recognized by name, because their values look like other numbers.
fn layout(name: &str, tensor: &tch::Tensor) -> Option<(Layout, Sizing)> {
    let shape = numbers::shape(tensor);
    if name.ends_with("[\"mask\"]") || name.ends_with("[\"masks\"]") {
        let layout = Layout::of_mask(&shape).or_else(|| Layout::of(&shape));
        return layout.map(|layout| (layout, Sizing::Classes));
    }
    Layout::of(&shape).map(|layout| (layout, Sizing::Small))
}

/// Describes a tensor as images if `layout` is given, otherwise by its first numbers and statistics.
fn tensor_field_as(
    name: String,
    tensor: &tch::Tensor,
    layout: Option<(Layout, Sizing)>,
    limits: &ContentLimits,
) -> Field {
    let Some(elements) = Elements::of(tensor) else {
        return leaf(
            name,
            numbers::dtype(tensor),
            numbers::shape(tensor),
            complex::texts(tensor, limits.numbers).unwrap_or(FieldData::Omitted),
        );
    };
    let stats = elements.stats(limits.elements);
    let shape = tensor.size();
    let data = match layout {
        Some((layout, Sizing::Classes)) => FieldData::Pictures(pictures::shrink(
            &elements,
            layout,
            Sizing::Classes,
            pictures::class,
            limits,
        )),
        Some((layout, sizing)) => {
            let to_byte = pictures::scale(elements.kind(), &stats);
            FieldData::Pictures(pictures::shrink(&elements, layout, sizing, to_byte, limits))
        }
        None => FieldData::Numbers(
            (0..elements.len().min(limits.numbers))
                .map(|i| elements.get(i))
                .collect(),
        ),
    };
    Field {
        min: stats.min,
        max: stats.max,
        mean: stats.mean,
        std: stats.std,
        nan: stats.nan,
        inf: stats.inf,
        histogram: stats.histogram,
        ..leaf(name, numbers::dtype(tensor), shape, data)
    }
}

#[cfg(test)]
mod tests;
