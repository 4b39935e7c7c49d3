//! What the page calls, and what it is called for.

use eframe::{WebOptions, WebRunner};
use loadscope_words::say;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::HtmlCanvasElement;

use crate::app::App;
use crate::inbox::{News, put};
use crate::screen;

/// Opens the window on the canvas with this id.
///
/// # Errors
/// If there is no such canvas, or the browser draws nothing in three dimensions.
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

/// Opens a recording.
#[wasm_bindgen]
pub fn open(name: String, bytes: Vec<u8>, compare: bool) {
    put(News::File {
        name,
        bytes,
        compare,
    });
}

/// Says that a recording is being fetched, and how far that is.
#[wasm_bindgen]
pub fn fetching(name: String, share: f32) {
    put(News::Fetching { name, share });
}

/// A program is recorded.
#[wasm_bindgen]
pub fn live_begun() {
    put(News::Begun);
}

/// Some lines of its recording.
#[wasm_bindgen]
pub fn live_piece(bytes: Vec<u8>) {
    put(News::Piece(bytes));
}

/// It has ended.
#[wasm_bindgen]
pub fn live_ended(why: Option<String>) {
    put(News::Ended(why));
}

/// Something went wrong.
#[wasm_bindgen]
pub fn failed(text: String) {
    put(News::Failed(text));
}

/// Asks for what is on the screen: [`screen_text`] answers after the next frame.
#[wasm_bindgen]
pub fn ask_screen() {
    screen::forget();
    put(News::Read);
}

/// What is written on the screen and where, as JSON; empty until it is known.
#[wasm_bindgen]
pub fn screen_text() -> String {
    screen::answer()
}
