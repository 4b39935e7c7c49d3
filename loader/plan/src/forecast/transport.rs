//! Transport of a batch from the worker's process to the trainer's.
//!
//! A worker collates into shared memory, whose pages the system clears one by one. A thread of the worker sends a description of each
//! tensor. The main process receives it and maps the memory, and the training step touches the pages first. Without workers, no batch is
//! transported. Costs recorded with workers apply to all numbers of workers. For a change from workers to none or back, they are assumed as
//! measured on an ordinary host.

use loadscope_trace::{Nanos, Origin};

use super::number::{float, nanos};
use super::overhead::RecordingOverhead;
use super::recorded::{SampleCost, Size};
use super::step::StepLoad;
use super::{Recorded, Setting};

/// Transport costs per tensor and per byte, ns.
#[derive(Clone, Copy, Debug)]
struct TransportCost {
    tensor: f64,
    byte: f64,
}

impl TransportCost {
    /// Returns the cost of a batch. `speed`: speed of Python, relative to [`JSON_NS`].
    fn of(self, size: Size, speed: f64) -> f64 {
        self.tensor / speed * size.tensors + self.byte * size.bytes
    }
}

/// Time of [`RunInfo::json_ns`](loadscope_trace::RunInfo) on the host of the costs below. Costs per tensor are mostly Python code: on a
/// host with 0.58 of this time they are 0.5 to 0.65 as large.
const JSON_NS: f64 = 4_000.0;

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
/// Cost of sending the next task and returning a batch to the loop, in the main process, ns.
const YIELD: f64 = 150_000.0;

/// Returns the additional cost of collating into shared memory instead of process memory.
fn collate(size: Size, speed: f64) -> f64 {
    match size.bytes > MMAP_THRESHOLD * size.tensors.max(1.0) {
        true => COLLATE_LARGE.of(size, speed),
        false => COLLATE.of(size, speed),
    }
}

/// Minimum share of a measured time that remains after a subtraction.
const MIN_SHARE: f64 = 0.1;

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
    /// Number of times that a batch waits for the interpreter while its worker computes the next batch.
    pub interpreter: f64,
    /// Time for receiving a batch.
    pub receive: f64,
    /// Time from the turn of a batch to its training step.
    pub yielding: f64,
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
        let speed = self.python_speed();
        let recorded =
            float(self.beside) + float(self.delays.receive) + RecordingOverhead::MEASURED.batch;
        match (changes_side, self.size) {
            (true, Some(size)) => recorded + collate(size, speed) + TOUCH.of(size, speed),
            // The size of the batches is unknown.
            (true, None) => recorded + 2e6,
            (false, _) => recorded,
        }
    }

    /// Returns the assumed part of a batch for which its worker holds the interpreter at once: until a sample waits off the cores.
    fn held(&self) -> f64 {
        /// Minimum share of waiting.
        const WAITS: f64 = 0.1;
        let sum = |time: fn(&SampleCost) -> Nanos| -> f64 {
            self.samples.iter().map(|sample| float(time(sample))).sum()
        };
        let (off, cpu) = (sum(|s| s.off), sum(|s| s.cpu));
        match off > (off + cpu) * WAITS {
            true => cpu / (off + cpu) * self.tasks() as f64 / self.samples.len().max(1) as f64,
            false => 1.0,
        }
    }

    /// Returns the speed of Python relative to the host of the assumed costs.
    fn python_speed(&self) -> f64 {
        match self.json_ns {
            0 => 1.0,
            took => (JSON_NS / f64::from(took)).clamp(0.1, 10.0),
        }
    }

    /// Returns the time for receiving a batch of the recorded size on an ordinary host, with this speed of Python. A batch of unknown size
    /// has one tensor.
    pub(super) fn usual_receive(&self) -> Nanos {
        let one = Size {
            tensors: 1.0,
            bytes: 0.0,
        };
        nanos(RECEIVE.of(self.size.unwrap_or(one), self.python_speed()))
    }

    /// Returns the overhead of a recording of a program with processes.
    pub(super) fn recording_overhead(&self) -> RecordingOverhead {
        match matches!(self.origin, Origin::Pytorch(_)) && self.is_measured() {
            true => RecordingOverhead::MEASURED,
            false => RecordingOverhead::default(),
        }
    }

    /// Returns the transport costs with `setting`.
    pub(super) fn transport(&self, setting: &Setting) -> TransportChange {
        let delays = &self.delays;
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        let way = delays.returning - delays.receive - self.beside;
        let recording = self.overhead;
        let receive = float(delays.receive);
        let recorded = TransportChange {
            returning: float(way).max(0.0),
            interpreter: delays.interpreter.unwrap_or_else(|| self.held()),
            receive: (receive - recording.receive).max(receive * MIN_SHARE),
            yielding: float(delays.yielding),
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
        let speed = self.python_speed();
        match (self.options.num_workers > 0, setting.num_workers > 0) {
            (true, false) => TransportChange {
                collate: -collate(size, speed),
                touch: -TOUCH.of(size, speed),
                send: Some(0.0),
                ..recorded
            },
            (false, true) => TransportChange {
                collate: collate(size, speed),
                touch: TOUCH.of(size, speed),
                send: Some(SEND.of(size, speed)),
                returning: 0.0,
                receive: RECEIVE.of(size, speed),
                yielding: YIELD / speed,
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
        let of = |bytes| collate(one(bytes), 1.0) / bytes;
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
        assert!(collate(many, 1.0) > 2.0 * collate(one(100e6), 1.0));
    }
}
