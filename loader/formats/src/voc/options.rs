//! What of a folder of PASCAL VOC is loaded.

/// What is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The list in `ImageSets`, without its ending; `all`: every annotation.
    pub set: String,
    /// The year, where there are several.
    pub year: Option<String>,
    /// Whether the masks in `SegmentationClass` are loaded; the lists are those of `ImageSets/Segmentation` then.
    pub has_masks: bool,
    /// The classes from label 1 on; none: those of VOC, or those that are found.
    pub classes: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            set: "train".to_owned(),
            year: None,
            has_masks: false,
            classes: Vec::new(),
        }
    }
}
