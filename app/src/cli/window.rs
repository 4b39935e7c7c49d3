//! Opening the window.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::ValueEnum;
use eframe::egui::{IconData, ViewportBuilder};

use super::WindowArgs;
use crate::app::{App, Start};
use crate::prefs::Prefs;
use crate::session::{look_at, refusal};

/// What draws the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Renderer {
    /// OpenGL
    #[default]
    Glow,
    /// Vulkan, Metal or DirectX; only in builds with the feature `wgpu`
    Wgpu,
}

pub fn open(files: Vec<PathBuf>, args: &WindowArgs) -> anyhow::Result<ExitCode> {
    // A file that cannot be opened is told on the terminal, where its name was typed.
    for file in &files {
        look_at(file).map_err(|e| anyhow!(refusal(file, &e)))?;
    }
    let renderer = match args.renderer {
        Renderer::Glow => eframe::Renderer::Glow,
        #[cfg(feature = "wgpu")]
        Renderer::Wgpu => eframe::Renderer::Wgpu,
        #[cfg(not(feature = "wgpu"))]
        Renderer::Wgpu => bail!(
            "this build draws with OpenGL only. Build with `--features wgpu` to use --renderer wgpu"
        ),
    };
    let options = eframe::NativeOptions {
        renderer,
        viewport: ViewportBuilder::default()
            .with_title("Loadscope")
            .with_app_id("loadscope")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([900.0, 600.0])
            .with_icon(icon())
            .with_drag_and_drop(true),
        ..eframe::NativeOptions::default()
    };
    let start = Start {
        files,
        still: args.reduce_motion,
    };
    let made = eframe::run_native(
        "loadscope",
        options,
        Box::new(|cc| {
            let remembered = cc.storage.and_then(|s| eframe::get_value(s, Prefs::KEY));
            Ok(Box::new(App::new(
                &cc.egui_ctx,
                remembered.unwrap_or_default(),
                start,
            )))
        }),
    );
    if let Err(error) = made {
        bail!(
            "cannot open a window: {error}. Is there a display, and an OpenGL driver? \
             Without one, use `loadscope run` and `loadscope info`"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn icon() -> IconData {
    eframe::icon_data::from_png_bytes(include_bytes!("../../../assets/icon.png"))
        .unwrap_or_default()
}
