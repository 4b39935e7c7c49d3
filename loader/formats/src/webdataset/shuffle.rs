//! The shuffle buffer of the package, with its random decisions.

use loadscope_plan::rng::PythonRandom;

/// The buffer of a shuffle, as `webdataset.shuffle` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffling {
    /// `bufsize`: how many are held.
    pub size: usize,
    /// `initial`: how many there have to be before the first is yielded.
    pub initial: usize,
}

impl Shuffling {
    /// A buffer of `size`, and of 100 before the first is yielded, as by the package.
    pub fn of(size: usize) -> Self {
        Self { size, initial: 100 }
    }
}

/// As `webdataset.filters._shuffle`: fills its buffer by two for each one that it yields, and yields any of them.
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

    /// The next one, of those that `pull` yields. Errors come at once, and the buffer stays as it is.
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

/// All of `items`, shuffled.
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
