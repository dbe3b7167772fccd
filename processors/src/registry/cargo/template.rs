//! Where an index has its files: the `dl` of its `config.json`, as the Cargo Book describes it.

use super::name::folder;
use crate::outbound::Url;

const CRATE: &str = "{crate}";
const VERSION: &str = "{version}";
const FOLDER: &str = "{prefix}";
const LOWER_FOLDER: &str = "{lowerprefix}";
const CKSUM: &str = "{sha256-checksum}";
const MARKERS: [&str; 5] = [CRATE, VERSION, FOLDER, LOWER_FOLDER, CKSUM];

/// An address with markers for the parts that differ between files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(String);

/// It is not the address of anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its `dl` leads nowhere: `{0}`")]
pub struct TemplateFault(String);

impl Template {
    /// Reads a `dl`. Without markers it is the address above `/{crate}/{version}/download`.
    pub fn new(dl: &str) -> Result<Self, TemplateFault> {
        let template = if MARKERS.iter().any(|marker| dl.contains(marker)) {
            Self(dl.to_owned())
        } else {
            Self(format!("{}/{CRATE}/{VERSION}/download", dl.trim_end_matches('/')))
        };
        let example = template.file("serde", "1.0.0", &[0; 32]);
        let leads = example.is_some_and(|url| matches!(url.scheme(), "http" | "https"));
        if leads { Ok(template) } else { Err(TemplateFault(dl.chars().take(200).collect())) }
    }

    /// The address of a version's file.
    #[must_use]
    pub fn file(&self, spelling: &str, version: &str, cksum: &[u8; 32]) -> Option<Url> {
        let folder = folder(spelling);
        let address = self
            .0
            .replace(CRATE, spelling)
            .replace(VERSION, version)
            .replace(LOWER_FOLDER, &folder.to_ascii_lowercase())
            .replace(FOLDER, &folder)
            .replace(CKSUM, &hex::encode(cksum));
        Url::parse(&address).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_stand_for_parts_and_without_any_the_default_form_counts() {
        let zeros = "00".repeat(32);
        for (dl, wanted) in [
            ("https://files.example/crates", "https://files.example/crates/Serde/1.0.0+a/download"),
            (
                "https://files.example/crates/",
                "https://files.example/crates/Serde/1.0.0+a/download",
            ),
            (
                "https://files.example/{crate}/{crate}-{version}.crate",
                "https://files.example/Serde/Serde-1.0.0+a.crate",
            ),
            ("http://a.example/{prefix}/{lowerprefix}", "http://a.example/Se/rd/se/rd"),
            ("http://a.example/{sha256-checksum}", &format!("http://a.example/{zeros}")),
        ] {
            let template = Template::new(dl).unwrap();
            let file = template.file("Serde", "1.0.0+a", &[0; 32]).unwrap();
            assert_eq!(file.as_str(), wanted, "{dl}");
        }
    }

    #[test]
    fn a_template_that_leads_nowhere_is_none() {
        for dl in ["", "crates", "/crates/{crate}", "file:///crates", "ftp://a.example/{crate}"] {
            assert!(Template::new(dl).is_err(), "{dl}");
        }
    }
}
