//! Direct formatting of the most frequent events. The output is identical to that of [`Line`](super::wire::Line), which formats all other
//! events.

use crate::event::{Event, EventKind, SampleTiming};
use crate::{BatchId, Stage};

/// Appends the line of `event` to `text`, without a line end. Returns false for other kinds of event.
pub(super) fn write_line(event: &Event, text: &mut Vec<u8>) -> bool {
    match &event.kind {
        EventKind::Entered { batch, stage } => {
            begin(event, b"entered\"", text);
            batch_fields(*batch, text);
            text.extend_from_slice(b",\"stage\":\"");
            text.extend_from_slice(name(*stage));
            text.push(b'"');
        }
        EventKind::Consumer { waiting } => {
            begin(event, b"consumer\"", text);
            text.extend_from_slice(match waiting {
                true => b",\"waiting\":true",
                false => b",\"waiting\":false",
            });
        }
        EventKind::Dispatched(dispatch) => {
            begin(event, b"dispatched\"", text);
            batch_fields(dispatch.batch, text);
            if let Some(worker) = dispatch.worker {
                number(b",\"worker\":", worker, text);
            }
            text.extend_from_slice(b",\"indices\":");
            list(dispatch.indices.iter().copied(), text);
        }
        EventKind::Fetched(fetched) if fetched.stages.is_empty() => {
            begin(event, b"fetched\"", text);
            batch_fields(fetched.batch, text);
            let samples = &fetched.samples;
            times(b",\"starts\":", samples, |sample| sample.start.0, text);
            times(b",\"walls\":", samples, |sample| sample.wall.0, text);
            if samples.iter().any(|sample| sample.cpu.is_some()) {
                cpus(samples, text);
            }
        }
        _ => return false,
    }
    text.push(b'}');
    true
}

fn begin(event: &Event, name: &[u8], text: &mut Vec<u8>) {
    number(b"{\"t\":", event.at.0, text);
    if event.run.0 != 0 {
        number(b",\"run\":", event.run.0, text);
    }
    text.extend_from_slice(b",\"e\":\"");
    text.extend_from_slice(name);
}

fn batch_fields(batch: BatchId, text: &mut Vec<u8>) {
    number(b",\"epoch\":", batch.epoch, text);
    number(b",\"batch\":", batch.idx, text);
}

fn number(before: &[u8], number: impl itoa::Integer, text: &mut Vec<u8>) {
    text.extend_from_slice(before);
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn list(numbers: impl Iterator<Item = impl itoa::Integer>, text: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    text.push(b'[');
    for (k, number) in numbers.enumerate() {
        if k > 0 {
            text.push(b',');
        }
        text.extend_from_slice(buffer.format(number).as_bytes());
    }
    text.push(b']');
}

fn times(
    before: &[u8],
    samples: &[SampleTiming],
    time: impl Fn(&SampleTiming) -> i64,
    text: &mut Vec<u8>,
) {
    text.extend_from_slice(before);
    list(samples.iter().map(time), text);
}

fn cpus(samples: &[SampleTiming], text: &mut Vec<u8>) {
    text.extend_from_slice(b",\"cpus\":");
    let mut before: &[u8] = b"[";
    for sample in samples {
        match sample.cpu {
            Some(cpu) => number(before, cpu.0, text),
            None => {
                text.extend_from_slice(before);
                text.extend_from_slice(b"null");
            }
        }
        before = b",";
    }
    text.push(b']');
}

fn name(stage: Stage) -> &'static [u8] {
    match stage {
        Stage::Queued => b"queued",
        Stage::Fetching => b"fetching",
        Stage::Collating => b"collating",
        Stage::Returning => b"returning",
        Stage::Pinning => b"pinning",
        Stage::Held => b"held",
        Stage::Ready => b"ready",
        Stage::Training => b"training",
        Stage::Done => b"done",
        Stage::Failed => b"failed",
        Stage::Discarded => b"discarded",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::wire::Line;
    use super::*;
    use crate::event::Fetched;
    use crate::{Nanos, RunId};

    proptest! {
        #[test]
        fn formatted_lines_equal_those_of_serde(
            at in any::<i64>(),
            run in prop_oneof![Just(0u32), any::<u32>()],
            (epoch, idx) in any::<(u32, u32)>(),
            worker in any::<Option<u16>>(),
            indices in prop::collection::vec(any::<u64>(), 0..6),
            samples in prop::collection::vec((any::<i64>(), any::<i64>(), any::<Option<i64>>()), 0..6),
            stage in prop::sample::select(&Stage::ALL[..]),
            waiting in any::<bool>(),
        ) {
            let batch = BatchId { epoch, idx };
            let samples = samples.into_iter().map(|(start, wall, cpu)| SampleTiming {
                start: Nanos(start),
                wall: Nanos(wall),
                cpu: cpu.map(Nanos),
            });
            let fetched = Fetched { batch, samples: samples.collect(), stages: Vec::new() };
            let kinds = [
                EventKind::Entered { batch, stage },
                EventKind::Consumer { waiting },
                EventKind::dispatched(batch, worker, indices),
                EventKind::Fetched(Box::new(fetched)),
            ];
            for kind in kinds {
                let event = Event { at: Nanos(at), run: RunId(run), kind };
                let mut text = Vec::new();
                prop_assert!(write_line(&event, &mut text));
                let expected = serde_json::to_string(&Line::of(&event)).expect("it can be written");
                prop_assert_eq!(String::from_utf8_lossy(&text), expected);
            }
        }
    }

    #[test]
    fn other_events_are_not_formatted() {
        let event = Event {
            at: Nanos(1),
            run: RunId(0),
            kind: EventKind::RunEnded,
        };
        let mut text = b"before".to_vec();
        assert!(!write_line(&event, &mut text));
        assert_eq!(text, b"before");
    }
}
