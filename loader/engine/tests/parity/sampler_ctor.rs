//! Errors of samplers' constructors.

use std::sync::Arc;

use loadscope_engine::LoaderError;
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    BatchSampler, PyArg, RandomSampler, RandomSource, Sampler, WeightedRandomSampler,
};
use serde_json::json;

use super::verdict::{Case, Verdict};

/// A constructor call in the words of a case.
///
/// The words are the sampler, `name=value` for changed arguments, `empty` for an empty dataset, and `iterate` if an epoch was requested.
struct Call<'a> {
    sampler: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn new(text: &'a str) -> Self {
        let mut words = text.split(' ');
        Self {
            sampler: words.next().unwrap_or_default(),
            words: words.collect(),
        }
    }

    fn says(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Returns the case's value of an argument, or the default one.
    fn arg(&self, name: &str, plain: impl Into<PyArg>) -> PyArg {
        let given = self.words.iter().filter_map(|word| word.split_once('='));
        given
            .filter(|(given, _)| *given == name)
            .map(|(_, value)| literal(value))
            .next()
            .unwrap_or(plain.into())
    }

    fn make(&self) -> Result<Option<Arc<dyn Sampler>>, LoaderError> {
        let source = RandomSource::Default(shared_generator(0));
        match self.sampler {
            "RandomSampler" => {
                let len = if self.says("empty") { 0 } else { 3 };
                let replacement = self.arg("replacement", self.says("replacement"));
                let num_samples = self.arg("num_samples", None::<bool>);
                let made = RandomSampler::from_args(len, &replacement, &num_samples, source)?;
                Ok(Some(Arc::new(made)))
            }
            "WeightedRandomSampler" => {
                let weights = if self.says("2d") {
                    vec![vec![1.0, 2.0]].into()
                } else if self.says("scalar") {
                    3.0.into()
                } else {
                    vec![1.0].into()
                };
                let num_samples = self.arg("num_samples", 1);
                let replacement = self.arg("replacement", true);
                let made =
                    WeightedRandomSampler::from_args(&weights, &num_samples, &replacement, source)?;
                Ok(Some(Arc::new(made)))
            }
            "BatchSampler" => {
                let (batch_size, drop_last) =
                    (self.arg("batch_size", 2), self.arg("drop_last", false));
                let indices: Arc<dyn Sampler> = Arc::new(vec![0, 1, 2]);
                BatchSampler::from_args(indices, &batch_size, &drop_last)?;
                Ok(None)
            }
            other => panic!("a sampler that is known, not {other}"),
        }
    }
}

fn literal(text: &str) -> PyArg {
    match text {
        "None" => PyArg::None,
        "True" => PyArg::Bool(true),
        "False" => PyArg::Bool(false),
        number => match number.parse::<i64>() {
            Ok(int) => PyArg::Int(int),
            Err(_) => PyArg::Float(number.parse().expect("a number")),
        },
    }
}

/// Returns the verdict on an error that must equal PyTorch's.
pub fn raised(case: &Case<'_>, error: &LoaderError) -> Verdict {
    match error {
        LoaderError::Python { kind, message } => case.raises(kind.as_str(), message),
        other => case.raises(other.exception_kind().as_str(), &other.to_string()),
    }
}

pub fn check(case: &Case<'_>) -> Verdict {
    let call = Call::new(case.input["what"].as_str().unwrap());
    let sampler = match call.make() {
        Ok(sampler) => sampler,
        Err(error) => return raised(case, &error),
    };
    let Some(sampler) = sampler.filter(|_| call.says("iterate")) else {
        return case.returns(&json!("ok"));
    };
    match sampler.iter().collect::<Result<Vec<_>, _>>() {
        Ok(items) => case.returns(&json!(items)),
        Err(error) => raised(case, &error),
    }
}
