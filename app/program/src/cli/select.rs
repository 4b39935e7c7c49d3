//! Selection of the batches to record.

use std::ops::RangeInclusive;

use clap::Args;
use loadscope_session::Selection;
use loadscope_words::say;

use super::number::batches;

/// The selection of batches to record, all by default.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectArgs {
    /// Leave out the first N batches of each loader, while caches fill
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = batches)]
    skip_first: u64,
    /// Record only these epochs of each loader, counted from 0: 2, 2-5 or 0,10,20 (can be repeated)
    #[arg(long, value_name = "EPOCHS", value_delimiter = ',', value_parser = epochs)]
    epochs: Vec<RangeInclusive<u32>>,
}

impl SelectArgs {
    /// Returns the selection of the arguments.
    pub fn selection(&self) -> Selection {
        Selection {
            skip_first: self.skip_first,
            epochs: self.epochs.clone(),
        }
    }
}

fn epochs(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    match number(first).zip(number(last)) {
        Some((first, last)) if first <= last => Ok(first..=last),
        Some((first, last)) => Err(say!("{first} comes after {last}: write {last}-{first}")),
        None => Err(
            say!("expected an epoch, counted from 0, or two with a hyphen: 2 or 2-5").to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_numbers_or_ranges() {
        assert_eq!(epochs("2"), Ok(2..=2));
        assert_eq!(epochs("2-5"), Ok(2..=5));
        assert!(epochs("5-2").is_err_and(|why| why.contains("2-5")));
        for wrong in ["", "x", "1-", "-1", "1-2-3", "99999999999"] {
            assert!(epochs(wrong).is_err(), "{wrong}");
        }
    }
}
