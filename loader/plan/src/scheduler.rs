//! The algorithm of PyTorch's `_MultiProcessingDataLoaderIter` without threads, clocks or queues: which batch goes to which
//! worker and when, and in which order batches are yielded.
//!
//! Three drivers use it unchanged: the threaded loader, the simulator and the tests. The names are PyTorch's.

use std::collections::VecDeque;

/// The options that the algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerOptions {
    /// Number of workers, at least 1.
    pub num_workers: usize,
    /// Batches in flight per worker, at least 1.
    pub prefetch_factor: usize,
    /// Hand batches out in the order of the sampler.
    pub in_order: bool,
}

/// What is known of a task that was sent and whose batch was not yielded: an entry of PyTorch's `_task_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task<T> {
    /// Its worker has not returned it.
    Outstanding {
        /// To whom it was sent.
        worker: usize,
    },
    /// Its worker has answered that its stream ended. The entry stays until its turn.
    Ended {
        /// The worker that answered.
        worker: usize,
    },
    /// Returned, and held until its turn.
    Held {
        /// Who returned it.
        worker: usize,
        /// The batch.
        data: T,
    },
}

/// What the consumer has to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// The epoch is over.
    Exhausted,
    /// Hand this batch out; then call [`Scheduler::try_put`] once.
    Yield(Yielded<T>),
    /// Nothing will come of this task, because its worker has ended. Ask again.
    Dropped {
        /// Its task index.
        idx: usize,
    },
    /// Receive one result and pass it to [`Scheduler::receive`] or [`Scheduler::worker_ended`].
    Receive,
}

/// A batch to be yielded.
#[derive(Debug, PartialEq, Eq)]
pub struct Yielded<T> {
    /// Its task index.
    pub idx: usize,
    /// The worker that made it.
    pub worker: usize,
    /// The batch.
    pub data: T,
}

/// The state of one epoch.
#[derive(Clone, Debug)]
pub struct Scheduler<T> {
    options: SchedulerOptions,
    send_idx: usize,
    rcvd_idx: usize,
    tasks_outstanding: usize,
    /// `_task_info`, from `base` on; `None` where a batch was yielded or dropped.
    task_info: VecDeque<Option<Task<T>>>,
    base: usize,
    workers_status: Vec<bool>,
    workers_num_tasks: Vec<usize>,
    /// The worker that the cycle comes to next.
    cycle: usize,
}

impl<T> Scheduler<T> {
    /// The state at the beginning of an epoch.
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

    /// `prefetch_factor × num_workers`: how often [`Scheduler::try_put`] is called to prime an epoch, and the most tasks that
    /// are outstanding at a time.
    pub fn window(&self) -> usize {
        self.options
            .prefetch_factor
            .saturating_mul(self.options.num_workers)
    }

    /// Index of the next task to be sent.
    pub fn send_idx(&self) -> usize {
        self.send_idx
    }

    /// Index of the batch to be yielded next.
    pub fn rcvd_idx(&self) -> usize {
        self.rcvd_idx
    }

    /// Tasks sent and not yet returned.
    pub fn tasks_outstanding(&self) -> usize {
        self.tasks_outstanding
    }

    /// Which workers still take tasks.
    pub fn workers_status(&self) -> &[bool] {
        &self.workers_status
    }

    /// The entry of task `idx`.
    pub fn task(&self, idx: usize) -> Option<&Task<T>> {
        self.task_info.get(idx.checked_sub(self.base)?)?.as_ref()
    }

    /// `_try_put_index`: pulls the next batch of indices and chooses its worker. `None` if the sampler is exhausted or no worker
    /// can take it; in the latter case what was pulled is lost, as in PyTorch.
    ///
    /// # Errors
    /// Passes on the error of the sampler.
    pub fn try_put<I, E>(
        &mut self,
        pull: impl FnOnce() -> Option<Result<I, E>>,
    ) -> Result<Option<(usize, usize, I)>, E> {
        debug_assert!(self.tasks_outstanding < self.window());
        // The sampler is pulled before a worker is looked for.
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

    /// The next worker in the cycle that takes tasks. Without `in_order`, a worker must also have room for one more.
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

    /// The beginning of `_next_data`: skips tasks that will never come, then says what to do.
    pub fn next_step(&mut self) -> Next<T> {
        while self.rcvd_idx < self.send_idx {
            match self.task(self.rcvd_idx) {
                Some(Task::Held { .. }) => {
                    let idx = self.rcvd_idx;
                    return match self.take(idx) {
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
                    self.take(idx);
                    self.advance();
                    return Next::Dropped { idx };
                }
                Some(Task::Ended { .. }) => {
                    self.take(self.rcvd_idx);
                    self.advance();
                }
                // Yielded out of turn.
                None => self.advance(),
            }
        }
        Next::Exhausted
    }

    /// A batch came back. Either it is its turn and it is to be yielded, or it is held.
    pub fn receive(&mut self, idx: usize, data: T) -> Option<Yielded<T>> {
        self.tasks_outstanding = self.tasks_outstanding.saturating_sub(1);
        let worker = match self.task(idx) {
            Some(Task::Outstanding { worker }) => *worker,
            // A result of a task that is not known: left over from an epoch that was stopped early.
            _ => return None,
        };
        if idx == self.rcvd_idx {
            self.take(idx);
            self.advance();
            return Some(self.process(idx, worker, data));
        }
        if self.options.in_order {
            if let Some(entry) = self.task_info.get_mut(idx - self.base) {
                *entry = Some(Task::Held { worker, data });
            }
            return None;
        }
        // `rcvd_idx` stays; `next_step` skips the hole later.
        self.take(idx);
        Some(self.process(idx, worker, data))
    }

    /// A worker sent its end marker in answer to task `idx` (iterable datasets). Call [`Scheduler::try_put`] once.
    pub fn worker_ended(&mut self, worker: usize, idx: usize) {
        self.tasks_outstanding = self.tasks_outstanding.saturating_sub(1);
        self.mark_worker_as_unavailable(worker);
        let entry = idx.checked_sub(self.base);
        if let Some(entry) = entry.and_then(|at| self.task_info.get_mut(at)) {
            *entry = Some(Task::Ended { worker });
        }
    }

    /// A worker died or takes no more tasks.
    pub fn mark_worker_as_unavailable(&mut self, worker: usize) {
        if let Some(status) = self.workers_status.get_mut(worker) {
            *status = false;
        }
    }

    /// The batch that would be yielded now if the consumer asked, if it has arrived.
    pub fn ready(&self) -> Option<usize> {
        match self.task(self.rcvd_idx) {
            Some(Task::Held { .. }) => Some(self.rcvd_idx),
            _ => None,
        }
    }

    /// The beginning of `_process_data`.
    fn process(&mut self, idx: usize, worker: usize, data: T) -> Yielded<T> {
        self.workers_num_tasks[worker] = self.workers_num_tasks[worker].saturating_sub(1);
        Yielded { idx, worker, data }
    }

    fn take(&mut self, idx: usize) -> Option<Task<T>> {
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
    fn tasks_go_round_the_workers() {
        let mut s = scheduler(3, 2, true);
        let workers: Vec<_> = (0..6).filter_map(|_| put(&mut s)).map(|(_, w)| w).collect();
        assert_eq!(workers, [0, 1, 2, 0, 1, 2]);
        assert_eq!((s.send_idx(), s.tasks_outstanding()), (6, 6));
    }

    #[test]
    fn batches_behind_a_missing_one_are_held() {
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
    fn without_order_a_stuck_worker_gets_nothing_new() {
        let mut s = scheduler(2, 2, false);
        for _ in 0..4 {
            assert!(put(&mut s).is_some());
        }
        // Worker 0 is stuck with 0 and 2; everything goes to worker 1.
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
    fn tasks_of_workers_that_ended_are_skipped() {
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
