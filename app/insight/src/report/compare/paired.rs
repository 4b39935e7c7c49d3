//! Noise model for two runs that yield the same samples in the same batches (paired comparison).
//!
//! A batch of slow samples is slow in both runs, so the spread of batch times is not noise.
//! The noise is the spread of the time differences between the same batches.

use oorandom::Rand64;

use super::pieces::Drawn;

/// Standard deviations of the second run's sums due to noise, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    /// Noise of waits plus training steps, ns.
    cycle: f64,
    /// Noise of fetching plus collating, ns.
    work: f64,
}

impl Noise {
    /// Estimates the noise from the time differences between the same batches.
    ///
    /// The mean difference is a real change, not noise. The noise of fetching and collating counts fully as noise of waits,
    /// which is an upper bound.
    pub fn between(a: &[Vec<Vec<Drawn>>], b: &[Vec<Vec<Drawn>>]) -> Self {
        let all = |of: &[Vec<Vec<Drawn>>]| -> Vec<Drawn> {
            of.iter().flatten().flatten().copied().collect()
        };
        let (a, b) = (all(a), all(b));
        let variance = |of: fn(&Drawn) -> f64| {
            let pairs = a.iter().zip(&b);
            let differences: Vec<f64> = pairs.map(|(a, b)| of(b) - of(a)).collect();
            let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
            differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>()
        };
        let (work, step) = (variance(|d| d.work), variance(|d| d.cycle - d.waited));
        Self {
            cycle: (work + step).sqrt(),
            work: work.sqrt(),
        }
    }

    /// Returns the second run's sums with random noise.
    pub fn draw(self, sums: &Drawn, random: &mut Rand64) -> Drawn {
        let (cycle, work) = (normal(random) * self.cycle, normal(random) * self.work);
        Drawn {
            cycle: (sums.cycle + cycle).max(1.0),
            waited: (sums.waited + cycle).max(0.0),
            work: (sums.work + work).max(0.0),
            ..*sums
        }
    }
}

/// Returns a random number of the standard normal distribution (Box–Muller).
fn normal(random: &mut Rand64) -> f64 {
    // `u` is above zero, because the logarithm of zero is infinite.
    let (u, v) = (1.0 - random.rand_float(), random.rand_float());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(work: impl Fn(usize) -> f64) -> Vec<Vec<Vec<Drawn>>> {
        let of = |k| Drawn {
            cycle: work(k) + 10.0,
            waited: work(k),
            work: work(k),
            samples: 1.0,
            batches: 1.0,
        };
        vec![vec![(0..100).map(of).collect()]]
    }

    #[test]
    fn a_constant_difference_of_all_batches_is_no_noise() {
        let slow = |k: usize| if k.is_multiple_of(30) { 900.0 } else { 10.0 };
        let (a, b) = (batches(slow), batches(|k| slow(k) + 5.0));
        let noise = Noise::between(&a, &b);
        assert!(noise.cycle < 1e-6 && noise.work < 1e-6, "{noise:?}");
        let jitter = batches(|k| slow(k) + if k % 2 == 0 { 3.0 } else { -3.0 });
        let noise = Noise::between(&a, &jitter);
        assert!((noise.work - 30.0).abs() < 1e-6, "{noise:?}");
    }

    #[test]
    fn draws_have_the_deviation_of_the_noise() {
        let mut random = Rand64::new(1);
        let sums = Drawn {
            cycle: 1e6,
            waited: 5e5,
            work: 1e6,
            samples: 1.0,
            batches: 1.0,
        };
        let noise = Noise {
            cycle: 1e4,
            work: 1e3,
        };
        let drawn: Vec<f64> = (0..4000)
            .map(|_| noise.draw(&sums, &mut random).cycle)
            .collect();
        let mean = drawn.iter().sum::<f64>() / 4000.0;
        let deviation = (drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        assert!((mean - 1e6).abs() < 1e3, "{mean}");
        assert!((deviation / 1e4 - 1.0).abs() < 0.05, "{deviation}");
    }
}
