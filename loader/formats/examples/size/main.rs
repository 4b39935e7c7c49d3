//! Time until the first batch of large data and memory of an epoch. `cargo xtask size` writes the table `SIZE.md`.
//!
//! `size FORMAT FOLDER COUNT` writes data of one format to an empty folder, reads all rows once and prints a line of JSON.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

mod made;
mod measure;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [all] if all == "all" => {
            for format in made::FORMATS {
                println!(
                    "{} {}",
                    format.name,
                    if format.has_files { "files" } else { "rows" }
                );
            }
        }
        [format, folder, count] => {
            let mut all = made::FORMATS.iter();
            let format = all
                .find(|one| one.name == format)
                .ok_or("there is no such format")?;
            let folder = PathBuf::from(folder);
            (format.make)(&folder, count.parse()?)?;
            println!("{}", measure::measure(format, &folder)?.json());
        }
        _ => return Err("size FORMAT FOLDER COUNT, or size all".into()),
    }
    Ok(())
}
