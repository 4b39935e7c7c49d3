//! Selection of an image set, its classes and its masks.

/// Options of a PASCAL VOC dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Image set: list in `ImageSets`, without its extension, or `all` for every annotation.
    pub set: String,
    /// Year, if the folder has several.
    pub year: Option<String>,
    /// True to load the masks in `SegmentationClass`. The lists are then those of `ImageSets/Segmentation`.
    pub has_masks: bool,
    /// Classes from label 1 on. If empty, the classes are those of VOC or of the annotations.
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
