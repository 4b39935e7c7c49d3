//! Pearson's χ² test: how likely chance alone makes counts differ from what was expected by as much as they do.

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// Σ (came − expected)² / expected.
    pub statistic: f64,
    /// Classes that can occur, less one.
    pub degrees: u32,
    /// The probability of a statistic as large or larger by chance.
    pub p: f64,
}

/// Compares counts with their expectations; pairs are (came, expected). `None` if fewer than two classes can occur. A class that
/// should never occur and did makes the statistic infinite.
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

/// The regularised upper incomplete gamma function Q(a, x), for a > 0 and x ≥ 0: by its series where that converges fast, by
/// its continued fraction elsewhere (Abramowitz and Stegun 6.5.29 and 6.5.31).
pub fn upper_gamma(a: f64, x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    let q = if x < a + 1.0 {
        1.0 - front * series(a, x)
    } else {
        front * fraction(a, x)
    };
    q.clamp(0.0, 1.0)
}

/// Terms enough for any a that a number of classes gives.
const TERMS: u32 = 100_000;
const PRECISE: f64 = 1e-15;

fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for k in 1..TERMS {
        term *= x / (a + f64::from(k));
        sum += term;
        if term < sum * PRECISE {
            break;
        }
    }
    sum
}

/// Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut h = d;
    for k in 1..TERMS {
        let k = f64::from(k);
        let an = -k * (k - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + an / c;
        c = if c.abs() < TINY { TINY } else { c };
        let delta = c * d;
        h *= delta;
        if (delta - 1.0).abs() < PRECISE {
            break;
        }
    }
    h
}

/// The logarithm of the gamma function for x > 0: Stirling's series, from 10 on; below by Γ(x) = Γ(x + 1) / x.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let (r, r2) = (1.0 / x, 1.0 / (x * x));
    let series = r
        * (1.0 / 12.0
            - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-12), "{a} {b}");
    }

    #[test]
    fn known_values() {
        // With 2 degrees of freedom the tail is exp(−x / 2); with 1 it is erfc(√(x / 2)).
        close(upper_gamma(1.0, 3.0), (-3f64).exp());
        close(upper_gamma(0.5, 1.920_729_410_347_062), 0.05);
        // 9 degrees, χ² = 16.918977604620448: 5 %; 21.665994333461924: 1 %. 99 degrees, 123.2252214533618: 5 %.
        close(upper_gamma(4.5, 16.918_977_604_620_448 / 2.0), 0.05);
        close(upper_gamma(4.5, 21.665_994_333_461_924 / 2.0), 0.01);
        close(upper_gamma(49.5, 123.225_221_453_361_8 / 2.0), 0.05);
        assert_eq!(upper_gamma(2.0, 0.0), 1.0);
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        close(ln_gamma(11.0), 3_628_800f64.ln());
    }

    #[test]
    fn counts_against_expectations() {
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
        fn tails_fall_from_one_to_nothing(a in 0.5..5e3f64, x in 0.0..1e4f64, more in 0.0..100.0f64) {
            let (q, further) = (upper_gamma(a, x), upper_gamma(a, x + more));
            prop_assert!((0.0..=1.0).contains(&q));
            prop_assert!(further <= q + 1e-9, "{q} {further}");
        }
    }
}
