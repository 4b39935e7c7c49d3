//! The `--force` option.

use loadscope_files::Existing;

/// `--force`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ForceArg {
    /// Replace an existing output file
    ///
    /// The old file stays until the new one is complete.
    #[arg(long)]
    force: bool,
}

impl ForceArg {
    /// Returns the treatment of an existing file.
    pub fn existing(self) -> Existing {
        match self.force {
            true => Existing::Replace,
            false => Existing::Keep,
        }
    }
}
