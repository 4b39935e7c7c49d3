//! Random events with reduced data: limits, sums, kept events, states.

use loadscope_trace::{
    AwaitedStage, Event, EventKind, GaugeKind, GaugeSum, Kept, Lane, Retention, RunId, State, Sums,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::plain::{finite, info, plain};
use super::value::time;

fn sums() -> impl Strategy<Value = Sums> {
    let counts = any::<[u64; 4]>();
    let times = (time(), time(), time());
    let waited = prop::collection::btree_map(
        select(vec![
            AwaitedStage::NotDispatched,
            AwaitedStage::Queued,
            AwaitedStage::End,
        ]),
        time(),
        0..3,
    );
    let steps = prop::collection::vec(time(), 0..4);
    (counts, times, waited, steps, prop::option::of(finite())).prop_map(
        |(counts, times, waited, lengths, value)| {
            let mut sums = Sums {
                part: counts[0] as u32,
                from: times.0,
                to: times.1,
                events: counts[0],
                batches: counts[1],
                samples: counts[2],
                dropped: counts[3],
                waited,
                opening: times.2,
                ..Sums::default()
            };
            for length in lengths {
                sums.steps.record(length);
                sums.waits.record(length);
            }
            sums.gauges.extend(value.map(|value| GaugeSum {
                lane: (value > 0.0).then(|| Lane::Worker(3).key()),
                what: GaugeKind::Uss,
                count: counts[3],
                sum: value,
                max: value,
            }));
            sums
        },
    )
}

fn retention() -> impl Strategy<Value = Retention> {
    let numbers = (any::<[u32; 2]>(), any::<[u64; 2]>());
    let times = (prop::option::of(time()), time());
    (numbers, times, info()).prop_map(|(numbers, times, info)| Retention {
        part: numbers.0[0],
        last: times.0,
        max_size: numbers.1[0],
        long_wait: times.1,
        keep_slowest: numbers.0[1],
        left_out: numbers.1[1],
        info,
    })
}

pub fn past() -> impl Strategy<Value = EventKind> {
    let events = prop::collection::vec((time(), any::<u32>(), plain(true)), 0..5)
        .prop_map(|all| {
            let event = |(at, run, kind)| Event {
                at,
                run: RunId(run),
                kind,
            };
            all.into_iter().map(event).collect::<Vec<Event>>()
        })
        .boxed();
    let wait = prop::option::of((time(), time()));
    prop_oneof![
        retention().prop_map(|r| EventKind::Retention(Box::new(r))),
        sums().prop_map(|s| EventKind::Summed(Box::new(s))),
        (any::<u32>(), wait, events.clone()).prop_map(|(part, wait, events)| {
            EventKind::Kept(Box::new(Kept { part, wait, events }))
        }),
        (any::<u32>(), events)
            .prop_map(|(part, events)| { EventKind::State(Box::new(State { part, events })) }),
    ]
}
