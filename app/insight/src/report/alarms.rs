//! Warnings about waits, such as the cause of a hang.

use loadscope_trace::{Level, Message, Nanos, Run, Wait};

/// Minimum time from the start of a wait to an alarm.
const LONG_WAIT: Nanos = Nanos::from_millis(1000);

/// Maximum number of alarms in a report.
const MAX_ALARMS: usize = 3;

/// Returns the last warnings that were recorded during a long wait of the trainer: `--alarm` records the cause of a hang.
pub fn alarms(run: &Run) -> impl Iterator<Item = (Nanos, &str)> {
    let is_alarm = |at: Nanos, message: &Message| {
        let next = run.waits().partition_point(|wait| wait.start <= at);
        let wait = next.checked_sub(1).and_then(|k| run.waits().get(k));
        let is_during = |wait: &Wait| at - wait.start >= LONG_WAIT && at < wait.end;
        message.level == Level::Warning && message.place().is_none() && wait.is_some_and(is_during)
    };
    let found = run.messages().iter().filter(|(at, m)| is_alarm(*at, m));
    let texts: Vec<(Nanos, &str)> = found.map(|(at, m)| (*at, m.text.as_str())).collect();
    let first = texts.len().saturating_sub(MAX_ALARMS);
    texts.into_iter().skip(first)
}
