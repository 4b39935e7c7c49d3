//! A saved Hugging Face dataset: a folder of Arrow files, mapped to memory.
