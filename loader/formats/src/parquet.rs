//! Tables by column, in one file or several.
