//! Model of threads that share cores.
//!
//! Computing threads have equal shares of the cores, at most one core each. Time off the cores passes for all threads at once.
//! All computing threads are served equally fast, so one number is enough to find the next one to finish: the time served to each.

/// Maximum slowdown of threads that compute on separate cores. They share caches and memory.
const SHARED_MEMORY: f64 = 0.1;

/// Returns the factor by which computing takes longer when `threads` threads compute at once.
pub(super) fn memory_slowdown(threads: f64) -> f64 {
    1.0 + SHARED_MEMORY * (1.0 - 1.0 / threads.max(1.0))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ThreadState {
    Idle,
    /// Off the cores until this time.
    Sleeping(f64),
    /// Computes until [`Cores::served`] reaches this value.
    Computing(f64),
}

/// Threads and their cores. Times are ns since the start of the epoch. They are whole numbers as long as no core is shared.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    pub now: f64,
    served: f64,
    cores: f64,
    /// Computing threads slow each other down.
    slows: bool,
    /// Number of computing threads, as the sum of their widths.
    computing: f64,
    threads: Vec<ThreadState>,
    /// Cores that each thread uses while it computes. A training step may use several.
    widths: Vec<f64>,
    /// Priorities of threads that finish at the same time. Smaller numbers come first.
    priorities: Vec<usize>,
}

impl Cores {
    pub fn new(threads: usize, cores: f64, slows: bool) -> Self {
        Self {
            now: 0.0,
            served: 0.0,
            cores,
            slows,
            computing: 0.0,
            threads: vec![ThreadState::Idle; threads],
            widths: vec![1.0; threads],
            priorities: vec![0; threads],
        }
    }

    /// Keeps `thread` off the cores for `time`.
    pub fn sleep(&mut self, thread: usize, time: f64, turn: usize) {
        self.priorities[thread] = turn;
        self.threads[thread] = ThreadState::Sleeping(self.now + time);
    }

    /// Lets `thread` compute work that takes `time` on a core of its own.
    pub fn compute(&mut self, thread: usize, time: f64, turn: usize) {
        self.compute_with(thread, time, turn, 1.0);
    }

    /// Lets `thread` compute on `width` cores at once. The work takes `time` if it has all of them.
    pub fn compute_with(&mut self, thread: usize, time: f64, turn: usize, width: f64) {
        self.priorities[thread] = turn;
        self.widths[thread] = width;
        self.threads[thread] = ThreadState::Computing(self.served + time);
        self.computing += width;
    }

    /// Returns the next thread to finish, with its time.
    pub fn next(&self) -> Option<(f64, usize)> {
        let mut away: Option<(f64, usize)> = None;
        let mut computing: Option<(f64, usize)> = None;
        for (thread, doing) in self.threads.iter().enumerate() {
            match *doing {
                ThreadState::Idle => {}
                ThreadState::Sleeping(until) => away = self.first(away, (until, thread)),
                ThreadState::Computing(until) => computing = self.first(computing, (until, thread)),
            }
        }
        let Some((until, thread)) = computing else {
            return away;
        };
        let at = self.now + (until - self.served) / self.rate();
        self.first(away, (at, thread))
    }

    fn first(&self, one: Option<(f64, usize)>, other: (f64, usize)) -> Option<(f64, usize)> {
        let sooner = one.is_none_or(|(at, thread)| {
            other.0 < at || other.0 == at && self.priorities[other.1] < self.priorities[thread]
        });
        if sooner { Some(other) } else { one }
    }

    /// Advances the time to `at`, when `thread` finishes. Both are from [`Cores::next`].
    pub fn finish(&mut self, thread: usize, at: f64) {
        let done = std::mem::replace(&mut self.threads[thread], ThreadState::Idle);
        self.pass(at);
        if let ThreadState::Computing(until) = done {
            // A value that is smaller by a rounding error would never be reached.
            self.served = self.served.max(until);
            self.computing = (self.computing - self.widths[thread]).max(0.0);
        }
    }

    /// Advances the time while no thread finishes.
    pub fn pass(&mut self, at: f64) {
        if at > self.now {
            self.served += (at - self.now) * self.rate();
            self.now = at;
        }
    }

    fn rate(&self) -> f64 {
        let share = (self.cores / self.computing.max(1.0)).min(1.0);
        match self.slows {
            true => share / memory_slowdown(self.computing.min(self.cores)),
            false => share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_computing_threads_share_the_cores() {
        let mut cores = Cores::new(4, 2.0, true);
        (0..3).for_each(|thread| cores.compute(thread, 20.0 + thread as f64, 0));
        cores.sleep(3, 15.0, 0);
        let mut ends = Vec::new();
        while let Some((at, thread)) = cores.next() {
            cores.finish(thread, at);
            ends.push((thread, at.round()));
        }
        // Three threads on two cores: 20 of work take slightly over 30. Then two threads have two cores.
        let slowed = 30.0 * memory_slowdown(2.0);
        let (first, second, third) = (ends[1], ends[2], ends[3]);
        assert_eq!((ends[0], first), ((3, 15.0), (0, slowed.round())));
        assert_eq!((second.0, third.0), (1, 2));
        assert!(first.1 < second.1 && second.1 < third.1 && third.1 < slowed + 4.0);
    }
}
