use super::super::grid::queue_places;
use super::*;
use egui::Pos2;

const SIZES: [(f32, f32); 9] = [
    (520.0, 160.0),
    (600.0, 400.0),
    (700.0, 220.0),
    (900.0, 260.0),
    (1100.0, 320.0),
    (1400.0, 300.0),
    (1900.0, 420.0),
    (2500.0, 700.0),
    (2500.0, 220.0),
];

fn plans() -> Vec<Plan> {
    let mut all = Vec::new();
    for workers in [0, 1, 2, 3, 4, 8, 16, 64] {
        for (prefetch, digits) in [(1, 1), (2, 2), (4, 3), (10, 5)] {
            for pin in [false, true] {
                all.push(Plan {
                    workers,
                    prefetch,
                    results: workers > 0,
                    pin,
                    pinned: pin && workers > 0,
                    window: workers * prefetch,
                    in_order: true,
                    digits,
                });
            }
        }
    }
    all
}

fn body_of(layout: &Layout, station: Station) -> Option<Rect> {
    let found = layout.stations.iter().find(|s| s.station == station);
    found.map(|s| s.body)
}

fn assert_apart(rects: &[Rect], what: &str) {
    for (k, a) in rects.iter().enumerate() {
        assert!(a.width() > 0.0 && a.height() > 0.0, "{what}: {a:?}");
        for b in &rects[k + 1..] {
            let both = a.intersect(*b);
            assert!(
                both.width() <= 0.01 || both.height() <= 0.01,
                "{what}: {a:?} {b:?}"
            );
        }
    }
}

fn assert_inside(rects: &[Rect], outer: Rect, what: &str) {
    for r in rects {
        assert!(
            outer.expand(0.6).contains_rect(*r),
            "{what}: {r:?} in {outer:?}"
        );
    }
}

fn each(check: impl Fn(&Plan, Rect, &Layout, &str)) {
    for plan in plans() {
        for (w, h) in SIZES {
            let area = Rect::from_min_size(pos2(10.0, 20.0), vec2(w, h));
            let what = format!("{plan:?} in {w}×{h}");
            check(&plan, area, &Layout::new(area, &plan), &what);
        }
    }
}

#[test]
fn stations_do_not_overlap_and_stay_inside() {
    each(|_, area, layout, what| {
        let bodies: Vec<Rect> = layout.stations.iter().map(|s| s.body).collect();
        assert_inside(&bodies, area, what);
        let mut all: Vec<Rect> = bodies;
        all.extend(layout.stations.iter().map(|s| s.title));
        all.push(layout.headline);
        if area.height() >= WITH_COUNTERS {
            all.push(layout.counters);
        }
        assert_apart(&all, what);
    });
}

/// Regression test: without workers, the frame around loading and training crossed the margin and covered the head of its arrow.
#[test]
fn the_main_process_frame_is_inside_and_crosses_no_arrow() {
    each(|plan, area, layout, what| {
        let Some(process) = layout.process else {
            assert!(!plan.is_one_process(), "{what}");
            return;
        };
        assert!(plan.is_one_process(), "{what}");
        if area.width() < 600.0 {
            // This width is too small for any plan.
            return;
        }
        let inner = area.shrink2(vec2(MARGIN - 1.0, 0.0));
        assert!(
            inner.contains_rect(process),
            "{what}: {process:?} in {inner:?}"
        );
        for pair in layout.stations.windows(2) {
            let (from, to) = layout.arrow(&pair[0], &pair[1]);
            assert!(to - from >= 4.0, "{what}: {pair:?}");
            let crosses = (from..to).contains(&process.left());
            assert!(!crosses, "{what}: an arrow from {from} to {to}");
        }
    });
}

#[test]
fn workers_and_queues_do_not_overlap_and_stay_inside() {
    each(|plan, _, layout, what| {
        let crew = &layout.worker_grid;
        assert_eq!(crew.cells.len(), plan.workers.max(1));
        let mut all = Vec::new();
        for cell in &crew.cells {
            assert_inside(&cell.queue, cell.queue_area, what);
            all.extend(cell.queue.iter().copied());
            all.push(cell.worker);
        }
        assert_apart(&all, what);
        assert_inside(&all, Rect::from_min_size(Pos2::ZERO, crew.size), what);
        let body = body_of(layout, Station::Workers).expect("always there");
        assert!(crew.size.x <= body.width() + 1.0, "{what}: {crew:?}");
    });
}

#[test]
fn a_usual_window_shows_all_workers_without_scrolling() {
    each(|plan, area, layout, what| {
        if area.width() >= 1100.0
            && area.height() >= 300.0
            && plan.digits <= 3
            && plan.prefetch <= 2
        {
            let body = body_of(layout, Station::Workers).expect("always there");
            assert!(layout.worker_grid.size.y <= body.height() + 1.0, "{what}");
            assert_eq!(layout.stack.hidden, 0, "{what}");
        }
    });
}

#[test]
fn reorder_slots_add_up_to_the_prefetch_window() {
    each(|plan, _, layout, what| {
        let stack = &layout.stack;
        let Some(body) = body_of(layout, Station::Reorder) else {
            assert_eq!(plan.window, 0);
            return;
        };
        let mut all = stack.behind.clone();
        all.extend(stack.wanted);
        assert_apart(&all, what);
        assert_inside(&all, body, what);
        assert_eq!(all.len() + stack.hidden, plan.window, "{what}");
    });
}

#[test]
fn a_full_queue_counts_its_hidden_batches() {
    let room = Rect::from_min_size(Pos2::ZERO, vec2(70.0, 92.0));
    for count in 0..40 {
        let (places, hidden) = queue_places(room, count, 30.0);
        assert_apart(&places, "queue");
        assert_inside(&places, room, "queue");
        assert_eq!(places.len() + hidden - usize::from(hidden > 0), count);
    }
    assert_eq!(queue_places(room, 8, 30.0).1, 0);
    assert_eq!(queue_places(room, 9, 30.0).1, 2);
}

#[test]
fn three_workers_are_drawn_with_full_text() {
    let plan = Plan {
        workers: 3,
        prefetch: 2,
        results: true,
        pin: false,
        pinned: false,
        window: 6,
        in_order: true,
        digits: 2,
    };
    let area = Rect::from_min_size(Pos2::ZERO, vec2(1100.0, 320.0));
    let layout = Layout::new(area, &plan);
    assert_eq!(layout.worker_grid.detail, super::super::grid::Detail::Full);
    assert_eq!(layout.worker_grid.columns, 1);
    assert!(layout.stack.numbers);
}
