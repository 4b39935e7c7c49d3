//! Shuffle buffer of webdataset, with the same random decisions.

use loadscope_plan::rng::PythonRandom;

/// Parameters of `webdataset.shuffle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffling {
    /// `bufsize`: size of the buffer, samples.
    pub size: usize,
    /// `initial`: number of samples in the buffer before the first is returned.
    pub initial: usize,
}

impl Shuffling {
    /// Creates a buffer of `size` with webdataset's default `initial` of 100.
    pub fn of(size: usize) -> Self {
        Self { size, initial: 100 }
    }
}

/// Shuffle like `webdataset.filters._shuffle`. For each returned item, it adds up to two items to its buffer, and returns a random one.
pub(super) struct Shuffle<T> {
    held: Vec<T>,
    size: usize,
    initial: usize,
    random: PythonRandom,
    is_over: bool,
}

impl<T> Shuffle<T> {
    pub(super) fn new(shuffling: Shuffling, random: PythonRandom) -> Self {
        Self {
            held: Vec::new(),
            size: shuffling.size,
            initial: shuffling.initial.min(shuffling.size),
            random,
            is_over: false,
        }
    }

    /// Returns the next shuffled item. An error of `pull` is returned at once, and the buffer stays unchanged.
    pub(super) fn next<E>(
        &mut self,
        mut pull: impl FnMut() -> Option<Result<T, E>>,
    ) -> Option<Result<T, E>> {
        while !self.is_over {
            match pull() {
                None => self.is_over = true,
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(one)) => {
                    self.held.push(one);
                    if self.held.len() < self.size {
                        match pull() {
                            None => {}
                            Some(Err(error)) => return Some(Err(error)),
                            Some(Ok(another)) => self.held.push(another),
                        }
                    }
                    if self.held.len() >= self.initial {
                        return self.pick().map(Ok);
                    }
                }
            }
        }
        self.pick().map(Ok)
    }

    fn pick(&mut self) -> Option<T> {
        if self.held.is_empty() {
            return None;
        }
        let at = self.random.below(self.held.len() as u64) as usize;
        Some(self.held.swap_remove(at))
    }
}

/// Shuffles all items.
pub(super) fn whole<T>(
    items: impl IntoIterator<Item = T>,
    shuffling: Shuffling,
    random: PythonRandom,
) -> Vec<T> {
    let mut shuffle = Shuffle::new(shuffling, random);
    let mut items = items.into_iter().map(Ok::<T, std::convert::Infallible>);
    std::iter::from_fn(|| shuffle.next(|| items.next()))
        .flatten()
        .collect()
}
