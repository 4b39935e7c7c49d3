//! Formats of images, sounds and archives.

use loadscope_words::{Text, text};

use super::format::{DatasetForm, Dialog, Format, ORIGINAL, SQUARE, Spec, data_format};
use super::option::{CocoTask, Decode, OptionValue, PictureSize, VocTask};
use crate::keyvalue::{Key, KeyValue, KeyValueError, ValueError};

data_format! {
    /// PASCAL VOC: XML files with images. torchvision's `VOCDetection` and `VOCSegmentation`.
    VocSpec {
        word: "voc",
        example: "voc:DIR,set=train",
        nouns: ["annotated image", "annotated images"],
        endings: &[],
        contents: &["Annotations", "VOCdevkit", "SegmentationClass"],
        is_annotated: true,
        form: DatasetForm {
            name: Text::same("PASCAL VOC"),
            first: "voc:",
            label: text!("folder"),
            example: "/data/VOCdevkit,year=2012,set=train",
            hint: text!("Like torchvision's VOCDetection: images and XML. Keys: set, year, task=segmentation, classes=a;b, size=square."),
            dialog: Some(Dialog::Folder),
        },
    }
    places {
        /// Folder that contains `Annotations`, or `VOCdevkit`.
        dir,
    }
    options {
        /// List of names in `ImageSets`, without its ending. `all`: every annotation.
        set: String = "train".to_owned(), Text::same("set=train");
        /// Year, if the folder has several.
        year: Option<String> = None, Text::same("year=2012");
        /// Loaded annotations.
        task: VocTask = VocTask::Detection, text!("task=detection (or segmentation)");
        /// Class names from label 1 on. Empty: the names of VOC, or the names that are found.
        classes: Vec<String> = Vec::new(), Text::same("classes=cat;dog");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Original, ORIGINAL;
    }
}

data_format! {
    /// COCO: instances, captions or keypoints in JSON. torchvision's `CocoDetection`, pycocotools.
    CocoSpec {
        word: "coco",
        example: "coco:IMAGES,ANNOTATIONS",
        nouns: ["annotated image", "annotated images"],
        endings: &[],
        contents: &[],
        is_annotated: true,
        form: DatasetForm {
            name: Text::same("COCO"),
            first: "coco:",
            label: text!("images, annotations"),
            example: "/data/train2017,/data/instances.json",
            hint: text!("Like torchvision's CocoDetection: a folder and a JSON file. Keys: task=captions, masks=false, size=square."),
            dialog: None,
        },
    }
    places {
        /// Folder of images.
        images,
        /// File of annotations.
        annotations,
    }
    options {
        /// Loaded annotations.
        task: CocoTask = CocoTask::Auto, text!("task=auto (or instances, captions, keypoints)");
        /// True to draw masks.
        masks: bool = true, Text::same("masks=true");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Original, ORIGINAL;
    }
}

data_format! {
    /// Shards of POSIX tar archives, iterable-style. `webdataset.WebDataset`.
    WebdatasetSpec {
        word: "webdataset",
        example: "webdataset:SHARDS",
        nouns: ["sample", "samples"],
        endings: &[],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: Text::same("WebDataset"),
            first: "webdataset:",
            label: text!("shards"),
            example: "/data/train-{000..127}.tar,shuffle=1000",
            hint: text!("Iterable-style: each worker reads its own shards. Keys: fields=jpg;cls, shuffle, shuffle_shards=true."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// Pattern of files: `train-{000..127}.tar`.
        shards,
    }
    options {
        /// File endings that form a sample, a tuple in this order. Empty: a dict of all files.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Size of the shuffle buffer, samples. 0: no buffer.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// True to shuffle the shards in each epoch.
        shuffle_shards: bool = false, Text::same("shuffle_shards=true");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }

    fn is_stream(&self) -> bool {
        true
    }
}

data_format! {
    /// One POSIX tar archive, iterable-style. `webdataset.WebDataset`.
    TarSpec {
        word: "tar",
        example: "tar:FILE",
        nouns: ["sample", "samples"],
        endings: &[".tar", ".tar.gz", ".tgz"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("tar archive"),
            first: "tar:",
            label: text!("file"),
            example: "/data/train.tar,fields=jpg;cls",
            hint: text!("Iterable-style: files with the same key form a sample. Keys: fields=jpg;cls, shuffle."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the archive.
        file,
    }
    options {
        /// File endings that form a sample, a tuple in this order. Empty: a dict of all files.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Size of the shuffle buffer, samples. 0: no buffer.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }

    fn is_stream(&self) -> bool {
        true
    }
}

data_format! {
    /// Key-value database of bytes. `lmdb`.
    LmdbSpec {
        word: "lmdb",
        example: "lmdb:DIR",
        nouns: ["entry", "entries"],
        endings: &[],
        contents: &["data.mdb"],
        is_annotated: false,
        form: DatasetForm {
            name: Text::same("LMDB"),
            first: "lmdb:",
            label: text!("folder"),
            example: "/data/train.lmdb,decode=auto",
            hint: text!("Bytes by key. Option: decode=picture, npy, text or bytes."),
            dialog: Some(Dialog::Folder),
        },
    }
    places {
        /// Folder or file of the database.
        dir,
    }
    options {
        /// Content of the values.
        decode: Decode = Decode::Auto, text!("decode=auto (or picture, npy, text, bytes)");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }
}

data_format! {
    /// WAV, FLAC and OGG files. `soundfile.read`.
    AudioSpec {
        word: "audio",
        example: "audio:DIR",
        nouns: ["sound", "sounds"],
        endings: &[],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("Audio folder"),
            first: "audio:",
            label: text!("folder"),
            example: "/data/sounds",
            hint: text!("Like soundfile.read: WAV, FLAC and OGG, padded to the longest. Subfolders are classes."),
            dialog: Some(Dialog::Folder),
        },
    }
    places {
        /// Folder of the files.
        dir,
    }
    options {}
}
