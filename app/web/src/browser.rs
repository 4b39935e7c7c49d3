//! Functions of the browser that the window calls.

use loadscope_words::Language;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Opens the file picker.
    #[wasm_bindgen(js_namespace = loadscopePage, js_name = pick)]
    pub(crate) fn pick(compare: bool);
}

/// Returns the language of the browser.
pub(crate) fn language() -> Language {
    let locale = web_sys::window().and_then(|window| window.navigator().language());
    locale
        .and_then(|locale| Language::of_locale(&locale))
        .unwrap_or_default()
}
