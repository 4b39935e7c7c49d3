//! Formatting of values and field names.

use loadscope_trace::Field;
use loadscope_words::say;

/// Returns the display name of a field.
pub fn name_of(field: &Field) -> &str {
    if field.name.is_empty() {
        say!("the batch")
    } else {
        &field.name
    }
}

/// Width of a number, points.
pub const NUMBER: f32 = 44.0;

/// Formats integers without decimals, and other numbers with four significant digits.
pub fn number(v: f64) -> String {
    if !v.is_finite() {
        return v.to_string();
    }
    if v == v.trunc() && v.abs() < 1e7 {
        return format!("{v:.0}");
    }
    match v.abs() {
        a if !(1e-3..1e6).contains(&a) => format!("{v:.2e}"),
        a => format!(
            "{v:.*}",
            (3 - a.log10().floor() as i32).clamp(0, 6) as usize
        ),
    }
}
