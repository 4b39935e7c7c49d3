//! The collate function of a run.

use loadscope_trace::{Collate as Chosen, RunOptions};
use loadscope_words::say;

use super::lenient::is_left_out;
use crate::collate::{
    CollateSite, collate_concatenated, collate_lists, collate_padded, default_collate,
    default_convert,
};
use crate::error::{ExceptionKind, LoaderError};
use crate::fetch::{Collate, Stacking};
use crate::value::Value;

/// Collate function chosen by the options.
pub(crate) struct ValueCollate {
    chosen: Chosen,
    /// True if the samples may include placeholders of failed ones.
    is_lenient: bool,
}

impl ValueCollate {
    pub fn new(options: &RunOptions) -> Self {
        Self {
            chosen: options.collate.resolve(&options.dataset),
            is_lenient: super::lenient::is_lenient(options.on_error),
        }
    }
}

impl Collate<Value> for ValueCollate {
    type Batch = Value;

    fn collate(&self, mut samples: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
        if self.is_lenient {
            samples.retain(|sample| !is_left_out(sample));
            if samples.is_empty() {
                return Err(LoaderError::runtime(say!(
                    "all samples of the batch failed, so there is nothing to collate"
                )));
            }
        }
        match self.chosen {
            Chosen::Fitting | Chosen::Stack => default_collate(samples, site),
            Chosen::List => collate_lists(samples),
            Chosen::Pad(value) => collate_padded(samples, site, value),
            Chosen::Concat => collate_concatenated(samples, site),
        }
        .map_err(|error| self.with_remedy(error))
    }

    fn left_out(&self, samples: &[Value]) -> Vec<u32> {
        if !self.is_lenient {
            return Vec::new();
        }
        let places = (0_u32..).zip(samples);
        let failed = places.filter(|(_, sample)| is_left_out(sample));
        failed.map(|(place, _)| place).collect()
    }

    fn stacking(&self) -> Option<Stacking<Value>> {
        match self.chosen {
            Chosen::Fitting | Chosen::Stack => Some(Value::Tensor),
            Chosen::List | Chosen::Pad(_) | Chosen::Concat => None,
        }
    }

    fn convert(&self, sample: Value, _site: CollateSite) -> Result<Value, LoaderError> {
        if self.is_lenient && is_left_out(&sample) {
            return Err(LoaderError::runtime(say!(
                "the sample failed and was skipped"
            )));
        }
        default_convert(sample)
    }
}

impl ValueCollate {
    /// Adds a remedy to PyTorch's error about samples that do not stack.
    fn with_remedy(&self, error: LoaderError) -> LoaderError {
        const UNEQUAL: [&str; 3] = [
            "stack expects each tensor to be equal size",
            "storage that is not resizable",
            "each element in list of batch should be of equal size",
        ];
        match error {
            LoaderError::Python { kind, message } if kind == ExceptionKind::KEY_ERROR => {
                LoaderError::Python {
                    kind,
                    message: say!(
                        "{message}. The first sample of the batch has this key, but a later one does not. Give every sample the same keys."
                    ),
                }
            }
            LoaderError::Python { kind, message } if message.ends_with("<class 'NoneType'>") => {
                LoaderError::Python {
                    kind,
                    message: say!(
                        "{message}. A missing value (null) cannot be stacked. Fill it in, or use --collate list."
                    ),
                }
            }
            LoaderError::Python { kind, message }
                if UNEQUAL.iter().any(|part| message.contains(part)) =>
            {
                let remedy = match self.chosen {
                    _ if message.contains("each element in list") => {
                        say!("Lists of different lengths need --collate list.")
                    }
                    Chosen::Fitting | Chosen::Stack => {
                        say!("Samples of different sizes need --collate list, pad or concat.")
                    }
                    Chosen::Pad(_) | Chosen::Concat | Chosen::List => {
                        say!(
                            "Only arrays can be padded and joined, not lists of numbers. Use --collate list."
                        )
                    }
                };
                LoaderError::Python {
                    kind,
                    message: say!("{message}. {remedy}"),
                }
            }
            other => other,
        }
    }
}
