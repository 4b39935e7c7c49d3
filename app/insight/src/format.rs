//! Formats of numbers and names, shared by the diagnosis and the window.

use loadscope_trace::Nanos;
use loadscope_words::say;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

pub use loadscope_trace::{count, percent, plural};

/// Escapes characters of untrusted text that control a terminal or browser: cursor, color and text direction.
/// Escapes have JSON's form (`\u001b`). Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_command(c) {
            // Writing to a `String` cannot fail.
            true => _ = write!(out, "\\u{:04x}", u32::from(c)),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns true for characters that control a terminal or browser.
fn is_command(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Direction marks and overrides, and line separators that only some programs recognize.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c => c.is_control(),
    }
}

/// Formats a relative change: `−26 %`, `+3.0 %`, `0 %`.
pub fn signed(share: f64) -> String {
    match share {
        s if s.abs() < 0.0005 => "0\u{2009}%".to_owned(),
        s if s < 0.0 => format!("−{}", percent(-s)),
        s => format!("+{}", percent(s)),
    }
}

/// Formats an age, rounded down.
pub fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (number, one, many) = match seconds {
        ..60 => return say!("just now").to_owned(),
        60..3600 => (seconds / 60, say!(n: "minute"), say!(n: "minutes")),
        3600..86_400 => (seconds / 3600, say!(n: "hour"), say!(n: "hours")),
        _ => (seconds / 86_400, say!(n: "day"), say!(n: "days")),
    };
    say!("{} ago", plural(number, one, many))
}

/// Formats a duration in days, hours and minutes: `3 d 4 h`, `2 h 15 min`, `12 min`. Shorter ones are in seconds.
pub fn length(time: Nanos) -> String {
    let minutes = time.0.max(0) / 60_000_000_000;
    match minutes {
        ..2 => time.to_string(),
        2..60 => say!("{minutes} min"),
        60..1440 => say!("{} h {} min", minutes / 60, minutes % 60),
        _ => say!("{} d {} h", minutes / 1440, minutes % 1440 / 60),
    }
}

/// Formats hours, minutes and seconds with this number of decimals (at most 9), truncated: `1:02:00`, `3 d 4:00:00.250`.
pub fn clock(time: Nanos, decimals: usize) -> String {
    let sign = if time.0 < 0 { "−" } else { "" };
    let ns = time.0.unsigned_abs();
    let seconds = ns / 1_000_000_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes) = (of_day / 3_600, of_day / 60 % 60);
    let mut clock = format!("{hours}:{minutes:02}:{:02}", of_day % 60);
    if decimals > 0 {
        let rest = format!("{:09}", ns % 1_000_000_000);
        clock.push('.');
        clock.push_str(&rest[..decimals.min(9)]);
    }
    match days {
        0 => format!("{sign}{clock}"),
        days => format!("{sign}{}", say!("{days} d {clock}")),
    }
}

/// Joins two texts of one or several sentences, with a period after each.
pub fn join(text: &str, more: &str) -> String {
    let open = |text: &str| text.trim_end_matches(['.', '。']).to_owned();
    let (text, more) = (open(text), open(more));
    say!("{text}. {more}.")
}

/// Returns the text with an initial capital, unless the first word is a name: `in_order=False`, `run.jsonl`, `/tmp`.
pub fn capital(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    if word
        .trim_end_matches(['.', ':'])
        .contains(['_', '=', '.', '/'])
    {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_capitalized() {
        assert_eq!(capital("a third worker"), "A third worker");
        assert_eq!(capital("0.96 s of it"), "0.96 s of it");
        assert_eq!(capital("stopped."), "Stopped.");
        for name in ["in_order=False would", "cat.png is", "/tmp/x is full"] {
            assert_eq!(capital(name), name);
        }
    }

    #[test]
    fn ages_are_rounded_down_to_one_unit() {
        let shown = [5, 60, 7199, 7200, 90_000, 180_000].map(|s| ago(Duration::from_secs(s)));
        let expected = [
            "just now",
            "1 minute ago",
            "1 hour ago",
            "2 hours ago",
            "1 day ago",
            "2 days ago",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn long_times_are_written_in_the_units_of_a_day() {
        let shown = [0, 119, 120, 3_599, 8_100, 273_600].map(|s| length(Nanos(s * 1_000_000_000)));
        let expected = ["0 ns", "119 s", "2 min", "59 min", "2 h 15 min", "3 d 4 h"];
        assert_eq!(shown.map(|text| text.replace('\u{2009}', " ")), expected);
    }

    #[test]
    fn a_clock_shows_days() {
        let ms = |ms: i64, decimals| clock(Nanos(ms * 1_000_000), decimals);
        assert_eq!(ms(0, 0), "0:00:00");
        assert_eq!(ms(3_725_250, 1), "1:02:05.2");
        assert_eq!(ms(-60_000, 3), "−0:01:00.000");
        assert_eq!(ms(3 * 86_400_000 + 4 * 3_600_000, 0), "3 d 4:00:00");
        assert_eq!(clock(Nanos(i64::MIN), 12), "−106751 d 23:47:16.854775808");
    }

    #[test]
    fn control_characters_are_escaped_when_printed() {
        for plain in ["", "Grüße\n\tzwei – 1.5\u{2009}ms 数据集", "שלום"] {
            assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
        }
        let text = printable("\x1b[2J\x1b]0;title\x07\r\x08\u{9b}31m\x7f\u{202e}gpj.exe\u{2066}\0");
        assert_eq!(
            text,
            "\\u001b[2J\\u001b]0;title\\u0007\\u000d\\u0008\\u009b31m\\u007f\\u202egpj.exe\\u2066\\u0000"
        );
        // The escaped JSON has the same value.
        let json = "\"a\u{7f}b\u{202e}\"";
        let value: String = serde_json::from_str(&printable(json)).expect("still JSON");
        assert_eq!(value, "a\u{7f}b\u{202e}");
    }
}
