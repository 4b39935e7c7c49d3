//! Causes that are added to the events of a simulated run.

use loadscope_trace::{
    EndReason, Event, EventKind, Gauge, GaugeKind, Level, Message, Nanos, RunId, Stage,
};

use super::scenario::{Cause, Scenario};

impl Scenario {
    /// Adds a bad end, or a message about an exhausted resource.
    pub(super) fn spoil(&self, events: &mut Vec<Event>) {
        let half = events.len() / 2;
        let at = events[half].at;
        let event = |kind| Event {
            at,
            run: RunId(0),
            kind,
        };
        match self.complaint {
            Some(Cause::SharedMemory) if self.seed.is_multiple_of(2) => {
                events.insert(half, event(gauge(GaugeKind::Shm, 60e6)));
            }
            Some(Cause::SharedMemory) => {
                let text = "DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's \
                            workers are out of shared memory";
                events.insert(half, event(error(text)));
            }
            Some(Cause::Descriptors) if self.seed.is_multiple_of(2) => {
                events.insert(half, event(gauge(GaugeKind::Descriptors, 990.0)));
            }
            Some(Cause::Descriptors) => {
                let text = "RuntimeError: received 0 items of ancdata";
                events.insert(half, event(error(text)));
            }
            _ => {}
        }
        match self.ends_badly {
            Some(Cause::DeadWorker) => {
                let reason = EndReason::Died;
                let late = events.len() * 9 / 10;
                let event = |kind| Event {
                    at: events[late].at,
                    run: RunId(0),
                    kind,
                };
                let end = [
                    event(EventKind::WorkerEnded {
                        worker: 0,
                        reason,
                        os_id: None,
                    }),
                    event(EventKind::RunEnded),
                ];
                events.truncate(late);
                events.extend(end);
            }
            Some(Cause::SilentWorker) => {
                // A lock is never released: every thread waits, and the recording continues.
                let fetching = |e: &Event| {
                    matches!(
                        e.kind,
                        EventKind::Entered {
                            stage: Stage::Fetching,
                            ..
                        }
                    )
                };
                let late = events.len() * 9 / 10;
                let stuck = events[late..]
                    .iter()
                    .position(fetching)
                    .map_or(late, |k| late + k + 1);
                events.truncate(stuck);
                let at = events[stuck - 1].at + Nanos::from_millis(600_000);
                events.push(Event {
                    at,
                    run: RunId(0),
                    kind: gauge(GaugeKind::Cpu, 0.0),
                });
            }
            _ => {}
        }
    }
}

fn gauge(what: GaugeKind, value: f64) -> EventKind {
    EventKind::Gauge(Box::new(Gauge {
        lane: None,
        part: None,
        what,
        value,
    }))
}

fn error(text: &str) -> EventKind {
    EventKind::Message(Box::new(Message {
        level: Level::Error,
        text: text.to_owned(),
        about: None,
        worker: None,
        sample: None,
    }))
}
