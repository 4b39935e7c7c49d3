//! Comparison of a limited recording with the reference counts of its events.

use std::collections::HashMap;

use loadscope_trace::Nanos;

use crate::counts::{LONG, LongWait, Sum};
use crate::output;
use crate::recording_counts::RecordingCounts;
use crate::reference::ReferenceCounts;

/// Maximum number of printed differences of each kind.
const SHOWN: usize = 3;

/// Number of correct items, and of all items.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: u64,
    of: u64,
}

/// Results of the comparison.
#[derive(Debug, Default)]
pub struct Judged {
    recordings: Tally,
    waits: Tally,
    minutes: Tally,
    messages: Tally,
    slowest: Tally,
    totals: Tally,
    /// Number of periods of whole minutes.
    stretches: u64,
    left_out: u64,
    /// Shortest and longest period that is stored in full.
    in_full: Option<(Nanos, Nanos)>,
    differences: Vec<String>,
}

impl Tally {
    fn add(&mut self, is_right: bool) {
        self.of += 1;
        self.right += u64::from(is_right);
    }

    fn holds(self) -> bool {
        self.right == self.of
    }

    fn text(self) -> String {
        format!(
            "{} of {}",
            output::count(self.right),
            output::count(self.of)
        )
    }
}

impl Judged {
    /// Compares a recording with the reference counts.
    pub fn take(&mut self, found: &RecordingCounts, counted: &ReferenceCounts) {
        self.recordings.add(found.is_whole);
        self.left_out += found.left_out;
        let (least, most) = self.in_full.unwrap_or((found.in_full, found.in_full));
        self.in_full = Some((least.min(found.in_full), most.max(found.in_full)));
        self.take_waits(found, counted);
        self.take_minutes(found, counted);
        self.totals.add(found.totals == counted.totals);
        if found.totals != counted.totals {
            self.differ(format!(
                "the recording comes to {:?}, counted were {:?}",
                found.totals, counted.totals
            ));
        }
        let is_there = |at: usize| found.messages.get(at) == counted.messages.get(at);
        let most = found.messages.len().max(counted.messages.len());
        (0..most).for_each(|at| self.messages.add(is_there(at)));
        for batch in counted.slowest() {
            self.slowest.add(found.batches.contains(&batch));
        }
    }

    fn take_waits(&mut self, found: &RecordingCounts, counted: &ReferenceCounts) {
        if found.long_wait != LONG {
            self.differ(format!(
                "waits are kept only from {} on: there was no room for more",
                found.long_wait
            ));
        }
        let known = found.long.iter().map(|wait| (wait.time, wait));
        let known: HashMap<(Nanos, Nanos), &LongWait> = known.collect();
        let mut shown = 0;
        for wait in &counted.long {
            let same = known.get(&wait.time).copied();
            self.waits.add(same == Some(wait));
            if same != Some(wait) && shown < SHOWN {
                shown += 1;
                self.differ(format!("{wait:?} is in the recording as {same:?}"));
            }
        }
        // A wait in the recording that was not counted is an error.
        let more = found.long.len().saturating_sub(counted.long.len());
        (0..more).for_each(|_| self.waits.add(false));
    }

    fn take_minutes(&mut self, found: &RecordingCounts, counted: &ReferenceCounts) {
        let (mut begin, mut shown) = (0, 0);
        let last = counted.minutes.len();
        let rest = (last, Sum::default());
        // A minute without data in the recording must have no counts.
        for (end, sum) in found.stretches.iter().chain([&rest]) {
            let end = (*end).max(begin);
            if begin == end {
                continue;
            }
            let mut wanted = Sum::default();
            let minutes = counted.minutes.iter().take(end).skip(begin);
            minutes.for_each(|minute| wanted += *minute);
            let is_same = wanted == *sum;
            (begin..end).for_each(|_| self.minutes.add(is_same));
            self.stretches += 1;
            if !is_same && shown < SHOWN {
                shown += 1;
                self.differ(format!(
                    "minutes {begin} to {end} come to {sum:?}, counted were {wanted:?}"
                ));
            }
            begin = end;
        }
    }

    fn differ(&mut self, how: String) {
        self.differences.push(how);
    }

    /// Prints the results.
    pub fn print_rows(&self) {
        output::row(
            "recordings that are read again whole",
            &self.recordings.text(),
            Some(self.recordings.holds()),
        );
        output::row(
            "waits of 100 ms and more, each in full",
            &self.waits.text(),
            Some(self.waits.holds()),
        );
        let minutes = format!(
            "{}, in {} stretches",
            self.minutes.text(),
            output::count(self.stretches)
        );
        output::row(
            "minutes with the batches, samples, failures and waits that were counted",
            &minutes,
            Some(self.minutes.holds()),
        );
        output::row(
            "events, epochs, batches, errors and losses over all, as counted",
            &self.totals.text(),
            Some(self.totals.holds()),
        );
        output::row(
            "errors and warnings, each in full",
            &self.messages.text(),
            Some(self.messages.holds()),
        );
        output::row(
            "the slowest batches, each in full",
            &self.slowest.text(),
            Some(self.slowest.holds()),
        );
        let left_out = output::count(self.left_out);
        output::row(
            "left out for want of room",
            &left_out,
            Some(self.left_out == 0),
        );
        if let Some((least, most)) = self.in_full {
            let minutes = |time: Nanos| time.as_secs_f64() / 60.0;
            let text = match least == most {
                true => format!("{:.1} min", minutes(least)),
                false => format!("{:.1} to {:.1} min", minutes(least), minutes(most)),
            };
            output::row("the end that is there in full", &text, None);
        }
        for difference in &self.differences {
            output::row("difference", difference, Some(false));
        }
    }
}
