//! Simulated runs for the options of the engine, with the same order and scheduler. The costs come from the options.

use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Level, Message, Nanos, Origin, PinMemory, RunId, RunInfo,
    RunOptions, WorkerId, WorkerInfo,
};
use loadscope_words::say;

use super::{Simulation, Work};
use crate::dataset::{Catalog, CostModel, DatasetSpec, Entry, check_extra_cost, extra_cost};
use crate::error::LoaderError;
use crate::facts::Facts;
use crate::limits::grouped;
use crate::order::{Order, Orders, Samples, order, samples_of_dataset};
use crate::plan::check_options;

/// Maximum number of samples whose recorded data fits into memory.
const MAX_SAMPLES: u64 = 20_000_000;

/// Simulates `options` with a virtual clock. The events are in order of time. The same options always give the same events.
///
/// # Errors
/// As the engine, and if there are too many samples.
pub fn simulate(options: &RunOptions, catalog: &dyn Catalog) -> Result<Vec<Event>, LoaderError> {
    check_options(options)?;
    let mut options = options.clone();
    if options.global_seed.is_none() {
        // A fresh seed would give another run each time.
        options.seed.get_or_insert(0);
    }
    let spec: DatasetSpec = options.dataset.parse()?;
    let dataset = catalog.look_up(&spec, options.image_size)?;
    check_extra_cost(&options, &spec)?;
    let len = dataset.len.unwrap_or(0);
    let costs = Costs::of(&options, &spec, len)?;
    let samples = samples_of_dataset(&options, catalog)?;
    check_count(&options, &samples)?;
    let order = order(&options, &samples)?;
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
        let work = work(&options, &samples, &order, epoch as usize);
        let events = simulation(work).run_with_failures(|i| costs.cost(i), |i| costs.fails(i));
        if !epochs.append(epoch, events) {
            break;
        }
    }
    Ok(epochs.finish(costs.note()))
}

/// Checks that memory suffices for the records of samples, workers and, with streams, tasks without an answer.
fn check_count(options: &RunOptions, samples: &Samples) -> Result<(), LoaderError> {
    let orders = Orders::of(options, samples)?;
    let unanswered = match samples {
        Samples::Map(_) | Samples::Known(_) => 0,
        Samples::Streams(_) => options.window(),
    };
    let beside = (options.num_workers + unanswered) as u64;
    let epochs = u64::from(options.epochs);
    let of_epoch = orders.indices().saturating_add(beside);
    let all = of_epoch.saturating_mul(epochs);
    if all <= MAX_SAMPLES {
        return Ok(());
    }
    Err(LoaderError::Spec(say!(
        "{epochs} epochs of {} samples, {} workers and {} more tasks are {} in total, too many to simulate: the limit is {}. Choose fewer epochs, a smaller len or fewer workers.",
        grouped(orders.indices()),
        options.num_workers,
        grouped(unanswered as u64),
        grouped(all),
        grouped(MAX_SAMPLES)
    )))
}

/// Returns the samples of an epoch.
fn work(options: &RunOptions, samples: &Samples, order: &Order, epoch: usize) -> Work {
    match samples {
        Samples::Streams(streams) => {
            let workers = options.num_workers;
            let stream = |id: usize| streams.of(id, workers).collect();
            Work::Streams {
                streams: (0..workers.max(1)).map(stream).collect(),
                batch_size: options.batch_size.unwrap_or(1).max(1),
                drop_last: options.drop_last,
            }
        }
        Samples::Map(_) | Samples::Known(_) => {
            Work::Batches(order.epochs.get(epoch).cloned().unwrap_or_default())
        }
    }
}

fn info(options: &RunOptions, spec: &DatasetSpec, dataset: &Entry, order: &Order) -> RunInfo {
    let pinning = (options.pin_memory != PinMemory::Off).then(|| say!("in no time").to_owned());
    let facts = Facts {
        options,
        spec,
        dataset,
        batches: order.len,
    };
    RunInfo {
        origin: Origin::Simulation,
        // A simulation has no wall-clock time.
        ..facts.info(0, pinning)
    }
}

/// Costs of the samples.
struct Costs {
    own: Option<CostModel>,
    extra: Option<CostModel>,
}

impl Costs {
    fn of(options: &RunOptions, spec: &DatasetSpec, len: usize) -> Result<Self, LoaderError> {
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

    /// Returns a note on simplifications of the simulation.
    fn note(&self) -> String {
        let free = say!("Simulated: collating, pinning and the queues take no time");
        match (&self.own, &self.extra) {
            (None, None) => say!(
                "{free}. Reading takes no time either: the cost of these samples is unknown. Set an extra cost in the options, or run it."
            ),
            (None, Some(_)) => say!("{free}. Samples take only the extra cost."),
            _ => free.to_owned(),
        }
    }
}

/// Events of consecutive epochs.
struct Epochs<'a> {
    options: &'a RunOptions,
    order: &'a Order,
    events: Vec<Event>,
    start: Nanos,
}

impl Epochs<'_> {
    /// Appends the events of an epoch, whose times start at zero. Returns false if it was the last epoch.
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
                            os_id: None,
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

    /// Returns the events of the run, with a note on the simplifications.
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
        // The note follows `RunStarted`.
        let place = 1.min(self.events.len());
        self.events.insert(place, Event { at, run, kind });
        self.events
    }
}
