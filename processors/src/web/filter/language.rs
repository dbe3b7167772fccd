//! The names of languages: what may be said of code that is gone.

/// What may stand in a placeholder, each with the other names that pages have for it.
const NAMES: &[(&str, &[&str])] = &[
    ("bash", &["sh", "shell", "zsh", "shell-session", "shellscript"]),
    ("c", &["h"]),
    ("c++", &["cpp", "cxx", "cc", "hpp"]),
    ("c#", &["csharp", "cs"]),
    ("clojure", &["clj"]),
    ("console", &["terminal", "text-console", "pycon", "pycon3", "shell-console", "doscon"]),
    ("css", &["scss", "sass", "less"]),
    ("dart", &[]),
    ("diff", &["patch", "udiff"]),
    ("dockerfile", &["docker"]),
    ("elixir", &["ex", "exs"]),
    ("erlang", &["erl"]),
    ("fortran", &["f90"]),
    ("go", &["golang"]),
    ("graphql", &["gql"]),
    ("haskell", &["hs"]),
    ("html", &["htm", "xhtml", "html5"]),
    ("ini", &["cfg", "conf", "properties"]),
    ("java", &[]),
    ("javascript", &["js", "mjs", "cjs", "jsx", "node", "ecmascript"]),
    ("json", &["json5", "jsonc", "ndjson"]),
    ("julia", &["jl"]),
    ("kotlin", &["kt", "kts"]),
    ("latex", &["tex"]),
    ("lisp", &["elisp", "scheme", "commonlisp"]),
    ("lua", &[]),
    ("makefile", &["make", "cmake"]),
    ("matlab", &["octave"]),
    ("nix", &[]),
    ("objective-c", &["objc", "objectivec"]),
    ("ocaml", &["ml"]),
    ("perl", &["pl"]),
    ("php", &[]),
    ("powershell", &["ps1", "pwsh"]),
    ("protobuf", &["proto"]),
    ("python", &["py", "python2", "python3", "ipython", "py3"]),
    ("r", &["rlang"]),
    ("ruby", &["rb", "irb"]),
    ("rust", &["rs"]),
    ("scala", &[]),
    ("sql", &["mysql", "postgresql", "psql", "plpgsql", "sqlite"]),
    ("swift", &[]),
    ("toml", &[]),
    ("typescript", &["ts", "tsx", "mts"]),
    ("vim", &["viml"]),
    ("wasm", &["wat"]),
    ("xml", &["svg", "xsd", "xslt"]),
    ("yaml", &["yml"]),
    ("zig", &[]),
];

/// The name under which a language may be spoken of.
pub(super) fn named(word: &str) -> Option<&'static str> {
    if word.is_empty() || 16 < word.len() {
        return None;
    }
    let known = |(name, others): &&(&str, &[&str])| {
        name.eq_ignore_ascii_case(word)
            || others.iter().any(|other| other.eq_ignore_ascii_case(word))
    };
    NAMES.iter().find(known).map(|(name, _)| *name)
}

/// The language that a class of highlighters names: `language-rust`, `brush: js`, `highlight-c`.
pub(super) fn of_class(class: &str) -> Option<&'static str> {
    const PREFIXES: [&str; 6] =
        ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-"];
    /// Each of them is compared with all names there are.
    const MAX_WORDS: usize = 16;
    let words = class.split([' ', '\t', '\n', ';', ':', ',']).filter(|word| !word.is_empty());
    let words = words.take(MAX_WORDS);
    let prefixed = |word: &str| {
        let rest = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix))?;
        named(rest)
    };
    words.clone().find_map(prefixed).or_else(|| words.clone().find_map(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_highlighters_name_languages() {
        for (class, language) in [
            ("language-rust", Some("rust")),
            ("sourceCode python numberLines", Some("python")),
            ("brush: js; gutter: false", Some("javascript")),
            ("highlight-source-shell", Some("bash")),
            ("highlight-python3 notranslate", Some("python")),
            ("language-switcher lang-en", None),
            ("rust rust-example-rendered", Some("rust")),
        ] {
            assert_eq!(of_class(class), language, "{class}");
        }
    }
}
