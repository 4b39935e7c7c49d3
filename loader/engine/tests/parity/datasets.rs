//! Cases of datasets and splits.

use std::sync::Arc;

use loadscope_engine::LoaderError;
use loadscope_engine::dataset::{
    AnyDataset, ChainDataset, ConcatDataset, Dataset, IterableDataset, ListDataset, SampleClock,
    SampleError, SampleStream, SplitLength, StackDataset, Subset, TensorDataset, random_split,
};
use loadscope_engine::rng::Generator;
use loadscope_engine::value::{Key, Value};
use serde_json::{Value as Json, json};
use tch::{Device, Kind, Tensor};

use super::verdict::{Case, Verdict};

/// A dataset of either style. Sample i is `(tag, i)`.
#[derive(Clone, Copy)]
struct Tag(i64, usize);

impl Tag {
    fn sample(self, index: usize) -> Value {
        Value::List(vec![self.0.into(), (index as i64).into()])
    }
}

impl Dataset for Tag {
    type Sample = Value;

    fn len(&self) -> usize {
        self.1
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<Value, SampleError> {
        if index >= self.1 {
            return Err(SampleError::out_of_range(index, self.1));
        }
        Ok(self.sample(index))
    }
}

impl IterableDataset for Tag {
    type Sample = Value;

    fn iter(&self) -> Result<Box<dyn SampleStream<Value>>, SampleError> {
        let tag = *self;
        Ok(Box::new((0..self.1).map(move |i| Ok(tag.sample(i)))))
    }

    fn len(&self) -> Option<usize> {
        Some(self.1)
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Int(v) => json!(v),
        Value::List(items) | Value::Tuple(items) => items.iter().map(json_of).collect(),
        Value::Map(mapping) => {
            let entries = mapping.entries.iter().map(|(key, value)| {
                let Key::Str(key) = key else {
                    panic!("{key} is no text");
                };
                (key.to_string(), json_of(value))
            });
            Json::Object(entries.collect())
        }
        other => panic!("{other:?} is not expected here"),
    }
}

type Outcome = Result<Json, LoaderError>;

fn numbers(json: &Json) -> Vec<i64> {
    let items = json.as_array().unwrap().iter();
    items.map(|v| v.as_i64().unwrap()).collect()
}

fn tags(input: &Json) -> impl Iterator<Item = Tag> {
    let sizes = numbers(&input["sizes"]).into_iter();
    sizes.enumerate().map(|(k, n)| Tag(k as i64, n as usize))
}

fn concat(input: &Json) -> Result<ConcatDataset<Value>, LoaderError> {
    ConcatDataset::new(tags(input).map(AnyDataset::map))
}

fn concat_map(input: &Json) -> Outcome {
    let data = concat(input)?;
    let len = data.len() as i64;
    let clock = &mut SampleClock::off();
    let map: Vec<Json> = (-len..len)
        .map(|i| Ok(json!([i, json_of(&data.get_at(i, clock)?)])))
        .collect::<Result<_, LoaderError>>()?;
    Ok(json!({"len": len, "cumulative_sizes": data.cumulative_sizes(), "map": map}))
}

fn drain(data: &dyn IterableDataset<Sample = Value>) -> Result<Vec<Json>, LoaderError> {
    let mut stream = data.iter()?;
    let mut clock = SampleClock::off();
    let samples = std::iter::from_fn(|| stream.next(&mut clock));
    samples.map(|sample| Ok(json_of(&sample?))).collect()
}

fn chain(input: &Json) -> Outcome {
    let data = ChainDataset::new(tags(input).map(AnyDataset::iterable));
    Ok(json!({"len": data.total_len()?, "items": drain(&data)?}))
}

fn nested_subsets(input: &Json) -> Outcome {
    let n = input["n"].as_u64().unwrap() as usize;
    let mut data: Arc<dyn Dataset<Sample = Value>> = Arc::new(Tag(0, n));
    for level in input["levels"].as_array().unwrap() {
        data = Arc::new(Subset::new(data, numbers(level)));
    }
    let clock = &mut SampleClock::off();
    let items: Vec<Json> = (0..data.len())
        .map(|i| Ok(json_of(&data.get(i, clock)?)))
        .collect::<Result<_, LoaderError>>()?;
    // A dataset without `__getitems__` is asked for one sample after another.
    let both = match data.get_batch(&[1, 0], clock) {
        Some(samples) => samples?,
        None => vec![data.get(1, clock)?, data.get(0, clock)?],
    };
    Ok(json!({
        "len": data.len(),
        "items": items,
        "neg1": json_of(&data.get_at(-1, clock)?),
        "getitems": both.iter().map(json_of).collect::<Vec<_>>(),
    }))
}

fn member(tag: Tag) -> Arc<dyn Dataset<Sample = Value>> {
    Arc::new(tag)
}

fn named(tags: impl Iterator<Item = Tag>) -> Vec<(String, Arc<dyn Dataset<Sample = Value>>)> {
    let names = ('a'..='z').map(String::from);
    names.zip(tags.map(member)).collect()
}

fn stacked(data: Result<StackDataset<Value>, LoaderError>) -> Outcome {
    let data = data?;
    let clock = &mut SampleClock::off();
    let samples = (0..data.len()).map(|i| Ok(json_of(&data.get(i, clock)?)));
    samples.collect()
}

/// Runs constructors that fail. The cases name the problem and contain no data.
fn constructor(op: &str, what: &str) -> Outcome {
    let (a, b) = (Tag(0, 3), Tag(1, 4));
    match (op, what) {
        ("ConcatDataset_ctor", "empty") => {
            ConcatDataset::new([] as [AnyDataset; 0]).map(|data| json!(data.len()))
        }
        ("ConcatDataset_ctor", "iterable member") => {
            ConcatDataset::new([AnyDataset::iterable(a)]).map(|data| json!(data.len()))
        }
        ("ChainDataset_iter", "map-style member") => {
            drain(&ChainDataset::new([AnyDataset::map(a)])).map(Json::from)
        }
        ("StackDataset_ctor", "size mismatch") => {
            stacked(StackDataset::new(vec![member(a), member(b)], vec![]))
        }
        ("StackDataset_ctor", "none") => stacked(StackDataset::new(vec![], vec![])),
        ("StackDataset_ctor", "args and kwargs") => {
            stacked(StackDataset::new(vec![member(a)], named([a].into_iter())))
        }
        ("TensorDataset_ctor", "size mismatch") => {
            let zeros = |n| Tensor::zeros([n], (Kind::Float, Device::Cpu));
            TensorDataset::new(vec![zeros(3), zeros(4)]).map(|data| json!(data.len()))
        }
        _ => panic!("no check of {op} {what}"),
    }
}

/// Returns the subsets of `range(n)`, and the next draw of the generator.
fn split(input: &Json) -> Result<(Json, i64), LoaderError> {
    let n = input["n"].as_i64().unwrap();
    let data: ListDataset<i64> = (0..n).collect();
    let lengths = input["lengths"].as_array().unwrap().iter();
    let lengths: Vec<SplitLength> = lengths
        .map(|length| match length.as_i64() {
            Some(count) => count.into(),
            None => length.as_f64().unwrap().into(),
        })
        .collect();
    let mut generator = Generator::new(input["seed"].as_u64().unwrap());
    let split = random_split(Arc::new(data), &lengths, &mut generator)?;
    // With fractions there is exactly one warning per empty subset.
    let fractions = lengths
        .iter()
        .any(|l| matches!(l, SplitLength::Fraction(_)));
    let empty = split.subsets.iter().filter(|s| s.is_empty()).count();
    assert!(!fractions || split.warnings.len() == empty);
    let subsets = split.subsets.iter().map(|s| json!(s.indices())).collect();
    Ok((subsets, generator.random_i64()))
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    let clock = &mut SampleClock::off();
    let outcome = match case.op {
        "ConcatDataset" => concat_map(input),
        "ConcatDataset_bad_index" => concat(input).and_then(|data| {
            let sample = data.get_at(input["index"].as_i64().unwrap(), clock)?;
            Ok(json_of(&sample))
        }),
        "ChainDataset" => chain(input),
        "Subset_nested" => nested_subsets(input),
        "Subset_bad_index" => {
            let n = input["n"].as_u64().unwrap() as usize;
            let data = Subset::new(Arc::new(Tag(0, n)), numbers(&input["indices"]));
            let sample = data.get_at(input["index"].as_i64().unwrap(), clock);
            sample.map(|s| json_of(&s)).map_err(LoaderError::from)
        }
        "StackDataset_tuple" => {
            stacked(StackDataset::new(tags(input).map(member).collect(), vec![]))
        }
        "StackDataset_dict" => stacked(StackDataset::new(vec![], named(tags(input)))),
        "random_split" => {
            split(input).map(|(subsets, next)| json!({"subsets": subsets, "next_i64": next}))
        }
        "random_split_check" => split(input).map(|(subsets, _)| subsets),
        op => constructor(op, input["what"].as_str().unwrap_or_default()),
    };
    match outcome {
        Ok(actual) => case.returns(&actual),
        Err(LoaderError::Python { kind, message }) => case.raises(kind.as_str(), &message),
        Err(other) => Verdict::fail(&case.json.to_string(), &other.to_string()),
    }
}
