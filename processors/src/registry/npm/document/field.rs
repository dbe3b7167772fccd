//! The members of a version that are known here.

macro_rules! fields {
    ($($name:ident $text:literal,)*) => {
        /// What is known of a version.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Field {
            /// A member by what it is called.
            pub(super) fn find(name: &str) -> Option<Self> {
                Some(match name {
                    $($text => Self::$name,)*
                    _ => return None,
                })
            }

            /// What it is called.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

fields! {
    Name "name",
    Version "version",
    Deprecated "deprecated",
    Dependencies "dependencies",
    OptionalDependencies "optionalDependencies",
    DevDependencies "devDependencies",
    BundleDependencies "bundleDependencies",
    BundledDependencies "bundledDependencies",
    PeerDependencies "peerDependencies",
    PeerDependenciesMeta "peerDependenciesMeta",
    AcceptDependencies "acceptDependencies",
    Bin "bin",
    Directories "directories",
    Dist "dist",
    Engines "engines",
    Cpu "cpu",
    Os "os",
    Libc "libc",
    HasShrinkwrap "_hasShrinkwrap",
    HasInstallScript "hasInstallScript",
    Funding "funding",
    Scripts "scripts",
}

impl Field {
    /// Whether it stands in the abbreviated form.
    #[must_use]
    pub const fn abbreviated(self) -> bool {
        !matches!(self, Self::Scripts)
    }
}
