//! Real pages, which `tools/corpora` has fetched.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Fault, options::Options, report::Missing};

/// Sets of documentation, each made by another program.
pub(super) const SETS: [&str; 3] = ["git-doc", "nodejs-doc", "python3.11-doc"];

/// What a page is called by that has 64 KiB.
pub(super) const PAGE_BYTES: usize = 64 << 10;

/// What ends a paragraph.
const PARAGRAPH: &str = "</p>";

/// The HTML of a set of documentation: sizes and places, in order of their places.
pub(super) fn documentation(options: &Options, set: &str) -> Vec<(u64, PathBuf)> {
    files(&options.corpora.join(set), |path| path.extension().is_some_and(|end| end == "html"))
}

/// The READMEs of npm packages.
pub(super) fn readmes(options: &Options) -> Vec<(u64, PathBuf)> {
    files(&options.corpora.join("npm"), |path| {
        path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("readme.md"))
    })
}

/// So many pages of 64 KiB, from all sets alike: each is the beginning of a page that is hardly
/// longer, up to the end of a paragraph, so that nothing of it swallows what comes behind it.
pub(super) fn of_64_kib(options: &Options, n_pages: usize) -> Result<Vec<String>, Fault> {
    let longer = |set: &str| {
        let mut files = documentation(options, set);
        files.retain(|(size, _)| *size >= PAGE_BYTES as u64);
        files.sort();
        files.into_iter()
    };
    let mut sets = SETS.map(longer);
    let (mut pages, mut left) = (Vec::new(), true);
    while pages.len() < n_pages && left {
        left = false;
        for set in &mut sets {
            let Some((_, file)) = set.next() else { continue };
            left = true;
            let Ok(mut page) = fs::read_to_string(file) else { continue };
            page.truncate(page.floor_char_boundary(PAGE_BYTES));
            page.truncate(page.rfind(PARAGRAPH).map_or(0, |end| end + PARAGRAPH.len()));
            if page.len() < PAGE_BYTES / 16 * 15 {
                continue;
            }
            // The same page may lie at several places.
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
    }
    pages.truncate(n_pages);
    if pages.len() == n_pages {
        Ok(pages)
    } else {
        Err(Missing("no documentation could be fetched".to_owned()).into())
    }
}

fn files(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<(u64, PathBuf)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && wanted(&path)
                && let Ok(file) = entry.metadata()
            {
                found.push((file.len(), path));
            }
        }
    }
    found.sort_by(|one, other| one.1.cmp(&other.1));
    found
}
