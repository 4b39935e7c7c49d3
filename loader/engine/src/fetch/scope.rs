//! What a fetch tells about itself.

use std::sync::Arc;

use loadscope_trace::{BatchId, EventKind, Fetched, Nanos, SampleTiming, Stage, StageTiming};

use crate::clock::Clock;
use crate::collate::CollateSite;
use crate::cpu::thread_cpu_time;
use crate::dataset::SampleClock;
use crate::probe::Probe;

/// Observes one fetch.
#[derive(Debug)]
pub struct FetchScope<'a> {
    probe: &'a Probe,
    batch: BatchId,
    site: CollateSite,
    clock: Option<Clock>,
    /// Named stages inside the samples.
    pub stages: SampleClock,
    timings: Vec<SampleTiming>,
    /// The dataset index of the sample under way.
    current: Option<usize>,
    /// When it began, and the thread's CPU time then.
    began: Option<(Nanos, Option<Nanos>)>,
    told: bool,
}

impl<'a> FetchScope<'a> {
    pub(crate) fn new(probe: &'a Probe, batch: BatchId, site: CollateSite) -> Self {
        let clock = probe.clock();
        Self {
            probe,
            batch,
            site,
            stages: match &clock {
                Some(_) => SampleClock::on(),
                None => SampleClock::off(),
            }
            .until(Arc::clone(probe.done())),
            clock,
            timings: Vec::new(),
            current: None,
            began: None,
            told: false,
        }
    }

    /// Where the batch is put together.
    pub fn site(&self) -> CollateSite {
        self.site
    }

    /// The sample with dataset index `index` is about to be fetched; `None`: the next one of a stream.
    pub fn begin_sample(&mut self, index: Option<usize>) {
        self.stages.begin_sample();
        self.current = index;
        if let Some(clock) = &self.clock {
            let cpu = self.measures_cpu().then(thread_cpu_time).flatten();
            self.began = Some((clock.now(), cpu));
        }
    }

    /// The sample has been fetched.
    pub fn end_sample(&mut self) {
        self.current = None;
        if let (Some(clock), Some((start, cpu))) = (&self.clock, self.began.take()) {
            self.timings.push(SampleTiming {
                start,
                wall: clock.now() - start,
                cpu: cpu.and_then(|begin| Some(thread_cpu_time()? - begin)),
            });
        }
    }

    /// Asking for the CPU time is a system call of a quarter of a microsecond. It is left out after a sample so short that the
    /// asking would be what is measured.
    fn measures_cpu(&self) -> bool {
        self.timings.last().is_none_or(|t| t.wall >= Nanos(20_000))
    }

    /// The dataset index of the sample under way.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// All samples are there and are put together now.
    pub fn collating(&mut self) {
        self.tell_timings();
        self.probe.enter(self.batch, Stage::Collating);
    }

    /// Reports what was measured, once.
    pub(crate) fn tell_timings(&mut self) {
        if self.clock.is_none() || std::mem::replace(&mut self.told, true) {
            return;
        }
        let samples = std::mem::take(&mut self.timings);
        let stages = self.stages.take_stages();
        self.probe.emit(|| {
            let named = stages.into_iter().map(|(name, walls)| StageTiming {
                name: name.to_owned(),
                walls,
            });
            EventKind::Fetched(Box::new(Fetched {
                batch: self.batch,
                samples,
                stages: named.collect(),
            }))
        });
    }
}
