//! What an agent wants of a page, and what was done to it.

use serde::{Deserialize, Serialize};

/// In which shape a page is given to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentFormat {
    /// The filtered document in its own type.
    #[default]
    Raw,
    /// Title, headings, paragraphs, lists, tables and links, as JSON, which says whether that is all.
    Structured,
    /// A short extract in plain text.
    Summary,
}

impl ContentFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Structured, Self::Summary];

    /// The name used on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Structured => "structured",
            Self::Summary => "summary",
        }
    }
}

/// What is to be done to a page before an agent sees it. What is not named has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, named by the contract"
)]
pub struct ContentFilter {
    /// Blocks of code go.
    pub strip_code_blocks: bool,
    /// Code within a sentence goes.
    pub strip_inline_code: bool,
    /// Signatures in API documentation become descriptions in plain words.
    pub transform_apis: bool,
    /// Examples become descriptions in plain words.
    pub transform_examples: bool,
    /// The longest content, in bytes of UTF-8.
    pub max_size: u32,
    /// The shape.
    pub format: ContentFormat,
}

impl Default for ContentFilter {
    fn default() -> Self {
        Self {
            strip_code_blocks: true,
            strip_inline_code: true,
            transform_apis: false,
            transform_examples: false,
            max_size: 65_536,
            format: ContentFormat::Raw,
        }
    }
}

/// What the filter did to a page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FilterReport {
    /// How many blocks and spans of code are gone.
    pub code_blocks_removed: u32,
    /// How many bytes of text they were, each counted once. Cutting to size does not count.
    pub bytes_stripped: u64,
    /// How many of them were described in plain words instead.
    pub transformations: u32,
    /// What a reader should know.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_has_its_default() {
        let filter: ContentFilter = serde_json::from_str(r#"{"format": "summary"}"#).unwrap();
        assert_eq!(
            filter,
            ContentFilter { format: ContentFormat::Summary, ..ContentFilter::default() }
        );
        assert_eq!(filter.max_size, 65_536);
        assert!(filter.strip_code_blocks && filter.strip_inline_code);
        assert!(!filter.transform_apis && !filter.transform_examples);
    }

    #[test]
    fn a_misspelt_switch_is_refused() {
        let misspelt = serde_json::from_str::<ContentFilter>(r#"{"strip_codeblocks": true}"#);
        assert!(misspelt.unwrap_err().to_string().contains("strip_codeblocks"));
    }
}
