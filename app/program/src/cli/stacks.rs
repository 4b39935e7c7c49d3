//! Arguments of the sampled stacks.

use clap::Args;
use loadscope_session::{StackSampling, Watched};
use loadscope_words::say;

/// Maximum number of samples per second.
const MAX_RATE: u32 = 1000;

/// Sampled stacks.
#[derive(Debug, Args)]
pub struct StackArgs {
    /// Sample the Python stacks of the program RATE times per second, or not (off) (Linux)
    ///
    /// The report and the window then show the lines of code that take the time. Loadscope reads the memory of the processes and stops none.
    #[arg(long, value_name = "RATE|off", default_value = "100", value_parser = rate)]
    stacks: Rate,
    /// Leave the source code of sampled functions out of the recording
    #[arg(long)]
    no_source: bool,
}

/// Samples per second. 0 takes no samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate(u32);

impl StackArgs {
    /// Applies the arguments to a program before its session starts.
    pub fn apply(&self, watched: &Watched) {
        let Rate(rate) = self.stacks;
        if rate > 0 {
            watched.set_stacks(StackSampling {
                rate,
                has_source: !self.no_source,
            });
        }
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    if text == "off" {
        return Ok(Rate(0));
    }
    let rate = text
        .parse()
        .ok()
        .filter(|rate| (1..=MAX_RATE).contains(rate));
    rate.map(Rate).ok_or_else(|| {
        say!("expected off, or samples per second from 1 to {MAX_RATE}, such as 100")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_or_off() {
        assert_eq!(rate("off"), Ok(Rate(0)));
        assert_eq!(rate("1000"), Ok(Rate(1000)));
        for wrong in ["0", "1001", "-1", "1.5", "on", ""] {
            assert!(
                rate(wrong).is_err_and(|why| why.contains("from 1 to 1000")),
                "{wrong}"
            );
        }
    }
}
