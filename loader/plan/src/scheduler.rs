//! Algorithm of PyTorch's `_MultiProcessingDataLoaderIter` without threads, clocks or queues. It assigns batches to workers, and
//! determines the order in which batches are yielded.
//!
//! The threaded loader, the simulator and the tests use the same code. The names are PyTorch's.

use std::collections::VecDeque;

/// Options of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerOptions {
    /// Number of workers, at least 1.
    pub num_workers: usize,
    /// Batches in flight per worker, at least 1.
    pub prefetch_factor: usize,
    /// Yields batches in the order of the sampler.
    pub in_order: bool,
}

/// State of a task that was sent and not yet yielded: an entry of PyTorch's `_task_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task<T> {
    /// Not yet returned by its worker.
    Outstanding {
        /// Worker that received the task.
        worker: usize,
    },
    /// Answered with the end of the worker's stream. The entry stays until `rcvd_idx` passes it.
    Ended {
        /// Worker that answered.
        worker: usize,
    },
    /// Returned, and held until its turn.
    Held {
        /// Worker that returned it.
        worker: usize,
        /// Returned batch.
        data: T,
    },
}

/// Next action of the consumer.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// End of the epoch.
    Exhausted,
    /// Yield this batch, then call [`Scheduler::try_put`] once.
    Yield(Yielded<T>),
    /// Skip this task, because its worker has ended. Call [`Scheduler::next_step`] again.
    Dropped {
        /// Task index.
        idx: usize,
    },
    /// Receive one result and pass it to [`Scheduler::receive`] or [`Scheduler::worker_ended`].
    Receive,
}

/// Batch to yield.
#[derive(Debug, PartialEq, Eq)]
pub struct Yielded<T> {
    /// Task index.
    pub idx: usize,
    /// Worker that loaded the batch.
    pub worker: usize,
    /// Loaded batch.
    pub data: T,
}

/// State of one epoch.
#[derive(Clone, Debug)]
pub struct Scheduler<T> {
    options: SchedulerOptions,
    send_idx: usize,
    rcvd_idx: usize,
    tasks_outstanding: usize,
    /// `_task_info` from `base` on. `None`: the batch was yielded or dropped.
    task_info: VecDeque<Option<Task<T>>>,
    base: usize,
    workers_status: Vec<bool>,
    workers_num_tasks: Vec<usize>,
    /// Next worker in the cycle.
    cycle: usize,
}

impl<T> Scheduler<T> {
    /// Returns the state at the start of an epoch.
    pub fn new(options: SchedulerOptions) -> Self {
        Self {
            options,
            send_idx: 0,
            rcvd_idx: 0,
            tasks_outstanding: 0,
            task_info: VecDeque::new(),
            base: 0,
            workers_status: vec![true; options.num_workers],
            workers_num_tasks: vec![0; options.num_workers],
            cycle: 0,
        }
    }

    /// Returns `prefetch_factor × num_workers`. It is the number of [`Scheduler::try_put`] calls at the start of an epoch, and the
    /// maximum number of outstanding tasks.
    pub fn window(&self) -> usize {
        self.options
            .prefetch_factor
            .saturating_mul(self.options.num_workers)
    }

    /// Returns the index of the next task to send.
    pub fn send_idx(&self) -> usize {
        self.send_idx
    }

    /// Returns the index of the next batch to yield.
    pub fn rcvd_idx(&self) -> usize {
        self.rcvd_idx
    }

    /// Returns the number of tasks that were sent and not yet returned.
    pub fn tasks_outstanding(&self) -> usize {
        self.tasks_outstanding
    }

    /// Returns for each worker whether it still receives tasks.
    pub fn workers_status(&self) -> &[bool] {
        &self.workers_status
    }

    /// Returns the entry of task `idx`.
    pub fn task(&self, idx: usize) -> Option<&Task<T>> {
        self.task_info.get(idx.checked_sub(self.base)?)?.as_ref()
    }

    /// `_try_put_index`: draws the next batch of indices and chooses its worker. Returns `None` if the sampler is exhausted or no worker
    /// is available. In the latter case the drawn indices are lost, as in PyTorch.
    ///
    /// # Errors
    /// The error of the sampler.
    pub fn try_put<I, E>(
        &mut self,
        pull: impl FnOnce() -> Option<Result<I, E>>,
    ) -> Result<Option<(usize, usize, I)>, E> {
        debug_assert!(self.tasks_outstanding < self.window());
        // Like PyTorch, it draws from the sampler before it looks for a worker.
        let Some(indices) = pull() else {
            return Ok(None);
        };
        let indices = indices?;
        let Some(worker) = self.next_worker() else {
            return Ok(None);
        };
        let idx = self.send_idx;
        self.task_info.push_back(Some(Task::Outstanding { worker }));
        self.workers_num_tasks[worker] += 1;
        self.tasks_outstanding += 1;
        self.send_idx += 1;
        Ok(Some((idx, worker, indices)))
    }

    /// Returns the next available worker in the cycle. Without `in_order`, it must also have room for another task.
    fn next_worker(&mut self) -> Option<usize> {
        let active = self.workers_status.iter().filter(|s| **s).count();
        let capacity = self.window().checked_div(active)?;
        for _ in 0..self.options.num_workers {
            let worker = self.cycle;
            self.cycle = (self.cycle + 1) % self.options.num_workers;
            let has_room = self.options.in_order || self.workers_num_tasks[worker] < capacity;
            if self.workers_status[worker] && has_room {
                return Some(worker);
            }
        }
        None
    }

    /// Start of `_next_data`: skips tasks without a result, then returns the next action.
    pub fn next_step(&mut self) -> Next<T> {
        while self.rcvd_idx < self.send_idx {
            match self.task(self.rcvd_idx) {
                Some(Task::Held { .. }) => {
                    let idx = self.rcvd_idx;
                    return match self.remove_task(idx) {
                        Some(Task::Held { worker, data }) => {
                            self.advance();
                            Next::Yield(self.process(idx, worker, data))
                        }
                        _ => Next::Receive,
                    };
                }
                Some(Task::Outstanding { worker }) if self.workers_status[*worker] => {
                    return Next::Receive;
                }
                Some(Task::Outstanding { .. }) => {
                    let idx = self.rcvd_idx;
                    self.remove_task(idx);
                    self.advance();
                    return Next::Dropped { idx };
                }
                Some(Task::Ended { .. }) => {
                    self.remove_task(self.rcvd_idx);
                    self.advance();
                }
                // The batch was yielded out of order.
                None => self.advance(),
            }
        }
        Next::Exhausted
    }

    /// Handles a returned batch. Returns the batch if it is next in order, or without `in_order`. Otherwise, holds it. Drops a result of an
    /// earlier epoch.
    pub fn receive(&mut self, idx: usize, data: T) -> Option<Yielded<T>> {
        self.tasks_outstanding = self.tasks_outstanding.saturating_sub(1);
        let worker = match self.task(idx) {
            Some(Task::Outstanding { worker }) => *worker,
            // The result belongs to an earlier epoch that was stopped.
            _ => return None,
        };
        if idx == self.rcvd_idx {
            self.remove_task(idx);
            self.advance();
            return Some(self.process(idx, worker, data));
        }
        if self.options.in_order {
            if let Some(entry) = self.task_info.get_mut(idx - self.base) {
                *entry = Some(Task::Held { worker, data });
            }
            return None;
        }
        // `rcvd_idx` does not change. `next_step` skips the gap later.
        self.remove_task(idx);
        Some(self.process(idx, worker, data))
    }

    /// Handles the end marker that a worker sent as answer to task `idx` (iterable datasets). Call [`Scheduler::try_put`] once afterwards.
    pub fn worker_ended(&mut self, worker: usize, idx: usize) {
        self.tasks_outstanding = self.tasks_outstanding.saturating_sub(1);
        self.mark_worker_as_unavailable(worker);
        let entry = idx.checked_sub(self.base);
        if let Some(entry) = entry.and_then(|at| self.task_info.get_mut(at)) {
            *entry = Some(Task::Ended { worker });
        }
    }

    /// Marks a worker that died or receives no more tasks.
    pub fn mark_worker_as_unavailable(&mut self, worker: usize) {
        if let Some(status) = self.workers_status.get_mut(worker) {
            *status = false;
        }
    }

    /// Returns the next batch in order, if it has arrived.
    pub fn ready(&self) -> Option<usize> {
        match self.task(self.rcvd_idx) {
            Some(Task::Held { .. }) => Some(self.rcvd_idx),
            _ => None,
        }
    }

    /// Start of `_process_data`.
    fn process(&mut self, idx: usize, worker: usize, data: T) -> Yielded<T> {
        self.workers_num_tasks[worker] = self.workers_num_tasks[worker].saturating_sub(1);
        Yielded { idx, worker, data }
    }

    fn remove_task(&mut self, idx: usize) -> Option<Task<T>> {
        self.task_info.get_mut(idx.checked_sub(self.base)?)?.take()
    }

    fn advance(&mut self) {
        self.rcvd_idx += 1;
        while self.base < self.rcvd_idx && matches!(self.task_info.front(), Some(None)) {
            self.task_info.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn scheduler(num_workers: usize, prefetch_factor: usize, in_order: bool) -> Scheduler<()> {
        Scheduler::new(SchedulerOptions {
            num_workers,
            prefetch_factor,
            in_order,
        })
    }

    fn put(s: &mut Scheduler<()>) -> Option<(usize, usize)> {
        let put = s.try_put(|| Some(Ok::<_, Infallible>(())));
        put.unwrap_or_default()
            .map(|(idx, worker, ())| (idx, worker))
    }

    #[test]
    fn tasks_are_assigned_round_robin() {
        let mut s = scheduler(3, 2, true);
        let workers: Vec<_> = (0..6).filter_map(|_| put(&mut s)).map(|(_, w)| w).collect();
        assert_eq!(workers, [0, 1, 2, 0, 1, 2]);
        assert_eq!((s.send_idx(), s.tasks_outstanding()), (6, 6));
    }

    #[test]
    fn finished_batches_after_a_missing_one_are_held() {
        let mut s = scheduler(2, 2, true);
        for _ in 0..4 {
            assert!(put(&mut s).is_some());
        }
        assert_eq!(s.receive(1, ()), None);
        assert_eq!(s.receive(3, ()), None);
        assert_eq!(s.next_step(), Next::Receive);
        assert_eq!(s.receive(0, ()).map(|y| y.idx), Some(0));
        assert_eq!(s.ready(), Some(1));
        assert!(matches!(s.next_step(), Next::Yield(y) if y.idx == 1 && y.worker == 1));
        assert_eq!(s.next_step(), Next::Receive);
        assert_eq!((s.rcvd_idx(), s.tasks_outstanding()), (2, 1));
    }

    #[test]
    fn a_stuck_worker_gets_no_new_task_without_in_order() {
        let mut s = scheduler(2, 2, false);
        for _ in 0..4 {
            assert!(put(&mut s).is_some());
        }
        // Worker 0 is stuck with tasks 0 and 2. Worker 1 receives all others.
        let mut idx = 1;
        for _ in 0..5 {
            assert_eq!(s.receive(idx, ()).map(|y| y.worker), Some(1));
            let (next, worker) = put(&mut s).expect("worker 1 has room");
            assert_eq!(worker, 1);
            idx = if idx == 1 { 3 } else { next };
        }
        assert_eq!(s.rcvd_idx(), 0);
    }

    #[test]
    fn tasks_of_ended_workers_are_skipped() {
        let mut s = scheduler(2, 3, true);
        for _ in 0..2 {
            assert!(put(&mut s).is_some());
        }
        for _ in 0..2 {
            assert!(put(&mut s).is_some());
        }
        s.worker_ended(0, 0);
        assert_eq!(put(&mut s), Some((4, 1)));
        assert_eq!(s.next_step(), Next::Receive);
        assert_eq!(s.receive(3, ()), None);
        assert_eq!(s.receive(1, ()).map(|y| y.idx), Some(1));
        assert_eq!(s.next_step(), Next::Dropped { idx: 2 });
        assert!(matches!(s.next_step(), Next::Yield(y) if y.idx == 3));
        assert_eq!(s.receive(4, ()).map(|y| y.idx), Some(4));
        assert_eq!(s.next_step(), Next::Exhausted);
    }
}
