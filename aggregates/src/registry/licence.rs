//! What may be done with a package, as its registry tells: an SPDX expression, or what people wrote
//! before there were any, brought into that form as far as it is clear what they meant.
//!
//! An expression is fine if one of its alternatives is, and all that this one asks for. What cannot be
//! read is not known; only a name in it that is denied counts all the same. What is too long to be read
//! may hold any name: where some are denied it is refused, and no part of it is judged for the whole.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use spdx::{
    Expression, ParseMode,
    expression::ExpressionReq,
    identifiers::{EXCEPTIONS, LICENSES},
};
use weir_events::registry::{
    Ecosystem,
    policy::{Licences as Settings, Reaction},
};

use super::name::pattern::fits;
use crate::words::is_hidden;

/// What SPDX calls a licence of which nothing is told.
pub const NO_ASSERTION: &str = "NOASSERTION";

/// What npm calls a package that nobody may use.
pub const UNLICENSED: &str = "UNLICENSED";

/// The longest text that is read, in bytes. Some projects have the whole licence here.
const MAX_BYTES: usize = 4 << 10;

/// The longest name that is allowed or denied, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// As much of one that is too long as is kept, and of any as a message repeats, in characters.
const MAX_KEPT_CHARS: usize = 80;

/// What stands for what was cut off. Who writes it himself is taken at his word.
const CUT: &str = " [cut]";

const OPERATORS: [&str; 3] = ["OR", "AND", "WITH"];

/// How many names may be allowed, and how many denied.
pub const MAX_NAMES: usize = 200;

const MODE: ParseMode = ParseMode {
    allow_slash_as_or_operator: false,
    allow_imprecise_license_names: false,
    allow_postfix_plus_on_gpl: true,
    allow_deprecated: true,
    allow_unknown: false,
};

/// What people write for what SPDX calls otherwise, in lower case. What may be several is all of them:
/// who allows each of them allows it.
const ALIASES: [(&str, &str); 58] = [
    ("agplv3", "AGPL-3.0-only"),
    ("agpl", "AGPL-1.0-or-later"),
    ("apache", "Apache-2.0"),
    ("apache 2", "Apache-2.0"),
    ("apache 2.0", "Apache-2.0"),
    ("apache v2", "Apache-2.0"),
    ("apache-2", "Apache-2.0"),
    ("apache2", "Apache-2.0"),
    ("apache license", "Apache-2.0"),
    ("apache license 2.0", "Apache-2.0"),
    ("apache license, version 2.0", "Apache-2.0"),
    ("apache license version 2.0", "Apache-2.0"),
    ("apache software license", "Apache-2.0"),
    ("apache software license 2.0", "Apache-2.0"),
    ("artistic license 2.0", "Artistic-2.0"),
    ("boost software license 1.0 (bsl-1.0)", "BSL-1.0"),
    ("bsd", "BSD-2-Clause AND BSD-3-Clause"),
    ("bsd license", "BSD-2-Clause AND BSD-3-Clause"),
    ("bsd 2-clause", "BSD-2-Clause"),
    ("bsd 3-clause", "BSD-3-Clause"),
    ("bsd-2", "BSD-2-Clause"),
    ("bsd-3", "BSD-3-Clause"),
    ("3-clause bsd license", "BSD-3-Clause"),
    ("new bsd", "BSD-3-Clause"),
    ("simplified bsd", "BSD-2-Clause"),
    ("cc0 1.0 universal (cc0 1.0) public domain dedication", "CC0-1.0"),
    ("eclipse public license 2.0 (epl-2.0)", "EPL-2.0"),
    ("gnu affero general public license v3", "AGPL-3.0-only"),
    ("gnu affero general public license v3 or later (agplv3+)", "AGPL-3.0-or-later"),
    ("gnu general public license (gpl)", "GPL-1.0-or-later"),
    ("gnu general public license v2 (gplv2)", "GPL-2.0-only"),
    ("gnu general public license v2 or later (gplv2+)", "GPL-2.0-or-later"),
    ("gnu general public license v3 (gplv3)", "GPL-3.0-only"),
    ("gnu general public license v3 or later (gplv3+)", "GPL-3.0-or-later"),
    ("gnu lesser general public license v2 (lgplv2)", "LGPL-2.0-only"),
    ("gnu lesser general public license v2 or later (lgplv2+)", "LGPL-2.0-or-later"),
    ("gnu lesser general public license v3 (lgplv3)", "LGPL-3.0-only"),
    ("gnu lesser general public license v3 or later (lgplv3+)", "LGPL-3.0-or-later"),
    ("gnu library or lesser general public license (lgpl)", "LGPL-2.0-or-later"),
    ("gpl", "GPL-1.0-or-later"),
    ("gplv2", "GPL-2.0-only"),
    ("gplv2+", "GPL-2.0-or-later"),
    ("gplv3", "GPL-3.0-only"),
    ("gplv3+", "GPL-3.0-or-later"),
    ("isc license", "ISC"),
    ("isc license (iscl)", "ISC"),
    ("lgpl", "LGPL-2.0-or-later"),
    ("lgplv3", "LGPL-3.0-only"),
    ("mit license", "MIT"),
    ("the mit license", "MIT"),
    ("the mit license (mit)", "MIT"),
    ("mit no attribution license (mit-0)", "MIT-0"),
    ("mozilla public license 2.0 (mpl 2.0)", "MPL-2.0"),
    ("mpl 2.0", "MPL-2.0"),
    ("psf", "PSF-2.0"),
    ("python software foundation license", "PSF-2.0"),
    ("the unlicense (unlicense)", "Unlicense"),
    ("zlib/libpng license", "Zlib"),
];

/// The names of SPDX, and the aliases, by what they are in lower case.
static NAMES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let spdx = LICENSES.iter().map(|licence| (licence.name.to_ascii_lowercase(), licence.name));
    let aliases = ALIASES.iter().map(|(alias, name)| ((*alias).to_owned(), *name));
    aliases.chain(spdx).collect()
});

/// A licence as it is kept: as SPDX writes it, where it is clear what is meant, else in its own words.
#[must_use]
pub fn canonical(text: &str) -> String {
    let text = on_one_line(text);
    if text.len() > MAX_BYTES {
        return cut_off(&text);
    }
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "" | "unknown" | "none" | "noassertion" | "other" | "custom" | "dual license" => {
            NO_ASSERTION.to_owned()
        }
        "unlicensed" | "proprietary" | "other/proprietary license" => UNLICENSED.to_owned(),
        _ => match read(&text) {
            // In full it may be longer than as it was written.
            Some(spelt) if spelt.len() > MAX_BYTES => cut_off(&spelt),
            Some(spelt) => spelt,
            None => text,
        },
    }
}

/// A text without what is not seen, and with single blanks between its words.
fn on_one_line(text: &str) -> String {
    let seen = |word: &str| word.chars().filter(|c| !is_hidden(*c)).collect::<String>();
    let words = text.split_whitespace().map(seen).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// What is kept of a licence, given by its beginning, that is too long to be read.
#[must_use]
pub fn cut_off(text: &str) -> String {
    let kept: String = text.chars().take(MAX_KEPT_CHARS).collect();
    format!("{}{CUT}", kept.trim_end())
}

/// Whether something was cut off, so that nobody knows what stood there.
#[must_use]
pub fn is_cut_off(licence: &str) -> bool {
    licence.contains(CUT)
}

/// As much of a licence as a message repeats.
#[must_use]
pub fn shown(licence: &str) -> Cow<'_, str> {
    match licence.char_indices().nth(MAX_KEPT_CHARS + CUT.len()) {
        Some(_) => Cow::Owned(licence.chars().take(MAX_KEPT_CHARS).chain(" ...".chars()).collect()),
        None => Cow::Borrowed(licence),
    }
}

/// What becomes of a version of which the licence is not known. Where nobody says: where only some may
/// be used it is not known to be one of them, but of what can tell none that is not asked.
#[must_use]
pub fn unknown(settings: &Settings, ecosystem: Ecosystem) -> Reaction {
    let tells = matches!(ecosystem, Ecosystem::Pypi | Ecosystem::Npm);
    let missed = tells && !settings.allow.is_empty();
    settings.unknown.unwrap_or(if missed { settings.violation } else { Reaction::Off })
}

/// Several licences of which nobody says how they hang together: all of them.
#[must_use]
pub fn together<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    joined(texts, " AND ")
}

/// Several licences of which one may be chosen.
#[must_use]
pub fn either<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    joined(texts, " OR ")
}

fn joined<'a>(texts: impl IntoIterator<Item = &'a str>, operator: &str) -> String {
    let mut once = HashSet::new();
    let mut all: Vec<_> = texts.into_iter().map(canonical).collect();
    all.retain(|one| once.insert(one.clone()));
    match &all[..] {
        [] => NO_ASSERTION.to_owned(),
        [one] => one.clone(),
        many => {
            let wrapped = |one: &String| {
                if one.contains(' ') { format!("({one})") } else { one.clone() }
            };
            let many: Vec<_> = many.iter().map(wrapped).collect();
            canonical(&many.join(operator))
        }
    }
}

/// Reads an expression, in the spelling of anybody.
fn read(text: &str) -> Option<String> {
    let spelt = by_name(text).map_or_else(|| respelt(text), |name| Some(name.into_owned()))?;
    parsed(&spelt).map(|_| spelt)
}

/// An expression as SPDX writes it. One in which something is not asserted tells nothing.
fn parsed(text: &str) -> Option<Expression> {
    let expression = Expression::parse_mode(text, MODE).ok()?;
    let told = |name: &str| name != NO_ASSERTION && name != "NONE";
    let asserts = |it: &ExpressionReq| it.req.license.id().is_none_or(|id| told(id.name));
    let all = expression.requirements().all(asserts);
    all.then_some(expression)
}

/// An expression with each name in it as SPDX writes it.
fn respelt(words: &str) -> Option<String> {
    let apart = words.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let (mut spelt, mut operand) = (Vec::new(), Vec::new());
    for word in apart.split_whitespace().map(Some).chain([None]) {
        let sign = match word {
            Some("(" | ")") | None => word.or(Some("")),
            Some(word) => OPERATORS.into_iter().find(|it| it.eq_ignore_ascii_case(word)),
        };
        let Some(sign) = sign else {
            operand.extend(word);
            continue;
        };
        if !operand.is_empty() {
            let text = std::mem::take(&mut operand).join(" ");
            let name = by_name(&text).or_else(|| exception(&text).map(Cow::Borrowed))?;
            spelt.push(if name.contains(' ') { format!("({name})") } else { name.into_owned() });
        }
        spelt.extend(Some(sign.to_owned()).filter(|sign| !sign.is_empty()));
    }
    let spelt = spelt.join(" ").replace("( ", "(").replace(" )", ")");
    // Around all of it they say nothing.
    let inside = spelt.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    Some(inside.filter(|it| !it.contains(['(', ')'])).unwrap_or(&spelt).to_owned())
}

/// A licence by what somebody calls it.
fn by_name(text: &str) -> Option<Cow<'static, str>> {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("licenseref-") {
        return Some(Cow::Owned(text.to_owned()));
    }
    let known = NAMES.get(&lower).copied().map(|name| (name, false));
    let later = || Some((NAMES.get(lower.strip_suffix('+')?).copied()?, true));
    let (name, later) = known.or_else(later)?;
    // What GNU wrote before it said whether later versions count.
    if spdx::license_id(name).is_some_and(|id| id.is_gnu() && id.is_deprecated()) {
        let bare = name.trim_end_matches('+');
        let suffix = if later || name.ends_with('+') { "or-later" } else { "only" };
        let today = format!("{bare}-{suffix}");
        if spdx::license_id(&today).is_some() {
            return Some(Cow::Owned(today));
        }
    }
    Some(if later { Cow::Owned(format!("{name}+")) } else { Cow::Borrowed(name) })
}

/// An exception by its name.
fn exception(text: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().map(|it| it.name).find(|name| name.eq_ignore_ascii_case(text))
}

/// How a licence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may be used.
    Fine,
    /// It may not.
    Refused,
    /// It is too long to be read, so that it may hold what is denied.
    TooLong,
    /// What it is cannot be told.
    Unknown,
}

/// The licences that settings allow and deny, ready to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Licences {
    allow: Vec<String>,
    deny: Vec<String>,
}

impl Licences {
    /// Makes them ready.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let lower = |all: &[String]| all.iter().map(|one| one.to_ascii_lowercase()).collect();
        Self { allow: lower(&settings.allow), deny: lower(&settings.deny) }
    }

    /// How a licence stands, given in its canonical form.
    #[must_use]
    pub fn standing(&self, licence: &str) -> Standing {
        let fits_one = |patterns: &[String], names: &[String]| {
            patterns.iter().any(|pattern| names.iter().any(|name| fits(pattern, name)))
        };
        let may = |names: &[String]| {
            let allowed = self.allow.is_empty() || fits_one(&self.allow, names);
            allowed && !fits_one(&self.deny, names)
        };
        if licence == UNLICENSED {
            let names = [UNLICENSED.to_ascii_lowercase()];
            let named = fits_one(&self.allow, &names) && !fits_one(&self.deny, &names);
            return if named { Standing::Fine } else { Standing::Refused };
        }
        if is_cut_off(licence) {
            return if self.deny.is_empty() { Standing::Unknown } else { Standing::TooLong };
        }
        if let Some(expression) = parsed(licence) {
            let fine = expression.evaluate(|asked| {
                let own = asked.license.id().map(|id| id.name.to_ascii_lowercase());
                let whole = asked.to_string().to_ascii_lowercase();
                may(&own.into_iter().chain([whole]).collect::<Vec<_>>())
            });
            return if fine { Standing::Fine } else { Standing::Refused };
        }
        let words = licence.split(|c: char| !c.is_ascii_alphanumeric() && !"-.+".contains(c));
        let words = words.filter(|word| !word.is_empty());
        let names = words.flat_map(|word| {
            let known = by_name(word).map(|name| name.to_ascii_lowercase());
            known.into_iter().chain([word.to_ascii_lowercase()])
        });
        let names: Vec<_> = names.collect();
        let denied = licence != NO_ASSERTION && fits_one(&self.deny, &names);
        if denied { Standing::Refused } else { Standing::Unknown }
    }
}

/// Whether a licence, given in its canonical form, is one that can be read.
#[must_use]
pub fn is_known(licence: &str) -> bool {
    licence == UNLICENSED || parsed(licence).is_some()
}

/// Why a text cannot stand among the names that are allowed or denied, if so.
#[must_use]
pub fn objection(name: &str) -> Option<&'static str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'+' | b'*' | b' ');
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(plain) {
        return Some(
            "it is no name of SPDX: letters, digits, `-`, `.` and `+`, with `*` for any run of characters",
        );
    }
    if name.eq_ignore_ascii_case(UNLICENSED) {
        return None;
    }
    let (base, with) = name.split_once(" WITH ").unwrap_or((name, ""));
    let fits_some = |pattern: &str, names: &[&str]| {
        let pattern = pattern.to_ascii_lowercase();
        names.iter().any(|name| fits(&pattern, &name.to_ascii_lowercase()))
    };
    let own = base.to_ascii_lowercase().starts_with("licenseref-");
    let licences: Vec<_> = LICENSES.iter().map(|it| it.name).collect();
    let exceptions: Vec<_> = EXCEPTIONS.iter().map(|it| it.name).collect();
    if !own && !fits_some(base.trim_end_matches('+'), &licences) {
        return Some("SPDX knows no licence of this name");
    }
    if !with.is_empty() && !fits_some(with, &exceptions) {
        return Some("SPDX knows no exception of this name");
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn licences(allow: &[&str], deny: &[&str]) -> Licences {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Licences::new(&Settings { allow: own(allow), deny: own(deny), ..Settings::default() })
    }

    #[test]
    fn what_people_write_becomes_what_spdx_writes_as_far_as_it_is_clear() {
        for (text, canonical) in [
            ("MIT", "MIT"),
            ("mit", "MIT"),
            (" The MIT License ", "MIT"),
            ("(MIT OR Apache-2.0)", "MIT OR Apache-2.0"),
            ("MIT/Apache-2.0", "MIT OR Apache-2.0"),
            ("mit or apache 2.0", "MIT OR Apache-2.0"),
            ("Apache License, Version 2.0", "Apache-2.0"),
            ("BSD", "BSD-2-Clause AND BSD-3-Clause"),
            ("BSD OR MIT", "(BSD-2-Clause AND BSD-3-Clause) OR MIT"),
            ("GPL-2.0", "GPL-2.0-only"),
            ("GPL-2.0+", "GPL-2.0-or-later"),
            ("gpl-3.0-or-later", "GPL-3.0-or-later"),
            (
                "gpl-2.0-only with classpath-exception-2.0",
                "GPL-2.0-only WITH Classpath-exception-2.0",
            ),
            ("Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception"),
            ("LicenseRef-acme", "LicenseRef-acme"),
            ("UNLICENSED", UNLICENSED),
            ("", NO_ASSERTION),
            ("UNKNOWN", NO_ASSERTION),
            ("SEE LICENSE IN LICENSE.md", "SEE LICENSE IN LICENSE.md"),
            ("Free\nfor  all", "Free for all"),
            ("MIT OR\nG\u{200b}PLv3", "MIT OR GPL-3.0-only"),
        ] {
            assert_eq!(super::canonical(text), canonical, "{text}");
        }
        assert_eq!(together(["MIT License", "Apache Software License"]), "MIT AND Apache-2.0");
        assert_eq!(either(["MIT", "BSD"]), "MIT OR (BSD-2-Clause AND BSD-3-Clause)");
        assert_eq!((together([]), together(["MIT", "mit"])), (NO_ASSERTION.into(), "MIT".into()));
    }

    #[test]
    fn what_is_too_long_to_be_read_is_refused_where_something_is_denied() {
        let (only, none) = (licences(&["MIT"], &[]), licences(&[], &["AGPL-*"]));
        // What stands at the end counts as what stands at the beginning, up to the bound.
        let hidden = |n: usize| "MIT AND ".repeat(n) + "AGPL-3.0-only";
        let read = canonical(&hidden(500));
        assert_eq!(
            (none.standing(&read), only.standing(&read)),
            (Standing::Refused, Standing::Refused)
        );
        let words = "see the file ".repeat(300) + "AGPLv3";
        assert_eq!(none.standing(&canonical(&words)), Standing::Refused);
        let many = ["BSD License"; 30].into_iter().chain(["AGPL"]);
        assert_eq!(none.standing(&together(many.clone())), Standing::Refused);
        assert_eq!(none.standing(&either(many)), Standing::Fine);
        for long in [
            hidden(600),
            "MIT OR ".repeat(100_000) + "MIT",
            "x".repeat(MAX_BYTES + 1),
            // It is in full that they are too long.
            "gpl OR ".repeat(400) + "MIT",
        ] {
            let kept = canonical(&long);
            assert!(kept.chars().count() <= MAX_KEPT_CHARS + CUT.len(), "{kept}");
            assert_eq!(canonical(&kept), kept);
            let standing = (only.standing(&kept), none.standing(&kept));
            assert_eq!(standing, (Standing::Unknown, Standing::TooLong), "{kept}");
            let beside = together(["MIT", long.as_str()]);
            assert_eq!(none.standing(&beside), Standing::TooLong, "{beside}");
        }
        let each: Vec<_> = (0..1_000).map(|n| format!("LicenseRef-{n}")).collect();
        let all = together(each.iter().map(String::as_str));
        assert_eq!(none.standing(&all), Standing::TooLong);
        assert_eq!(shown(&words).chars().count(), MAX_KEPT_CHARS + 4);
        assert_eq!(shown(&all), all);
    }

    #[test]
    fn an_unknown_licence_is_none_that_is_allowed_where_one_could_be_told() {
        use Reaction::{Block, Off, Warn};
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        for (allow, deny, said, told, mute) in [
            (&["MIT"][..], &[][..], None, Block, Off),
            (&["MIT"], &["GPL-*"], None, Block, Off),
            (&[], &["GPL-*"], None, Off, Off),
            (&["MIT"], &[], Some(Off), Off, Off),
            (&["MIT"], &[], Some(Warn), Warn, Warn),
            (&[], &["GPL-*"], Some(Block), Block, Block),
        ] {
            let (allow, deny) = (own(allow), own(deny));
            let settings =
                Settings { allow, deny, violation: Block, unknown: said, ecosystems: Vec::new() };
            for ecosystem in [Ecosystem::Pypi, Ecosystem::Npm] {
                assert_eq!(unknown(&settings, ecosystem), told, "{settings:?}");
            }
            for ecosystem in [Ecosystem::Cargo, Ecosystem::Go, Ecosystem::Docker] {
                assert_eq!(unknown(&settings, ecosystem), mute, "{settings:?}");
            }
        }
    }

    #[test]
    fn an_expression_stands_as_its_best_alternative_and_as_the_worst_of_what_that_asks_for() {
        use Standing::{Fine, Refused, Unknown};
        let free = licences(&["MIT", "apache-*", "BSD-*", "Zlib"], &[]);
        let no_gpl = licences(&[], &["GPL-*", "AGPL-*"]);
        for (text, allowed, denied) in [
            ("MIT", Fine, Fine),
            ("GPL-3.0-only", Refused, Refused),
            ("MIT OR GPL-3.0-only", Fine, Fine),
            ("MIT AND GPL-3.0-only", Refused, Refused),
            ("(MIT OR GPL-2.0-or-later) AND Apache-2.0", Fine, Fine),
            ("LGPL-3.0-only", Refused, Fine),
            ("Apache-2.0 WITH LLVM-exception", Fine, Fine),
            ("LicenseRef-acme", Refused, Fine),
            (UNLICENSED, Refused, Refused),
            (NO_ASSERTION, Unknown, Unknown),
            ("SEE LICENSE IN LICENSE.md", Unknown, Unknown),
            ("your choice of GPL or AGPLv3, see COPYING", Unknown, Refused),
        ] {
            let standing = (free.standing(text), no_gpl.standing(text));
            assert_eq!(standing, (allowed, denied), "{text}");
        }
        assert_eq!(licences(&["UNLICENSED"], &[]).standing(UNLICENSED), Fine);
        let narrow = licences(&["GPL-2.0-only WITH Classpath-exception-2.0"], &[]);
        assert_eq!(narrow.standing("GPL-2.0-only WITH Classpath-exception-2.0"), Fine);
        assert_eq!(narrow.standing("GPL-2.0-only"), Refused);
    }

    #[test]
    fn only_what_spdx_knows_can_be_allowed_or_denied() {
        for name in [
            "MIT",
            "mit",
            "GPL-*",
            "*",
            "LicenseRef-acme",
            "UNLICENSED",
            "GPL-2.0-or-later",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-* WITH *",
        ] {
            assert_eq!(objection(name), None, "{name}");
        }
        for (name, why) in [
            ("", "no name"),
            ("MTI", "no licence"),
            ("MIT OR Zlib", "no licence"),
            ("GPLv9*", "no licence"),
            ("MIT WITH nothing", "no exception"),
            ("MIT\n", "no name"),
        ] {
            assert!(objection(name).is_some_and(|it| it.contains(why)), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_and_a_canonical_form_stays_as_it_is(
            text in "(MIT|GPL-2.0\\+?|BSD|bsd license| |\\(|\\)| OR | and |/| WITH |x|é|\\+){0,12}"
        ) {
            let first = canonical(&text);
            prop_assert_eq!(&canonical(&first), &first);
            let all = licences(&[], &["*"]);
            prop_assert_ne!(all.standing(&first), Standing::Fine);
        }

        #[test]
        fn to_allow_more_never_refuses_more_and_to_deny_more_never_less(
            text in "(MIT|Zlib|ISC)( (OR|AND) (MIT|Zlib|ISC)){0,4}",
            allow in prop::collection::vec(prop::sample::select(vec!["MIT", "Zlib", "ISC"]), 1..3),
            more in prop::sample::select(vec!["MIT", "Zlib", "ISC"]),
        ) {
            let wider: Vec<_> = allow.iter().copied().chain([more]).collect();
            if licences(&allow, &[]).standing(&text) == Standing::Fine {
                prop_assert_eq!(licences(&wider, &[]).standing(&text), Standing::Fine);
            }
            if licences(&[], &allow).standing(&text) == Standing::Refused {
                prop_assert_eq!(licences(&[], &wider).standing(&text), Standing::Refused);
            }
        }
    }
}
