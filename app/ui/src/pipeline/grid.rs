//! Geometry of repeated items (workers with their queues, and places in queues and buffers), and the capacities it depends on.

use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Level of detail of a worker, which depends on its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Two lines and a progress bar.
    Full,
    /// One line.
    Line,
    /// Worker number and batch.
    Dense,
    /// Batch only.
    Mini,
}

/// Index queues and workers.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerGrid {
    /// Level of detail of each worker.
    pub detail: Detail,
    /// One cell per worker. If the main process fetches, there is one cell without a queue.
    pub cells: Vec<Cell>,
    /// Number of columns.
    pub columns: usize,
    /// Total size. If it is higher than the available space, the grid scrolls.
    pub size: Vec2,
}

/// Worker and its index queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Places in the index queue. The last place is next to the worker and empties first.
    pub queue: Vec<Rect>,
    /// Area of all places.
    pub queue_area: Rect,
    /// Area of the worker.
    pub worker: Rect,
}

/// Measures of a level of detail, points.
struct Measures {
    slot: Vec2,
    slots: usize,
    /// Space between the queue and the worker.
    lead: f32,
    worker: (f32, f32),
    row: (f32, f32),
    worker_height: f32,
}

const GAP: f32 = 4.0;

impl Detail {
    const ALL: [Self; 4] = [Self::Full, Self::Line, Self::Dense, Self::Mini];

    /// Returns the sizes of queue places, workers and gaps at this level of detail.
    fn measures(self, plan: &Plan) -> Measures {
        let chip = plan.chip_width();
        let (slot, slots, lead, worker, row, worker_height) = match self {
            Self::Full => (
                vec2(chip + 4.0, 22.0),
                4,
                18.0,
                (chip + 126.0, 620.0),
                (54.0, 108.0),
                96.0,
            ),
            Self::Line => (
                vec2(chip, 20.0),
                4,
                14.0,
                (chip + 80.0, 340.0),
                (26.0, 40.0),
                32.0,
            ),
            Self::Dense => (
                vec2(8.0, 14.0),
                4,
                8.0,
                (chip + 30.0, chip + 60.0),
                (22.0, 30.0),
                26.0,
            ),
            Self::Mini => (
                vec2(4.0, 10.0),
                3,
                5.0,
                (chip + 4.0, chip + 24.0),
                (18.0, 24.0),
                20.0,
            ),
        };
        Measures {
            slot,
            slots: plan.prefetch.min(slots),
            lead,
            worker,
            row,
            worker_height,
        }
    }
}

impl Measures {
    fn slot_gap(&self) -> f32 {
        if self.slot.x < 12.0 { 2.0 } else { GAP }
    }

    fn queue_width(&self) -> f32 {
        self.slots as f32 * (self.slot.x + self.slot_gap())
    }

    fn column_gap(&self) -> f32 {
        if self.lead < 6.0 { 8.0 } else { 14.0 }
    }

    fn cell(&self, worker: f32) -> f32 {
        self.queue_width() + if self.slots > 0 { self.lead } else { 0.0 } + worker
    }
}

impl WorkerGrid {
    /// Returns the most detailed arrangement that fits `room`. If none fits, the densest one is returned, which scrolls.
    pub fn new(room: Vec2, plan: &Plan) -> Self {
        let count = plan.workers.max(1);
        let mut plan = *plan;
        if plan.workers == 0 {
            plan.prefetch = 0;
        }
        for detail in Detail::ALL {
            let m = detail.measures(&plan);
            let fits = (room.x + m.column_gap()) / (m.cell(m.worker.0) + m.column_gap());
            // Two columns of one line each are harder to read than one column of the next level.
            for columns in 1..=(fits as usize).min(count) {
                if count.div_ceil(columns) as f32 * m.row.0 <= room.y {
                    return Self::arrange(detail, &m, room, columns, count);
                }
            }
        }
        let m = Detail::Mini.measures(&plan);
        // The scroll bar needs space.
        let fits = (room.x - 12.0 + m.column_gap()) / (m.cell(m.worker.0) + m.column_gap());
        let room = vec2(room.x - 12.0, room.y);
        let mut grid = Self::arrange(Detail::Mini, &m, room, (fits as usize).max(1), count);
        grid.size.x += 12.0;
        grid
    }

    fn arrange(detail: Detail, m: &Measures, room: Vec2, columns: usize, count: usize) -> Self {
        let rows = count.div_ceil(columns);
        // The number of rows determines the number of columns. The last column may be short, but there are no gaps.
        let columns = count.div_ceil(rows);
        let apart = m.column_gap();
        let share = (room.x + apart) / columns as f32 - apart;
        let worker = (share - m.cell(0.0)).clamp(m.worker.0, m.worker.1).floor();
        let row = (room.y / rows as f32).clamp(m.row.0, m.row.1).floor();
        let height = m
            .worker_height
            .min(row - if row < 24.0 { 2.0 } else { GAP });
        let cells = (0..count).map(|k| {
            let x = (k / rows) as f32 * (m.cell(worker) + apart);
            let middle = (k % rows) as f32 * row + (row * 0.5).floor();
            let slots = (0..m.slots).map(|s| {
                let left = x + s as f32 * (m.slot.x + m.slot_gap());
                centred_rect(
                    pos2(left + m.slot.x * 0.5, middle),
                    m.slot.min(vec2(m.slot.x, height)),
                )
            });
            let box_left = x + m.cell(0.0);
            let top = (middle - height * 0.5).round();
            Cell {
                queue: slots.collect(),
                queue_area: Rect::from_min_size(pos2(x, top), vec2(m.queue_width(), height)),
                worker: Rect::from_min_size(pos2(box_left, top), vec2(worker, height)),
            }
        });
        Self {
            detail,
            cells: cells.collect(),
            columns,
            size: vec2(
                columns as f32 * (m.cell(worker) + apart) - apart,
                rows as f32 * row,
            ),
        }
    }
}

/// Reorder buffer: the place of the awaited batch, and the places after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// Place of the batch with index `rcvd_idx`, nearest to the trainer.
    pub wanted: Option<Rect>,
    /// Places after it, in index order.
    pub behind: Vec<Rect>,
    /// True if those places are large enough for numbers.
    pub numbers: bool,
    /// Number of places that do not fit.
    pub hidden: usize,
}

/// Width of the awaited place and the text below it, points.
const AWAITED_WIDTH: f32 = 56.0;
const AWAITED_GAP: f32 = 10.0;

/// Sizes of the places after the awaited one, the gaps between them, and whether numbers fit.
fn levels(chip: f32) -> [(Vec2, f32, bool); 5] {
    [
        (vec2(chip, 20.0), 4.0, true),
        (vec2(chip, 15.0), 3.0, true),
        (vec2(chip, 13.0), 2.0, true),
        (vec2(10.0, 10.0), 3.0, false),
        (vec2(5.0, 5.0), 2.0, false),
    ]
}

/// Returns the level, rows and columns of `count` places in `room`.
fn fit(room: Vec2, count: usize, chip: f32) -> (usize, usize, usize) {
    let all = levels(chip);
    for (level, (size, gap, _)) in all.iter().enumerate() {
        let rows = (((room.y + gap) / (size.y + gap)) as usize).max(1);
        let columns = count.div_ceil(rows);
        let last = level + 1 == all.len();
        if columns as f32 * (size.x + gap) - gap <= room.x + 0.5 || last {
            let most = (((room.x + gap) / (size.x + gap)) as usize).max(1);
            let columns = columns.min(most).max(1);
            return (level, count.div_ceil(columns).min(rows), columns);
        }
    }
    (all.len() - 1, 1, 1)
}

impl Stack {
    /// Returns the width of `window` places, at most `room`.
    pub fn width(room: Vec2, window: usize, chip: f32) -> f32 {
        let behind = window.saturating_sub(1);
        let wanted = AWAITED_WIDTH.max(chip + 8.0);
        if behind == 0 {
            return wanted;
        }
        let left = vec2(room.x - wanted - AWAITED_GAP, room.y);
        let (level, _, columns) = fit(left, behind, chip);
        let (size, gap, _) = levels(chip)[level];
        columns as f32 * (size.x + gap) - gap + AWAITED_GAP + wanted
    }

    /// Lays out `window` places in `room`.
    pub fn new(room: Rect, window: usize, chip: f32) -> Self {
        let behind = window.saturating_sub(1);
        let wide = AWAITED_WIDTH.max(chip + 8.0);
        let middle = room.center().y;
        let wanted = centred_rect(
            pos2(room.right() - wide * 0.5, middle),
            vec2(chip + 8.0, 28.0),
        );
        let left = vec2(room.width() - wide - AWAITED_GAP, room.height());
        let (level, rows, _) = fit(left, behind, chip);
        let (size, gap, numbers) = levels(chip)[level];
        let right = room.right() - wide - AWAITED_GAP;
        let top = (middle - (rows as f32 * (size.y + gap) - gap) * 0.5).round();
        let place = |k: usize| {
            let x = right - (k / rows + 1) as f32 * (size.x + gap) + gap;
            let y = top + (k % rows) as f32 * (size.y + gap);
            Rect::from_min_size(pos2(x, y), size)
        };
        let places: Vec<Rect> = (0..behind)
            .map(place)
            .take_while(|r| r.left() >= room.left() - 0.5)
            .collect();
        Self {
            wanted: Some(wanted),
            numbers,
            hidden: behind - places.len(),
            behind: places,
        }
    }
}

/// Returns the places of `count` chips in a queue, and the number of chips that do not fit. The head of the queue is at the top right, and
/// the next places follow downwards. If some chips do not fit, the last place is for their number.
pub fn queue_places(room: Rect, count: usize, chip: f32) -> (Vec<Rect>, usize) {
    let size = vec2(chip.min(room.width()), 20.0);
    let columns = (((room.width() + GAP) / (size.x + GAP)) as usize).max(1);
    let rows = (((room.height() + GAP) / (size.y + GAP)) as usize).max(1);
    let shown = if count > columns * rows {
        columns * rows - 1
    } else {
        count
    };
    // The places are centered, so that a short queue does not lean to one side.
    let taken = count.div_ceil(rows).clamp(1, columns) as f32 * (size.x + GAP) - GAP;
    let right = room.right() - ((room.width() - taken) * 0.5).floor();
    let place = |k: usize| {
        let x = right - (k / rows + 1) as f32 * (size.x + GAP) + GAP;
        Rect::from_min_size(
            pos2(x, room.top() + (k % rows) as f32 * (size.y + GAP)),
            size,
        )
    };
    let places = if shown < count { shown + 1 } else { shown };
    ((0..places).map(place).collect(), count - shown)
}

/// Stage boxes of the pipeline and their capacities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of workers. 0: the main process fetches.
    pub workers: usize,
    /// Places in an index queue.
    pub prefetch: usize,
    /// True if there is a result queue.
    pub results: bool,
    /// True if there is a pin thread.
    pub pin: bool,
    /// True if there is a queue after the pin thread.
    pub pinned: bool,
    /// Places in the reorder buffer. 0: there is none.
    pub window: usize,
    /// True if batches are yielded in sampler order, so that early ones are held.
    pub in_order: bool,
    /// Number of digits of the highest batch index.
    pub digits: usize,
}

impl Plan {
    /// Returns the number of visible places in the reorder buffer. With `in_order=False`, nothing waits in it.
    pub fn slots(&self) -> usize {
        if self.in_order { self.window } else { 0 }
    }

    /// Returns true if one process loads and trains.
    pub fn is_one_process(&self) -> bool {
        self.workers == 0
    }

    /// Returns the width of a chip that can contain any batch index, points.
    pub fn chip_width(&self) -> f32 {
        (self.digits as f32 * 6.7 + 10.0).max(28.0)
    }
}

/// Returns a rectangle of `size` around `centre`, aligned to whole points.
pub fn centred_rect(centre: Pos2, size: Vec2) -> Rect {
    let min = centre - size * 0.5;
    Rect::from_min_size(pos2(min.x.round(), min.y.round()), size)
}
