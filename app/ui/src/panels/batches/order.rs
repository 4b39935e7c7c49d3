//! Order of the rows. Sorting a million rows takes longer than a frame, so it runs in the background.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use egui::Context;
use loadscope_insight::platform::Platform;

/// Maximum number of rows sorted in the frame itself, which takes less than a millisecond.
const SYNC_LIMIT: usize = 10_000;
/// Maximum time per frame for reading sort keys.
const BUDGET: Duration = Duration::from_millis(3);
/// Number of keys read between two checks of the time.
const CHUNK: usize = 4_096;

/// Parameters of an order: the number of events, the column and filter, and whether the largest comes first.
pub type SortSpec<F> = (u64, F, bool);

/// Order of the rows.
#[derive(Debug)]
pub struct Order<F> {
    /// Rows in display order. Empty for dispatch order.
    rows: Vec<u32>,
    /// Number of rows before filtering. If `rows` is shorter, the others are hidden.
    of: usize,
    /// Parameters of this order.
    spec: Option<SortSpec<F>>,
    /// Order in preparation.
    job: Option<(SortSpec<F>, SortJob)>,
}

#[derive(Debug)]
enum SortJob {
    /// Keys read so far, and the number of rows read.
    Keys(Vec<(i64, u32)>, usize),
    /// Result of a running sort.
    Sorting(Receiver<(Vec<u32>, usize)>),
}

impl<F> Default for Order<F> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            of: 0,
            spec: None,
            job: None,
        }
    }
}

impl<F: Copy + PartialEq> Order<F> {
    /// Returns to dispatch order.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops an order of more than `count` rows, because some of them are hidden now.
    pub fn clear_beyond(&mut self, count: usize) {
        if self.of > count {
            self.clear();
        }
    }

    /// Returns the row shown at `position`. Newer rows are at the end.
    pub fn row(&self, position: usize) -> usize {
        self.rows
            .get(position)
            .map_or(position, |row| *row as usize)
    }

    /// Returns the number of visible rows out of `count`.
    pub fn shown(&self, count: usize) -> usize {
        match self.is_filtered() {
            true => self.rows.len().min(count),
            false => count,
        }
    }

    fn is_filtered(&self) -> bool {
        self.rows.len() < self.of
    }

    /// Returns the position of `row`, or `None` if it is hidden.
    pub fn position(&self, row: usize) -> Option<usize> {
        let found = self.rows.iter().position(|r| *r as usize == row);
        found.or((!self.is_filtered()).then_some(row))
    }

    /// Returns the parameters of the order in preparation, or else of the current one.
    pub fn latest_spec(&self) -> Option<SortSpec<F>> {
        let job = self.job.as_ref().map(|(spec, _)| *spec);
        job.or(self.spec)
    }

    /// Starts to prepare an order.
    pub fn start(&mut self, spec: SortSpec<F>) {
        self.job = Some((spec, SortJob::Keys(Vec::new(), 0)));
    }

    /// Continues to prepare an order for a moment. `key` returns `None` for hidden rows. Returns true if work is left for a later frame. A
    /// background sort wakes the window when it is done.
    pub fn resume(
        &mut self,
        ctx: &Context,
        platform: Platform,
        count: usize,
        key: impl Fn(usize) -> Option<i64>,
    ) -> bool {
        let Some((spec, job)) = self.job.take() else {
            return false;
        };
        let job = match job {
            SortJob::Keys(keys, read) => {
                self::read((keys, read), count, spec.2, (ctx, platform), key)
            }
            sorting @ SortJob::Sorting(_) => sorting,
        };
        let SortJob::Sorting(sorted) = &job else {
            self.job = Some((spec, job));
            return true;
        };
        match sorted.try_recv() {
            Ok((rows, of)) => {
                (self.rows, self.of) = (rows, of);
                self.spec = Some(spec);
            }
            Err(TryRecvError::Empty) => self.job = Some((spec, job)),
            Err(TryRecvError::Disconnected) => {}
        }
        false
    }
}

fn read(
    (mut keys, mut read): (Vec<(i64, u32)>, usize),
    count: usize,
    down: bool,
    (ctx, platform): (&Context, Platform),
    key: impl Fn(usize) -> Option<i64>,
) -> SortJob {
    let budget = platform.budget(BUDGET);
    while read < count {
        let end = count.min(read + CHUNK);
        keys.extend((read..end).filter_map(|row| Some((key(row)?, row as u32))));
        read = end;
        if read < count && budget.is_spent() {
            return SortJob::Keys(keys, read);
        }
    }
    let (out, sorted) = channel();
    let ctx = (keys.len() > SYNC_LIMIT).then(|| ctx.clone());
    let is_long = ctx.is_some();
    let sort = move || {
        // The receiver is dropped if another order was requested.
        let _ = out.send((sort(keys, down), read));
        if let Some(ctx) = ctx {
            ctx.request_repaint();
        }
    };
    if is_long {
        // If no job can start, the previous order remains.
        let _ = platform.jobs.start("sort-batches", Box::new(sort));
    } else {
        sort();
    }
    SortJob::Sorting(sorted)
}

/// Sorts rows by their keys. Equal keys stay in dispatch order.
fn sort(mut keys: Vec<(i64, u32)>, down: bool) -> Vec<u32> {
    if down {
        keys.sort_unstable_by_key(|(key, row)| (std::cmp::Reverse(*key), *row));
    } else {
        keys.sort_unstable();
    }
    keys.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_insight::platform::Jobs;

    use super::*;

    struct Threads;

    impl Jobs for Threads {
        fn start(&self, name: &str, job: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(job).map(drop)
        }
    }

    #[test]
    fn a_long_table_is_sorted_by_a_thread() {
        let ctx = Context::default();
        let number = |row: usize| (row as i64 * 7_919) % 1_000;
        let key = |row| Some(number(row));
        let count = 300_000;
        let platform = Platform {
            jobs: &Threads,
            ..Platform::default()
        };
        let mut order: Order<u8> = Order::default();
        order.start((1, 0, true));
        assert_eq!(order.row(5), 5);
        let clock = std::time::Instant::now();
        while order.latest_spec() != Some((1, 0, true)) || order.job.is_some() {
            order.resume(&ctx, platform, count, key);
            assert!(clock.elapsed() < Duration::from_secs(30));
            std::thread::yield_now();
        }
        let mut expected: Vec<u32> = (0..count as u32).collect();
        expected.sort_by_key(|row| std::cmp::Reverse(number(*row as usize)));
        assert_eq!(order.rows, expected);
        assert_eq!(order.position(order.row(17)), Some(17));
    }

    #[test]
    fn a_long_table_is_sorted_at_once_without_threads() {
        let mut order: Order<u8> = Order::default();
        order.start((1, 0, false));
        assert!(!order.resume(
            &Context::default(),
            Platform::default(),
            2 * SYNC_LIMIT,
            |row| Some(-(row as i64))
        ));
        assert_eq!(order.row(0), 2 * SYNC_LIMIT - 1);
    }

    #[test]
    fn a_short_table_is_sorted_at_once() {
        let mut order: Order<u8> = Order::default();
        order.start((1, 0, false));
        let tens = |row: usize| Some(-(row as i64) / 10);
        assert!(!order.resume(&Context::default(), Platform::default(), 100, tens));
        assert_eq!((order.row(0), order.row(99)), (90, 9));
        // A newer row is at the end.
        assert_eq!((order.row(100), order.position(100)), (100, Some(100)));
        assert_eq!(order.shown(101), 101);
    }

    #[test]
    fn filtered_rows_have_no_place() {
        let mut order: Order<u8> = Order::default();
        order.start((1, 0, false));
        let thirds = |row: usize| row.is_multiple_of(3).then_some(0);
        order.resume(&Context::default(), Platform::default(), 100, thirds);
        assert_eq!((order.shown(100), order.shown(110)), (34, 34));
        assert_eq!((order.row(33), order.position(99)), (99, Some(33)));
        assert_eq!(order.position(98), None);
        // Row 99 no longer exists.
        order.clear_beyond(99);
        assert_eq!((order.shown(99), order.row(33)), (99, 33));
    }
}
