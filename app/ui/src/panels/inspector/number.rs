//! Values and names as people read them.

use loadscope_trace::Field;
use loadscope_words::say;

/// What a leaf is called when it is spoken of.
pub fn name_of(field: &Field) -> &str {
    if field.name.is_empty() {
        say!("the batch")
    } else {
        &field.name
    }
}

/// Room for a number.
pub const NUMBER: f32 = 44.0;

/// A value as people read it: whole numbers without decimals, others with four significant digits.
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
