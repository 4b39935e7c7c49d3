//! Pearson's χ² test: the probability that chance explains the difference between counts and expectations.

use statrs::function::gamma::gamma_ur;

/// Result of a χ² test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// Σ (came − expected)² / expected.
    pub statistic: f64,
    /// Number of possible classes minus one.
    pub degrees: u32,
    /// Probability of an equal or larger statistic by chance.
    pub p: f64,
}

/// Tests pairs of (observed, expected) counts. Returns `None` if fewer than two classes are possible.
/// An observed class with expectation zero makes the statistic infinite.
pub fn test(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<ChiSquare> {
    let (mut statistic, mut classes) = (0.0, 0u32);
    for (came, expected) in pairs {
        if expected > 0.0 {
            statistic += (came - expected).powi(2) / expected;
            classes += 1;
        } else if came > 0.0 {
            statistic = f64::INFINITY;
        }
    }
    let degrees = classes.checked_sub(1).filter(|d| *d > 0)?;
    Some(ChiSquare {
        statistic,
        degrees,
        p: upper_gamma(f64::from(degrees) / 2.0, statistic / 2.0),
    })
}

/// Returns the regularized upper incomplete gamma function Q(a, x), for finite a > 0.
fn upper_gamma(a: f64, x: f64) -> f64 {
    // The library returns no result or panics for these values.
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    gamma_ur(a, x).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-12), "{a} {b}");
    }

    #[test]
    fn upper_gamma_matches_known_values() {
        // With 2 degrees of freedom, the tail is exp(−x / 2). With 1, it is erfc(√(x / 2)).
        close(upper_gamma(1.0, 3.0), (-3f64).exp());
        close(upper_gamma(0.5, 1.920_729_410_347_062), 0.05);
        // 9 degrees: χ² = 16.918977604620448 is 5 %, 21.665994333461924 is 1 %. 99 degrees: 123.2252214533618 is 5 %.
        close(upper_gamma(4.5, 16.918_977_604_620_448 / 2.0), 0.05);
        close(upper_gamma(4.5, 21.665_994_333_461_924 / 2.0), 0.01);
        close(upper_gamma(49.5, 123.225_221_453_361_8 / 2.0), 0.05);
        assert_eq!(upper_gamma(2.0, 0.0), 1.0);
        assert_eq!(upper_gamma(2.0, f64::INFINITY), 0.0);
        assert_eq!(upper_gamma(2.0, f64::NAN), 1.0);
    }

    #[test]
    fn chi_square_statistics_are_exact() {
        let fair = test([(10.0, 10.0), (10.0, 10.0)]).unwrap();
        assert_eq!((fair.statistic, fair.degrees, fair.p), (0.0, 1, 1.0));
        let die = [5.0, 8.0, 9.0, 8.0, 10.0, 20.0].map(|came| (came, 10.0));
        let die = test(die).unwrap();
        close(die.statistic, 13.4);
        assert!((die.p - 0.019_905).abs() < 1e-5, "{}", die.p);
        assert_eq!(test([(5.0, 5.0), (0.0, 0.0)]), None);
        assert_eq!(test([(5.0, 3.0), (5.0, 3.0), (1.0, 0.0)]).unwrap().p, 0.0);
    }

    proptest! {
        #[test]
        fn tails_decrease_from_one_to_zero(a in 0.5..5e3f64, x in 0.0..1e4f64, more in 0.0..100.0f64) {
            let (q, further) = (upper_gamma(a, x), upper_gamma(a, x + more));
            prop_assert!((0.0..=1.0).contains(&q));
            prop_assert!(further <= q + 1e-9, "{q} {further}");
        }
    }
}
