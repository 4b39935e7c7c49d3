//! Every colour, font and distance. Colours are made here and nowhere else (`clippy.toml` sees to it).

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::style::ScrollStyle;
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow,
    Stroke, Style, TextStyle, Theme, ThemePreference, Vec2, Visuals,
};
use loadscope_insight::colours::Colours;
use loadscope_trace::{Activity, Stage};

/// Text sizes, points.
pub mod size {
    /// Numbers on axes and chips.
    pub const SMALL: f32 = 11.0;
    /// Everything else.
    pub const BODY: f32 = 13.0;
    /// What a lesson says.
    pub const LESSON: f32 = 15.0;
    /// The same in a lecture, to be read from the last row.
    pub const LECTURE: f32 = 22.0;
    /// The title of the welcome screen.
    pub const TITLE: f32 = 20.0;
}

/// Distances, points, on a grid of 4.
pub mod space {
    /// Between a panel's edge and its content.
    pub const MARGIN: f32 = 12.0;
    /// Between things that belong together.
    pub const GAP: f32 = 4.0;
    /// Between groups.
    pub const GROUP: f32 = 16.0;
    /// Height of a lane of the timeline.
    pub const LANE: f32 = 24.0;
    /// Height of a row of a lane that has several.
    pub const SUB_ROW: f32 = 14.0;
}

/// The family of headings and of what is emphasised.
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// Monospace, for every number that changes.
pub fn mono(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// Proportional, for words.
pub fn words(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// Proportional and semi-bold, for headings.
pub fn heading(size: f32) -> FontId {
    FontId::new(size, strong_family())
}

const fn opaque([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// The colours of a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Ground of panels.
    pub panel: Color32,
    /// Ground of what is drawn: timeline, pipeline, plots.
    pub canvas: Color32,
    /// Lines between things.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Text of less weight.
    pub weak: Color32,
    /// Headings and outlines of what is selected.
    pub strong: Color32,
    /// Waiting in a queue.
    pub wait: Color32,
    /// Fetching.
    pub fetch: Color32,
    /// Collating.
    pub collate: Color32,
    /// Pinning.
    pub pin: Color32,
    /// Held in the reorder buffer: waiting that another batch caused.
    pub held: Color32,
    /// The trainer's step.
    pub step: Color32,
    /// The trainer waits; something was lost or failed. Red means nothing else.
    pub stall: Color32,
    /// True for the dark theme.
    pub dark: bool,
}

impl Palette {
    /// For eyes in the dark.
    pub const DARK: Self = Self::from(&Colours::DARK, true);

    /// For paper and daylight.
    pub const LIGHT: Self = Self::from(&Colours::LIGHT, false);

    const fn from(colours: &Colours, dark: bool) -> Self {
        Self {
            panel: opaque(colours.panel),
            canvas: opaque(colours.canvas),
            line: opaque(colours.line),
            text: opaque(colours.text),
            weak: opaque(colours.weak),
            strong: opaque(colours.strong),
            wait: opaque(colours.wait),
            fetch: opaque(colours.fetch),
            collate: opaque(colours.collate),
            pin: opaque(colours.pin),
            held: opaque(colours.held),
            step: opaque(colours.step),
            stall: opaque(colours.stall),
            dark,
        }
    }

    /// The one in use.
    pub fn of(ctx: &Context) -> &'static Self {
        match ctx.theme() {
            Theme::Dark => &Self::DARK,
            Theme::Light => &Self::LIGHT,
        }
    }

    /// The colour of an activity.
    pub fn activity(&self, activity: Activity) -> Color32 {
        match activity {
            Activity::Queued | Activity::Returning | Activity::Ready => self.wait,
            Activity::Fetching => self.fetch,
            Activity::Collating => self.collate,
            Activity::Pinning => self.pin,
            Activity::Held => self.held,
            Activity::Training => self.step,
            Activity::Waiting => self.stall,
        }
    }

    /// The colour of a stage.
    pub fn stage(&self, stage: Stage) -> Color32 {
        match (stage, Activity::of(stage)) {
            (_, Some(activity)) => self.activity(activity),
            (Stage::Failed, None) => self.stall,
            _ => self.line,
        }
    }

    /// Black or white, whichever reads better on `ground`: at least 4.5:1 on every colour of a stage.
    pub fn text_on(&self, ground: Color32) -> Color32 {
        let black = Color32::from_rgb(0x10, 0x12, 0x16);
        match contrast(black, ground) >= contrast(Color32::WHITE, ground) {
            true => black,
            false => Color32::WHITE,
        }
    }

    /// `colour` as it looks when something else is selected: 35 % of it over the canvas.
    pub fn dimmed(&self, colour: Color32) -> Color32 {
        self.canvas.lerp_to_gamma(colour, 0.35)
    }

    /// What lies over everything that a lesson is not about: it can still be read, and gives way.
    pub fn veil(&self) -> Color32 {
        self.panel
            .gamma_multiply(if self.dark { 0.52 } else { 0.6 })
    }

    /// A value of a heat map, as a share of its range. Grey, since every hue means a stage.
    pub fn heat(&self, share: f32) -> Color32 {
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        self.line.lerp_to_gamma(self.strong, 0.9 * share)
    }

    /// How much of the time the trainer waits, 0 to 1.
    pub fn stalled(&self, share: f32) -> Color32 {
        let share = if share.is_nan() { 0.0 } else { share };
        self.panel.lerp_to_gamma(self.stall, share.clamp(0.0, 1.0))
    }

    /// What marks a class on a picture: neighbours in the numbering differ most. Pictures have every colour, so these are not those
    /// of stages.
    pub fn class(label: i64) -> Color32 {
        let turns = label.rem_euclid(4096) as f32 * 0.618_034;
        let value = if label.rem_euclid(2) == 0 { 1.0 } else { 0.88 };
        egui::ecolor::Hsva::new((turns + 0.12).fract(), 0.75, value, 1.0).into()
    }

    /// The ground of something that the pointer is over.
    pub fn hovered(&self) -> Color32 {
        self.panel.lerp_to_gamma(self.text, 0.10)
    }

    /// The ground of something that is selected.
    pub fn selected(&self) -> Color32 {
        self.panel.lerp_to_gamma(self.text, 0.18)
    }
}

/// How well one colour can be told from another by its light, 1 to 21, as WCAG 2.2 defines the contrast ratio.
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let luminance = |colour: Color32| {
        let [r, g, b] = [colour.r(), colour.g(), colour.b()].map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// A component of sRGB as an amount of light, 0 to 1.
fn linear(component: u8) -> f32 {
    let share = f32::from(component) / 255.0;
    match share <= 0.04045 {
        true => share / 12.92,
        false => ((share + 0.055) / 1.055).powf(2.4),
    }
}

/// Sets fonts, spacing and both themes. Once, at the start.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    // Sizes are actions, with the keys that egui would take.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    for (theme, palette) in [
        (Theme::Dark, &Palette::DARK),
        (Theme::Light, &Palette::LIGHT),
    ] {
        ctx.style_mut_of(theme, |style| restyle(style, palette));
    }
}

/// Lets panels slide and things fade, or not.
pub fn set_motion(ctx: &Context, moves: bool) {
    let time = if moves {
        Style::default().animation_time
    } else {
        0.0
    };
    let now = ctx.global_style().animation_time;
    if now != time {
        ctx.all_styles_mut(|style| style.animation_time = time);
    }
}

/// Follows the user's choice of theme.
pub fn set_preference(ctx: &Context, preference: ThemePreference) {
    ctx.set_theme(preference);
}

/// The bytes of a font: for a page in a browser cut down to what the browser cannot draw as well (assets/fonts/make_page.py).
macro_rules! font {
    ($name:literal) => {{
        #[cfg(not(target_family = "wasm"))]
        let bytes: &'static [u8] = include_bytes!(concat!("../../../assets/fonts/", $name));
        #[cfg(target_family = "wasm")]
        let bytes: &'static [u8] = include_bytes!(concat!("../../../assets/fonts/page/", $name));
        bytes
    }};
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let mut add = |name: &str, bytes: &'static [u8]| {
        let mut data = FontData::from_static(bytes);
        // Subpixel positions make small text blurry.
        data.tweak.y_offset_factor = 0.0;
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
    };
    add("Inter", font!("Inter-Regular.otf"));
    add("Inter SemiBold", font!("Inter-SemiBold.otf"));
    add("JetBrains Mono", font!("JetBrainsMono-Regular.ttf"));
    // Chinese lessons; cut down to their characters by assets/fonts/make_cjk.py. A browser draws them with a font of the system.
    #[cfg(not(target_family = "wasm"))]
    add(
        "Noto Sans SC",
        include_bytes!("../../../assets/fonts/NotoSansSC-subset.otf"),
    );
    let fallback = |family: FontFamily| fonts.families.get(&family).cloned().unwrap_or_default();
    let proportional = fallback(FontFamily::Proportional);
    let monospace = fallback(FontFamily::Monospace);
    let with = |first: &str, rest: &[String]| {
        let mut names = vec![first.to_owned()];
        names.extend_from_slice(rest);
        #[cfg(not(target_family = "wasm"))]
        names.push("Noto Sans SC".to_owned());
        names
    };
    fonts.families = BTreeMap::from([
        (FontFamily::Proportional, with("Inter", &proportional)),
        (FontFamily::Monospace, with("JetBrains Mono", &monospace)),
        (strong_family(), with("Inter SemiBold", &proportional)),
    ]);
    fonts
}

fn restyle(style: &mut Style, palette: &Palette) {
    style.text_styles = BTreeMap::from([
        (TextStyle::Small, words(size::SMALL)),
        (TextStyle::Body, words(size::BODY)),
        (TextStyle::Button, words(size::BODY)),
        (TextStyle::Monospace, mono(size::BODY)),
        (TextStyle::Heading, heading(size::BODY)),
    ]);
    style.spacing.item_spacing = Vec2::new(8.0, 6.0);
    style.spacing.button_padding = Vec2::new(8.0, 4.0);
    style.spacing.interact_size.y = 24.0;
    // Always show scroll bars; hover-only bars are not discovered.
    style.spacing.scroll = ScrollStyle {
        foreground_color: true,
        dormant_handle_opacity: 0.3,
        active_handle_opacity: 0.45,
        interact_handle_opacity: 0.7,
        dormant_background_opacity: 0.0,
        active_background_opacity: 0.0,
        ..ScrollStyle::thin()
    };
    style.spacing.window_margin = Margin::same(12);
    style.spacing.menu_margin = Margin::same(6);
    style.visuals = visuals(palette);
}

fn visuals(palette: &Palette) -> Visuals {
    let mut v = if palette.dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let corner = CornerRadius::same(4);
    let mix = |share: f32| palette.panel.lerp_to_gamma(palette.text, share);
    v.override_text_color = None;
    v.panel_fill = palette.panel;
    v.window_fill = palette.panel;
    v.extreme_bg_color = palette.canvas;
    v.faint_bg_color = mix(0.03);
    v.code_bg_color = palette.canvas;
    v.window_stroke = Stroke::new(1.0, palette.line);
    v.window_shadow = Shadow::NONE;
    v.window_corner_radius = corner;
    v.menu_corner_radius = corner;
    v.hyperlink_color = if palette.dark {
        palette.fetch.lerp_to_gamma(palette.strong, 0.3)
    } else {
        palette.fetch
    };
    v.weak_text_color = Some(palette.weak);
    // Nothing blinks, and a window at rest is not drawn.
    v.text_cursor.blink = false;
    v.warn_fg_color = palette.held;
    v.error_fg_color = palette.stall;
    // Grey, since every hue means a stage.
    v.selection.bg_fill = mix(0.24);
    v.selection.stroke = Stroke::new(1.0, palette.strong);
    let w = &mut v.widgets;
    for (visuals, fill, text) in [
        (&mut w.noninteractive, palette.panel, palette.text),
        (&mut w.inactive, mix(0.07), palette.text),
        (&mut w.hovered, mix(0.14), palette.strong),
        (&mut w.active, mix(0.20), palette.strong),
        (&mut w.open, mix(0.10), palette.strong),
    ] {
        visuals.bg_fill = fill;
        visuals.weak_bg_fill = fill;
        visuals.fg_stroke = Stroke::new(1.0, text);
        visuals.bg_stroke = Stroke::NONE;
        visuals.corner_radius = corner;
        visuals.expansion = 0.0;
    }
    w.noninteractive.bg_stroke = Stroke::new(1.0, palette.line);
    w.hovered.bg_stroke = Stroke::new(1.0, mix(0.3));
    // Also what has the keyboard: that has to be seen at once.
    w.active.bg_stroke = Stroke::new(1.0, palette.strong);
    v
}

#[cfg(test)]
mod tests;
