//! Numbers for people.

use loadscope_words::say;

/// Formats a number with thousands separators: `1797` → `1,797`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Formats a number with a noun: `1 batch`, `2 batches`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Formats a share with a thin space: `0.7` → `70 %`. Small shares keep a decimal.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        "—".to_owned()
    } else if value != 0.0 && value.abs() < 9.95 {
        format!("{value:.1}\u{2009}%")
    } else {
        format!("{value:.0}\u{2009}%")
    }
}

/// Formats a number of bytes in a suitable unit.
pub fn bytes(value: f64) -> String {
    let (unit, size) = match value.abs() {
        v if v >= 1e9 => ("GB", 1e9),
        v if v >= 1e6 => ("MB", 1e6),
        v if v >= 1e3 => ("kB", 1e3),
        _ => return format!("{value:.0}\u{2009}B"),
    };
    let value = value / size;
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}\u{2009}{unit}")
}

/// Truncates a sentence that can quote foreign text.
pub fn brief(mut text: String) -> String {
    const MAX_BYTES: usize = 400;
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push('…');
    }
    text
}

/// Formats a list: `0, 2 and 5`. After the first `most`, only their number: `0, 2, 5 and 7 more`.
pub fn list(words: &[String], most: usize) -> String {
    match (words.len(), words.split_last()) {
        (n, _) if n > most => say!("{} and {} more", words[..most].join(say!(", ")), n - most),
        (_, Some((last, before))) if !before.is_empty() => {
            say!("{} and {last}", before.join(say!(", ")))
        }
        _ => words.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_plurals_and_percentages_are_formatted() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_797), "1,797");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(plural(1, "batch", "batches"), "1 batch");
        assert_eq!(percent(0.7), "70\u{2009}%");
        assert_eq!(percent(0.012), "1.2\u{2009}%");
        assert_eq!(percent(f64::NAN), "—");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(brief("short".to_owned()), "short");
        let cut = brief("ä".repeat(1_000) + "end");
        assert!(cut.len() < 410 && cut.ends_with("ä…"), "{cut}");
        assert!(brief("a".to_owned() + &"ä".repeat(1_000)).ends_with("ä…"));
    }

    #[test]
    fn lists_end_with_and() {
        let words = ["1", "2", "3", "4"].map(str::to_owned);
        assert_eq!(list(&words[..1], 3), "1");
        assert_eq!(list(&words[..2], 3), "1 and 2");
        assert_eq!(list(&words, 3), "1, 2, 3 and 1 more");
        assert_eq!(list(&[], 3), "");
    }
}
