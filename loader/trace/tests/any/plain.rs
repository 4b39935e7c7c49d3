//! Random events without those of reduced data. All fields are included, also with values that no real source sends.

use loadscope_trace::{
    Aside, AsideKind, BatchContent, Collate, DeviceWait, Dispatch, EndReason, EventKind, Fetched,
    Field, FieldData, Function, Gauge, GaugeKind, Lane, Level, Message, Nanos, OnError, Origin,
    Part, Pictures, PinMemory, ProcessorTime, RandomStates, RunInfo, RunOptions, SampleTiming,
    SourceLine, Stack, StackSamples, Stacks, Stage, StageTiming, StartMethod, WorkerInfo,
};
use loadscope_trace::{Clock, ClockMethod};
use proptest::prelude::*;
use proptest::sample::select;

use super::fact::fact;
use super::value::{batch, number, text, time, worker};

fn float() -> impl Strategy<Value = f64> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324];
    prop_oneof![any::<f64>(), select(odd.to_vec()), -9.0..9.0]
}

pub fn finite() -> impl Strategy<Value = f64> {
    float().prop_map(|v| if v.is_finite() { v } else { 0.5 })
}

fn stage() -> impl Strategy<Value = Stage> {
    select(Stage::ALL.to_vec())
}

fn options() -> impl Strategy<Value = RunOptions> {
    let sizes = (any::<u32>(), any::<u32>(), any::<usize>());
    let flags = any::<[bool; 7]>();
    let pin = select(vec![PinMemory::Off, PinMemory::On, PinMemory::Mlock]);
    let on_error = select(vec![
        OnError::Stop,
        OnError::Continue,
        OnError::Skip,
        OnError::Log,
    ]);
    let collate = select(vec![
        Collate::Fitting,
        Collate::Stack,
        Collate::List,
        Collate::Pad(-0.5),
        Collate::Concat,
    ]);
    let optional = (any::<[Option<u64>; 3]>(), any::<[Option<usize>; 2]>());
    let ranks = (any::<[u32; 2]>(), finite(), text(), text());
    let texts = (text(), text());
    let parts = (
        sizes,
        flags,
        pin,
        (on_error, collate),
        optional,
        texts,
        finite(),
        ranks,
    );
    parts.prop_map(
        |(sizes, flags, pin_memory, (on_error, collate), optional, texts, step_ms, ranks)| {
            let [
                shuffle,
                drop_last,
                in_order,
                persistent_workers,
                replacement,
                sampler_drop_last,
                set_epoch,
            ] = flags;
            RunOptions {
                dataset: texts.0,
                extra_cost: texts.1,
                image_size: sizes.0,
                batch_size: optional.1[1],
                shuffle,
                sampler: ranks.2,
                replacement,
                num_samples: optional.0[1],
                world_size: ranks.0[0],
                rank: ranks.0[1],
                sampler_drop_last,
                set_epoch,
                seed: optional.0[0],
                global_seed: optional.0[2],
                num_workers: sizes.2,
                prefetch_factor: optional.1[0],
                drop_last,
                in_order,
                pin_memory,
                persistent_workers,
                timeout: ranks.1,
                multiprocessing_context: ranks.3,
                epochs: sizes.1,
                step_ms,
                on_error,
                collate,
            }
        },
    )
}

pub fn info() -> impl Strategy<Value = RunInfo> {
    let origin = prop_oneof![
        Just(Origin::Engine),
        Just(Origin::Simulation),
        text().prop_map(Origin::Pytorch),
        text().prop_map(Origin::Import),
    ];
    let lists = (
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(stage(), 0..3),
        prop::collection::vec(text(), 3),
    );
    let numbers = (any::<[u32; 4]>(), any::<[Option<u64>; 2]>(), any::<i64>());
    let texts = (text(), prop::option::of(text()));
    let by = select(vec![
        ClockMethod::Steps,
        ClockMethod::WallClock,
        ClockMethod::Beginning,
    ]);
    let clock = (by, prop::option::of(time())).prop_map(|(by, within)| Clock { by, within });
    let made_at = (text(), any::<u32>(), text());
    let made_at = made_at.prop_map(|(file, line, name)| SourceLine { file, line, name });
    let places = (
        text(),
        text(),
        prop::option::of(clock),
        prop::option::of(made_at),
    );
    (options(), origin, lists, numbers, texts, places).prop_map(
        |(options, origin, lists, numbers, texts, places)| RunInfo {
            options,
            origin,
            dataset: texts.0,
            dataset_len: numbers.1[0],
            batches_per_epoch: numbers.1[1],
            classes: lists.0.clone(),
            rank: numbers.0[0],
            world_size: numbers.0[1],
            cores: numbers.0[2],
            json_ns: numbers.0[3],
            start_method: numbers.1[0].and_then(|n| StartMethod::ALL.get(n as usize % 4).copied()),
            import_ns: numbers.1[1].unwrap_or(0),
            measured: lists.1,
            pinning: texts.1,
            started_unix_ns: numbers.2,
            host: places.0,
            recording: places.1,
            clock: places.2,
            class: lists.2[0].clone(),
            batch_sampler: lists.2[1].clone(),
            arguments: lists.0,
            role: lists.2[2].clone(),
            made_at: places.3,
        },
    )
}

/// Returns a `Fetched`. With `even`, its lists have equal lengths, as in a valid recording.
fn fetched(even: bool) -> impl Strategy<Value = Fetched> {
    let sample = (time(), time(), prop::option::of(time()));
    let sample = sample.prop_map(|(start, wall, cpu)| SampleTiming { start, wall, cpu });
    let samples = prop::collection::vec(sample, 0..4);
    let named = (text(), prop::collection::vec(time(), 0..5));
    let stages = prop::collection::vec(named, 0..3);
    (batch(), samples, stages).prop_map(move |(batch, samples, stages)| {
        let stages = stages.into_iter().map(|(name, mut walls)| {
            if even {
                walls.resize(samples.len(), Nanos(7));
            }
            StageTiming { name, walls }
        });
        Fetched {
            batch,
            stages: stages.collect(),
            samples,
        }
    })
}

fn pictures() -> impl Strategy<Value = Pictures> {
    let side = || prop_oneof![6 => 0..4u32, 1 => Just(u32::MAX)];
    let channels = select(vec![1u8, 3, 0, 255]);
    let pixels = prop::collection::vec(any::<u8>(), 0..40);
    (side(), side(), channels, pixels).prop_map(|(width, height, channels, pixels)| Pictures {
        width,
        height,
        channels,
        pixels,
    })
}

fn field() -> impl Strategy<Value = Field> {
    let data = prop_oneof![
        Just(FieldData::Omitted),
        prop::collection::vec(float(), 0..4).prop_map(FieldData::Numbers),
        prop::collection::vec(text(), 0..4).prop_map(FieldData::Text),
        pictures().prop_map(FieldData::Pictures),
    ];
    let shape = prop::collection::vec(any::<i64>(), 0..4);
    let facts = (prop::option::of(float()), any::<u64>(), any::<bool>());
    (text(), text(), shape, facts, data).prop_map(|(name, dtype, shape, facts, data)| {
        let shape_len = shape.len();
        Field {
            name,
            dtype,
            shape,
            min: facts.0,
            max: facts.0.map(|v| v + 1.0),
            mean: facts.0.map(|v| v / 3.0),
            std: facts.0.map(f64::abs),
            nan: facts.1,
            inf: facts.1 / 2,
            histogram: vec![facts.1; shape_len % 4],
            pinned: facts.2,
            data,
        }
    })
}

fn gauge() -> impl Strategy<Value = Gauge> {
    let what = select(vec![
        GaugeKind::Rss,
        GaugeKind::Pss,
        GaugeKind::Uss,
        GaugeKind::Cpu,
        GaugeKind::Shm,
        GaugeKind::ShmLeft,
        GaugeKind::MemoryLeft,
        GaugeKind::OtherCpu,
        GaugeKind::BusyThreads,
        GaugeKind::StorageRead,
        GaugeKind::MajorFaults,
        GaugeKind::IoBlocked,
        GaugeKind::Descriptors,
        GaugeKind::PinnedBytes,
        GaugeKind::GpuBusy,
        GaugeKind::GpuMemory,
        GaugeKind::Occupancy,
        GaugeKind::Throughput,
        GaugeKind::TaskTime,
        GaugeKind::Failures,
        GaugeKind::WaitingToGet,
        GaugeKind::WaitingToPut,
    ]);
    let fixed = select(vec![
        Lane::Trainer,
        Lane::Reorder,
        Lane::DataQueue,
        Lane::Pin,
        Lane::ResultQueue,
        Lane::Main,
    ]);
    let lane = prop_oneof![
        fixed,
        worker().prop_map(Lane::Worker),
        worker().prop_map(Lane::IndexQueue),
    ];
    let part = prop::option::weighted(0.3, "[a-z:]{0,3}");
    let all = (prop::option::of(lane), part, what, float());
    all.prop_map(|(lane, part, what, value)| Gauge {
        lane,
        part,
        what,
        value,
    })
}

fn message() -> impl Strategy<Value = Message> {
    let level = select(vec![Level::Info, Level::Warning, Level::Error]);
    let who = (prop::option::of(worker()), any::<Option<u64>>());
    (level, text(), prop::option::of(batch()), who).prop_map(|(level, text, about, who)| Message {
        level,
        text,
        about,
        worker: who.0,
        sample: who.1,
    })
}

fn device_wait() -> impl Strategy<Value = DeviceWait> {
    let times = (batch(), time(), time());
    times.prop_map(|(batch, waited, idle)| DeviceWait {
        batch,
        waited,
        idle,
    })
}

fn aside() -> impl Strategy<Value = Aside> {
    let kinds = vec![
        AsideKind::Checkpoint,
        AsideKind::Evaluation,
        AsideKind::Loader,
    ];
    (batch(), select(kinds), time()).prop_map(|(batch, kind, start)| Aside { batch, kind, start })
}

fn processor() -> impl Strategy<Value = ProcessorTime> {
    let part = select(vec![Part::Fetch, Part::Step]);
    let maybe = || prop::option::of(time());
    (batch(), part, time(), maybe(), maybe()).prop_map(
        |(batch, part, cpu, core_wait, other_threads)| ProcessorTime {
            batch,
            part,
            cpu,
            core_wait,
            other_threads,
        },
    )
}

fn stacks() -> impl Strategy<Value = Stacks> {
    let first = || prop_oneof![6 => 0..4u32, 1 => number()];
    let function = (text(), text()).prop_map(|(name, file)| Function { name, file });
    let stack = (prop::option::of(first()), first(), number());
    let stack = stack.prop_map(|(caller, function, line)| Stack {
        caller,
        function,
        line,
    });
    let samples = (prop::option::of(first()), 1..4u32);
    let samples = samples.prop_map(|(stack, count)| StackSamples { stack, count });
    (
        (prop::option::of(worker()), time(), 1..1_000_000i64),
        (first(), prop::collection::vec(function, 0..3)),
        (first(), prop::collection::vec(stack, 0..4)),
        prop::collection::vec(samples, 0..5),
    )
        .prop_map(|((worker, start, period), functions, stacks, samples)| {
            let ((first_function, functions), (first_stack, stacks)) = (functions, stacks);
            Stacks {
                worker,
                start,
                period: Nanos(period),
                first_function: first_function * u32::from(!functions.is_empty()),
                functions,
                first_stack: first_stack * u32::from(!stacks.is_empty()),
                stacks,
                samples,
            }
        })
}

/// Returns an event without reduced data. With `even`, lists of one event have equal lengths.
pub fn plain(even: bool) -> impl Strategy<Value = EventKind> + Clone {
    let indices = prop::collection::vec(any::<u64>(), 0..4);
    let dispatched = (batch(), prop::option::of(worker()), indices);
    let fields = prop::collection::vec(field(), 0..3);
    let epoch = || prop_oneof![6 => 0..2u32, 1 => number()];
    prop_oneof![
        1 => info().prop_map(|i| EventKind::RunStarted(Box::new(i))),
        2 => epoch().prop_map(|epoch| EventKind::EpochStarted { epoch }),
        1 => epoch().prop_map(|epoch| EventKind::EpochEnded { epoch }),
        1 => Just(EventKind::RunEnded),
        1 => (worker(), any::<Option<u64>>(), any::<Option<u64>>()).prop_map(|(worker, seed, os_id)| {
            EventKind::WorkerStarted(Box::new(WorkerInfo { worker, seed, os_id }))
        }),
        1 => (worker(), select(vec![EndReason::Finished, EndReason::Died]), any::<Option<u32>>())
            .prop_map(|(worker, reason, os_id)| EventKind::WorkerEnded { worker, reason, os_id }),
        1 => (worker(), any::<[Option<u64>; 3]>()).prop_map(|(worker, [os_id, numpy, python])| {
            EventKind::WorkerSeeded(Box::new(RandomStates { worker, os_id, numpy, python }))
        }),
        8 => dispatched.prop_map(|(batch, worker, indices)| {
            EventKind::Dispatched(Box::new(Dispatch { batch, worker, indices }))
        }),
        16 => (batch(), stage()).prop_map(|(batch, stage)| EventKind::Entered { batch, stage }),
        3 => fetched(even).prop_map(|f| EventKind::Fetched(Box::new(f))),
        2 => processor().prop_map(|p| EventKind::Processor(Box::new(p))),
        2 => aside().prop_map(|aside| EventKind::Aside(Box::new(aside))),
        2 => device_wait().prop_map(|wait| EventKind::DeviceWait(Box::new(wait))),
        2 => (batch(), fields).prop_map(|(batch, fields)| {
            EventKind::Content(BatchContent { batch, fields }.into())
        }),
        2 => stacks().prop_map(|s| EventKind::Stacks(Box::new(s))),
        4 => any::<bool>().prop_map(|waiting| EventKind::Consumer { waiting }),
        1 => gauge().prop_map(|g| EventKind::Gauge(Box::new(g))),
        1 => message().prop_map(|m| EventKind::Message(Box::new(m))),
        1 => any::<u64>().prop_map(|count| EventKind::Dropped { count }),
        2 => fact().prop_map(|f| EventKind::Fact(Box::new(f))),
        1 => (number(), number()).prop_map(|(epoch, first)| EventKind::EpochContinued { epoch, first }),
    ]
    .boxed()
}
