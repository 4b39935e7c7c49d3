//! Sorting algorithms of the C++ standard library in PyTorch's Linux builds.
//!
//! In `torch.topk`, `std::partial_sort`, `std::nth_element` and `std::sort` determine the order of equal scores. To return the same order,
//! this module makes the same comparisons and moves. The first algorithm uses a heap, the others partition around a median of three, and
//! short ranges are insertion-sorted. The largest key comes first.

/// Key with its value. Comparisons ignore the value.
type Item<T> = (u64, T);

/// Maximum length of a range for insertion sort.
const SHORT: usize = 16;

/// Returns true if `a` must come before `b`.
fn before<T>(a: &Item<T>, b: &Item<T>) -> bool {
    a.0 > b.0
}

/// Returns the number of partitions after which the algorithm switches to a heap: 2 · log2(`len`).
fn depth_limit(len: usize) -> u32 {
    2 * len.checked_ilog2().unwrap_or(0)
}

/// `std::partial_sort`: moves the first `k` items in order to the front.
pub(super) fn partial_sort<T: Copy>(items: &mut [Item<T>], k: usize) {
    heap_select(items, k);
    sort_heap(&mut items[..k]);
}

/// `std::nth_element`: moves item `nth` to its place, with all earlier items before it.
pub(super) fn nth_element<T: Copy>(items: &mut [Item<T>], nth: usize) {
    let (mut first, mut last) = (0, items.len());
    let mut depth = depth_limit(last);
    while last - first > 3 {
        if depth == 0 {
            heap_select(&mut items[first..last], nth + 1 - first);
            items.swap(first, nth);
            return;
        }
        depth -= 1;
        let cut = first + partition(&mut items[first..last]);
        if cut <= nth {
            first = cut;
        } else {
            last = cut;
        }
    }
    insertion_sort(&mut items[first..last]);
}

/// `std::sort`.
pub(super) fn sort<T: Copy>(items: &mut [Item<T>]) {
    intro_sort(items, depth_limit(items.len()));
    let short = SHORT.min(items.len());
    insertion_sort(&mut items[..short]);
    // No later item belongs before the first range, so insertion stops in time.
    for position in short..items.len() {
        insert(items, position);
    }
}

fn intro_sort<T: Copy>(mut items: &mut [Item<T>], mut depth: u32) {
    while items.len() > SHORT {
        if depth == 0 {
            partial_sort(items, items.len());
            return;
        }
        depth -= 1;
        let cut = partition(items);
        let (front, back) = items.split_at_mut(cut);
        intro_sort(back, depth);
        items = front;
    }
}

/// Partitions around the median of the second, the middle and the last item. Returns the start of the second part.
fn partition<T: Copy>(items: &mut [Item<T>]) -> usize {
    median_to_front(items);
    let pivot = items[0];
    let (mut low, mut high) = (1, items.len());
    loop {
        while before(&items[low], &pivot) {
            low += 1;
        }
        high -= 1;
        while before(&pivot, &items[high]) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        items.swap(low, high);
        low += 1;
    }
}

fn median_to_front<T: Copy>(items: &mut [Item<T>]) {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let ahead = |x: usize, y: usize| before(&items[x], &items[y]);
    let median = match (ahead(a, b), ahead(b, c), ahead(a, c)) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    items.swap(0, median);
}

fn insertion_sort<T: Copy>(items: &mut [Item<T>]) {
    for position in 1..items.len() {
        if before(&items[position], &items[0]) {
            items[..=position].rotate_right(1);
        } else {
            insert(items, position);
        }
    }
}

/// Moves an item forward until its predecessor need not come after it.
fn insert<T: Copy>(items: &mut [Item<T>], mut position: usize) {
    let item = items[position];
    while position > 0 && before(&item, &items[position - 1]) {
        items[position] = items[position - 1];
        position -= 1;
    }
    items[position] = item;
}

/// Moves the first `k` of all items to a heap at the front. The last of them is at the top.
fn heap_select<T: Copy>(items: &mut [Item<T>], k: usize) {
    let (heap, rest) = items.split_at_mut(k);
    for parent in (0..heap.len() / 2).rev() {
        sift(heap, parent, heap[parent]);
    }
    for item in rest {
        if before(item, &heap[0]) {
            let incoming = std::mem::replace(item, heap[0]);
            sift(heap, 0, incoming);
        }
    }
}

fn sort_heap<T: Copy>(heap: &mut [Item<T>]) {
    for end in (1..heap.len()).rev() {
        let item = heap[end];
        heap[end] = heap[0];
        sift(&mut heap[..end], 0, item);
    }
}

/// Fills the hole at `top` with `item`. The hole sinks to a leaf, then the item rises from there.
fn sift<T: Copy>(heap: &mut [Item<T>], top: usize, item: Item<T>) {
    let mut hole = top;
    while 2 * hole + 2 < heap.len() {
        let right = 2 * hole + 2;
        let child = right - usize::from(before(&heap[right], &heap[right - 1]));
        heap[hole] = heap[child];
        hole = child;
    }
    if 2 * hole + 2 == heap.len() {
        heap[hole] = heap[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    while hole > top && before(&heap[(hole - 1) / 2], &item) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = item;
}
