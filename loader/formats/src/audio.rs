//! A folder of sounds: WAV, FLAC, OGG; a waveform `[channels, frames]` and its rate.
