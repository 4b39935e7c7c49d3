//! Serializable state of a generator.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope_words::say;
use serde::{Deserialize, Serialize};

use super::Generator;
use super::mt19937::{Mt19937, N};
use crate::error::LoaderError;

/// `generator.get_state()`: the complete state of a stream. About 3.4 KB as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorState {
    seed: u64,
    draws: u64,
    /// Number of words of the current block that were yielded, 0 ..= 624.
    position: usize,
    /// The 624 words of the current block, little-endian, in base64.
    words: String,
}

impl Generator {
    /// `generator.get_state()`.
    pub fn state(&self) -> GeneratorState {
        let bytes: Vec<u8> = self
            .stream
            .words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        GeneratorState {
            seed: self.seed,
            draws: self.draws,
            position: self.stream.position(),
            words: STANDARD.encode(bytes),
        }
    }

    /// `generator.set_state(state)`: resumes the stream at a saved [`state`](Self::state).
    ///
    /// # Errors
    /// RuntimeError if `state` is invalid. In this case the generator does not change.
    pub fn set_state(&mut self, state: &GeneratorState) -> Result<(), LoaderError> {
        let words = STANDARD
            .decode(&state.words)
            .ok()
            .and_then(|bytes| words_of(&bytes));
        let stream = words.and_then(|words| Mt19937::resume(words, state.position));
        let Some(stream) = stream else {
            return Err(LoaderError::runtime(say!(
                "the state of a generator needs {N} words in base64 and a position of at most {N}, but this one has {} characters and position {}",
                state.words.len(),
                state.position
            )));
        };
        *self = Self {
            seed: state.seed,
            stream,
            draws: state.draws,
        };
        Ok(())
    }
}

fn words_of(bytes: &[u8]) -> Option<Box<[u32; N]>> {
    let (words, rest) = bytes.as_chunks::<4>();
    if words.len() != N || !rest.is_empty() {
        return None;
    }
    let mut out = Box::new([0; N]);
    for (slot, word) in out.iter_mut().zip(words) {
        *slot = u32::from_le_bytes(*word);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_continues_the_stream(seed: u64, skip in 0u64..2000, other: u64) {
            let mut a = Generator::new(seed);
            a.discard(skip);
            let text = serde_json::to_string(&a.state()).unwrap();
            let mut b = Generator::new(other);
            b.set_state(&serde_json::from_str(&text).unwrap()).unwrap();
            for _ in 0..700 {
                prop_assert_eq!(a.next_u32(), b.next_u32());
            }
            prop_assert_eq!((a.draws(), a.initial_seed()), (b.draws(), b.initial_seed()));
        }

        #[test]
        fn damaged_states_are_refused(seed: u64, cut in 0usize..3000, position in 625usize..) {
            let good = Generator::new(seed).state();
            let mut generator = Generator::new(1);
            let mut words = good.words.clone();
            words.truncate(cut);
            let short = GeneratorState { words, ..good.clone() };
            prop_assert!(generator.set_state(&short).is_err());
            let beyond = GeneratorState { position, ..good };
            prop_assert!(generator.set_state(&beyond).is_err());
            prop_assert_eq!(generator.next_u32(), Generator::new(1).next_u32());
        }
    }
}
