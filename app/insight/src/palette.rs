//! Colors of the window and of the report's page, in both themes.

/// Colors of a theme as red, green and blue. A search chose the colors of the stages.
/// The search maximized the smallest distance between any two as people with each common kind of color blindness see them. All
/// are legible on the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Background of panels.
    pub panel: [u8; 3],
    /// Background of timeline, pipeline and plots.
    pub canvas: [u8; 3],
    /// Lines that separate elements.
    pub line: [u8; 3],
    /// Normal text.
    pub text: [u8; 3],
    /// Text of lower importance.
    pub weak: [u8; 3],
    /// Headings and outlines of selected elements.
    pub strong: [u8; 3],
    /// A batch waits in a queue.
    pub wait: [u8; 3],
    /// Fetching stage: the dataset reads samples.
    pub fetch: [u8; 3],
    /// Collating stage: `collate_fn` stacks samples.
    pub collate: [u8; 3],
    /// Pinning stage: a copy to page-locked memory.
    pub pin: [u8; 3],
    /// A batch is in the reorder buffer: another batch caused this wait.
    pub held: [u8; 3],
    /// The trainer's step.
    pub step: [u8; 3],
    /// The trainer waits, or a batch was lost or failed. Red has no other meaning.
    pub stall: [u8; 3],
}

impl Colors {
    /// Dark theme.
    pub const DARK: Self = Self {
        panel: [0x1B, 0x1F, 0x25],
        canvas: [0x14, 0x17, 0x1C],
        line: [0x2A, 0x2F, 0x37],
        text: [0xD7, 0xDB, 0xE0],
        weak: [0x8A, 0x92, 0x9C],
        strong: [0xFF, 0xFF, 0xFF],
        wait: [0x56, 0x65, 0x7B],
        fetch: [0x35, 0x6E, 0xF1],
        collate: [0x5E, 0xD5, 0xB2],
        pin: [0xC4, 0x91, 0xF7],
        held: [0xFC, 0xAE, 0x24],
        step: [0xDC, 0xFA, 0x9D],
        stall: [0xEA, 0x61, 0x3C],
    };

    /// Light theme, also for print.
    pub const LIGHT: Self = Self {
        panel: [0xF2, 0xF2, 0xEF],
        canvas: [0xFA, 0xFA, 0xF8],
        line: [0xDC, 0xDC, 0xD7],
        text: [0x2A, 0x2E, 0x34],
        weak: [0x68, 0x6F, 0x79],
        strong: [0x00, 0x00, 0x00],
        wait: [0x8E, 0x8D, 0xAE],
        fetch: [0x01, 0x2C, 0xB4],
        collate: [0x00, 0x59, 0x4F],
        pin: [0x9D, 0x4C, 0xC3],
        held: [0xB8, 0x88, 0x02],
        step: [0x49, 0x81, 0x65],
        stall: [0xA2, 0x09, 0x01],
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn css([red, green, blue]: [u8; 3]) -> String {
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    #[test]
    fn the_page_has_the_colors_of_the_window() {
        let style = include_str!("../../web/page/style.css");
        for colors in [Colors::DARK, Colors::LIGHT] {
            let (canvas, text, stall) = (colors.canvas, colors.text, colors.stall);
            let root = format!(
                ":root {{ --canvas: {}; --text: {}; --stall: {}; }}",
                css(canvas),
                css(text),
                css(stall)
            );
            assert!(style.contains(&root), "style.css has no {root}");
        }
        let rules = style.lines().filter(|line| !line.contains(":root"));
        let is_color = |line: &&str| {
            let after_colon = line.split(':').skip(1).map(str::trim_start);
            ["rgb", "hsl"].iter().any(|form| line.contains(form))
                || after_colon.into_iter().any(|value| value.starts_with('#'))
        };
        assert_eq!(
            rules.filter(is_color).count(),
            0,
            "use var(--canvas) and the others"
        );
    }
}
