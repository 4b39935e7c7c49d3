//! Two reads of each process, in parallel.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::snapshot::INTERVAL;

/// Maximum number of threads that read processes. A process can block its thread forever.
const MAX_READERS: usize = 256;

/// Processes to read: before the first sample, and after it with the time of the second sample.
#[derive(Debug)]
struct Queues<J, S> {
    first: VecDeque<J>,
    second: VecDeque<(Instant, S)>,
}

/// Next read of a process.
enum Read<J, S> {
    First(J),
    Second(Instant, S),
}

/// Reads all jobs twice, and returns the results of those that answer within the limit. A blocked read delays no other.
pub fn read_twice<J, S, R>(
    jobs: Vec<J>,
    limit: Duration,
    first: fn(J) -> S,
    second: fn(S) -> R,
) -> Vec<R>
where
    J: Send + 'static,
    S: Send + 'static,
    R: Send + 'static,
{
    let (end, count) = (Instant::now() + limit, jobs.len());
    let queues = Arc::new(Mutex::new(Queues {
        first: jobs.into(),
        second: VecDeque::new(),
    }));
    let (sender, results) = mpsc::channel();
    for _ in 0..count.min(MAX_READERS) {
        let (queues, sender) = (Arc::clone(&queues), sender.clone());
        let reader = move || {
            while let Some(read) = next(&queues) {
                match read {
                    Read::First(job) => {
                        let sample = first(job);
                        let sample = (Instant::now() + INTERVAL, sample);
                        let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
                        queues.second.push_back(sample);
                    }
                    Read::Second(due, sample) => {
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        let _ = sender.send(second(sample));
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("stacks".to_owned());
        // The other threads read the processes of a thread that cannot start.
        let _ = thread.spawn(reader);
    }
    drop(sender);
    let mut read = Vec::new();
    while read.len() < count
        && let Ok(one) = results.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        read.push(one);
    }
    read
}

fn next<J, S>(queues: &Mutex<Queues<J, S>>) -> Option<Read<J, S>> {
    let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(job) = queues.first.pop_front() {
        return Some(Read::First(job));
    }
    let (due, sample) = queues.second.pop_front()?;
    Some(Read::Second(due, sample))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_if(is_blocked: bool) {
        if is_blocked {
            std::thread::sleep(Duration::from_hours(1));
        }
    }

    #[test]
    fn a_blocked_read_delays_no_other() {
        for count in [5, 2 * MAX_READERS] {
            let jobs: Vec<usize> = (0..count).collect();
            let first = |job: usize| {
                block_if(job == 0);
                job
            };
            let second = |job: usize| {
                block_if(job == 3);
                job
            };
            let mut read = read_twice(jobs, 2 * INTERVAL, first, second);
            read.sort_unstable();
            let wanted: Vec<usize> = (0..count).filter(|job| ![0, 3].contains(job)).collect();
            assert_eq!(read, wanted);
        }
    }
}
