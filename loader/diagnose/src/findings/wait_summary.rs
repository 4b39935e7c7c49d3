//! Summary of a run: the waited time and the longest wait. It is fast enough for live runs.

use crate::hot_code::{SlowLine, slow_line};
use crate::{BlamedInterval, Cause};
use loadscope_trace::{BatchId, DeviceTime, Nanos, Run, Stage, count, list, percent};
use loadscope_words::say;

/// Minimum ratio of the program's duration to the loop time for a mention of the time outside the loop.
const NOTICEABLE: f64 = 1.1;

/// Minimum share of the waited time at which the longest wait explains all waiting.
const ONE_WAIT: f64 = 0.5;

/// Longest wait of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct LongestWait {
    /// Length of the wait.
    pub took: Nanos,
    /// The awaited batch.
    pub batch: BatchId,
    /// True if this wait is at least half of the waited time. Then it explains all waiting.
    pub is_most: bool,
    /// The slowest part of the batch's work, with its time: `sample 4 took 1.00 s in worker 0`.
    what: String,
    /// Finished batches in the reorder buffer: ` while batches 5 and 7 were already finished`. Empty without such batches.
    ready: String,
}

impl LongestWait {
    /// Returns the cause of the wait, as in `batch 4: sample 4 took 1.00 s in worker 0 while batches 5 and 7 were already finished`.
    pub fn describe_cause(&self) -> String {
        say!("{}: {}{}", self.batch, self.what, self.ready)
    }
}

/// Summary of a run: the waited time and the longest wait.
#[derive(Clone, Copy, Debug)]
pub struct WaitSummary<'a> {
    run: &'a Run,
    /// Time of the program in the loader's loop ([`Run::in_loop`]).
    pub total: Nanos,
    /// Total time that training waited.
    pub waited: Nanos,
    /// Waits that were measured on the device. 0 without a device.
    pub device: DeviceTime,
    /// Position of the longest wait in [`Run::waits`]. `None` without waits.
    pub longest: Option<usize>,
}

impl<'a> WaitSummary<'a> {
    /// Returns the summary of a run.
    pub fn of(run: &'a Run) -> Self {
        Self {
            run,
            total: run.in_loop(),
            waited: run.waited(),
            device: run.device_time().unwrap_or_default(),
            longest: run.longest_wait(),
        }
    }

    /// Returns the waited share of the loop time, 0 to 1.
    pub fn share(&self) -> f64 {
        match self.total.0 {
            total if total > 0 => self.waited.0 as f64 / total as f64,
            _ => 0.0,
        }
    }

    /// Returns the position in [`Run::batches`] of the batch with the longest wait. Returns `None` without waits, or if the wait was not
    /// for a batch.
    pub fn batch(&self) -> Option<usize> {
        self.run.awaited_in(&self.run.waits()[self.longest?])
    }

    /// Formats a time in the unit of the loop time, so that readers can compare the times of a sentence.
    pub fn format_time(&self, time: Nanos) -> String {
        time.format_in_unit_of(self.total)
    }

    /// Returns the waited time in one sentence, as in `The trainer waited 1.11 s of 1.59 s (70 %)`. With a device, a sentence about its
    /// idle time precedes it.
    pub fn headline(&self) -> String {
        if self.run.has_only_parts() {
            return say!("The waits for single batches were not measured").to_owned();
        }
        let verb = match self.run.is_live() {
            true => say!("has waited"),
            false => say!("waited"),
        };
        let (place, so_far) = (self.place(), self.so_far());
        let waited = self.format_time(self.waited);
        match (self.device_idle(), self.hidden()) {
            (Some(idle), hidden) => {
                say!(
                    "The device had no work for {idle}, because the trainer {verb} {waited}{hidden}"
                )
            }
            (None, _) => say!(
                "The trainer {verb} {waited} of {}{place}{so_far} ({})",
                self.loop_time(),
                percent(self.share())
            ),
        }
    }

    /// Returns the time in which the device had no work during waits, as in `1.30 s of 11.0 s (12 %)`. Returns `None` without a
    /// device.
    pub fn device_idle(&self) -> Option<String> {
        let so_far = self.so_far();
        let idle = self.device.idle;
        (self.device.waited > Nanos::ZERO).then(|| {
            say!(
                "{} of {}{so_far} ({})",
                self.format_time(idle),
                self.loop_time(),
                percent(idle.0 as f64 / self.total.0.max(1) as f64)
            )
        })
    }

    /// Returns the part of the waits during the work of the device, as in `, 2.10 s of it while the device worked`. Empty without it.
    fn hidden(&self) -> String {
        match self.device.hidden() {
            hidden if hidden > Nanos::ZERO => {
                let hidden = self.format_time(hidden);
                say!(", {hidden} of it while the device worked")
            }
            _ => String::new(),
        }
    }

    /// Returns the waited time without a subject, as in `1.11 s of 1.59 s (70 %)`. Returns `None` if it was not measured.
    pub fn amount(&self) -> Option<String> {
        let (place, so_far) = (self.place(), self.so_far());
        (!self.run.has_only_parts()).then(|| {
            let share = percent(self.share());
            let (waited, total) = (self.format_time(self.waited), self.loop_time());
            say!(
                "{waited} of {total}{place}{so_far} ({share}){}",
                self.hidden()
            )
        })
    }

    /// Returns the loop time, as in `1.59 s`. If only the end of the run is kept in full, `the last 1.59 s`.
    fn loop_time(&self) -> String {
        let total = self.format_time(self.total);
        match self.is_of_the_end() {
            true => say!("the last {total}"),
            false => total,
        }
    }

    /// Returns ` in the DataLoader loop` if the loop is only a part of the run. Empty otherwise.
    fn place(&self) -> &'static str {
        match self.is_loop_a_part() {
            true => say!(" in the DataLoader loop"),
            false => "",
        }
    }

    /// Returns ` so far` for a live run. Empty otherwise.
    fn so_far(&self) -> &'static str {
        match self.run.is_live() {
            true => say!(" so far"),
            false => "",
        }
    }

    /// Returns true if these times cover only the end of the run, because the recording keeps older data as sums.
    pub fn is_of_the_end(&self) -> bool {
        self.run.past().and_then(|past| past.until()).is_some()
    }

    /// Returns true if the time from the first epoch to the end of the run is more than 1.1 times the loop time.
    pub(super) fn is_loop_a_part(&self) -> bool {
        let run = self.run;
        let start = run.epochs().first().map(|epoch| epoch.start);
        // If the recording has a limit, the loop time covers only the data that it keeps in full.
        let kept = run.past().and_then(|past| past.until());
        let lasted = start.map_or(Nanos::ZERO, |start| {
            run.end() - kept.map_or(start, |kept| start.max(kept))
        });
        lasted.0 as f64 > NOTICEABLE * self.total.0 as f64
    }

    /// Returns the program's time outside the loop, as in `evaluation 2.00 s, outside the loop 1.20 s`. Other work in training steps is
    /// included from 1 % of the loop time, and time between epochs from 10 %. Returns `None` if both are shorter.
    pub fn left_out(&self) -> Option<String> {
        /// Minimum share of the loop time for other work in training steps.
        const NAMED: f64 = 0.01;
        let is_much = |time: Nanos, share: f64| time.0 as f64 >= share * self.total.0.max(1) as f64;
        let out = self.run.time_outside_loop();
        let asides = out.asides.iter().filter(|(_, time)| is_much(**time, NAMED));
        let mut parts: Vec<String> = asides
            .map(|(kind, time)| format!("{} {}", kind.label(), self.format_time(*time)))
            .collect();
        if is_much(out.between, NOTICEABLE - 1.0) {
            parts.push(say!("outside the loop {}", self.format_time(out.between)));
        }
        (!parts.is_empty()).then(|| parts.join(say!(", ")))
    }

    /// Returns the cause of the longest wait. Returns `None` without such a wait.
    ///
    /// - The longest wait is most of the waiting: `0.96 s of it for batch 4: sample 4 took 1.00 s in worker 0`.
    /// - Waits of similar length are most of the waiting: `64 waits of about 60.0 ms each, the longest (0.10 s) for batch 4, because …`.
    /// - Otherwise: `Longest wait: 0.10 s for batch 4, because …`.
    pub fn cause(&self) -> Option<String> {
        let wait = self.longest_wait()?;
        let took = self.format_time(wait.took);
        let LongestWait {
            batch, what, ready, ..
        } = wait;
        Some(match wait.is_most {
            true => say!("{took} of it for {batch}: {what}{ready}"),
            false => match self.usual_wait() {
                Some((waits, each)) => say!(
                    "{} waits of about {each} each, the longest ({took}) for {batch}, because {what}{ready}",
                    count(waits)
                ),
                None => say!("Longest wait: {took} for {batch}, because {what}{ready}"),
            },
        })
    }

    /// Returns the number and the mean length of the waits near the median. Returns `None` if these waits are less than 75 % of the waited
    /// time.
    fn usual_wait(&self) -> Option<(u64, Nanos)> {
        /// Minimum number of similar waits.
        const MIN_WAITS: usize = 4;
        /// Maximum difference from the median, as a share of the median.
        const ALIKE: f64 = 0.25;
        /// Minimum share of the similar waits in the waited time.
        const MIN_SHARE: f64 = 0.75;
        let run = self.run;
        let lengths = run.waits().iter();
        let lengths = lengths.map(|wait| (wait.end.min(run.end()) - wait.start).0);
        let mut lengths: Vec<i64> = lengths.filter(|length| *length > 0).collect();
        let middle = lengths.len() / 2;
        if lengths.len() < MIN_WAITS {
            return None;
        }
        let median = *lengths.select_nth_unstable(middle).1;
        let is_alike = |length: &i64| (*length - median).abs() as f64 <= ALIKE * median as f64;
        lengths.retain(is_alike);
        let sum: i64 = lengths.iter().sum();
        let is_most = sum as f64 >= MIN_SHARE * self.waited.0 as f64 && lengths.len() >= MIN_WAITS;
        let waits = lengths.len() as i64;
        is_most.then(|| (waits as u64, Nanos(sum / waits)))
    }

    /// Returns the longest wait with its cause. Returns `None` without waits, or if the longest wait is the one at the end of an epoch.
    pub fn longest_wait(&self) -> Option<LongestWait> {
        let (run, k) = (self.run, self.longest?);
        let wait = run.waits()[k];
        let row = run.awaited_in(&wait)?;
        let batch = &run.batches()[row];
        let mut times = [Nanos::ZERO; Cause::ALL.len()];
        for part in BlamedInterval::of_wait(run, k) {
            times[part.cause as usize] += part.end - part.start;
        }
        let causes = Cause::ALL.into_iter();
        let main = causes.max_by_key(|c| (times[*c as usize], std::cmp::Reverse(*c)))?;
        let place = match batch.worker {
            Some(worker) => say!("worker {worker}"),
            None => say!("the main process").to_owned(),
        };
        let part = self.format_time(times[main as usize]);
        let whole = |stage| self.format_time(self.time_in(row, stage));
        let what = match main {
            Cause::NotDispatched => say!("dispatching took {part}"),
            Cause::Starting => say!("starting {place} took {part}"),
            Cause::Queued => say!("an earlier batch kept {place} busy for {part}"),
            Cause::IndexQueue => say!("waiting in the index queue of {place} took {part}"),
            Cause::Fetching => match self.slowest_sample(row) {
                Some(sample) => say!("{sample} in {place}"),
                None => say!("fetching in {place} took {}", whole(Stage::Fetching)),
            },
            Cause::Collating => say!("collating in {place} took {}", whole(Stage::Collating)),
            Cause::Returning => say!("transfer to the main process took {part}"),
            Cause::Pinning => say!("pinning took {}", whole(Stage::Pinning)),
            Cause::Held => say!("waiting in the reorder buffer took {part}"),
            Cause::Sampling => say!("drawing the next indices took {part}"),
            Cause::Trainer => say!("yielding took {part}"),
            Cause::End => return None,
            Cause::NotMeasured => say!("its stage was not recorded for {part}"),
            Cause::InWorker => say!("{place} took {part} and was not recorded"),
        };
        Some(LongestWait {
            took: wait.end.min(run.end()) - wait.start,
            batch: batch.id,
            is_most: self.is_one_wait(),
            what,
            ready: self.held_batches(k, row),
        })
    }

    /// Returns the time of the batch at `row` in `stage`, up to the last event.
    fn time_in(&self, row: usize, stage: Stage) -> Nanos {
        let path = self.run.path(row).into_iter();
        let steps = path.filter(|step| step.stage == stage);
        let end = self.run.end();
        steps.fold(Nanos::ZERO, |sum, step| {
            sum + (step.end.unwrap_or(end) - step.start)
        })
    }

    /// Returns true if the longest wait is at least half of the waited time. Then it explains all waiting.
    pub(super) fn is_one_wait(&self) -> bool {
        let took = self.longest.map(|k| {
            let wait = self.run.waits()[k];
            wait.end.min(self.run.end()) - wait.start
        });
        took.is_some_and(|took| took.0 as f64 >= ONE_WAIT * self.waited.0 as f64)
    }

    /// Returns the slowest sample of a batch, as in `sample 4 took 1.00 s (0.80 s in decode)`. Returns `None` if it took at most half of
    /// the time of all samples. The text contains the longest stage if it took more than half of the sample and less than 95 %. A dataset
    /// with a single stage needs no stage name.
    fn slowest_sample(&self, row: usize) -> Option<String> {
        const MIN_SHARE: f64 = 0.5;
        const NEARLY_ALL: f64 = 0.95;
        let run = self.run;
        let total = run.samples(row).fold(Nanos::ZERO, |sum, s| sum + s.wall);
        let slowest = run.samples(row).max_by_key(|s| s.wall)?;
        let is_most = |part: Nanos, whole: Nanos| part.0 as f64 > MIN_SHARE * whole.0 as f64;
        if !is_most(slowest.wall, total) {
            return None;
        }
        let name = match slowest.index {
            Some(index) => say!("sample {}", count(index)),
            None => say!("the sample at position {}", slowest.position),
        };
        let took = self.format_time(slowest.wall);
        let stages = run.sample_stages(row);
        let longest = stages.and_then(|stages| {
            let walls = stages.names.iter().enumerate();
            let walls = walls.map(|(k, name)| (stages.wall(k, slowest.position), name));
            walls.max_by_key(|(wall, _)| *wall)
        });
        Some(match longest {
            Some((wall, stage))
                if is_most(wall, slowest.wall)
                    && (wall.0 as f64) < NEARLY_ALL * slowest.wall.0 as f64 =>
            {
                say!("{name} took {took} ({} in {stage})", self.format_time(wall))
            }
            _ => {
                let span = slowest.start..slowest.start + slowest.wall;
                match slow_line(run, row, span) {
                    Some(SlowLine { text, time, .. }) => {
                        let time = self.format_time(time);
                        say!("{name} took {took} ({time} in {text})")
                    }
                    None => say!("{name} took {took}"),
                }
            }
        })
    }

    /// Returns the finished batches in the reorder buffer just before the end of the wait, as in ` while batches 5 and 7 were already
    /// finished`. Empty without such batches.
    fn held_batches(&self, wait: usize, row: usize) -> String {
        let run = self.run;
        let wait = run.waits()[wait];
        let before = Nanos(wait.end.min(run.end()).0.saturating_sub(1)).max(wait.start);
        let pipeline = run.pipeline_at(before);
        let held = pipeline
            .batches()
            .filter(|b| b.stage == Stage::Held && b.row != row);
        let names: Vec<String> = held.map(|b| b.id.idx.to_string()).collect();
        match names.len() {
            0 => String::new(),
            1 => say!(" while batch {} was already finished", names[0]),
            _ => say!(" while batches {} were already finished", list(&names, 6)),
        }
    }
}
