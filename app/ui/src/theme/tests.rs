//! Contrast of texts and colours.

use super::*;

fn luminance(c: Color32) -> f32 {
    let linear = |v: u8| {
        let v = f32::from(v) / 255.0;
        if v <= 0.04045 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(c.r()) + 0.7152 * linear(c.g()) + 0.0722 * linear(c.b())
}

fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

#[test]
fn everything_can_be_read() {
    for p in [&Palette::DARK, &Palette::LIGHT] {
        for ground in [p.panel, p.canvas] {
            assert!(contrast(p.text, ground) >= 7.0);
            assert!(
                contrast(p.weak, ground) >= 4.5,
                "{}",
                contrast(p.weak, ground)
            );
        }
        for activity in Activity::ALL {
            let colour = p.activity(activity);
            assert!(contrast(colour, p.canvas) >= 2.8, "{activity:?}");
            assert!(contrast(p.text_on(colour), colour) >= 3.0, "{activity:?}");
        }
    }
}
