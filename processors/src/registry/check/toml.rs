//! `Cargo.lock`, `uv.lock` and `poetry.lock`: a list of packages each, in TOML.

use toml_span::value::Table;
use weir_aggregates::registry::verdict::comes_later;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{CheckFault, Dated, Kind, Listing, unreadable};

pub(super) fn read(kind: Kind, text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let parsed = toml_span::parse(text).map_err(|fault| {
        let line =
            text.get(..fault.span.start).map_or(1, |before| before.matches('\n').count() + 1);
        unreadable(kind, &format!("line {line}: {fault}"))
    })?;
    let packages = parsed.as_table().and_then(|table| table.get("package"));
    let Some(packages) = packages else { return Ok(()) };
    let packages = packages.as_array().ok_or_else(|| unreadable(kind, &"`package` is no list"))?;
    for package in packages {
        let package =
            package.as_table().ok_or_else(|| unreadable(kind, &"a package is no table"))?;
        let Some(name) = text_of(package, "name") else {
            return Err(unreadable(kind, &"a package has no name"));
        };
        let reason = match kind {
            Kind::Cargo => of_cargo(package),
            Kind::Uv => of_uv(package),
            _ => of_poetry(package),
        };
        match (reason, text_of(package, "version")) {
            (Some(reason), version) => {
                let version = version.map(|version| format!("@{version}")).unwrap_or_default();
                list.skip(&format!("{name}{version}"), reason)?;
            }
            (None, None) => list.skip(name, "it names no version")?,
            (None, Some(version)) if kind == Kind::Cargo => {
                list.add(Ecosystem::Cargo, name, version)?;
            }
            (None, Some(version)) => {
                list.add_dated(Ecosystem::Pypi, name, version, uploaded_at(package))?;
            }
        }
    }
    Ok(())
}

fn text_of<'a>(table: &'a Table<'_>, key: &str) -> Option<&'a str> {
    table.get(key).and_then(|value| value.as_str())
}

/// Why a crate does not come from a registry.
fn of_cargo(package: &Table<'_>) -> Option<&'static str> {
    match text_of(package, "source") {
        None => Some("a folder of the project"),
        Some(source) if source.starts_with("registry+") || source.starts_with("sparse+") => None,
        Some(_) => Some("it does not come from a registry"),
    }
}

fn of_uv(package: &Table<'_>) -> Option<&'static str> {
    let source = package.get("source").and_then(|source| source.as_table());
    let has = |key: &str| source.is_some_and(|source| source.contains_key(key));
    if has("registry") {
        None
    } else if ["editable", "virtual", "directory"].iter().any(|key| has(key)) {
        Some("a folder of the project")
    } else {
        Some("it does not come from a registry")
    }
}

fn of_poetry(package: &Table<'_>) -> Option<&'static str> {
    let source = package.get("source").and_then(|source| source.as_table());
    // Without one it comes from the default index, `legacy` is another index.
    match source.map(|source| text_of(source, "type").unwrap_or_default()) {
        None | Some("legacy") => None,
        Some("directory") => Some("a folder of the project"),
        Some(_) => Some("it does not come from a registry"),
    }
}

/// When the files of a version were uploaded, where all of them tell.
fn uploaded_at(package: &Table<'_>) -> Option<Dated> {
    let wheels = package.get("wheels").and_then(|wheels| wheels.as_array());
    let files = package.get("sdist").into_iter().chain(wheels.into_iter().flatten());
    let times = files.map(|file| text_of(file.as_table()?, "upload-time")?.parse().ok());
    let times = times.collect::<Option<Vec<Timestamp>>>()?;
    let (first, newest) = (*times.iter().min()?, *times.iter().max()?);
    Some(Dated { published_at: newest, late: comes_later(first, newest) })
}
