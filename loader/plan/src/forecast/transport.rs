//! The way of a batch from a worker's process to the trainer's.
//!
//! A worker collates into shared memory, whose pages the system clears one by one; a thread of it sends a description of each
//! tensor, the main thread receives it and maps the memory, and the training step touches the pages for the first time. Without
//! workers there is none of that. What a recording with workers tells of it is used for all numbers of workers; for the step
//! from workers to none, or back, it is taken to be as measured on an ordinary host.

use loadscope_trace::Origin;

use super::number::float;
use super::recorded::Size;
use super::step::StepLoad;
use super::{Recorded, Setting};

/// What transport costs, ns: for a tensor, and for a byte of it.
#[derive(Clone, Copy, Debug)]
struct Price {
    tensor: f64,
    byte: f64,
}

impl Price {
    fn of(self, size: Size) -> f64 {
        self.tensor * size.tensors + self.byte * size.bytes
    }
}

/// Collating into shared memory instead of memory of the process.
const COLLATE: Price = Price {
    tensor: 150_000.0,
    byte: 0.6,
};
/// The same for a tensor that is larger than what glibc keeps for the next one: memory of the process is new each time, too, and its
/// pages are cleared like shared ones.
const COLLATE_LARGE: Price = Price {
    byte: 0.2,
    ..COLLATE
};
/// glibc gives larger pieces of memory back at once (its `DEFAULT_MMAP_THRESHOLD_MAX`), bytes.
const KEPT: f64 = (32 << 20) as f64;
/// Sending, in a thread of the worker.
const SEND: Price = Price {
    tensor: 280_000.0,
    byte: 0.06,
};
/// Receiving, in the main thread.
const RECEIVE: Price = Price {
    tensor: 400_000.0,
    byte: 0.1,
};
/// Touching the memory for the first time, and giving it back.
const TOUCH: Price = Price {
    tensor: 70_000.0,
    byte: 0.33,
};
/// What collating into shared memory takes more than collating into memory of the process.
fn collate(size: Size) -> f64 {
    match size.bytes > KEPT * size.tensors.max(1.0) {
        true => COLLATE_LARGE.of(size),
        false => COLLATE.of(size),
    }
}

/// The least share of what was measured that is left where one of these is taken away.
const LEAST: f64 = 0.1;

/// What recording itself takes of a batch in its worker, of each sample, of a training step, and of receiving a batch, ns.
const RECORDING: Recording = Recording {
    batch: 30_000.0,
    sample: 350.0,
    step: 25_000.0,
    receive: 25_000.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct Recording {
    batch: f64,
    sample: f64,
    step: f64,
    receive: f64,
}

/// What a setting changes in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    /// More in collating; less, if it is negative.
    collate: f64,
    /// More in the training step.
    touch: f64,
    /// What sending takes; `None`: as recorded.
    send: Option<f64>,
    /// From sending to arrival, without receiving.
    pub returning: f64,
    /// For how large a share of the next batch a batch waits for the interpreter, 0 to 1.
    pub interpreter: f64,
    /// Receiving a batch.
    pub receive: f64,
    /// What recording took, which a run that is not recorded does not.
    recording: Recording,
    /// What is left of training steps, and of what they compute, if no worker competes with them any more.
    steps_alone: Option<(f64, f64)>,
}

impl Change {
    /// What there is to compute beside the samples; `beside` was recorded of other threads.
    pub fn rest(&self, rest: f64, beside: f64, samples: usize) -> f64 {
        let recording = self.recording.batch + self.recording.sample * samples as f64;
        (rest + self.collate - recording).max(rest * LEAST) + self.send.unwrap_or(beside)
    }

    pub fn step(&self, step: StepLoad) -> StepLoad {
        let changed = |time: f64| (time + self.touch - self.recording.step).max(time * LEAST);
        let (less, less_cpu) = self.steps_alone.unwrap_or((1.0, 1.0));
        StepLoad {
            alone: changed(step.alone * less),
            cpu: match step.cpu > 0.0 {
                true => changed(step.cpu * less_cpu),
                false => 0.0,
            },
        }
    }
}

impl Recorded {
    /// What sending and receiving a batch takes of all processes, and what recording it took, ns; where the setting goes from workers
    /// to none or back, also what collating and training differ by.
    pub(super) fn way_of_a_batch(&self, changes_side: bool) -> f64 {
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        if !is_process {
            return 0.0;
        }
        let recorded = float(self.beside) + float(self.delays.receive) + RECORDING.batch;
        match (changes_side, self.size) {
            (true, Some(size)) => recorded + collate(size) + TOUCH.of(size),
            // Nothing is known of the batches.
            (true, None) => recorded + 2e6,
            (false, _) => recorded,
        }
    }

    /// What becomes of transport with `setting`.
    pub(super) fn transport(&self, setting: &Setting) -> Change {
        let delays = &self.delays;
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        let way = delays.returning - delays.receive - self.beside;
        let recording = match is_process && self.is_measured() {
            true => RECORDING,
            false => Recording::default(),
        };
        let receive = float(delays.receive);
        let recorded = Change {
            returning: float(way).max(0.0),
            interpreter: delays.interpreter,
            receive: (receive - recording.receive).max(receive * LEAST),
            recording,
            ..Change::default()
        };
        let recorded = Change {
            steps_alone: (setting.num_workers == 0).then_some(self.steps_alone),
            ..recorded
        };
        let Some(size) = self.size.filter(|_| is_process) else {
            return recorded;
        };
        match (self.options.num_workers > 0, setting.num_workers > 0) {
            (true, false) => Change {
                collate: -collate(size),
                touch: -TOUCH.of(size),
                send: Some(0.0),
                ..recorded
            },
            (false, true) => Change {
                collate: collate(size),
                touch: TOUCH.of(size),
                send: Some(SEND.of(size)),
                returning: 0.0,
                receive: RECEIVE.of(size),
                ..recorded
            },
            _ => recorded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen in real programs: without workers a batch of 25 MB is collated in a third of the time, one of 100 MB in two thirds.
    #[test]
    fn memory_of_a_process_costs_less_than_shared_memory_unless_it_is_new_each_time() {
        let one = |bytes| Size {
            tensors: 1.0,
            bytes,
        };
        let of = |bytes| collate(one(bytes)) / bytes;
        assert!(
            of(25e6) > 0.55 && of(100e6) < 0.25,
            "{} {}",
            of(25e6),
            of(100e6)
        );
        // Many tensors of a batch are kept one by one.
        let many = Size {
            tensors: 8.0,
            bytes: 100e6,
        };
        assert!(collate(many) > 2.0 * collate(one(100e6)));
    }
}
