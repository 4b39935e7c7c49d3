//! A run simulated from the same options that the engine takes: the real order, the real scheduler, the costs that were asked
//! for, and no time that passes.

use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Level, Message, Nanos, Origin, PinMemory, RunId, RunInfo,
    RunOptions, WorkerId, WorkerInfo,
};

use super::{Simulation, Work};
use crate::clock::Clock;
use crate::dataset::{AnyDataset, CostModel, DatasetSpec, extra_cost};
use crate::error::EngineError;
use crate::order::{Order, order_of_dataset};
use crate::run::{check, facts::Facts, source};

/// More samples than this would not fit into memory together with what is told about them.
const MOST_SAMPLES: usize = 20_000_000;

/// Runs `options` with a virtual clock; the events are in order of time. The same options give the same events, always.
///
/// # Errors
/// What the engine would refuse; and if there are too many samples.
pub fn simulate(options: &RunOptions) -> Result<Vec<Event>, EngineError> {
    check(options)?;
    let mut options = options.clone();
    if options.global_seed.is_none() {
        // "A fresh seed for every run" would be another run every time.
        options.seed.get_or_insert(0);
    }
    let spec: DatasetSpec = options.dataset.parse()?;
    let dataset = source::open(&options, &spec)?;
    let len = dataset.len().unwrap_or(0);
    let samples = len.saturating_mul(options.epochs as usize);
    if samples > MOST_SAMPLES {
        return Err(EngineError::Spec(format!(
            "{samples} samples are too many to be simulated: at most {MOST_SAMPLES}. Choose fewer epochs or a smaller len"
        )));
    }
    let costs = Costs::of(&options, &spec, len)?;
    let order = order_of_dataset(&options)?;
    let info = info(&options, &spec, &dataset, &order);
    let simulation = |work| Simulation {
        info: info.clone(),
        work,
        collate: Nanos::ZERO,
        pin: (options.pin_memory != PinMemory::Off).then_some(Nanos::ZERO),
        step: Nanos::from_secs_f64(options.step_ms / 1e3),
    };
    let mut epochs = Epochs {
        options: &options,
        order: &order,
        events: Vec::new(),
        start: Nanos::ZERO,
    };
    for epoch in 0..options.epochs {
        let work = work(&options, &spec, &order, epoch as usize);
        let events = simulation(work).run_with_failures(|i| costs.cost(i), |i| costs.fails(i));
        if !epochs.append(epoch, events) {
            break;
        }
    }
    Ok(epochs.finish(costs.note()))
}

/// What the samples of an epoch are.
fn work(options: &RunOptions, spec: &DatasetSpec, order: &Order, epoch: usize) -> Work {
    match spec {
        DatasetSpec::Stream(model) => {
            let workers = options.num_workers;
            let stream = |id: usize| {
                let worker = (workers > 0).then_some((id, workers));
                model.samples(worker).map(|i| i as u64).collect()
            };
            Work::Streams {
                streams: (0..workers.max(1)).map(stream).collect(),
                batch_size: options.batch_size.unwrap_or(1).max(1),
                drop_last: options.drop_last,
            }
        }
        _ => Work::Batches(order.epochs.get(epoch).cloned().unwrap_or_default()),
    }
}

fn info(options: &RunOptions, spec: &DatasetSpec, dataset: &AnyDataset, order: &Order) -> RunInfo {
    let pinning = (options.pin_memory != PinMemory::Off).then(|| "in no time".to_owned());
    let facts = Facts {
        options,
        spec,
        dataset,
        batches: order.len,
    };
    RunInfo {
        origin: Origin::Simulation,
        // It happened at no time.
        started_unix_ns: 0,
        ..facts.info(&Clock::start(), pinning)
    }
}

/// What samples cost.
struct Costs {
    own: Option<CostModel>,
    extra: Option<CostModel>,
}

impl Costs {
    fn of(options: &RunOptions, spec: &DatasetSpec, len: usize) -> Result<Self, EngineError> {
        let own = match spec {
            DatasetSpec::Synthetic(model) => Some(model.clone()),
            DatasetSpec::Stream(model) => Some(model.cost.clone()),
            _ => None,
        };
        let text = options.extra_cost.as_str();
        let extra = (!text.is_empty()).then(|| extra_cost(text, len));
        Ok(Self {
            own,
            extra: extra.transpose()?,
        })
    }

    fn models(&self) -> impl Iterator<Item = &CostModel> {
        self.own.iter().chain(&self.extra)
    }

    fn cost(&self, index: u64) -> Nanos {
        let costs = self.models().map(|m| m.cost(index as usize));
        costs.fold(Nanos::ZERO, |a, b| a + b)
    }

    fn fails(&self, index: u64) -> bool {
        let index = index as usize;
        self.models()
            .any(|m| m.fail.contains(&index) || m.panic.contains(&index))
    }

    /// What is not simulated.
    fn note(&self) -> String {
        let free = "Simulated: collating, pinning and the queues take no time";
        match (&self.own, &self.extra) {
            (None, None) => format!(
                "{free}, and neither does reading: what these samples cost is not known. \
                 Give an extra cost in the form, or run it"
            ),
            (None, Some(_)) => format!("{free}, and samples take the extra cost alone"),
            _ => free.to_owned(),
        }
    }
}

/// One epoch after the other.
struct Epochs<'a> {
    options: &'a RunOptions,
    order: &'a Order,
    events: Vec<Event>,
    start: Nanos,
}

impl Epochs<'_> {
    /// Puts the events of an epoch, which begin at zero, behind those of the ones before. False if it was the last one.
    fn append(&mut self, epoch: u32, events: Vec<Event>) -> bool {
        let seeds = self.order.seeds.get(epoch as usize);
        let keep = self.options.persistent_workers;
        let mut goes_on = true;
        let mut end = self.start;
        for mut event in events {
            event.at += self.start;
            end = event.at;
            let (at, run) = (event.at, event.run);
            let mut of_workers = |kind: &dyn Fn(WorkerId, u64) -> EventKind| {
                for (id, seed) in seeds.into_iter().flatten().enumerate() {
                    let kind = kind(id as WorkerId, *seed);
                    self.events.push(Event { at, run, kind });
                }
            };
            match &mut event.kind {
                EventKind::RunStarted(_) if epoch > 0 => continue,
                EventKind::RunEnded => continue,
                EventKind::EpochStarted { epoch: number } => {
                    *number = epoch;
                    if epoch == 0 || !keep {
                        of_workers(&|worker, seed| {
                            EventKind::WorkerStarted(Box::new(WorkerInfo {
                                worker,
                                seed: Some(seed),
                                os_id: None,
                            }))
                        });
                    }
                }
                EventKind::EpochEnded { epoch: number } => {
                    *number = epoch;
                    if !keep {
                        of_workers(&|worker, _| EventKind::WorkerEnded {
                            worker,
                            reason: EndReason::Finished,
                        });
                    }
                }
                EventKind::Message(message) => {
                    goes_on &= message.level < Level::Error
                        || self.options.on_error != loadscope_trace::OnError::Stop;
                    message.about = message.about.map(|id| BatchId { epoch, ..id });
                }
                EventKind::Dispatched(dispatch) => dispatch.batch.epoch = epoch,
                EventKind::Entered { batch, .. } => batch.epoch = epoch,
                EventKind::Fetched(fetched) => {
                    fetched.batch.epoch = epoch;
                    for sample in &mut fetched.samples {
                        sample.start += self.start;
                    }
                }
                _ => {}
            }
            self.events.push(event);
        }
        self.start = end;
        goes_on
    }

    /// The whole run, with a note on what was left out.
    fn finish(mut self, note: String) -> Vec<Event> {
        let (at, run) = (self.start, RunId(0));
        let kind = EventKind::RunEnded;
        self.events.push(Event { at, run, kind });
        let kind = EventKind::Message(Box::new(Message {
            level: Level::Info,
            text: note,
            about: None,
            worker: None,
            sample: None,
        }));
        let at = Nanos::ZERO;
        // After the introduction.
        let place = 1.min(self.events.len());
        self.events.insert(place, Event { at, run, kind });
        self.events
    }
}
