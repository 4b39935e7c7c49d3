//! PASCAL VOC: XML beside pictures, lists of names, and masks.
