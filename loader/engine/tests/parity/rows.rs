//! Datasets of the loader's cases, whose samples contain their index and worker.

use std::sync::Arc;
use std::time::Duration;

use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::{LoaderError, get_worker_info};
use serde_json::{Value as Json, json};

/// `[index, worker ID or -1, worker seed or -1]`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub index: i64,
    pub worker: i64,
    pub seed: i64,
}

impl Row {
    pub fn here(index: usize) -> Self {
        let info = get_worker_info();
        Self {
            index: index as i64,
            worker: info.map_or(-1, |i| i.id as i64),
            seed: info.map_or(-1, |i| i.seed as i64),
        }
    }
}

/// Rows of a batch.
pub type Rows = Vec<Row>;

/// Returns the rows unchanged: `collate_fn`.
pub fn list(rows: Vec<Row>) -> Result<Rows, LoaderError> {
    Ok(rows)
}

/// Wraps a single row: `collate_fn` without batches.
pub fn alone(row: Row) -> Result<Rows, LoaderError> {
    Ok(vec![row])
}

/// A map-style dataset of `n` rows, some of which are slow.
pub struct Idx {
    pub n: usize,
    pub sleep: Vec<Duration>,
}

impl Idx {
    pub fn new(n: usize) -> Arc<Self> {
        Arc::new(Self {
            n,
            sleep: Vec::new(),
        })
    }
}

impl Dataset for Idx {
    type Sample = Row;

    fn len(&self) -> usize {
        self.n
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<Row, SampleError> {
        if let Some(time) = self.sleep.get(index) {
            std::thread::sleep(*time);
        }
        Ok(Row::here(index))
    }
}

/// Samples of each worker's stream.
#[derive(Clone, Debug)]
pub enum Kind {
    /// All of `0..n` in every worker.
    Naive(usize),
    /// `k, k + W, …` of `0..n`.
    Strided(usize),
    /// `100·k + i` for `i < sizes[k]`, each after `delay[k]` seconds.
    Shards { sizes: Vec<usize>, delay: Vec<f64> },
}

/// An iterable-style dataset.
pub struct Stream {
    pub kind: Kind,
    /// `len(dataset)`, if it has one.
    pub len: Option<usize>,
    /// Name of the class in the case.
    pub name: &'static str,
}

impl IterableDataset for Stream {
    type Sample = Row;

    fn iter(&self) -> Result<Box<dyn SampleStream<Row>>, SampleError> {
        let (id, workers) = get_worker_info().map_or((0, 1), |i| (i.id, i.num_workers));
        Ok(match &self.kind {
            Kind::Naive(n) => Box::new((0..*n).map(|i| Ok(Row::here(i)))),
            Kind::Strided(n) => Box::new((id..*n).step_by(workers).map(|i| Ok(Row::here(i)))),
            Kind::Shards { sizes, delay } => {
                let wait = Duration::from_secs_f64(delay.get(id).copied().unwrap_or(0.0));
                Box::new((0..sizes[id]).map(move |i| {
                    std::thread::sleep(wait);
                    Ok(Row::here(100 * id + i))
                }))
            }
        })
    }

    fn len(&self) -> Option<usize> {
        self.len
    }

    fn type_name(&self) -> &str {
        self.name
    }
}

/// Returns the indices of a batch, or a single number without batches.
pub fn indices(rows: &[Row], batched: bool) -> Json {
    let all: Vec<i64> = rows.iter().map(|r| r.index).collect();
    if batched { json!(all) } else { json!(all[0]) }
}

/// Parses a number of a case.
pub fn number(json: &Json) -> usize {
    json.as_u64().expect("a number") as usize
}

/// Parses seconds per worker.
pub fn delays(json: &Json) -> Vec<f64> {
    let items = json.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Json::as_f64).collect()
}

/// Parses a list of numbers.
pub fn numbers(json: &Json) -> Vec<usize> {
    json.as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}
