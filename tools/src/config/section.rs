//! How a section of the configuration is declared: once, with its words and its defaults. The
//! struct, the example file and `weir config show` all come from there.

/// What is known about one key beside its type.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The lines of its documentation, each with a space in front.
    pub(crate) doc: &'static [&'static str],
}

/// A section as the example file needs it.
#[derive(Debug)]
pub(crate) struct Section {
    /// Where it stands: `registries.pypi`.
    pub(crate) path: &'static str,
    pub(crate) doc: &'static [&'static str],
    pub(crate) keys: &'static [Key],
}

/// Declares a section: a struct whose every key has a type, a default and documentation. Sections
/// below it, which are declared by themselves, stand at its end.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $name:ident at $path:literal {
            $( $(#[doc = $doc:literal])+ $key:ident: $type:ty = $default:expr, )+
            $( sections { $( $below:ident: $section:ty, )+ } )?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $( $(#[doc = $doc])+ pub(crate) $key: $type, )+
            $( $( pub(crate) $below: $section, )+ )?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )+ $( $( $below: <$section>::default(), )+ )? }
            }
        }

        impl $name {
            pub(crate) const SECTION: $crate::config::section::Section =
                $crate::config::section::Section {
                    path: $path,
                    doc: &[$($about),+],
                    keys: &[$( $crate::config::section::Key {
                        name: stringify!($key),
                        doc: &[$($doc),+],
                    }, )+],
                };
        }
    };
}

pub(crate) use section;
