//! Datasets that skip and count failed samples.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use loadscope_trace::{BatchId, EventKind, Level, Message, OnError, RunOptions, WorkerId, plural};

use crate::dataset::{
    Dataset, InMemory, IterableDataset, SampleClock, SampleError, SampleStream, delegate_to_inner,
};
use crate::probe::Probe;
use crate::value::Value;
use crate::worker_info::get_worker_info;

/// Type name of the placeholder of a failed sample. No dataset yields it.
const LEFT_OUT: &str = "loadscope.LeftOut";
/// Number of successive failures after which a stream's error is returned.
const MAX_CONSECUTIVE_FAILURES: u64 = 10_000;
/// Maximum number of failed samples with individual messages.
const MAX_INDIVIDUAL_MESSAGES: u64 = 1_000;

/// Returns true if failed samples are skipped.
pub(super) fn is_lenient(on_error: OnError) -> bool {
    match on_error {
        OnError::Skip | OnError::Log => true,
        OnError::Stop | OnError::Continue => false,
    }
}

/// Returns true if `sample` is the placeholder of a failed sample.
pub(super) fn is_left_out(sample: &Value) -> bool {
    matches!(sample, Value::Other(name) if &**name == LEFT_OUT)
}

/// Counter of skipped samples.
pub(crate) struct LeftOut {
    count: AtomicU64,
    /// First skipped sample, unless each is reported.
    first: OnceLock<String>,
    reports_each: bool,
    probe: Probe,
}

impl LeftOut {
    /// Returns `None` if the options do not skip failed samples.
    pub fn of(options: &RunOptions, probe: &Probe) -> Option<Arc<Self>> {
        is_lenient(options.on_error).then(|| {
            Arc::new(Self {
                count: AtomicU64::new(0),
                first: OnceLock::new(),
                reports_each: options.on_error == OnError::Log,
                probe: probe.clone(),
            })
        })
    }

    /// Counts a failed sample and returns its placeholder.
    fn record_failure(
        &self,
        sample: Option<usize>,
        batch: Option<BatchId>,
        error: &SampleError,
    ) -> Value {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        if !self.reports_each {
            self.first.get_or_init(|| match sample {
                Some(index) => format!("sample {index}: {error}"),
                None => error.to_string(),
            });
        }
        if before < MAX_INDIVIDUAL_MESSAGES {
            let worker = get_worker_info().map(|info| info.id as WorkerId);
            let text = match sample {
                Some(index) => format!("sample {index} skipped: {error}"),
                None => format!("sample skipped: {error}"),
            };
            self.probe.emit(|| {
                EventKind::Message(Box::new(Message {
                    level: match self.reports_each {
                        true => Level::Warning,
                        // An info message marks the position. Only the final total is a warning.
                        false => Level::Info,
                    },
                    text,
                    about: batch,
                    worker,
                    sample: sample.map(|index| index as u64),
                }))
            });
        }
        Value::Other(LEFT_OUT.into())
    }

    /// Reports the number of skipped samples, and the first one unless each was reported.
    pub fn report(&self) {
        let count = self.count.load(Ordering::Relaxed);
        if count > 0 {
            self.probe.emit_message(Level::Warning, || {
                let failed = plural(count, "sample", "samples");
                let first = self.first.get();
                let first = first.map(|first| format!(". The first was {first}"));
                let first = first.unwrap_or_default();
                match count {
                    1 => format!("{failed} failed and was skipped{first}"),
                    _ => format!("{failed} failed and were skipped{first}"),
                }
            });
        }
    }
}

/// Dataset that replaces failed samples by placeholders.
pub(super) struct Lenient<D: ?Sized> {
    inner: Arc<D>,
    left_out: Arc<LeftOut>,
}

impl<D: ?Sized> Lenient<D> {
    pub fn new(inner: Arc<D>, left_out: &Arc<LeftOut>) -> Self {
        Self {
            inner,
            left_out: Arc::clone(left_out),
        }
    }
}

impl<D: Dataset<Sample = Value> + ?Sized> Dataset for Lenient<D> {
    type Sample = Value;

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let sample = self.inner.get(index, clock);
        Ok(sample.unwrap_or_else(|error| {
            self.left_out
                .record_failure(Some(index), clock.batch(), &error)
        }))
    }

    /// Retries the samples of a failed batch one by one.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<Value>, SampleError>> {
        match self.inner.get_batch(indices, clock)? {
            Ok(samples) => Some(Ok(samples)),
            Err(_) => Some(
                indices
                    .iter()
                    .map(|index| self.get(*index, clock))
                    .collect(),
            ),
        }
    }

    fn has_get_batch(&self) -> bool {
        self.inner.has_get_batch()
    }

    /// Returns the samples in memory, which cannot fail.
    fn in_memory(&self) -> Option<InMemory<'_>> {
        self.inner.in_memory()
    }

    delegate_to_inner!(samples);
}

impl<D: IterableDataset<Sample = Value> + ?Sized> IterableDataset for Lenient<D> {
    type Sample = Value;

    fn iter(&self) -> Result<Box<dyn SampleStream<Value>>, SampleError> {
        Ok(Box::new(LenientStream {
            stream: self.inner.iter()?,
            left_out: Arc::clone(&self.left_out),
            consecutive_failures: 0,
        }))
    }

    delegate_to_inner!(stream);
}

struct LenientStream {
    stream: Box<dyn SampleStream<Value>>,
    left_out: Arc<LeftOut>,
    consecutive_failures: u64,
}

impl SampleStream<Value> for LenientStream {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<Value, SampleError>> {
        match self.stream.next(clock)? {
            Ok(sample) => {
                self.consecutive_failures = 0;
                Some(Ok(sample))
            }
            Err(error) if self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES => Some(Err(error)),
            Err(error) => {
                self.consecutive_failures += 1;
                Some(Ok(self.left_out.record_failure(
                    None,
                    clock.batch(),
                    &error,
                )))
            }
        }
    }
}
