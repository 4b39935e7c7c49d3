//! An iterable-style dataset of a stream.

use std::sync::atomic::{AtomicU64, Ordering};

use loadscope_formats::{Share, Stream, StreamSource};

use super::sample::{Shaping, sample_error};
use crate::dataset::{IterableDataset, SampleClock, SampleError, SampleStream};
use crate::value::Value;
use crate::worker_info::get_worker_info;

/// Position of a process in distributed training, which determines its share of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamPlace {
    /// Rank of the process in distributed training, from 0.
    pub rank: u32,
    /// Number of processes. The value 0 counts as 1.
    pub world_size: u32,
    /// Shuffle seed of the streams in the consumer's thread (`num_workers=0`). Workers have their own seeds.
    pub seed: u64,
}

/// A stream with decoded images, and with arrays as tensors.
pub(super) struct StreamDataset {
    source: Box<dyn StreamSource>,
    shaping: Shaping,
    place: StreamPlace,
    /// Epochs that the consumer's thread began without workers. The count changes its seed, since only workers get a new seed per epoch.
    begun: AtomicU64,
}

impl StreamDataset {
    pub fn new(source: Box<dyn StreamSource>, shaping: Shaping, place: StreamPlace) -> Self {
        Self {
            source,
            shaping,
            place,
            begun: AtomicU64::new(0),
        }
    }

    /// Returns the share of the stream that the calling thread loads.
    fn share(&self) -> Share {
        let all = Share {
            rank: self.place.rank as usize,
            world_size: self.place.world_size.max(1) as usize,
            ..Share::default()
        };
        match get_worker_info() {
            Some(info) => Share {
                worker: info.id,
                workers: info.num_workers,
                seed: info.seed.wrapping_sub(info.id as u64),
                ..all
            },
            None => Share {
                seed: (self.place.seed).wrapping_add(self.begun.fetch_add(1, Ordering::Relaxed)),
                ..all
            },
        }
    }
}

impl IterableDataset for StreamDataset {
    type Sample = Value;

    fn iter(&self) -> Result<Box<dyn SampleStream<Value>>, SampleError> {
        Ok(Box::new(Samples {
            stream: (self.source.open(&self.share())).map_err(|e| sample_error(&e))?,
            shaping: self.shaping,
        }))
    }

    fn len(&self) -> Option<usize> {
        self.source.len()
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn notes(&self) -> &[String] {
        self.source.notes()
    }
}

struct Samples {
    stream: Box<dyn Stream>,
    shaping: Shaping,
}

impl SampleStream<Value> for Samples {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<Value, SampleError>> {
        let cell = self.stream.next(clock);
        clock.end_stage();
        Some(match cell? {
            Ok(cell) => self.shaping.sample(cell, clock),
            Err(error) => Err(sample_error(&error)),
        })
    }
}
