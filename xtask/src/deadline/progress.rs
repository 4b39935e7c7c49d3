//! The state of the tests, parsed from the output of libtest.

use std::ffi::OsString;
use std::time::{Duration, Instant};

/// End of the line that libtest prints when a test has run for a minute.
const LONG: &str = " has been running for over 60 seconds";
/// Run time of a test when libtest prints that line.
const MINUTE: Duration = Duration::from_secs(60);

/// Tests that run many Python programs or a browser, or kill a recorder hundreds of times. They take minutes.
const SLOW: [&str; 8] = [
    "a_recorder_killed_300_times_leaves_readable_recordings",
    "framework_callbacks_log_the_values_of_the_report",
    "programs_print_their_stored_output",
    "pytorch_programs_run_the_same_and_are_recorded_whole",
    "running_programs_are_recorded_after_attach",
    "the_python_package_reads_recordings_exactly",
    "the_python_package_records_its_own_program",
    "the_window_works_in_a_browser",
];
/// Factor by which a slow test's deadline is longer.
const SLOW_DEADLINES: u32 = 7;

/// State of a running test binary.
pub struct Progress {
    deadline: Duration,
    /// True if the output names the test of each result. False with `--quiet`.
    names_results: bool,
    /// Incomplete last line.
    line: Vec<u8>,
    /// Tests that have run for more than a minute, with their start.
    long: Vec<(String, Instant)>,
    last_output: Instant,
}

impl Progress {
    /// Creates the state before any test has ended. `arguments` are those of the binary.
    pub fn new(deadline: Duration, arguments: &[OsString], now: Instant) -> Self {
        let is_quiet = |argument: &str| {
            ["-q", "--quiet"].contains(&argument) || argument.starts_with("--format")
        };
        let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
        Self {
            deadline,
            names_results: !arguments.any(|argument| is_quiet(&argument)),
            line: Vec::new(),
            long: Vec::new(),
            last_output: now,
        }
    }

    /// Reads output of the binary.
    pub fn read(&mut self, bytes: &[u8], now: Instant) {
        self.last_output = now;
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    self.read_line(String::from_utf8_lossy(&line).trim_end(), now);
                }
                _ => self.line.push(*byte),
            }
        }
    }

    /// Reads one line. With `--nocapture`, it can start with output of a test.
    fn read_line(&mut self, line: &str, now: Instant) {
        let last_word = |text: &str| text.rsplit(' ').next().unwrap_or(text).to_owned();
        if let Some(test) = line.strip_suffix(LONG) {
            let start = now.checked_sub(MINUTE).unwrap_or(now);
            self.long.push((last_word(test), start));
        }
        for (end, _) in line.match_indices(" ... ") {
            let test = line.get(..end).unwrap_or(line);
            let test = last_word(test.strip_suffix(" - should panic").unwrap_or(test));
            self.long.retain(|(long, _)| *long != test);
        }
    }

    /// Returns the tests that exceed the deadline. Returns `None` if none does, and an empty list if libtest has named no test.
    pub fn late(&self, now: Instant) -> Option<Vec<String>> {
        let is_over = |start: Instant, deadline| now.saturating_duration_since(start) >= deadline;
        let long = self.long.iter();
        let longest = long.clone().map(|(name, _)| self.deadline_of(name)).max();
        let is_silent = is_over(self.last_output, longest.unwrap_or(self.deadline));
        let is_late = |name: &str, start| is_over(start, self.deadline_of(name));
        let late: Vec<String> = long
            .filter(|(name, start)| is_silent || (self.names_results && is_late(name, *start)))
            .map(|(name, _)| name.clone())
            .collect();
        (is_silent || !late.is_empty()).then_some(late)
    }

    /// Returns the deadline of a test.
    fn deadline_of(&self, test: &str) -> Duration {
        let name = test.rsplit("::").next().unwrap_or(test);
        match SLOW.contains(&name) {
            true => self.deadline.saturating_mul(SLOW_DEADLINES),
            false => self.deadline,
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test ends with what went wrong")]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn progress(arguments: &[&str]) -> (Progress, Instant) {
        let start = Instant::now();
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let deadline = Duration::from_secs(300);
        (Progress::new(deadline, &arguments, start), start)
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_hanging_test_is_late_even_if_others_end() {
        let (mut progress, start) = progress(&[]);
        progress.read(
            b"test a::slow has been running for over 60 seconds\n",
            after(start, 60),
        );
        progress.read(b"test a::fast ... ok\ntest a::", after(start, 299));
        assert_eq!(progress.late(after(start, 299)), None);
        let late = progress.late(after(start, 300));
        assert_eq!(late, Some(vec!["a::slow".to_owned()]));
    }

    #[test]
    fn a_test_that_ended_is_not_late() {
        let (mut progress, start) = progress(&["--nocapture"]);
        for name in ["b", "c", "d"] {
            let line = format!("test {name}{LONG}\n");
            progress.read(line.as_bytes(), after(start, 60));
        }
        progress.read(b"test b ... \x1b[32mok\x1b[m\n", after(start, 200));
        progress.read(b"output ... test c ... ok\n", after(start, 250));
        progress.read(b"test d - should panic ... ok\n", after(start, 299));
        assert_eq!(progress.late(after(start, 598)), None);
        assert_eq!(progress.late(after(start, 599)), Some(Vec::new()));
    }

    #[test]
    fn a_slow_test_has_more_time() {
        let (mut progress, start) = progress(&[]);
        let name = format!("pytorch::{}", SLOW[0]);
        let line = format!("test {name}{LONG}\n");
        progress.read(line.as_bytes(), after(start, 60));
        assert_eq!(progress.late(after(start, 2099)), None);
        assert_eq!(progress.late(after(start, 2160)), Some(vec![name]));
    }

    #[test]
    fn every_slow_test_exists() {
        let tests = ["app/program/tests", "app/lessons/tests"];
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = tests
            .map(|folder| sources(&workspace.join(folder)))
            .concat();
        for name in SLOW {
            let head = format!("fn {name}()");
            assert!(files.contains(&head), "{name} was renamed");
        }
    }

    fn sources(folder: &Path) -> String {
        let entries = fs::read_dir(folder).expect("a folder of tests").flatten();
        entries
            .map(|entry| match entry.path() {
                path if path.is_dir() => sources(&path),
                path => fs::read_to_string(path).unwrap_or_default(),
            })
            .collect()
    }

    #[test]
    fn a_quiet_test_is_late_after_the_last_dot() {
        let (mut progress, start) = progress(&["--quiet"]);
        progress.read(
            b"test e has been running for over 60 seconds\n",
            after(start, 60),
        );
        progress.read(b".....", after(start, 400));
        assert_eq!(progress.late(after(start, 699)), None);
        let late = progress.late(after(start, 700));
        assert_eq!(late, Some(vec!["e".to_owned()]));
    }
}
