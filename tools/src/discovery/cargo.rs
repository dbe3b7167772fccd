//! What cargo uses: the source that replaces its default, by the environment and the files that cargo
//! itself reads, else the default, which a library of the cargo world knows.
//!
//! Follows the Cargo Book, "Configuration" (which files there are, the nearest one wins) and "Source
//! Replacement".

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use super::{Named, Unknown};
use crate::environment;

/// What cargo calls its default source.
const DEFAULT_SOURCE: &str = "crates-io";
/// How often one source may be replaced by the next.
const MAX_REPLACEMENTS: usize = 8;
const SPARSE: &str = "sparse+";

pub(super) fn named() -> Result<Named, Unknown> {
    let here = env::current_dir().unwrap_or_default();
    let folders = here.ancestors().map(|folder| folder.join(".cargo")).chain(home());
    named_in(&files(folders)?, &|name| environment::var(name))
}

/// The folder of cargo's own files, which holds the user's configuration too.
pub(crate) fn home() -> Option<PathBuf> {
    let named = environment::var("CARGO_HOME").filter(|home| !home.is_empty());
    let usual = || Some(Path::new(&environment::var("HOME")?).join(".cargo"));
    named.map(PathBuf::from).or_else(usual)
}

/// A file of cargo's configuration.
#[derive(Debug)]
struct File {
    path: String,
    text: String,
}

/// The files in these folders, the nearest first.
fn files(folders: impl Iterator<Item = PathBuf>) -> Result<Vec<File>, Unknown> {
    let mut files = Vec::new();
    for folder in folders {
        // Where there are both, cargo takes the one without an ending.
        for path in [folder.join("config"), folder.join("config.toml")] {
            let shown = path.display().to_string();
            match fs::read_to_string(&path) {
                Ok(text) => {
                    files.push(File { path: shown, text });
                    break;
                }
                Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
                Err(fault) => {
                    return Err(Unknown::Unreadable { path: shown, why: fault.to_string() });
                }
            }
        }
    }
    Ok(files)
}

fn named_in(files: &[File], variable: &dyn Fn(&str) -> Option<String>) -> Result<Named, Unknown> {
    let mut parsed = Vec::new();
    for File { path, text } in files {
        let table = toml_span::parse(text);
        let unreadable = |fault: toml_span::Error| Unknown::Unreadable {
            path: path.clone(),
            why: fault.to_string(),
        };
        parsed.push((path, table.map_err(unreadable)?));
    }
    let said = |table: &str, name: &str, key: &str| {
        let shout = |part: &str| part.to_uppercase().replace(['-', '.'], "_");
        let by = format!("CARGO_{}_{}_{}", shout(table), shout(name), shout(key));
        if let Some(value) = variable(&by).filter(|value| !value.is_empty()) {
            return Some((value, by));
        }
        parsed.iter().find_map(|(path, file)| {
            let section = file.as_table()?.get(table)?.as_table()?.get(name)?.as_table()?;
            Some((section.get(key)?.as_str()?.to_owned(), (*path).clone()))
        })
    };
    let (mut source, mut replaced_by) = (DEFAULT_SOURCE.to_owned(), None);
    for _ in 0..MAX_REPLACEMENTS {
        let Some((next, by)) = said("source", &source, "replace-with") else { break };
        (source, replaced_by) = (next, Some(by));
    }
    let Some(by) = replaced_by.filter(|_| source != DEFAULT_SOURCE) else {
        let address = tame_index::CRATES_IO_HTTP_INDEX.trim_start_matches(SPARSE).to_owned();
        return Ok(Named { address, by: "cargo's own default".to_owned() });
    };
    let index =
        said("source", &source, "registry").or_else(|| said("registries", &source, "index"));
    let Some((index, by)) = index else {
        return Err(Unknown::NotSparse { by, named: source });
    };
    match index.strip_prefix(SPARSE) {
        Some(address) => Ok(Named { address: address.to_owned(), by }),
        None => Err(Unknown::NotSparse { by, named: crate::config::without_password(&index) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn ask(files: &[File]) -> Result<Named, Unknown> {
        named_in(files, &|_| None)
    }

    const MIRROR: &str = "
        [source.crates-io]
        replace-with = \"company\"
        [source.company]
        registry = \"sparse+https://mirror.example/index/\"
    ";

    #[test]
    fn without_a_replacement_it_is_cargos_own_default() {
        for text in
            ["", "[net]\nretry = 3", "[source.other]\nregistry = \"sparse+https://a.example/\""]
        {
            let found = ask(&[file("config.toml", text)]).unwrap();
            assert!(
                found.by.contains("default") && found.address.starts_with("https://"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_replacement_is_followed_across_files_and_the_nearest_file_wins() {
        let found =
            |address: &str, by: &str| Ok(Named { address: address.to_owned(), by: by.to_owned() });
        let mirror = || file("home", MIRROR);
        assert_eq!(ask(&[mirror()]), found("https://mirror.example/index/", "home"));
        let near = file("near", "[source.company]\nregistry = \"sparse+https://near.example/\"");
        assert_eq!(ask(&[near, mirror()]), found("https://near.example/", "near"));
        let named = file(
            "near",
            "[source.crates-io]\nreplace-with = \"team\"\n[registries.team]\n\
             index = \"sparse+https://team.example/\"",
        );
        assert_eq!(ask(&[named, mirror()]), found("https://team.example/", "near"));
        let variable = |name: &str| {
            (name == "CARGO_SOURCE_COMPANY_REGISTRY")
                .then(|| "sparse+https://env.example/".to_owned())
        };
        let told = named_in(&[mirror()], &variable);
        assert_eq!(told, found("https://env.example/", "CARGO_SOURCE_COMPANY_REGISTRY"));
    }

    #[test]
    fn what_is_not_asked_over_http_is_no_upstream() {
        for (source, named) in [
            ("registry = \"https://git.example/index\"", "https://git.example/index"),
            ("directory = \"vendor\"", "company"),
            ("local-registry = \"/srv/crates\"", "company"),
        ] {
            let text = format!(
                "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\n{source}"
            );
            let told = ask(&[file("home", &text)]);
            let (by, named) = ("home".to_owned(), named.to_owned());
            assert_eq!(told, Err(Unknown::NotSparse { by, named }), "{source}");
        }
        assert!(matches!(ask(&[file("home", "[source")]), Err(Unknown::Unreadable { .. })));
        // Round in a circle: cargo refuses that too.
        let round = "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with = \"b\"\n\
                     [source.b]\nreplace-with = \"a\"";
        assert!(matches!(ask(&[file("home", round)]), Err(Unknown::NotSparse { .. })));
    }
}
