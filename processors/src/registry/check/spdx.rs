//! SPDX bills of materials, as JSON: a document in version 2, a graph in version 3.

use serde::Deserialize;

use super::{CheckFault, Kind, Listing, loose::Loose, unreadable};

#[derive(Debug, Deserialize)]
struct Bill {
    #[serde(default)]
    packages: Vec<Package>,
    #[serde(rename = "@graph", default)]
    graph: Vec<Element>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Package {
    name: Loose,
    version_info: Loose,
    external_refs: Vec<Reference>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reference {
    reference_type: Loose,
    reference_locator: Loose,
}

/// Something of a graph; only packages are of interest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Element {
    #[serde(rename = "type")]
    kind: Loose,
    name: Loose,
    #[serde(rename = "software_packageVersion")]
    version: Loose,
    #[serde(rename = "software_packageUrl")]
    purl: Loose,
}

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let bill: Bill = serde_json::from_str(text).map_err(|fault| unreadable(Kind::Spdx, &fault))?;
    for package in &bill.packages {
        let purls = package.external_refs.iter().filter(|reference| {
            reference.reference_type.as_deref().is_some_and(|kind| kind.ends_with("purl"))
        });
        let purls: Vec<_> = purls.filter_map(|it| it.reference_locator.as_deref()).collect();
        materials(&package.name, &package.version_info, &purls, list)?;
    }
    let packages =
        bill.graph.iter().filter(|element| element.kind.as_deref() == Some("software_Package"));
    for element in packages {
        let purls: Vec<_> = element.purl.as_deref().into_iter().collect();
        materials(&element.name, &element.version, &purls, list)?;
    }
    Ok(())
}

fn materials(
    name: &Loose,
    version: &Loose,
    purls: &[&str],
    list: &mut Listing,
) -> Result<(), CheckFault> {
    let version = version.as_deref().filter(|version| *version != "NOASSERTION");
    if purls.is_empty() {
        let name = name.as_deref().unwrap_or_default();
        let entry = version.map_or_else(|| name.to_owned(), |it| format!("{name}@{it}"));
        return list.skip(&entry, "it has no package URL");
    }
    purls.iter().try_for_each(|purl| list.purl_or(purl, version))
}
