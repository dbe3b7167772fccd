//! `CycloneDX` bills of materials, as JSON. What the bill is about (`metadata.component`) is not part
//! of its materials.

use serde::Deserialize;

use super::{CheckFault, Kind, Listing, loose::Loose, unreadable};

#[derive(Debug, Deserialize)]
struct Bill {
    #[serde(rename = "bomFormat")]
    format: String,
    #[serde(default)]
    components: Vec<Part>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    name: Loose,
    version: Loose,
    purl: Option<String>,
    components: Vec<Self>,
}

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let bill: Bill =
        serde_json::from_str(text).map_err(|fault| unreadable(Kind::CycloneDx, &fault))?;
    if bill.format != "CycloneDX" {
        return Err(unreadable(Kind::CycloneDx, &"its bomFormat is not CycloneDX"));
    }
    parts(&bill.components, list)
}

fn parts(all: &[Part], list: &mut Listing) -> Result<(), CheckFault> {
    for part in all {
        let version = part.version.as_deref();
        if let Some(purl) = &part.purl {
            list.purl_or(purl, version)?;
        } else {
            let name = part.name.as_deref().unwrap_or_default();
            let entry = version.map_or_else(|| name.to_owned(), |it| format!("{name}@{it}"));
            list.skip(&entry, "it has no package URL")?;
        }
        parts(&part.components, list)?;
    }
    Ok(())
}
