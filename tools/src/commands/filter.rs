//! `weir filter`: what an agent would see of a page. Needs no server.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use weir_events::web::content::{ContentFilter, ContentFormat, FilterReport};
use weir_processors::web::filter::{Caps, Filtered, Unfit, filter};

use crate::context::Context;
use crate::exit::{EndsWith as _, Exit, Failure, chain};
use crate::output::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// The file, or `-` for standard input
    file: PathBuf,
    /// The shape in which it is printed
    #[arg(long, value_enum, default_value_t = Shape::Raw)]
    format: Shape,
    /// What it is declared to be [default: by the file's name]
    #[arg(long = "type", value_name = "MIME")]
    mime: Option<String>,
    /// At most so many bytes are printed
    #[arg(long, value_name = "BYTES", default_value_t = ContentFilter::default().max_size)]
    max_size: u32,
    /// Describe what items of an API take and give, in words
    #[arg(long)]
    transform_apis: bool,
    /// Describe what examples do, in words
    #[arg(long)]
    transform_examples: bool,
}

/// A format by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// The filtered document in its own type
    Raw,
    /// Title, headings, paragraphs, lists, tables and links, as JSON
    Structured,
    /// A short extract
    Summary,
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct FilterView<'a> {
    #[serde(flatten)]
    report: &'a FilterReport,
    content_type: &'static str,
    title: Option<&'a str>,
    truncated: bool,
    content: &'a str,
}

pub(crate) fn run(context: &Context, args: &FilterArgs) -> Result<Exit, Failure> {
    let body = read(&args.file)?;
    let declared = args.mime.as_deref().or_else(|| by_name(&args.file));
    let wanted = ContentFilter {
        format: match args.format {
            Shape::Raw => ContentFormat::Raw,
            Shape::Structured => ContentFormat::Structured,
            Shape::Summary => ContentFormat::Summary,
        },
        max_size: args.max_size,
        transform_apis: args.transform_apis,
        transform_examples: args.transform_examples,
        ..ContentFilter::default()
    };
    let filtered = filter(&body, declared, &wanted, Caps::MOST).map_err(|unfit| refused(&unfit))?;
    say(context, &filtered)?;
    Ok(Exit::Done)
}

fn say(context: &Context, filtered: &Filtered) -> Result<(), Failure> {
    let Filtered { content, content_type, title, report, truncated } = filtered;
    if context.output.json {
        let (content_type, title, truncated) = (*content_type, title.as_deref(), *truncated);
        return print_json(&FilterView { report, content_type, title, truncated, content });
    }
    if !content.is_empty() {
        print(content.strip_suffix('\n').unwrap_or(content))?;
    }
    let (n, bytes) = (report.code_blocks_removed, report.bytes_stripped);
    context
        .output
        .say(&format!("{content_type}: {n} blocks and spans of code removed, {bytes} bytes"));
    report.warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
    Ok(())
}

fn refused(unfit: &Unfit) -> Failure {
    let exit = match unfit {
        Unfit::NoSize => Exit::Usage,
        Unfit::Type { .. } => Exit::Denied,
    };
    Failure::new(exit, chain(unfit))
}

/// The whole input, unless it is more than can ever be filtered: then as much as can.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let most = Caps::MOST.max_input_bytes as u64 + 1;
    let mut body = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut body)?;
        return Ok(body);
    }
    let opened = File::open(file).map_err(|fault| {
        let exit =
            if fault.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::Failed };
        Failure::new(exit, format!("could not read `{}`: {fault}", file.display()))
    })?;
    opened.take(most).read_to_end(&mut body).ends_with(Exit::Failed)?;
    Ok(body)
}

/// The type that servers give to files of this name.
fn by_name(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some("text/html"),
        "xhtml" => Some("application/xhtml+xml"),
        "md" | "markdown" => Some("text/markdown"),
        "json" => Some("application/json"),
        "xml" | "rss" | "atom" => Some("application/xml"),
        "txt" => Some("text/plain"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_its_name_here() {
        let names: Vec<String> = Shape::value_variants()
            .iter()
            .filter_map(|shape| Some(shape.to_possible_value()?.get_name().to_owned()))
            .collect();
        assert_eq!(names, ContentFormat::ALL.map(ContentFormat::as_str));
    }

    #[test]
    fn what_cannot_be_filtered_ends_with_its_own_code() {
        assert_eq!(refused(&Unfit::NoSize).exit, Exit::Usage);
        let picture = refused(&Unfit::Type { what: "a PNG picture".into() });
        assert_eq!(picture.exit, Exit::Denied);
        assert_eq!(picture.message, "a PNG picture cannot be filtered, and is not passed on");
    }

    #[test]
    fn a_file_that_is_not_there_is_not_found() {
        assert_eq!(read(Path::new("/nowhere/at/all")).unwrap_err().exit, Exit::NotFound);
    }
}
