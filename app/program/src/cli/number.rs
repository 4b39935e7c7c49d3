//! Parsers of numbers on the command line. An error names the accepted range, or has an example.

use std::fmt::Display;
use std::str::FromStr;

use loadscope_trace::count;
use loadscope_words::say;

/// Returns a parser of whole numbers from `least` to `most`.
pub(super) fn whole_number<T>(
    least: T,
    most: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Into<u64> + Copy + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.trim().parse::<T>().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        let (least, most) = (count(least.into()), count(most.into()));
        number.ok_or_else(|| say!("expected a whole number from {least} to {most}"))
    }
}

/// Parses a number of batches.
pub(super) fn batches(text: &str) -> Result<u64, String> {
    parsed(text, say!("expected a number of batches, such as 10"))
}

/// Parses the seed of a generator.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    let (least, most) = (0, u64::MAX);
    parsed(text, say!("expected a whole number from {least} to {most}"))
}

/// Parses the side of an image, pixels. The range is checked with the other options.
pub(super) fn pixels(text: &str) -> Result<u32, String> {
    parsed(text, say!("expected a number of pixels, such as 224"))
}

/// Parses seconds. The range is checked with the other options.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    parsed(
        text,
        say!("expected a number of seconds, such as 30 or 0.5"),
    )
}

/// Parses milliseconds. The range is checked with the other options.
pub(super) fn milliseconds(text: &str) -> Result<f64, String> {
    let expected = say!("expected a number of milliseconds, such as 20 or 0.5");
    parsed(text, expected)
}

fn parsed<T: FromStr>(text: &str, expected: impl Display) -> Result<T, String> {
    text.trim().parse().map_err(|_| expected.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_range_or_an_example() {
        let previews = whole_number(0_u32, 64);
        assert_eq!(previews("64"), Ok(64));
        let range = "expected a whole number from 0 to 64";
        for wrong in ["65", "-1", "x", "", "1.5"] {
            assert_eq!(previews(wrong), Err(range.to_owned()), "{wrong}");
        }
        let slowest = whole_number(0_u32, 10_000);
        assert!(slowest("10001").is_err_and(|why| why.ends_with("0 to 10,000")));
        assert_eq!(seed("7"), Ok(7));
        assert!(seed("x").is_err_and(|why| why.ends_with("to 18446744073709551615")));
        assert_eq!(batches("10"), Ok(10));
        assert_eq!(pixels("224"), Ok(224));
        assert!(seconds("0.5").is_ok() && milliseconds("20").is_ok());
        for why in [
            batches("x").err(),
            pixels("x").err(),
            seconds("x").err(),
            milliseconds("x").err(),
        ] {
            assert!(why.is_some_and(|why| why.contains(", such as ")));
        }
    }
}
