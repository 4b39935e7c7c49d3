//! Dates and times in the format of Python's `isoformat`.

use arrow_array::temporal_conversions as convert;
use arrow_schema::TimeUnit;

/// Formats `2020-01-31T12:30:00.500000`. Returns `None` if the year is out of range.
pub(super) fn timestamp(count: i64, unit: TimeUnit, utc: bool) -> Option<String> {
    let time = match unit {
        TimeUnit::Second => convert::timestamp_s_to_datetime(count),
        TimeUnit::Millisecond => convert::timestamp_ms_to_datetime(count),
        TimeUnit::Microsecond => convert::timestamp_us_to_datetime(count),
        TimeUnit::Nanosecond => convert::timestamp_ns_to_datetime(count),
    }?;
    let zone = if utc { "+00:00" } else { "" };
    Some(format!(
        "{}{zone}",
        micros(time.format("%FT%T%.f").to_string())
    ))
}

/// Formats `2020-01-31`.
pub(super) fn date(days: i32) -> Option<String> {
    convert::date32_to_datetime(days).map(|time| time.date().to_string())
}

/// Formats `2020-01-31` from milliseconds.
pub(super) fn date_ms(millis: i64) -> Option<String> {
    convert::date64_to_datetime(millis).map(|time| time.date().to_string())
}

/// Formats `12:30:00.500000`.
pub(super) fn time(count: i64, unit: TimeUnit) -> Option<String> {
    let time = match unit {
        TimeUnit::Second => convert::time32s_to_time(i32::try_from(count).ok()?),
        TimeUnit::Millisecond => convert::time32ms_to_time(i32::try_from(count).ok()?),
        TimeUnit::Microsecond => convert::time64us_to_time(count),
        TimeUnit::Nanosecond => convert::time64ns_to_time(count),
    }?;
    Some(micros(time.format("%T%.f").to_string()))
}

/// Pads a fraction of three digits to six. Python writes six digits, and nanoseconds have nine.
fn micros(text: String) -> String {
    match text.split_once('.') {
        Some((_, fraction)) if fraction.len() == 3 => text + "000",
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_like_in_python() {
        let at = |count, unit| timestamp(count, unit, false);
        assert_eq!(at(0, TimeUnit::Second).unwrap(), "1970-01-01T00:00:00");
        let half = at(1_580_473_800_500, TimeUnit::Millisecond).unwrap();
        assert_eq!(half, "2020-01-31T12:30:00.500000");
        let nano = at(-1, TimeUnit::Nanosecond).unwrap();
        assert_eq!(nano, "1969-12-31T23:59:59.999999999");
        let zone = timestamp(1, TimeUnit::Microsecond, true).unwrap();
        assert_eq!(zone, "1970-01-01T00:00:00.000001+00:00");
        assert_eq!(at(i64::MAX, TimeUnit::Second), None);
        assert_eq!(date(18_292).unwrap(), "2020-01-31");
        assert_eq!(
            time(45_000_500, TimeUnit::Millisecond).unwrap(),
            "12:30:00.500000"
        );
    }
}
