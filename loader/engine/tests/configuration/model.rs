//! Expected output of a loader, computed without threads.

use loadscope_engine::rng::{SharedGenerator, lock_generator};

use super::{Config, DatasetKind, Outcome, YieldedBatch};

/// Output of a complete epoch.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Map-style: by task. Streams: in order of output with `in_order`.
    pub all: Vec<(Option<usize>, Outcome)>,
    /// Streams: batches of each worker.
    pub streams: Vec<Vec<Outcome>>,
}

/// Returns the number of sampler calls in an epoch of `total` tasks if the consumer stops after `taken` batches.
pub fn pulls(config: &Config, total: usize, taken: Option<usize>) -> usize {
    match taken.filter(|taken| *taken <= total) {
        Some(taken) => (config.window() + taken).min(total + 1),
        None => total + 1,
    }
}

impl Expected {
    /// Computes an epoch of which the consumer takes at most `taken` batches.
    ///
    /// The model draws from `generator` like the loader. `fresh` means that the epoch draws its own base seed.
    pub fn of(
        config: &Config,
        generator: &SharedGenerator,
        fresh: bool,
        taken: Option<usize>,
    ) -> Self {
        if fresh {
            lock_generator(generator).random_i64();
        }
        if let DatasetKind::Stream(shards) = &config.dataset {
            let workers = config.num_workers.max(1);
            let streams = (0..workers)
                .map(|w| config.cut(shards.of(w, workers)))
                .collect();
            return Self::round_robin(streams, config.num_workers > 0);
        }
        // The number of sampler calls depends on the number of tasks, which a copy of the generator determines first.
        let copy = std::sync::Arc::new(std::sync::Mutex::new(lock_generator(generator).clone()));
        let whole: Result<Vec<Vec<usize>>, _> = config.tasks(&copy).collect();
        let tasks = whole.expect("no sampler fails");
        let mut asked = config.tasks(generator);
        for _ in 0..pulls(config, tasks.len(), taken) {
            asked.next();
        }
        let worker = |idx| idx_worker(config, idx);
        let all = tasks.into_iter().enumerate();
        Self {
            all: all
                .map(|(idx, task)| (worker(idx), config.outcome(task)))
                .collect(),
            streams: Vec::new(),
        }
    }

    /// Returns the batches of all streams in turn. Ended streams are skipped.
    fn round_robin(streams: Vec<Vec<Outcome>>, workers: bool) -> Self {
        let rounds = streams.iter().map(Vec::len).max().unwrap_or(0);
        let mut all = Vec::new();
        for round in 0..rounds {
            for (worker, stream) in streams.iter().enumerate() {
                if let Some(outcome) = stream.get(round) {
                    all.push((workers.then_some(worker), outcome.clone()));
                }
            }
        }
        Self { all, streams }
    }

    /// Checks that `got` is a valid output if the consumer takes at most `taken` batches of this epoch.
    pub fn check(
        &self,
        config: &Config,
        got: &[YieldedBatch],
        taken: Option<usize>,
    ) -> Result<(), String> {
        let wanted = taken.map_or(self.all.len(), |taken| taken.min(self.all.len()));
        if got.len() != wanted {
            return Err(format!("{} batches came instead of {wanted}", got.len()));
        }
        if config.in_order {
            let seen = got.iter().map(|g| (g.worker, g.outcome.clone()));
            return if seen.eq(self.all[..wanted].iter().cloned()) {
                Ok(())
            } else {
                Err(format!("wrong order: {got:?} instead of {:?}", self.all))
            };
        }
        self.check_any_order(config, got)
    }

    /// Checks output without order. Batches of one worker must still be in order.
    fn check_any_order(&self, config: &Config, got: &[YieldedBatch]) -> Result<(), String> {
        for worker in 0..config.num_workers {
            let own: Vec<&YieldedBatch> = got.iter().filter(|g| g.worker == Some(worker)).collect();
            if !own.windows(2).all(|pair| pair[0].idx < pair[1].idx) {
                return Err(format!("worker {worker} is out of order: {own:?}"));
            }
            let made = self.streams.get(worker);
            if made.is_some_and(|made| {
                !own.iter()
                    .map(|g| &g.outcome)
                    .eq(made[..own.len().min(made.len())].iter())
            }) {
                return Err(format!("worker {worker} made {own:?} of {made:?}"));
            }
        }
        if self.streams.is_empty() {
            let mut idxs: Vec<usize> = got.iter().map(|g| g.idx).collect();
            idxs.sort_unstable();
            idxs.dedup();
            let right =
                |g: &YieldedBatch| self.all.get(g.idx).is_some_and(|(_, o)| *o == g.outcome);
            if idxs.len() != got.len() || !got.iter().all(right) {
                return Err(format!("{got:?} is not of {:?}", self.all));
            }
        }
        Ok(())
    }
}

/// Returns the worker of a map-style task, if the worker is known in advance.
fn idx_worker(config: &Config, idx: usize) -> Option<usize> {
    idx.checked_rem(config.num_workers)
}

impl Config {
    /// Returns the expected result of a task.
    fn outcome(&self, samples: Vec<usize>) -> Outcome {
        match samples.iter().find_map(|s| self.faults.of(*s)) {
            Some(trouble) => Err(trouble),
            None => Ok(samples),
        }
    }

    /// Cuts a stream into batches. An error ends the stream, as in a Python generator.
    fn cut(&self, stream: Vec<usize>) -> Vec<Outcome> {
        let size = self.batch_size.unwrap_or(1);
        let mut batches = Vec::new();
        for batch in stream.chunks(size) {
            let outcome = self.outcome(batch.to_vec());
            let failed = outcome.is_err();
            if failed || batch.len() == size || !self.drop_last {
                batches.push(outcome);
            }
            if failed {
                break;
            }
        }
        batches
    }
}
