//! The threads of a loader: workers, and the pin thread after them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use loadscope_trace::Stage;
use loadscope_words::say;

use crate::batch::Batch;
use crate::error::LoaderError;
use crate::fetch::Fetch;
use crate::limits;
use crate::panics::catch_panic;
use crate::pin::Pinner;
use crate::probe::Probe;
use crate::sync::{
    AtomicBool, Builder, JoinHandle, Receiver, RecvTimeoutError, Sender, SpinWait, unbounded,
};
use crate::worker::{TaskOutput, Worker, WorkerCommand, WorkerInitFn, WorkerMessage};
use crate::worker_info::WorkerInfo;

/// Returns the remedy if there are not enough resources for a thread.
fn fewer_workers() -> &'static str {
    say!("Use fewer workers.")
}

/// Settings of the threads.
pub(crate) struct PoolConfig<'a, F> {
    pub fetch: &'a Arc<F>,
    pub init: Option<WorkerInitFn>,
    pub num_workers: usize,
    pub base_seed: u64,
    pub pinner: Option<Pinner>,
}

/// Running threads of a loader. Dropping the pool ends and joins them.
pub(crate) struct Pool<F: Fetch> {
    /// Index queues, with `None` for a worker without further work.
    index_queues: Vec<Option<Sender<WorkerCommand>>>,
    result_queue: Option<Receiver<WorkerMessage<F::Batch>>>,
    spin_wait: SpinWait,
    /// Number of sent tasks without an answer. An ended stream does not answer tasks after its end.
    pending_tasks: usize,
    /// Number of workers that were sent a new epoch and have not confirmed it.
    pending_resumes: usize,
    /// Cause of the first death of a worker.
    death: Option<Box<LoaderError>>,
    done: Arc<AtomicBool>,
    probe: Probe,
    threads: Vec<JoinHandle<()>>,
}

impl<F: Fetch> Pool<F> {
    /// Starts the workers with seeds `base_seed + id`, and the pin thread if there is a pinner.
    pub fn start(config: PoolConfig<'_, F>, probe: &Probe) -> Result<Self, LoaderError> {
        let PoolConfig {
            fetch,
            init,
            num_workers,
            base_seed,
            pinner,
        } = config;
        let done = Arc::new(AtomicBool::new(false));
        // The channels need no bound, like PyTorch's queues. The prefetch window bounds the batches in flight to
        // `num_workers` times `prefetch_factor`.
        let (results, mut result_queue) = unbounded();
        let mut pool = Self {
            index_queues: Vec::with_capacity(num_workers),
            result_queue: None,
            spin_wait: SpinWait::default(),
            pending_tasks: 0,
            pending_resumes: 0,
            death: None,
            done: Arc::clone(&done),
            probe: probe.clone(),
            threads: Vec::with_capacity(num_workers + 1),
        };
        for id in 0..num_workers {
            let (index_queue, inbox) = unbounded();
            let worker = Worker {
                info: WorkerInfo {
                    id,
                    num_workers,
                    seed: base_seed.wrapping_add(id as u64),
                },
                base_seed,
                fetch: Arc::clone(fetch),
                init: init.clone(),
                index_queue: inbox,
                results: results.clone(),
                done: Arc::clone(&done),
                probe: probe.with_done(Arc::clone(&done)),
            };
            pool.index_queues.push(Some(index_queue));
            let what = || (say!("worker {} of {num_workers}", id + 1), fewer_workers());
            pool.spawn(format!("loader-w{id}"), what, move || worker.run())?;
        }
        if let Some(pinner) = pinner {
            let (pinned, out) = unbounded();
            let inbox = std::mem::replace(&mut result_queue, out);
            let probe = probe.with_done(done);
            let what = || (say!("the pin thread").to_owned(), fewer_workers());
            pool.spawn("loader-pin".to_owned(), what, move || {
                pin_loop(&inbox, &pinned, &pinner, &probe);
            })?;
        }
        pool.result_queue = Some(result_queue);
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
        let started = limits::check_thread_address_space()
            .and_then(|()| Builder::new().name(name).spawn(run));
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

    /// Puts a command into the index queue of a worker.
    pub fn send(&mut self, worker: usize, command: WorkerCommand) {
        match command {
            WorkerCommand::Task { .. } => self.pending_tasks += 1,
            WorkerCommand::Resume => self.pending_resumes += 1,
        }
        // A dead worker is noticed when its batch is awaited.
        if let Some(Some(index_queue)) = self.index_queues.get(worker) {
            let _ = index_queue.send(command);
        }
    }

    /// Ends a worker without further work.
    pub fn close(&mut self, worker: usize) {
        if let Some(index_queue) = self.index_queues.get_mut(worker) {
            *index_queue = None;
        }
    }

    /// Waits for the next result, until `timeout` has passed or `interrupt` is set.
    pub fn receive(
        &mut self,
        timeout: Option<Timeout>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<WorkerMessage<F::Batch>, LoaderError> {
        let message = self.next_message(timeout, interrupt)?;
        match message {
            WorkerMessage::Batch { .. } | WorkerMessage::StreamEnded { .. } => {
                self.pending_tasks = self.pending_tasks.saturating_sub(1);
            }
            WorkerMessage::Resumed => self.pending_resumes = self.pending_resumes.saturating_sub(1),
            WorkerMessage::Died { .. } => {}
        }
        Ok(message)
    }

    fn next_message(
        &mut self,
        timeout: Option<Timeout>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<WorkerMessage<F::Batch>, LoaderError> {
        /// Polling interval of the interrupt flag.
        const INTERRUPT_POLL: Duration = Duration::from_millis(20);
        let result_queue = self.result_queue.as_ref().ok_or(LoaderError::WorkersGone)?;
        if let Some(message) = self.spin_wait.poll(result_queue) {
            return Ok(message);
        }
        if timeout.is_none() && interrupt.is_none() {
            return result_queue.recv().map_err(|_| LoaderError::WorkersGone);
        }
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t.duration()));
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let wait = match interrupt {
                Some(_) => left.map_or(INTERRUPT_POLL, |left| left.min(INTERRUPT_POLL)),
                None => left.unwrap_or(INTERRUPT_POLL),
            };
            match result_queue.recv_timeout(wait) {
                Ok(message) => return Ok(message),
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
    /// If nothing is left, the workers are idle, and new tasks follow the `Resume` command in their queues. Then the call
    /// does not wait for the confirmations, which [`receive`](Self::receive) handles among the batches.
    pub fn resume(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), LoaderError> {
        // A worker that died in a previous epoch would never answer.
        if let Some(death) = &self.death {
            return Err((**death).clone());
        }
        // Drains the confirmations of the previous epoch. Otherwise a program that only starts epochs would fill the queues.
        self.drain(interrupt)?;
        for worker in 0..self.index_queues.len() {
            self.send(worker, WorkerCommand::Resume);
        }
        if self.pending_tasks > 0 {
            self.drain(interrupt)?;
            self.pending_tasks = 0;
        }
        Ok(())
    }

    /// Waits until every worker has confirmed its epoch, and drops all earlier results.
    fn drain(&mut self, interrupt: Option<&AtomicBool>) -> Result<(), LoaderError> {
        while self.pending_resumes > 0 {
            if let WorkerMessage::Died { os_id, how, .. } = self.receive(None, interrupt)? {
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
        self.index_queues.clear();
        self.result_queue = None;
        for thread in self.threads.drain(..) {
            // A panic of a worker was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// PyTorch's `_pin_memory_loop`: forwards all results in order of arrival.
fn pin_loop<B: Batch>(
    inbox: &Receiver<WorkerMessage<B>>,
    out: &Sender<WorkerMessage<B>>,
    pinner: &Pinner,
    probe: &Probe,
) {
    tch::set_num_threads(1);
    let mut spin_wait = SpinWait::default();
    let mut next = || spin_wait.poll(inbox).or_else(|| inbox.recv().ok());
    while let Some(message) = next() {
        let forward = match message {
            WorkerMessage::Batch {
                batch,
                worker,
                result: Ok(TaskOutput::Batch(made, _)),
            } => {
                probe.enter(batch, Stage::Pinning);
                let pinned = catch_panic(|| made.pin(pinner)).flatten();
                probe.enter(batch, Stage::Returning);
                let result = match pinned {
                    Ok((made, lease)) => Ok(TaskOutput::Batch(made, lease)),
                    Err(cause) => Err(LoaderError::Pinning {
                        batch,
                        cause: Box::new(cause),
                    }),
                };
                WorkerMessage::Batch {
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
