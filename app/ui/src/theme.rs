//! Fonts, distances, and the colors of `app/insight/src/palette.rs`. `clippy.toml` forbids colors elsewhere.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::style::ScrollStyle;
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow,
    Stroke, Style, TextStyle, Theme, ThemePreference, Vec2, Visuals,
};
use loadscope_insight::palette::Colors;
use loadscope_trace::{Activity, Stage};

/// Text sizes, points.
pub mod size {
    /// Numbers on axes and chips.
    pub const SMALL: f32 = 11.0;
    /// All other text.
    pub const BODY: f32 = 13.0;
    /// Text of a lesson.
    pub const LESSON: f32 = 15.0;
    /// Text of a lesson in a lecture, readable from the last row.
    pub const LECTURE: f32 = 22.0;
    /// Title of the welcome screen.
    pub const TITLE: f32 = 20.0;
}

/// Distances, points, on a grid of 4.
pub mod space {
    /// Space between a panel's edge and its content.
    pub const MARGIN: f32 = 12.0;
    /// Space between related widgets.
    pub const GAP: f32 = 4.0;
    /// Space between groups.
    pub const GROUP: f32 = 16.0;
    /// Height of a lane of the timeline.
    pub const LANE: f32 = 24.0;
    /// Height of a row of a lane with several rows.
    pub const SUB_ROW: f32 = 14.0;
}

/// Returns the font family of headings and emphasized text.
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// Returns the monospace font, for every number that changes.
pub fn mono(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// Returns the proportional font, for words.
pub fn sans(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// Returns the proportional semi-bold font, for headings.
pub fn heading(size: f32) -> FontId {
    FontId::new(size, strong_family())
}

const fn opaque([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// Colors of a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Background of panels.
    pub panel: Color32,
    /// Background of drawings: timeline, pipeline, plots.
    pub canvas: Color32,
    /// Lines between panels and table rows.
    pub line: Color32,
    /// Normal text.
    pub text: Color32,
    /// Less important text.
    pub weak: Color32,
    /// Headings, and outlines of the selection.
    pub strong: Color32,
    /// Waiting in a queue.
    pub wait: Color32,
    /// Fetching stage, in which the dataset reads samples.
    pub fetch: Color32,
    /// Collating stage, in which `collate_fn` stacks samples.
    pub collate: Color32,
    /// Pinning stage, which copies batches to page-locked memory.
    pub pin: Color32,
    /// Held in the reorder buffer until another batch arrives.
    pub held: Color32,
    /// Training step.
    pub step: Color32,
    /// Wait of the trainer, or a lost or failed batch. Red has no other meaning.
    pub stall: Color32,
    /// True for the dark theme.
    pub dark: bool,
}

impl Palette {
    /// Dark theme.
    pub const DARK: Self = Self::from(&Colors::DARK, true);

    /// Light theme.
    pub const LIGHT: Self = Self::from(&Colors::LIGHT, false);

    const fn from(colors: &Colors, dark: bool) -> Self {
        Self {
            panel: opaque(colors.panel),
            canvas: opaque(colors.canvas),
            line: opaque(colors.line),
            text: opaque(colors.text),
            weak: opaque(colors.weak),
            strong: opaque(colors.strong),
            wait: opaque(colors.wait),
            fetch: opaque(colors.fetch),
            collate: opaque(colors.collate),
            pin: opaque(colors.pin),
            held: opaque(colors.held),
            step: opaque(colors.step),
            stall: opaque(colors.stall),
            dark,
        }
    }

    /// Returns the current palette.
    pub fn of(ctx: &Context) -> &'static Self {
        match ctx.theme() {
            Theme::Dark => &Self::DARK,
            Theme::Light => &Self::LIGHT,
        }
    }

    /// Returns the color of an activity.
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

    /// Returns the color of a stage.
    pub fn stage(&self, stage: Stage) -> Color32 {
        match (stage, Activity::of(stage)) {
            (_, Some(activity)) => self.activity(activity),
            (Stage::Failed, None) => self.stall,
            _ => self.line,
        }
    }

    /// Returns black or white, whichever has more contrast with `ground`. The contrast is at least 4.5:1 on every stage color.
    pub fn text_on(&self, ground: Color32) -> Color32 {
        let black = Color32::from_rgb(0x10, 0x12, 0x16);
        match contrast(black, ground) >= contrast(Color32::WHITE, ground) {
            true => black,
            false => Color32::WHITE,
        }
    }

    /// Returns `color` dimmed to 35 % over the canvas, for unselected elements.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        self.canvas.lerp_to_gamma(color, 0.35)
    }

    /// Returns the color of the veil over everything outside a lesson's topic. The covered parts remain readable.
    pub fn veil(&self) -> Color32 {
        self.panel
            .gamma_multiply(if self.dark { 0.52 } else { 0.6 })
    }

    /// Returns the color of a value in a heat map, as a fraction of its range. It is gray, because every hue means a stage.
    pub fn heat(&self, share: f32) -> Color32 {
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        self.line.lerp_to_gamma(self.strong, 0.9 * share)
    }

    /// Returns the color for the fraction of time that the trainer waits, 0 to 1.
    pub fn stalled(&self, share: f32) -> Color32 {
        let share = if share.is_nan() { 0.0 } else { share };
        self.panel.lerp_to_gamma(self.stall, share.clamp(0.0, 1.0))
    }

    /// Returns the color of a class mark on an image. Classes with adjacent numbers differ most. Images contain every color, so these are
    /// not stage colors.
    pub fn class(label: i64) -> Color32 {
        let turns = label.rem_euclid(4096) as f32 * 0.618_034;
        let value = if label.rem_euclid(2) == 0 { 1.0 } else { 0.88 };
        egui::ecolor::Hsva::new((turns + 0.12).fract(), 0.75, value, 1.0).into()
    }

    /// Returns the background of a hovered item.
    pub fn hovered(&self) -> Color32 {
        self.panel.lerp_to_gamma(self.text, 0.10)
    }

    /// Returns the background of a selected item.
    pub fn selected(&self) -> Color32 {
        self.panel.lerp_to_gamma(self.text, 0.18)
    }
}

/// Returns the contrast ratio of two colors as defined by WCAG 2.2, 1 to 21.
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let luminance = |color: Color32| {
        let [r, g, b] = [color.r(), color.g(), color.b()].map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// Converts an sRGB component to linear light, 0 to 1.
fn linear(component: u8) -> f32 {
    let share = f32::from(component) / 255.0;
    match share <= 0.04045 {
        true => share / 12.92,
        false => ((share + 0.055) / 1.055).powf(2.4),
    }
}

/// Sets the fonts, the spacing and both themes. Called once at the start.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    // Zooming is an action with its own keys, which egui would otherwise consume.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    for (theme, palette) in [
        (Theme::Dark, &Palette::DARK),
        (Theme::Light, &Palette::LIGHT),
    ] {
        ctx.style_mut_of(theme, |style| restyle(style, palette));
    }
}

/// Turns animations of panels and fades on or off.
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

/// Applies the user's choice of theme.
pub fn set_preference(ctx: &Context, preference: ThemePreference) {
    ctx.set_theme(preference);
}

/// Bytes of a font. Browser pages use a subset without the characters that the browser draws itself (assets/fonts/make_page.py).
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
        // No vertical shift: the glyphs keep the position in the font's metrics.
        data.tweak.y_offset_factor = 0.0;
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
    };
    add("Inter", font!("Inter-Regular.otf"));
    add("Inter SemiBold", font!("Inter-SemiBold.otf"));
    add("JetBrains Mono", font!("JetBrainsMono-Regular.ttf"));
    // Font for all Chinese texts, subset to the characters in use by assets/fonts/make_cjk.py. A browser uses a system font instead.
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
        (TextStyle::Small, sans(size::SMALL)),
        (TextStyle::Body, sans(size::BODY)),
        (TextStyle::Button, sans(size::BODY)),
        (TextStyle::Monospace, mono(size::BODY)),
        (TextStyle::Heading, heading(size::BODY)),
    ]);
    style.spacing.item_spacing = Vec2::new(8.0, 6.0);
    style.spacing.button_padding = Vec2::new(8.0, 4.0);
    style.spacing.interact_size.y = 24.0;
    // Scroll bars are always visible, because users do not discover hover-only bars.
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
    // A blinking cursor would redraw an idle window.
    v.text_cursor.blink = false;
    v.warn_fg_color = palette.held;
    v.error_fg_color = palette.stall;
    // The selection is gray, because every hue means a stage.
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
    // The active style is also that of the focused widget, which must be easy to see.
    w.active.bg_stroke = Stroke::new(1.0, palette.strong);
    v
}

#[cfg(test)]
mod tests;
