//! Error of the model itself, in addition to the variation between samples.
//!
//! The constants below make the intervals contain nine of ten outcomes of real PyTorch programs (`cargo xtask truth`). Intervals are wide
//! if the recording says little about the setting. Examples are a change from workers to none, many more processes than recorded, busy
//! cores, and batches that are cheaper than their transport.

use loadscope_trace::{Nanos, Origin};
use loadscope_words::say;

use super::number::float;
use super::{Recorded, Setting};

/// Variation between two runs of the same program.
const RUN_VARIATION: f64 = 0.04;
/// Variation from the order in which the system schedules threads if all cores are busy.
const BUSY_CORES: f64 = 0.08;
/// Error for a number of workers that was not recorded.
const OTHER_WORKERS: f64 = 0.03;
/// Error of the transport costs between processes: recorded, then assumed ones.
const TRANSPORT: f64 = 0.35;
const ASSUMED_TRANSPORT: f64 = 0.8;
/// Error for a stream split among other workers than recorded.
const STREAM_SPLIT: f64 = 0.15;
/// Error of the time to start and end other numbers of processes.
const PROCESS_START: f64 = 0.5;
/// Variation of the time from the start of the first worker to its first fetch, between two runs.
const START_VARIATION: f64 = 0.15;

/// Error of the setup work before the first batch, with other numbers of workers that share the cores.
const SETUP: f64 = 0.3;
/// Factor up to which the start of a process may take longer than assumed.
const SLOW_BEGIN: f64 = 1.5;
/// Minimum of the setup time of a process itself, ns. Longer setups belong to the program.
const USUAL_SETUP: f64 = 50e6;

/// Uncertainty of a forecast.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelError {
    /// Half-width of the 90 % interval, as a share of the time.
    pub share: f64,
    /// Largest cause, as a sentence, if it exceeds 10 %.
    pub reason: Option<&'static str>,
}

/// Uncertain share of the time, with its cause.
type Part = (f64, Option<&'static str>);

impl Recorded {
    /// Returns the model's error for a forecast of `time` for `setting`. `busy` is the used share of the cores, 0 to 1.
    pub(super) fn model_error(&self, setting: &Setting, time: Nanos, busy: f64) -> ModelError {
        let time = float(time).max(1.0);
        if self.origin == Origin::Simulation {
            return ModelError {
                share: 0.0,
                reason: None,
            };
        }
        let own = self.setting();
        let epochs = self.epochs.iter();
        let batches: f64 = epochs
            .map(|e| e.tasks.len() as f64 * e.weight.batches * e.weight.epochs)
            .sum();
        let changes_side = (own.num_workers > 0) != (setting.num_workers > 0);
        let way = self.transport_time(changes_side) * batches / time;
        let more = setting.num_workers.abs_diff(own.num_workers) as f64;
        let started = match setting.ends_workers() {
            true => self.epochs.len().max(1) as f64,
            false => 1.0,
        };
        let [processes, starts] = match matches!(self.origin, Origin::Pytorch(_)) {
            true => self.start_error(setting, more, started),
            false => [0.0; 2],
        };
        let [set_up, begun] = self.setup_error(setting, time, more * started);
        let parts = [
            (RUN_VARIATION, None),
            (starts / time, None),
            set_up,
            begun,
            (
                BUSY_CORES * ((busy - 0.5) * 2.0).clamp(0.0, 1.0),
                Some(say!(
                    "all CPU cores are busy, so the order of execution varies"
                )),
            ),
            (if more > 0.0 { OTHER_WORKERS } else { 0.0 }, None),
            self.stream_error(setting),
            (
                self.refit_error().abs(),
                Some(say!(
                    "the model does not exactly reproduce the recorded run"
                )),
            ),
            match changes_side {
                true => (
                    ASSUMED_TRANSPORT * way,
                    Some(say!(
                        "the cost of sending batches between processes is assumed, not recorded"
                    )),
                ),
                false if setting.num_workers > 0 => (
                    TRANSPORT * way,
                    Some(say!(
                        "sending batches between processes takes much of the time"
                    )),
                ),
                false => (0.0, None),
            },
            (
                processes / time,
                Some(say!(
                    "the time to start and end other numbers of processes was not recorded"
                )),
            ),
        ];
        let share = parts
            .iter()
            .map(|(share, _)| share * share)
            .sum::<f64>()
            .sqrt();
        let largest = parts.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        ModelError {
            share: share.min(0.9),
            reason: largest
                .filter(|(share, _)| *share > 0.1)
                .and_then(|(_, why)| *why),
        }
    }

    /// Returns the error from starting and ending `more` processes than recorded, and from the variation of starts, ns. `started` is the
    /// number of times that the workers are started.
    fn start_error(&self, setting: &Setting, more: f64, started: f64) -> [f64; 2] {
        let spawn = float(self.startup.spawn);
        let end = match more > 0.0 {
            true => float(self.startup.end) * self.workers_per_core(setting) / 2.0,
            false => 0.0,
        };
        let begin = match setting.num_workers {
            0 => 0.0,
            workers => spawn * workers as f64 + float(self.startup.first_fetch),
        };
        [
            PROCESS_START * started * (more * spawn + end),
            START_VARIATION * started * begin,
        ]
    }

    /// Returns the error from setup work before the first batch: by the main process, then by other numbers of workers. `more` is the
    /// number of process starts beyond the recorded ones.
    fn setup_error(&self, setting: &Setting, time: f64, more: f64) -> [Part; 2] {
        let cores = setting.cores.or(self.cores).map_or(1.0, |n| n as f64);
        let usual = float(self.startup.usual_begin) * SLOW_BEGIN;
        let own = (float(self.startup.first_fetch) - usual.max(USUAL_SETUP)).max(0.0);
        let shared = more * float(self.startup.first_computes) / cores.max(1.0);
        match (self.setting().num_workers > 0, setting.num_workers > 0) {
            (true, false) => [
                (
                    own / time,
                    Some(say!(
                        "the main process may need the setup that workers do before their first batch"
                    )),
                ),
                (0.0, None),
            ],
            (false, false) => [(0.0, None); 2],
            (_, true) => [
                (0.0, None),
                (
                    SETUP * shared / time,
                    Some(say!(
                        "more workers share the cores while each prepares for its first batch"
                    )),
                ),
            ],
        }
    }

    /// Returns the error for a stream split among other workers than recorded.
    fn stream_error(&self, setting: &Setting) -> Part {
        match self.streams && self.changes_workers(setting) {
            true => (
                STREAM_SPLIT,
                Some(say!(
                    "the recording does not show how other workers would split the dataset"
                )),
            ),
            false => (0.0, None),
        }
    }
}
