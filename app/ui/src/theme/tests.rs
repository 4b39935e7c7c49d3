//! Tests of text contrast, and of colors as seen with color blindness.

use super::*;

/// Matrices that simulate color vision without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1).
const EYES: [(&str, [[f32; 3]; 3]); 4] = [
    (
        "all cones",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

fn product(matrix: [[f32; 3]; 3], vector: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Converts linear light to Björn Ottosson's Oklab, in which equal distances look equal.
fn oklab(light: [f32; 3]) -> [f32; 3] {
    let cones = product(
        [
            [0.412_221_46, 0.536_332_55, 0.051_445_995],
            [0.211_903_5, 0.680_699_5, 0.107_396_96],
            [0.088_302_46, 0.281_718_85, 0.629_978_7],
        ],
        light,
    );
    product(
        [
            [0.210_454_26, 0.793_617_8, -0.004_072_047],
            [1.977_998_5, -2.428_592_2, 0.450_593_7],
            [0.025_904_037, 0.782_771_77, -0.808_675_77],
        ],
        cones.map(|amount| amount.max(0.0).cbrt()),
    )
}

#[test]
fn text_and_activity_colors_have_enough_contrast() {
    for p in [&Palette::DARK, &Palette::LIGHT] {
        for ground in [p.panel, p.canvas] {
            assert!(contrast(p.text, ground) >= 7.0);
            assert!(contrast(p.weak, ground) >= 4.5);
            // Error messages have this color.
            assert!(contrast(p.stall, ground) >= 4.5);
        }
        for activity in Activity::ALL {
            let color = p.activity(activity);
            assert!(contrast(color, p.canvas) >= 3.0, "{activity:?}");
            assert!(contrast(p.text_on(color), color) >= 4.5, "{activity:?}");
        }
    }
}

#[test]
fn stage_colors_differ_for_color_blind_users() {
    for p in [&Palette::DARK, &Palette::LIGHT] {
        let stages = [p.wait, p.fetch, p.collate, p.pin, p.held, p.step, p.stall];
        for (eye, matrix) in EYES {
            let seen = stages.map(|c| oklab(product(matrix, [c.r(), c.g(), c.b()].map(linear))));
            for (at, one) in seen.iter().enumerate() {
                for (before, other) in seen.iter().enumerate().take(at) {
                    let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
                    let distance = squares.sum::<f32>().sqrt();
                    assert!(
                        distance >= 0.11,
                        "{eye}, dark: {}: stages {before} and {at} are {distance} apart",
                        p.dark
                    );
                }
            }
        }
    }
}
