//! Start of the window.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::ValueEnum;
use eframe::egui::{IconData, ViewportBuilder};

use crate::preferences::Store;
use crate::window::editor;
use crate::window::frame_pacing::computes_pixels;
use crate::window::preview::LearnTarget;
use crate::window::{App, Extent, Start, Started};
use loadscope_model::prefs::{Prefs, WindowPlace};
use loadscope_model::watching::Program;
use loadscope_session::{Journal, Watched, check_path, describe_open_error};
use loadscope_words::{Language, say};

mod display;
mod lost_display;

pub(super) use display::needed as need_display;

/// Graphics backend of the window: glow (OpenGL) or wgpu (Vulkan)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Renderer {
    /// OpenGL
    #[default]
    Glow,
    /// Vulkan, Metal or DirectX (only in builds with the feature `wgpu`)
    Wgpu,
}

pub fn open(files: Vec<PathBuf>, args: &WindowArgs) -> anyhow::Result<ExitCode> {
    // An error about a file is printed in the terminal where the user typed its name.
    for file in &files {
        check_path(file).map_err(|e| anyhow!(describe_open_error(file, &e)))?;
    }
    let start = Start {
        files,
        ..of_user(args)
    };
    show(start, args)
}

/// Opens the window with a started program.
pub fn watch(
    watched: &Watched,
    (program, extent): (Option<Program>, Extent),
    args: &WindowArgs,
) -> anyhow::Result<ExitCode> {
    let start = Start {
        watched: Some(watched.clone()),
        program,
        extent,
        ..of_user(args)
    };
    show(start, args)
}

/// Opens the window and runs the demo.
pub fn demo(args: &WindowArgs) -> anyhow::Result<ExitCode> {
    let start = Start {
        demo: true,
        ..of_user(args)
    };
    show(start, args)
}

/// Opens the window at a lesson.
pub fn learn(learn: LearnTarget, args: &WindowArgs) -> anyhow::Result<ExitCode> {
    let start = Start {
        learn: Some(learn),
        ..of_user(args)
    };
    show(start, args)
}

/// Returns a start with the preferences and the journal of the user.
fn of_user(args: &WindowArgs) -> Start {
    Start {
        still: args.reduce_motion,
        editor: editor::of_user(),
        language: super::language::of_system(),
        asked_language: args.lang.map(Language::from),
        journal: Journal::of_user(),
        memory: args.memory,
        store: Store::of_user(),
        ..Start::default()
    }
}

fn show(start: Start, args: &WindowArgs) -> anyhow::Result<ExitCode> {
    need_display("loadscope view FILE", "loadscope report FILE")?;
    let renderer = match args.renderer {
        Renderer::Glow => eframe::Renderer::Glow,
        #[cfg(feature = "wgpu")]
        Renderer::Wgpu => eframe::Renderer::Wgpu,
        #[cfg(not(feature = "wgpu"))]
        Renderer::Wgpu => bail!(say!(
            "this build draws with OpenGL only. Build with `--features wgpu` to use --renderer wgpu."
        )),
    };
    let mut start = start;
    let started = Started::clone(&start.started);
    let kept = start.store.as_mut().and_then(Store::load);
    let place = kept.as_ref().and_then(|prefs| prefs.window);
    let options = eframe::NativeOptions {
        renderer,
        viewport: initial_viewport(place)
            .with_title("Loadscope")
            .with_app_id("loadscope")
            .with_min_inner_size([900.0, 600.0])
            .with_icon(icon())
            .with_drag_and_drop(true),
        // Loadscope stores the position with its preferences, in a file that is replaced as a whole.
        persist_window: false,
        ..eframe::NativeOptions::default()
    };
    lost_display::install_exit_handler(start.watched.clone(), &started);
    let made = display::guarded(|| {
        eframe::run_native(
            "loadscope",
            options,
            Box::new(|cc| {
                // Earlier versions stored the preferences in eframe's storage.
                let before = || cc.storage.and_then(|s| eframe::get_value(s, Prefs::KEY));
                let prefs = kept.or_else(before).unwrap_or_default();
                let start = Start {
                    computes_pixels: computes_pixels(cc.gl.as_deref()),
                    ..start
                };
                Ok(Box::new(App::new(&cc.egui_ctx, prefs, start)))
            }),
        )
    });
    lost_display::remove_exit_handler();
    let Some(made) = made else {
        lost_display::wait_for_programs(
            &started,
            say!("the display is gone, and the program continues"),
        );
        bail!(say!(
            "the connection to the display was lost. Start Loadscope again when the display is back."
        ));
    };
    lost_display::wait_for_programs(
        &started,
        say!("the window is closed, and the program continues"),
    );
    if let Err(error) = made {
        bail!(say!(
            "cannot open a window: {}. The window needs a display and an OpenGL driver. Without them, use `loadscope view` for a browser, or `loadscope report`.",
            without_source_location(&error.to_string())
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes the place in the source from an error of the window system, because it is a path on the build host.
fn without_source_location(error: &str) -> &str {
    let error = error
        .strip_prefix("winit EventLoopError: ")
        .unwrap_or(error);
    let reason = match error.split_once("os error at ") {
        Some((_, rest)) => rest
            .split_once(": ")
            .map_or(say!("the display cannot be reached"), |(_, reason)| reason),
        None => error,
    };
    reason.trim_end_matches('.')
}

/// Returns the last position of the window, or the center of the screen.
fn initial_viewport(place: Option<WindowPlace>) -> ViewportBuilder {
    let builder = ViewportBuilder::default();
    let Some(place) = place else {
        return builder.with_inner_size([1440.0, 900.0]);
    };
    let size = place.size.map(|side| side.clamp(400.0, 8000.0));
    let builder = builder
        .with_inner_size(size)
        .with_maximized(place.maximized);
    match place.position {
        // A position on a disconnected screen would hide the window.
        Some(position) if position.iter().all(|at| (-100.0..8000.0).contains(at)) => {
            builder.with_position(position)
        }
        _ => builder,
    }
}

fn icon() -> IconData {
    eframe::icon_data::from_png_bytes(include_bytes!("../../../../assets/icon.png"))
        .unwrap_or_default()
}

/// Value of `--lang`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LangArg {
    /// English
    En,
    /// 中文
    Zh,
}

impl From<LangArg> for Language {
    fn from(lang: LangArg) -> Self {
        match lang {
            LangArg::En => Self::En,
            LangArg::Zh => Self::Zh,
        }
    }
}

/// Help heading of the options that only commands with a window show.
pub(super) const WINDOW: &str = "Window options";

/// Options of commands that open the window.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WindowArgs {
    /// Language of all texts [default: the system's]
    #[arg(long, global = true, value_name = "LANGUAGE")]
    lang: Option<LangArg>,
    /// Graphics backend of the window: glow (OpenGL) or wgpu (Vulkan)
    #[arg(long, value_enum, default_value_t, global = true, help_heading = WINDOW)]
    renderer: Renderer,
    /// Turn animations off
    #[arg(long, global = true, help_heading = WINDOW)]
    reduce_motion: bool,
    /// Memory limit of a live run in the window, such as 500MB, at least 100MB
    ///
    /// At the limit, the oldest data is reduced to sums per minute. Long waits, errors, warnings and the slowest batches are kept in full. Saving still writes
    /// all data.
    ///
    /// The default for a watched program is half of the host's memory, at most 4GB. Runs of the embedded loader have no limit.
    #[arg(long, global = true, value_name = "SIZE", value_parser = super::output::memory, help_heading = WINDOW)]
    memory: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_contain_no_build_path() {
        let text = "winit EventLoopError: os error at /build/x/winit-0.30/src/linux/mod.rs:765: no display is set.";
        assert_eq!(without_source_location(text), "no display is set");
        assert_eq!(
            without_source_location("os error at somewhere"),
            "the display cannot be reached"
        );
        assert_eq!(without_source_location("no OpenGL"), "no OpenGL");
    }
}
