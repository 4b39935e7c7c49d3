//! COCO: instances, captions and keypoints in JSON, beside a folder of pictures.
