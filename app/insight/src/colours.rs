//! The colours of the window and of the report's page, in both themes.

/// The colours of a theme: red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// Ground of panels.
    pub panel: [u8; 3],
    /// Ground of what is drawn: timeline, pipeline, plots.
    pub canvas: [u8; 3],
    /// Lines between things.
    pub line: [u8; 3],
    /// Text.
    pub text: [u8; 3],
    /// Text of less weight.
    pub weak: [u8; 3],
    /// Headings and outlines of what is selected.
    pub strong: [u8; 3],
    /// Waiting in a queue.
    pub wait: [u8; 3],
    /// Fetching.
    pub fetch: [u8; 3],
    /// Collating.
    pub collate: [u8; 3],
    /// Pinning.
    pub pin: [u8; 3],
    /// Held in the reorder buffer: waiting that another batch caused.
    pub held: [u8; 3],
    /// The trainer's step.
    pub step: [u8; 3],
    /// The trainer waits; something was lost or failed. Red means nothing else.
    pub stall: [u8; 3],
}

impl Colours {
    /// For eyes in the dark.
    pub const DARK: Self = Self {
        panel: [0x1B, 0x1F, 0x25],
        canvas: [0x14, 0x17, 0x1C],
        line: [0x2A, 0x2F, 0x37],
        text: [0xD7, 0xDB, 0xE0],
        weak: [0x8A, 0x92, 0x9C],
        strong: [0xFF, 0xFF, 0xFF],
        wait: [0x5E, 0x65, 0x6D],
        fetch: [0x3A, 0x7B, 0xF0],
        collate: [0x2C, 0xD3, 0xBD],
        pin: [0xE5, 0x8C, 0xF0],
        held: [0xF9, 0xB2, 0x33],
        step: [0xCD, 0xEB, 0x9B],
        stall: [0xDC, 0x5A, 0x46],
    };

    /// For paper and daylight.
    pub const LIGHT: Self = Self {
        panel: [0xF2, 0xF2, 0xEF],
        canvas: [0xFA, 0xFA, 0xF8],
        line: [0xDC, 0xDC, 0xD7],
        text: [0x2A, 0x2E, 0x34],
        weak: [0x68, 0x6F, 0x79],
        strong: [0x00, 0x00, 0x00],
        wait: [0x8B, 0x97, 0xAD],
        fetch: [0x14, 0x40, 0x8F],
        collate: [0x1A, 0x6B, 0x5A],
        pin: [0xB1, 0x5E, 0xC3],
        held: [0xAB, 0x90, 0x1C],
        step: [0x6B, 0xA2, 0x5B],
        stall: [0x9E, 0x2A, 0x12],
    };
}
