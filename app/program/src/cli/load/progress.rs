//! Progress bar of a run without a window.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use loadscope_insight::format;
use loadscope_trace::Run;
use loadscope_words::say;

/// Minimum time between two updates.
const OFTEN: Duration = Duration::from_millis(200);

/// Pause after an update, as a multiple of its duration. An update then takes at most 1/20 of a core. An update sums all waits, and a run
/// can have millions.
const PART: u32 = 20;

/// Progress bar, hidden without a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Number of batches that training received.
    pub yielded: u64,
    /// Time of the next update.
    due: Instant,
}

impl Progress {
    /// Creates a bar without yielded batches.
    pub fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} batches  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self {
            bar,
            yielded: 0,
            due: Instant::now(),
        }
    }

    /// Updates the bar, at most once per [`OFTEN`].
    pub fn show_when_due(&mut self, run: &Run) {
        let start = Instant::now();
        if start < self.due || self.bar.is_hidden() {
            return;
        }
        let per_epoch = run.info.batches_per_epoch.unwrap_or(0);
        let epochs = run.info.options.epochs.into();
        self.bar.set_length(per_epoch.saturating_mul(epochs));
        self.bar.set_position(self.yielded);
        let waited = run.waited().as_secs_f64() / run.end().as_secs_f64().max(1e-9);
        self.bar
            .set_message(say!("waited {}", format::percent(waited)));
        self.due = start + OFTEN.max(start.elapsed() * PART);
    }

    /// Removes the bar.
    pub fn clear(self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use indicatif::TermLike;

    use super::*;

    /// Terminal that shows nothing.
    #[derive(Debug)]
    struct Blank;

    impl TermLike for Blank {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, _: &str) -> io::Result<()> {
            Ok(())
        }
        fn write_str(&self, _: &str) -> io::Result<()> {
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Regression test: the bar summed all waits for each portion of events. For a million batches, that took longer than loading them.
    #[test]
    fn progress_is_computed_only_when_due() {
        let mut progress = Progress::on(ProgressDrawTarget::term_like(Box::new(Blank)));
        let run = Run::default();
        progress.yielded = 1;
        progress.show_when_due(&run);
        assert_eq!(progress.bar.position(), 1);
        progress.due += Duration::from_secs(3600);
        progress.yielded = 2;
        progress.show_when_due(&run);
        assert_eq!(progress.bar.position(), 1, "too soon");
        progress.due = Instant::now();
        progress.show_when_due(&run);
        assert_eq!(progress.bar.position(), 2);
        assert!(progress.due >= Instant::now() + OFTEN / 2, "and not soon");
    }

    #[test]
    fn progress_is_not_computed_without_a_terminal() {
        let mut progress = Progress::on(ProgressDrawTarget::hidden());
        progress.yielded = 1;
        progress.show_when_due(&Run::default());
        assert_eq!(progress.bar.position(), 0);
    }
}
