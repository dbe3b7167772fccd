//! Go itself: the go command fetches its own releases as versions of the module
//! `golang.org/toolchain`, where sources of warnings speak of `stdlib` and `toolchain`.

use weir_events::registry::Ecosystem;

use crate::registry::version::Version;

/// The module whose versions are releases of Go.
pub const MODULE: &str = "golang.org/toolchain";

/// What sources of warnings call the parts of a release.
pub const PARTS: [&str; 2] = ["stdlib", "toolchain"];

/// How the versions of the module begin; a platform may follow the release.
pub const PREFIX: &str = "v0.0.1-go";

/// The release that a version of the module is, as a semantic version: of
/// `v0.0.1-go1.21rc2.linux-amd64` it is `v1.21.0-rc.2`.
#[must_use]
pub fn of(version: &Version) -> Option<Version> {
    let rest = version.as_str().strip_prefix(PREFIX)?;
    let (major, rest) = digits(rest)?;
    let (minor, rest) = rest.strip_prefix('.').and_then(digits)?;
    let (patch, rest) = rest.strip_prefix('.').and_then(digits).unwrap_or(("0", rest));
    let stage = |name: &str| Some((name.to_owned(), digits(rest.strip_prefix(name)?)?));
    let (stage, rest) = match ["rc", "beta"].into_iter().find_map(stage) {
        Some((name, (number, rest))) => (format!("-{name}.{number}"), rest),
        None => (String::new(), rest),
    };
    let whole = rest.is_empty() || rest.starts_with(['.', '-']);
    let release = format!("v{major}.{minor}.{patch}{stage}");
    whole.then(|| Version::parse(Ecosystem::Go, &release)).filter(Version::readable)
}

/// The digits a text begins with, and what follows them.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_the_module_is_a_release_of_go() {
        let release = |text: &str| {
            let version = Version::parse(Ecosystem::Go, &format!("{PREFIX}{text}"));
            of(&version).map(|release| release.to_string())
        };
        for (text, wanted) in [
            ("1.21.0.linux-amd64", Some("v1.21.0")),
            ("1.21rc2.linux-amd64", Some("v1.21.0-rc.2")),
            ("1.9.2beta1.darwin-arm64", Some("v1.9.2-beta.1")),
            ("1.22.3", Some("v1.22.3")),
            ("1.21", Some("v1.21.0")),
            ("1.21.0-custom.linux-amd64", Some("v1.21.0")),
            ("1.21.0x", None),
            ("1", None),
            ("1.", None),
            ("", None),
            ("01.2.3", None),
        ] {
            assert_eq!(release(text).as_deref(), wanted, "{text}");
        }
        assert_eq!(of(&Version::parse(Ecosystem::Go, "v1.21.0")), None);
    }
}
