//! The threads of a loader: workers, and the pin thread after them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use loadscope_trace::Stage;
use loadscope_words::say;

use crate::batch::Batch;
use crate::caught::caught;
use crate::error::LoaderError;
use crate::fetch::Fetch;
use crate::limits;
use crate::pin::Pinner;
use crate::probe::Probe;
use crate::sync::{
    AtomicBool, Builder, JoinHandle, Patience, Receiver, RecvTimeoutError, Sender, unbounded,
};
use crate::worker::{Arrival, Order, Produced, Worker, WorkerInitFn};
use crate::worker_info::WorkerInfo;

/// Returns the remedy if there are not enough resources for a thread.
fn fewer() -> &'static str {
    say!("Use fewer workers.")
}

/// Settings of the threads.
pub(crate) struct Plan<'a, F> {
    pub fetch: &'a Arc<F>,
    pub init: Option<WorkerInitFn>,
    pub num_workers: usize,
    pub base_seed: u64,
    pub pinner: Option<Pinner>,
}

/// The running threads. Dropping it ends and joins them.
pub(crate) struct Pool<F: Fetch> {
    /// Index queues. `None` for a worker without further work.
    orders: Vec<Option<Sender<Order>>>,
    arrivals: Option<Receiver<Arrival<F::Batch>>>,
    patience: Patience,
    /// Number of sent tasks without an answer. An ended stream does not answer tasks after its end.
    unanswered: usize,
    /// Number of workers that were sent a new epoch and have not confirmed it.
    unresumed: usize,
    /// Cause of the first death of a worker.
    death: Option<Box<LoaderError>>,
    done: Arc<AtomicBool>,
    probe: Probe,
    threads: Vec<JoinHandle<()>>,
}

impl<F: Fetch> Pool<F> {
    /// Starts the workers with seeds `base_seed + id`, and the pin thread if there is a pinner.
    pub fn start(plan: Plan<'_, F>, probe: &Probe) -> Result<Self, LoaderError> {
        let Plan {
            fetch,
            init,
            num_workers,
            base_seed,
            pinner,
        } = plan;
        let done = Arc::new(AtomicBool::new(false));
        // The channels need no bound, like PyTorch's queues. The prefetch window bounds the batches in flight to
        // `num_workers` times `prefetch_factor`.
        let (results, mut arrivals) = unbounded();
        let mut pool = Self {
            orders: Vec::with_capacity(num_workers),
            arrivals: None,
            patience: Patience::default(),
            unanswered: 0,
            unresumed: 0,
            death: None,
            done: Arc::clone(&done),
            probe: probe.clone(),
            threads: Vec::with_capacity(num_workers + 1),
        };
        for id in 0..num_workers {
            let (orders, inbox) = unbounded();
            let worker = Worker {
                info: WorkerInfo {
                    id,
                    num_workers,
                    seed: base_seed.wrapping_add(id as u64),
                },
                base_seed,
                fetch: Arc::clone(fetch),
                init: init.clone(),
                orders: inbox,
                results: results.clone(),
                done: Arc::clone(&done),
                probe: probe.until(Arc::clone(&done)),
            };
            pool.orders.push(Some(orders));
            let what = || (say!("worker {} of {num_workers}", id + 1), fewer());
            pool.spawn(format!("loader-w{id}"), what, move || worker.run())?;
        }
        if let Some(pinner) = pinner {
            let (pinned, out) = unbounded();
            let inbox = std::mem::replace(&mut arrivals, out);
            let probe = probe.until(done);
            let what = || (say!("the pin thread").to_owned(), fewer());
            pool.spawn("loader-pin".to_owned(), what, move || {
                pin_loop(&inbox, &pinned, &pinner, &probe);
            })?;
        }
        pool.arrivals = Some(arrivals);
        Ok(pool)
    }

    /// Starts a thread. `what` names the thread and the remedy for the error message.
    fn spawn(
        &mut self,
        name: String,
        what: impl FnOnce() -> (String, &'static str),
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), LoaderError> {
        // Without memory for the thread's stack, the whole program would abort.
        let started =
            limits::has_room_for_thread().and_then(|()| Builder::new().name(name).spawn(run));
        let thread = started.map_err(|e| {
            let (what, remedy) = what();
            LoaderError::Thread {
                what,
                message: e.to_string(),
                remedy,
            }
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Puts an order into the index queue of a worker.
    pub fn send(&mut self, worker: usize, order: Order) {
        match order {
            Order::Task { .. } => self.unanswered += 1,
            Order::Resume => self.unresumed += 1,
        }
        // A dead worker is noticed when its batch is awaited.
        if let Some(Some(orders)) = self.orders.get(worker) {
            let _ = orders.send(order);
        }
    }

    /// Ends a worker without further work.
    pub fn close(&mut self, worker: usize) {
        if let Some(orders) = self.orders.get_mut(worker) {
            *orders = None;
        }
    }

    /// Waits for the next result, until `timeout` has passed or `interrupt` is set.
    pub fn receive(
        &mut self,
        timeout: Option<Timeout>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Arrival<F::Batch>, LoaderError> {
        let arrival = self.next_arrival(timeout, interrupt)?;
        match arrival {
            Arrival::Batch { .. } | Arrival::Ended { .. } => {
                self.unanswered = self.unanswered.saturating_sub(1);
            }
            Arrival::Resumed => self.unresumed = self.unresumed.saturating_sub(1),
            Arrival::Died { .. } => {}
        }
        Ok(arrival)
    }

    fn next_arrival(
        &mut self,
        timeout: Option<Timeout>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Arrival<F::Batch>, LoaderError> {
        /// Polling interval of the interrupt flag.
        const LOOK: Duration = Duration::from_millis(20);
        let arrivals = self.arrivals.as_ref().ok_or(LoaderError::WorkersGone)?;
        if let Some(arrival) = self.patience.awake(arrivals) {
            return Ok(arrival);
        }
        if timeout.is_none() && interrupt.is_none() {
            return arrivals.recv().map_err(|_| LoaderError::WorkersGone);
        }
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t.duration()));
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let wait = match interrupt {
                Some(_) => left.map_or(LOOK, |left| left.min(LOOK)),
                None => left.unwrap_or(LOOK),
            };
            match arrivals.recv_timeout(wait) {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Disconnected) => return Err(LoaderError::WorkersGone),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.is_some_and(|i| i.load(Ordering::Acquire)) {
                return Err(LoaderError::Interrupted);
            }
            if let (Some(timeout), Some(deadline)) = (timeout, deadline)
                && Instant::now() >= deadline
            {
                return Err(timeout.error());
            }
        }
    }

    /// Records the death of a worker and its cause.
    pub fn mark_dead(&mut self, os_id: Option<u64>, how: &str) -> LoaderError {
        let number = os_id.unwrap_or_default();
        let error = LoaderError::WorkerDied {
            workers: vec![number],
            cause: format!("DataLoader worker (pid {number}) {how}"),
        };
        self.death.get_or_insert_with(|| Box::new(error.clone()));
        error
    }

    /// Prepares persistent workers for a new epoch. The rest of the old epoch is received and dropped.
    ///
    /// If nothing is left, the workers are idle, and new tasks follow the `Resume` order in their queues. Then the call
    /// does not wait for the confirmations, which [`receive`](Self::receive) handles among the batches.
    pub fn resume(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), LoaderError> {
        // A worker that died in an earlier epoch would never answer.
        if let Some(death) = &self.death {
            return Err((**death).clone());
        }
        // Drains the confirmations of the previous epoch. Otherwise a program that only starts epochs would fill the queues.
        self.drain(interrupt)?;
        for worker in 0..self.orders.len() {
            self.send(worker, Order::Resume);
        }
        if self.unanswered > 0 {
            self.drain(interrupt)?;
            self.unanswered = 0;
        }
        Ok(())
    }

    /// Waits until every worker has confirmed its epoch, and drops everything before.
    fn drain(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), LoaderError> {
        while self.unresumed > 0 {
            if let Arrival::Died { os_id, how, .. } = self.receive(None, interrupt)? {
                return Err(self.mark_dead(os_id, &how));
            }
        }
        Ok(())
    }
}

/// The loader's `timeout`, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeout(f64);

impl Timeout {
    /// Returns `None` for 0, which means no limit.
    pub fn of(seconds: f64) -> Option<Self> {
        (seconds > 0.0).then_some(Self(seconds))
    }

    fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or(Duration::MAX)
    }

    fn error(self) -> LoaderError {
        LoaderError::runtime(format!("DataLoader timed out after {} seconds", self.0))
    }
}

impl<F: Fetch> Drop for Pool<F> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.probe.wake();
        // A closed index queue ends its worker, and a closed result queue ends the pin thread.
        self.orders.clear();
        self.arrivals = None;
        for thread in self.threads.drain(..) {
            // A panic of a worker was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// PyTorch's `_pin_memory_loop`: forwards everything in order of arrival.
fn pin_loop<B: Batch>(
    inbox: &Receiver<Arrival<B>>,
    out: &Sender<Arrival<B>>,
    pinner: &Pinner,
    probe: &Probe,
) {
    tch::set_num_threads(1);
    let mut patience = Patience::default();
    let mut next = || patience.awake(inbox).or_else(|| inbox.recv().ok());
    while let Some(arrival) = next() {
        let forward = match arrival {
            Arrival::Batch {
                batch,
                worker,
                result: Ok(Produced::Batch(made, _)),
            } => {
                probe.enter(batch, Stage::Pinning);
                let pinned = caught(|| made.pin(pinner)).flatten();
                probe.enter(batch, Stage::Returning);
                let result = match pinned {
                    Ok((made, lease)) => Ok(Produced::Batch(made, lease)),
                    Err(cause) => Err(LoaderError::Pinning {
                        batch,
                        cause: Box::new(cause),
                    }),
                };
                Arrival::Batch {
                    batch,
                    worker,
                    result,
                }
            }
            other => other,
        };
        if out.send(forward).is_err() {
            break;
        }
    }
}
