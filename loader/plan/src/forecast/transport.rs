//! Transport of a batch from the worker's process to the trainer's.
//!
//! A worker collates into shared memory, whose pages the system clears one by one. A thread of the worker sends a description of each
//! tensor. The main process receives it and maps the memory, and the training step touches the pages first. Without workers, no batch is
//! transported. Costs recorded with workers apply to all numbers of workers. For a change from workers to none or back, they are assumed as
//! measured on an ordinary host.

use loadscope_trace::Origin;

use super::number::float;
use super::recorded::Size;
use super::step::StepLoad;
use super::{Recorded, Setting};

/// Transport costs per tensor and per byte, ns.
#[derive(Clone, Copy, Debug)]
struct TransportCost {
    tensor: f64,
    byte: f64,
}

impl TransportCost {
    fn of(self, size: Size) -> f64 {
        self.tensor * size.tensors + self.byte * size.bytes
    }
}

/// Additional cost of collating into shared memory instead of process memory.
const COLLATE: TransportCost = TransportCost {
    tensor: 150_000.0,
    byte: 0.6,
};
/// Additional cost for tensors above [`MMAP_THRESHOLD`]. Process memory is then also new each time, and its pages are cleared like
/// shared ones.
const COLLATE_LARGE: TransportCost = TransportCost {
    byte: 0.2,
    ..COLLATE
};
/// Size above which glibc returns freed memory to the system at once (`DEFAULT_MMAP_THRESHOLD_MAX`), bytes.
const MMAP_THRESHOLD: f64 = (32 << 20) as f64;
/// Cost of sending, in a thread of the worker.
const SEND: TransportCost = TransportCost {
    tensor: 280_000.0,
    byte: 0.06,
};
/// Cost of receiving, in the main process.
const RECEIVE: TransportCost = TransportCost {
    tensor: 400_000.0,
    byte: 0.1,
};
/// Cost of the first access to the memory, and of freeing it.
const TOUCH: TransportCost = TransportCost {
    tensor: 70_000.0,
    byte: 0.33,
};
/// Returns the additional cost of collating into shared memory instead of process memory.
fn collate(size: Size) -> f64 {
    match size.bytes > MMAP_THRESHOLD * size.tensors.max(1.0) {
        true => COLLATE_LARGE.of(size),
        false => COLLATE.of(size),
    }
}

/// Minimum share of a measured time that remains after a subtraction.
const MIN_SHARE: f64 = 0.1;

/// Overhead of recording: per batch in its worker, per sample, per training step, and per received batch, ns.
const RECORDING_OVERHEAD: RecordingOverhead = RecordingOverhead {
    batch: 30_000.0,
    sample: 350.0,
    step: 25_000.0,
    receive: 25_000.0,
};

#[derive(Clone, Copy, Debug, Default)]
struct RecordingOverhead {
    batch: f64,
    sample: f64,
    step: f64,
    receive: f64,
}

/// Changes of the transport costs in a setting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransportChange {
    /// Additional time for collating. Negative: less time.
    collate: f64,
    /// Additional time for the training step.
    touch: f64,
    /// Time for sending. `None`: as recorded.
    send: Option<f64>,
    /// Time from sending to arrival, without receiving.
    pub returning: f64,
    /// Share of the next batch for which a batch waits for the interpreter, 0 to 1.
    pub interpreter: f64,
    /// Time for receiving a batch.
    pub receive: f64,
    /// Recording overhead that a run without recording does not have.
    recording: RecordingOverhead,
    /// Factors for training steps and for their CPU time if no worker competes.
    steps_alone: Option<(f64, f64)>,
}

impl TransportChange {
    /// Returns the computing time beyond the samples. `beside`: recorded CPU time of other threads.
    pub fn rest(&self, rest: f64, beside: f64, samples: usize) -> f64 {
        let recording = self.recording.batch + self.recording.sample * samples as f64;
        (rest + self.collate - recording).max(rest * MIN_SHARE) + self.sending(beside)
    }

    /// Returns the time for sending a batch. A worker that waits off the cores sends meanwhile.
    pub fn sending(&self, beside: f64) -> f64 {
        self.send.unwrap_or(beside)
    }

    pub fn step(&self, step: StepLoad) -> StepLoad {
        let changed = |time: f64| (time + self.touch - self.recording.step).max(time * MIN_SHARE);
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
    /// Returns the costs of sending, receiving and recording a batch in all processes, ns. With `changes_side`, the setting changes from
    /// workers to none or back, and the differences in collating and training are included.
    pub(super) fn transport_time(&self, changes_side: bool) -> f64 {
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        if !is_process {
            return 0.0;
        }
        let recorded = float(self.beside) + float(self.delays.receive) + RECORDING_OVERHEAD.batch;
        match (changes_side, self.size) {
            (true, Some(size)) => recorded + collate(size) + TOUCH.of(size),
            // The size of the batches is unknown.
            (true, None) => recorded + 2e6,
            (false, _) => recorded,
        }
    }

    /// Returns the transport costs with `setting`.
    pub(super) fn transport(&self, setting: &Setting) -> TransportChange {
        let delays = &self.delays;
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        let way = delays.returning - delays.receive - self.beside;
        let recording = match is_process && self.is_measured() {
            true => RECORDING_OVERHEAD,
            false => RecordingOverhead::default(),
        };
        let receive = float(delays.receive);
        let recorded = TransportChange {
            returning: float(way).max(0.0),
            interpreter: delays.interpreter,
            receive: (receive - recording.receive).max(receive * MIN_SHARE),
            recording,
            ..TransportChange::default()
        };
        let recorded = TransportChange {
            steps_alone: (setting.num_workers == 0).then_some(self.steps_alone),
            ..recorded
        };
        let Some(size) = self.size.filter(|_| is_process) else {
            return recorded;
        };
        match (self.options.num_workers > 0, setting.num_workers > 0) {
            (true, false) => TransportChange {
                collate: -collate(size),
                touch: -TOUCH.of(size),
                send: Some(0.0),
                ..recorded
            },
            (false, true) => TransportChange {
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

    /// Real programs without workers collate a batch of 25 MB in a third of the time, and one of 100 MB in two thirds.
    #[test]
    fn collating_in_process_memory_is_cheaper_if_it_is_reused() {
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
        // Several smaller tensors stay below the limit.
        let many = Size {
            tensors: 8.0,
            bytes: 100e6,
        };
        assert!(collate(many) > 2.0 * collate(one(100e6)));
    }
}
