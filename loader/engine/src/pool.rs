//! The threads of a loader: workers, and the pin thread behind them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use loadscope_trace::{Stage, WorkerId};

use crate::batch::Batch;
use crate::error::EngineError;
use crate::fetch::Fetch;
use crate::pin::Pinner;
use crate::probe::Probe;
use crate::worker::{Arrival, Order, Worker, caught};

/// The running threads. Dropping it ends and joins them.
pub(crate) struct Pool<F: Fetch> {
    orders: Vec<Sender<Order>>,
    arrivals: Option<Receiver<Arrival<F::Batch>>>,
    done: Arc<AtomicBool>,
    probe: Probe,
    threads: Vec<JoinHandle<()>>,
}

impl<F: Fetch> Pool<F> {
    /// Starts the workers with seeds `base_seed + id`, and the pin thread if there is a pinner.
    pub fn start(
        fetch: &Arc<F>,
        num_workers: usize,
        base_seed: u64,
        pinner: Option<Pinner>,
        probe: &Probe,
    ) -> Result<Self, EngineError> {
        let done = Arc::new(AtomicBool::new(false));
        let (results, mut arrivals) = unbounded();
        let mut pool = Self {
            orders: Vec::with_capacity(num_workers),
            arrivals: None,
            done: Arc::clone(&done),
            probe: probe.clone(),
            threads: Vec::with_capacity(num_workers + 1),
        };
        for id in 0..num_workers {
            let (orders, inbox) = unbounded();
            let worker = Worker {
                id: id as WorkerId,
                seed: base_seed.wrapping_add(id as u64),
                fetch: Arc::clone(fetch),
                orders: inbox,
                results: results.clone(),
                done: Arc::clone(&done),
                probe: probe.until(Arc::clone(&done)),
            };
            pool.orders.push(orders);
            pool.spawn(format!("loader-w{id}"), move || worker.run())?;
        }
        if let Some(pinner) = pinner {
            let (pinned, out) = unbounded();
            let inbox = std::mem::replace(&mut arrivals, out);
            let probe = probe.until(done);
            pool.spawn("loader-pin".to_owned(), move || {
                pin_loop(&inbox, &pinned, &pinner, &probe);
            })?;
        }
        pool.arrivals = Some(arrivals);
        Ok(pool)
    }

    fn spawn(
        &mut self,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<(), EngineError> {
        let thread = Builder::new().name(name.clone()).spawn(run);
        let thread = thread.map_err(|e| EngineError::Thread {
            name,
            message: e.to_string(),
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Puts an order into the index queue of a worker.
    pub fn send(&self, worker: usize, order: Order) {
        // A worker that is gone is noticed when its batch is waited for.
        let _ = self.orders[worker].send(order);
    }

    /// Waits for the next result, or until `interrupt` is set.
    pub fn receive(
        &self,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Arrival<F::Batch>, EngineError> {
        /// How soon an interruption is noticed.
        const LOOK: Duration = Duration::from_millis(20);
        let arrivals = self.arrivals.as_ref().ok_or(EngineError::WorkersGone)?;
        let Some(interrupt) = interrupt else {
            return arrivals.recv().map_err(|_| EngineError::WorkersGone);
        };
        loop {
            match arrivals.recv_timeout(LOOK) {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::WorkersGone),
                Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Acquire) => {
                    return Err(EngineError::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Makes persistent workers ready for a new epoch: whatever is left of the old one is fetched and thrown away.
    pub fn resume(&self, interrupt: Option<&AtomicBool>) -> Result<(), EngineError> {
        for orders in &self.orders {
            let _ = orders.send(Order::Resume);
        }
        let mut resumed = 0;
        while resumed < self.orders.len() {
            if let Arrival::Resumed = self.receive(interrupt)? {
                resumed += 1;
            }
        }
        Ok(())
    }
}

impl<F: Fetch> Drop for Pool<F> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.probe.wake();
        // A closed index queue ends its worker, a closed result queue the pin thread.
        self.orders.clear();
        self.arrivals = None;
        for thread in self.threads.drain(..) {
            // A panic of a worker was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// PyTorch's `_pin_memory_loop`: everything is forwarded in the order in which it arrived.
fn pin_loop<B: Batch>(
    inbox: &Receiver<Arrival<B>>,
    out: &Sender<Arrival<B>>,
    pinner: &Pinner,
    probe: &Probe,
) {
    tch::set_num_threads(1);
    while let Ok(arrival) = inbox.recv() {
        let forward = match arrival {
            Arrival::Batch {
                batch,
                worker,
                result: Ok((made, _)),
            } => {
                probe.enter(batch, Stage::Pinning);
                let result = caught(|| made.pin(pinner)).flatten();
                probe.enter(batch, Stage::Returning);
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
