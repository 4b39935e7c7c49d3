//! What the window asks of the browser.

use loadscope_words::Language;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Lets the user choose a file.
    #[wasm_bindgen(js_namespace = loadscopePage, js_name = pick)]
    pub(crate) fn pick(compare: bool);
}

/// The language of the browser.
pub(crate) fn language() -> Language {
    let locale = web_sys::window().and_then(|window| window.navigator().language());
    locale
        .and_then(|locale| Language::of_locale(&locale))
        .unwrap_or_default()
}
