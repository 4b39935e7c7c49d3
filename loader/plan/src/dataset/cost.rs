//! Costs of a synthetic dataset. They depend only on the sample's index, so that a simulator can use them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::str::FromStr;

use loadscope_trace::Nanos;
use loadscope_words::{Text, say, text};

use crate::error::LoaderError;
use crate::keyvalue::{Key, KeySet, KeyValue, KeyValueError, ValueError, flag, pair, real, whole};
use crate::limits;

/// Maximum number of samples of a synthetic dataset.
pub(super) const MAX_LEN: usize = limits::SAMPLES as usize;
/// Maximum size of a synthetic sample, bytes.
const MAX_BYTES: i64 = 1 << 28;
/// Maximum cost of a sample: one day.
const MAX_COST_MS: f64 = 86_400_000.0;

/// Keys of a cost model's text.
pub(super) const KEYS: [Key; 11] = [
    Key::once("len", Text::same("len=24")),
    Key::once("cost_ms", Text::same("cost_ms=50")),
    Key::repeated("slow", text!("slow=4:1000 (sample 4 takes 1000 ms)")),
    Key::once(
        "every",
        text!("every=8:200 (every 8th sample takes 200 ms)"),
    ),
    Key::once("jitter", Text::same("jitter=0.2 (±20 %)")),
    Key::once("tail", text!("tail=0.05:10 (5 % take 10 times as long)")),
    Key::repeated("fail", text!("fail=7 (sample 7 raises an error)")),
    Key::repeated("panic", Text::same("panic=9")),
    Key::once("cpu", text!("cpu=true (compute instead of sleeping)")),
    Key::once("seed", Text::same("seed=0")),
    Key::once("shape", Text::same("shape=3x32x32")),
];

/// Tail of the cost distribution: some samples take much longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Fraction of the samples, 0..=1.
    pub fraction: f64,
    /// Factor of their cost.
    pub factor: f64,
}

/// Synthetic dataset: number, shape, costs and failures of its samples.
///
/// Its text is `len=24,cost_ms=50,slow=4:1000`. All keys are optional. `slow`, `fail` and `panic` accept several
/// entries (`slow=4:1000;9:300` or `slow=4:1000,slow=9:300`).
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    /// Number of samples (default 64).
    pub len: usize,
    /// Cost of a usual sample (default 10 ms).
    pub cost: Nanos,
    /// Exact costs of single samples by index, without jitter and tail.
    pub slow: BTreeMap<usize, Nanos>,
    /// Exact cost of each n-th sample (indices n−1, 2n−1, …).
    pub every: Option<(usize, Nanos)>,
    /// Maximum relative deviation of usual samples, uniformly distributed: 0.2 = ±20 %.
    pub jitter: f64,
    /// Tail of the usual samples.
    pub tail: Option<Tail>,
    /// Samples that raise a ValueError after their cost.
    pub fail: BTreeSet<usize>,
    /// Samples that panic after their cost: their worker dies.
    pub panic: BTreeSet<usize>,
    /// True to compute instead of sleeping.
    pub cpu: bool,
    /// Seed of the jitter and the tail.
    pub seed: u64,
    /// Shape of a sample's uint8 tensor (default 3×32×32).
    pub shape: Vec<i64>,
}

impl Default for CostModel {
    fn default() -> Self {
        Self {
            len: 64,
            cost: Nanos::from_millis(10),
            slow: BTreeMap::new(),
            every: None,
            jitter: 0.0,
            tail: None,
            fail: BTreeSet::new(),
            panic: BTreeSet::new(),
            cpu: false,
            seed: 0,
            shape: vec![3, 32, 32],
        }
    }
}

impl CostModel {
    /// Returns the cost of sample `index`. The cost is the same in every call and every run.
    pub fn cost(&self, index: usize) -> Nanos {
        if let Some(&cost) = self.slow.get(&index) {
            return cost;
        }
        if let Some((n, cost)) = self.every
            && n > 0
            && index % n == n - 1
        {
            return cost;
        }
        let mut cost = self.cost.0 as f64;
        if self.jitter > 0.0 {
            cost *= 1.0 + self.jitter * (2.0 * self.uniform(index, 1) - 1.0);
        }
        if let Some(tail) = self.tail
            && self.uniform(index, 2) < tail.fraction
        {
            cost *= tail.factor;
        }
        Nanos(cost.round().max(0.0) as i64)
    }

    /// Returns the size of a sample's tensor, bytes.
    pub fn bytes(&self) -> u64 {
        let sizes = self.shape.iter().map(|&size| size.max(0).unsigned_abs());
        sizes.fold(1, u64::saturating_mul)
    }

    /// Returns a number in 0..1 that depends only on the seed, the index and the purpose (SplitMix64's finalizer).
    pub fn uniform(&self, index: usize, purpose: u64) -> f64 {
        let mut z = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in [index as u64, purpose] {
            z = z.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
        }
        (z >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn set(&mut self, given: &KeyValue<'_>) -> Result<(), ValueError> {
        let value = given.value;
        match given.key {
            "len" => self.len = whole(value, 0..=MAX_LEN)?,
            "cost_ms" => self.cost = millis(value)?,
            "slow" => {
                for entry in value.split(';') {
                    let (index, cost) = pair(entry)?;
                    let index = whole(index, 0..=usize::MAX)?;
                    if self.slow.insert(index, millis(cost)?).is_some() {
                        return Err(ValueError::Other(say!("sample {index} has two costs")));
                    }
                }
            }
            "every" => {
                let (n, cost) = pair(value)?;
                self.every = Some((whole(n, 1..=MAX_LEN)?, millis(cost)?));
            }
            "jitter" => self.jitter = real(value, 0.0..=1.0)?,
            "tail" => {
                let (fraction, factor) = pair(value)?;
                self.tail = Some(Tail {
                    fraction: real(fraction, 0.0..=1.0)?,
                    factor: real(factor, 0.0..=1e6)?,
                });
            }
            "fail" => self.fail.extend(indices(value)?),
            "panic" => self.panic.extend(indices(value)?),
            "cpu" => self.cpu = flag(value)?,
            "seed" => self.seed = whole(value, 0..=u64::MAX)?,
            "shape" => self.shape = shape(value)?,
            other => return Err(ValueError::Other(say!("{other} is not part of a cost"))),
        }
        Ok(())
    }

    /// Refuses indices beyond the end, which would have no effect.
    fn check_indices(&self) -> Result<(), KeyValueError> {
        let named = [
            ("slow", self.slow.keys().next_back()),
            ("fail", self.fail.last()),
            ("panic", self.panic.last()),
        ];
        for (key, last) in named {
            if let Some(&index) = last.filter(|&&index| index >= self.len) {
                return Err(KeyValueError::Conflict(say!(
                    "{key} names sample {index}, but with len={} the last sample is {}. Raise len, or name another sample.",
                    self.len,
                    self.len.saturating_sub(1)
                )));
            }
        }
        Ok(())
    }
}

impl FromStr for CostModel {
    type Err = LoaderError;

    fn from_str(text: &str) -> Result<Self, LoaderError> {
        let key_set = KeySet::new(KEYS);
        let model = key_set
            .read(text)
            .and_then(|all| Self::default().with(&all));
        model.map_err(|mistake| {
            let sentence = key_set.sentence(&mistake);
            LoaderError::Spec(say!("synthetic:{text}: {sentence}"))
        })
    }
}

impl CostModel {
    /// Returns the model with the given values applied.
    pub(super) fn with(mut self, all: &[KeyValue<'_>]) -> Result<Self, KeyValueError> {
        for given in all {
            self.set(given).map_err(|wrong| given.error(wrong))?;
        }
        self.check_indices()?;
        Ok(self)
    }
}

/// Writes the options that differ from the defaults, in a fixed order.
impl fmt::Display for CostModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = Self::default();
        let list = |items: &BTreeSet<usize>| {
            let items: Vec<String> = items.iter().map(usize::to_string).collect();
            items.join(";")
        };
        let mut text = format!("len={},cost_ms={}", self.len, Millis(self.cost));
        if !self.slow.is_empty() {
            let slow: Vec<String> = self
                .slow
                .iter()
                .map(|(index, &cost)| format!("{index}:{}", Millis(cost)))
                .collect();
            write!(text, ",slow={}", slow.join(";"))?;
        }
        if let Some((n, cost)) = self.every {
            write!(text, ",every={n}:{}", Millis(cost))?;
        }
        if self.jitter != base.jitter {
            write!(text, ",jitter={}", self.jitter)?;
        }
        if let Some(tail) = self.tail {
            write!(text, ",tail={}:{}", tail.fraction, tail.factor)?;
        }
        if !self.fail.is_empty() {
            write!(text, ",fail={}", list(&self.fail))?;
        }
        if !self.panic.is_empty() {
            write!(text, ",panic={}", list(&self.panic))?;
        }
        if self.cpu {
            text.push_str(",cpu=true");
        }
        if self.seed != base.seed {
            write!(text, ",seed={}", self.seed)?;
        }
        if self.shape != base.shape {
            let sizes: Vec<String> = self.shape.iter().map(i64::to_string).collect();
            write!(text, ",shape={}", sizes.join("x"))?;
        }
        f.write_str(&text)
    }
}

/// Milliseconds with all decimals, so that they parse to the same value.
struct Millis(Nanos);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.0.max(0);
        let (ms, rest) = (ns / 1_000_000, ns % 1_000_000);
        if rest == 0 {
            return write!(f, "{ms}");
        }
        write!(f, "{ms}.{}", format!("{rest:06}").trim_end_matches('0'))
    }
}

fn millis(text: &str) -> Result<Nanos, ValueError> {
    let ms = real(text, 0.0..=MAX_COST_MS)?;
    Ok(Nanos((ms * 1e6).round() as i64))
}

fn indices(text: &str) -> Result<Vec<usize>, ValueError> {
    text.split(';')
        .map(|index| whole(index.trim(), 0..=usize::MAX))
        .collect()
}

fn shape(text: &str) -> Result<Vec<i64>, ValueError> {
    let sizes: Option<Vec<i64>> = text
        .split('x')
        .map(|size| size.trim().parse().ok().filter(|&size| size > 0))
        .collect();
    let bytes = |sizes: &[i64]| {
        sizes
            .iter()
            .try_fold(1i64, |all, &size| all.checked_mul(size))
    };
    match sizes {
        Some(sizes) if sizes.len() <= 8 && bytes(&sizes).is_some_and(|b| b <= MAX_BYTES) => {
            Ok(sizes)
        }
        _ => Err(ValueError::Other(say!(
            "'{text}' is not a shape: expected up to 8 sizes separated by x, with at most {MAX_BYTES} elements"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CostModel {
        text.parse().unwrap()
    }

    #[test]
    fn costs_match_the_option_text() {
        let model = parse("len=24, cost_ms=50, slow=4:1000;15:1.5, slow=9:300, every=8:200");
        let ms = |index| model.cost(index).as_millis_f64();
        assert_eq!((ms(0), ms(4), ms(9), ms(15)), (50.0, 1000.0, 300.0, 1.5));
        assert_eq!((ms(7), ms(8), ms(23)), (200.0, 50.0, 200.0));
    }

    #[test]
    fn jitter_and_tail_have_the_requested_distribution() {
        let model = parse("len=20000,cost_ms=10,jitter=0.2,tail=0.05:10");
        let costs: Vec<f64> = (0..model.len)
            .map(|i| model.cost(i).as_millis_f64())
            .collect();
        assert!(
            costs
                .iter()
                .all(|c| (8.0..=12.0).contains(c) || (80.0..=120.0).contains(c))
        );
        let share = costs.iter().filter(|&&c| c > 50.0).count() as f64 / costs.len() as f64;
        assert!((0.045..0.055).contains(&share), "{share}");
        let usual: Vec<f64> = costs.iter().copied().filter(|&c| c < 50.0).collect();
        let mean = usual.iter().sum::<f64>() / usual.len() as f64;
        assert!((9.95..10.05).contains(&mean), "{mean}");
        let again = parse("len=20000,cost_ms=10,jitter=0.2,tail=0.05:10");
        assert!((0..100).all(|i| again.cost(i) == model.cost(i)));
        let other = parse("len=20000,cost_ms=10,jitter=0.2,tail=0.05:10,seed=1");
        assert!((0..100).any(|i| other.cost(i) != model.cost(i)));
    }

    #[test]
    fn invalid_options_are_refused_with_a_hint() {
        let says = |text: &str, part: &str| {
            let error = text.parse::<CostModel>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(
                error.contains("Valid: ") || error.contains("Example: "),
                "{error}"
            );
            assert!(error.contains(&format!("synthetic:{text}: ")), "{error}");
        };
        says(
            "cost=3",
            "unknown key 'cost'. Did you mean cost_ms? Valid: ",
        );
        says("size=3", "synthetic:size=3: unknown key 'size'");
        says("len", "'len' is not of the form name=value");
        says("len=", "'len=' is not of the form name=value");
        says("len=-1", "len=-1: '-1' is not a whole number from 0 to");
        says("len=3,len=4", "len is given twice");
        says("slow=4", "is not two numbers separated by a colon");
        says("slow=4:1;4:2", "sample 4 has two costs");
        says("len=3,fail=3", "with len=3 the last sample is 2");
        says("jitter=2", "is not a number from 0 to 1");
        says("jitter=NaN", "is not a number from 0 to 1");
        says("cost_ms=inf", "is not a number");
        says("every=0:5", "is not a whole number from 1 to 1000000000");
        says("shape=3x0x4", "is not a shape");
        says("shape=99999x99999x9", "is not a shape");
        says("cpu=yes", "neither true nor false");
    }
}
