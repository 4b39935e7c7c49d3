//! Phases of the training step, as parts of a bar.

use egui::{Rect, Sense, Ui, vec2};
use loadscope_insight::code::CodeProfile;
use loadscope_insight::format;
use loadscope_trace::StepPhase;

use super::shared::{phase_color, share_text, small};
use crate::theme::{Palette, space};

/// Height of the bar, points.
const BAR: f32 = 6.0;
/// Side of a color mark, points.
const MARK: f32 = 8.0;

/// Shows the shares of the phases, if they are known.
pub(super) fn show(ui: &mut Ui, profile: &CodeProfile) {
    let Some(phases) = &profile.phases else {
        return;
    };
    let palette = Palette::of(ui);
    let shown: Vec<(StepPhase, u64)> = phases.counts().filter(|(_, n)| *n > 0).collect();
    ui.add_space(space::GAP);
    let (bar, _) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let mut left = bar.left();
    for (phase, samples) in &shown {
        let right = left + bar.width() * profile.share(*samples) as f32;
        // A gap of one point separates the parts.
        let part = Rect::from_x_y_ranges(left..=(right - 1.0).max(left), bar.y_range());
        ui.painter()
            .rect_filled(part, 0.0, phase_color(palette, palette.step, *phase));
        left = right;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::GAP;
        for (phase, samples) in shown {
            let (mark, _) = ui.allocate_exact_size(vec2(MARK, MARK), Sense::hover());
            ui.painter()
                .rect_filled(mark, 1.0, phase_color(palette, palette.step, phase));
            let share = format::percent(profile.share(samples));
            let label = ui.label(small(format!("{} {share}", phase.label())));
            label.on_hover_text(share_text(profile, samples));
            ui.add_space(space::MARGIN);
        }
    });
}
