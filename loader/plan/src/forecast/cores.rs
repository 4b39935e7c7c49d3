//! Threads that share cores.
//!
//! Those that compute have equal shares of the cores, at most one core each; time off the cores passes for all at once. All
//! that compute are served equally fast, so one number, what each of them has been served so far, is enough to know when the
//! next one is through.

/// What is left of the cores where more threads compute than there are cores: they take turns, and each finds the caches full of
/// what others left there.
const TAKING_TURNS: f64 = 0.95;
/// Threads that compute on cores of their own share caches and memory; by so much at most this makes each of them slower.
const SHARED_MEMORY: f64 = 0.1;

/// How many times as long computing takes beside others, where so many threads compute at once.
pub(super) fn side_by_side(threads: f64) -> f64 {
    1.0 + SHARED_MEMORY * (1.0 - 1.0 / threads.max(1.0))
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Nothing,
    /// Needs no core until then.
    Away(f64),
    /// Computes until each has been served so much.
    Computing(f64),
}

/// The threads and their cores. Time is ns since the beginning of the epoch; whole numbers, as long as no core is shared.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    pub now: f64,
    served: f64,
    cores: f64,
    /// Threads that compute at once slow each other down.
    slows: bool,
    /// How many threads compute.
    computing: f64,
    threads: Vec<Doing>,
    /// As how many threads each counts while it computes: a training step may use several.
    widths: Vec<f64>,
    /// Of two that are through at the same time the one with the smaller number comes first.
    turns: Vec<usize>,
}

impl Cores {
    pub fn new(threads: usize, cores: f64, slows: bool) -> Self {
        Self {
            now: 0.0,
            served: 0.0,
            cores,
            slows,
            computing: 0.0,
            threads: vec![Doing::Nothing; threads],
            widths: vec![1.0; threads],
            turns: vec![0; threads],
        }
    }

    /// `thread` needs no core for `time`.
    pub fn away(&mut self, thread: usize, time: f64, turn: usize) {
        self.turns[thread] = turn;
        self.threads[thread] = Doing::Away(self.now + time);
    }

    /// `thread` computes what takes `time` on a core of its own.
    pub fn compute(&mut self, thread: usize, time: f64, turn: usize) {
        self.compute_with(thread, time, turn, 1.0);
    }

    /// The same for something that uses `width` cores at a time, for `time` where it has them.
    pub fn compute_with(&mut self, thread: usize, time: f64, turn: usize, width: f64) {
        self.turns[thread] = turn;
        self.widths[thread] = width;
        self.threads[thread] = Doing::Computing(self.served + time);
        self.computing += width;
    }

    /// Who is through next, and when.
    pub fn next(&self) -> Option<(f64, usize)> {
        let mut away: Option<(f64, usize)> = None;
        let mut computing: Option<(f64, usize)> = None;
        for (thread, doing) in self.threads.iter().enumerate() {
            match *doing {
                Doing::Nothing => {}
                Doing::Away(until) => away = self.first(away, (until, thread)),
                Doing::Computing(until) => computing = self.first(computing, (until, thread)),
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
            other.0 < at || other.0 == at && self.turns[other.1] < self.turns[thread]
        });
        if sooner { Some(other) } else { one }
    }

    /// Lets time pass until `thread` is through at `at`, which [`Cores::next`] said.
    pub fn finish(&mut self, thread: usize, at: f64) {
        let done = std::mem::replace(&mut self.threads[thread], Doing::Nothing);
        self.pass(at);
        if let Doing::Computing(until) = done {
            // Not a rounding error less, or it would never end.
            self.served = self.served.max(until);
            self.computing = (self.computing - self.widths[thread]).max(0.0);
        }
    }

    /// Lets time pass in which no process is done.
    pub fn pass(&mut self, at: f64) {
        if at > self.now {
            self.served += (at - self.now) * self.rate();
            self.now = at;
        }
    }

    fn rate(&self) -> f64 {
        if !self.slows {
            return (self.cores / self.computing.max(1.0)).min(1.0);
        }
        let at_once = self.computing.min(self.cores);
        match self.computing > self.cores {
            true => self.cores / self.computing * TAKING_TURNS / side_by_side(at_once),
            false => 1.0 / side_by_side(at_once),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_compute_share_and_those_away_do_not() {
        let mut cores = Cores::new(4, 2.0, true);
        (0..3).for_each(|thread| cores.compute(thread, 20.0 + thread as f64, 0));
        cores.away(3, 15.0, 0);
        let mut ends = Vec::new();
        while let Some((at, thread)) = cores.next() {
            cores.finish(thread, at);
            ends.push((thread, at.round()));
        }
        // Three on two cores: 20 of work take 30 and a little more; then two cores for two.
        let slowed = 30.0 * side_by_side(2.0) / TAKING_TURNS;
        let (first, second, third) = (ends[1], ends[2], ends[3]);
        assert_eq!((ends[0], first), ((3, 15.0), (0, slowed.round())));
        assert_eq!((second.0, third.0), (1, 2));
        assert!(first.1 < second.1 && second.1 < third.1 && third.1 < slowed + 4.0);
    }
}
