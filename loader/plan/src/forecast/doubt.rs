//! How far the model itself may be off, beside what other samples of the same kind would change.
//!
//! The shares below were chosen so that nine of ten outcomes of real PyTorch programs lie inside (`cargo xtask truth`). What a
//! recording tells little of has a wide interval: going from workers to none, many more processes than were recorded, cores that
//! are all busy, batches that take less than their way.

use loadscope_trace::{Nanos, Origin};
use loadscope_words::say;

use super::number::float;
use super::{Recorded, Setting};

/// Two runs of the same program differ by so much.
const AGAIN: f64 = 0.04;
/// Where all cores are busy, what the system lets run first counts for so much.
const BUSY: f64 = 0.08;
/// A number of workers, or a step, that was not recorded.
const OTHER: f64 = 0.03;
/// What of the costs of transport between processes is not known, where it was recorded, and where it is assumed.
const TRANSPORT: f64 = 0.25;
const ASSUMED: f64 = 0.6;
/// How evenly workers divide a stream among themselves that were not recorded.
const DIVIDED: f64 = 0.15;
/// What of the time to start and end more processes, or fewer, than were recorded is not known.
const PROCESSES: f64 = 0.5;

/// What of the work that other numbers of workers do before their first batch is not known, where they share the cores.
const BEGINNING: f64 = 0.3;
/// What a process needs to begin by itself, ns. What takes longer is the program's own.
const USUAL_BEGINNING: f64 = 50e6;

/// A source of doubt, and how large a share of the time it makes uncertain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Doubt {
    /// By how much the time may be more or less, as a share of it: in nine of ten cases.
    pub share: f64,
    /// What most of that is, if it is more than a little: a sentence.
    pub why: Option<&'static str>,
}

/// A share of the time that is uncertain, and why.
type Part = (f64, Option<&'static str>);

impl Recorded {
    /// How far the forecast of `time` for `setting` may be off for want of knowledge.
    pub(super) fn doubt(&self, setting: &Setting, time: Nanos, busy: f64) -> Doubt {
        let time = float(time).max(1.0);
        if self.origin == Origin::Simulation {
            return Doubt {
                share: 0.0,
                why: None,
            };
        }
        let own = self.setting();
        let epochs = self.epochs.iter();
        let batches: f64 = epochs
            .map(|e| e.tasks.len() as f64 * e.weight.batches * e.weight.epochs)
            .sum();
        let is_process = matches!(self.origin, Origin::Pytorch(_));
        let changes_side = (own.num_workers > 0) != (setting.num_workers > 0);
        let way = self.way_of_a_batch(changes_side) * batches / time;
        let more = setting.num_workers.abs_diff(own.num_workers) as f64;
        let started = match setting.ends_workers() {
            true => self.epochs.len().max(1) as f64,
            false => 1.0,
        };
        let processes = match is_process {
            true => {
                more * started * (float(self.startup.spawn) + float(self.startup.end) / 2.0) / time
            }
            false => 0.0,
        };
        let [set_up, begun] = self.of_beginnings(setting, time, more * started);
        let parts = [
            (AGAIN, None),
            set_up,
            begun,
            (
                BUSY * ((busy - 0.5) * 2.0).clamp(0.0, 1.0),
                Some(say!(
                    "all CPU cores are busy, so the order of execution varies"
                )),
            ),
            (if more > 0.0 { OTHER } else { 0.0 }, None),
            self.of_stream(setting),
            (
                self.refit_error.abs(),
                Some(say!(
                    "the model does not exactly reproduce the recorded run"
                )),
            ),
            match changes_side {
                true => (
                    ASSUMED * way,
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
                PROCESSES * processes,
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
        Doubt {
            share: share.min(0.9),
            why: largest
                .filter(|(share, _)| *share > 0.1)
                .and_then(|(_, why)| *why),
        }
    }

    /// Of what other numbers of workers, or none, have to do before the first batch; `more` processes start than were recorded.
    fn of_beginnings(&self, setting: &Setting, time: f64, more: f64) -> [Part; 2] {
        let cores = setting.cores.or(self.cores).map_or(1.0, |n| n as f64);
        let own = (float(self.startup.first_fetch) - USUAL_BEGINNING).max(0.0);
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
                    BEGINNING * shared / time,
                    Some(say!(
                        "more workers share the cores while each prepares for its first batch"
                    )),
                ),
            ],
        }
    }

    /// Of how others than the recorded workers would divide a stream.
    fn of_stream(&self, setting: &Setting) -> Part {
        match self.streams && self.changes_workers(setting) {
            true => (
                DIVIDED,
                Some(say!(
                    "the recording does not show how other workers would split the dataset"
                )),
            ),
            false => (0.0, None),
        }
    }
}
