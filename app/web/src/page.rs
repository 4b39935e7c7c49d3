//! Functions that the page's script calls.

use eframe::{WebOptions, WebRunner};
use loadscope_words::say;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::HtmlCanvasElement;

use crate::app::App;
use crate::inbox::{PageEvent, push};
use crate::screen;

/// Opens the window on the canvas with this id.
///
/// # Errors
/// If the canvas does not exist, or the browser has no WebGL.
#[wasm_bindgen]
pub async fn begin(id: String) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document());
    let canvas = document.and_then(|document| document.get_element_by_id(&id));
    let canvas = canvas.ok_or_else(|| JsValue::from_str(say!("the page has no canvas")))?;
    let canvas: HtmlCanvasElement = canvas
        .dyn_into()
        .map_err(|_| JsValue::from_str(say!("the page has no canvas")))?;
    WebRunner::new()
        .start(
            canvas,
            WebOptions::default(),
            Box::new(|cc| Ok(Box::new(App::new(&cc.egui_ctx)))),
        )
        .await
}

/// Opens a recording, or compares the shown run with it.
#[wasm_bindgen]
pub fn open(name: String, bytes: Vec<u8>, compare: bool) {
    push(PageEvent::File {
        name,
        bytes,
        compare,
    });
}

/// Shows the progress of a recording that the page fetches. `share` is 0 to 1.
#[wasm_bindgen]
pub fn fetching(name: String, share: f32) {
    push(PageEvent::Fetching { name, share });
}

/// Starts to follow a program that is being recorded.
#[wasm_bindgen]
pub fn live_begun() {
    push(PageEvent::LiveStarted);
}

/// Adds whole lines of the live recording.
#[wasm_bindgen]
pub fn live_piece(bytes: Vec<u8>) {
    push(PageEvent::LiveLines(bytes));
}

/// Ends the live recording. `why` is the error, if there is one.
#[wasm_bindgen]
pub fn live_ended(why: Option<String>) {
    push(PageEvent::LiveEnded(why));
}

/// Shows an error of the page.
#[wasm_bindgen]
pub fn failed(text: String) {
    push(PageEvent::Error(text));
}

/// Requests the texts on the screen. [`screen_text`] returns them after the next frame.
#[wasm_bindgen]
pub fn ask_screen() {
    screen::clear_answer();
    push(PageEvent::ReadScreen);
}

/// Returns the texts on the screen and their positions as JSON, or an empty string before the frame is drawn.
#[wasm_bindgen]
pub fn screen_text() -> String {
    screen::answer()
}
