//! Lines that stand side by side, judged together: what is doubtful by itself is code among code.
//!
//! Asked of what stands in leaves of its own: paragraphs, items, rows, strings of an array, lines with
//! blank ones between them. A neighbour there is less than one within a paragraph, so that the rules
//! are stricter than those for the lines of one text. None of them counts what is gone already: what
//! was judged once is judged the same when the code is out.

use super::settings::{self, Setting};
use crate::web::filter::judge::Caution;

/// What a line looks like.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is asked by another rule, and all are kept for each line"
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::web::filter) struct Look {
    /// Points for code, less points for prose.
    pub(in crate::web::filter) score: i32,
    /// The same without what prose has, too: percents, flags, semicolons at the ends of items.
    pub(super) doubt: i32,
    /// Something in it is of code alone.
    pub(super) hard: bool,
    /// It is more than a call, which may be the name of an item.
    pub(super) firm: bool,
    /// An entry of configuration below which others stand: `steps:`.
    pub(super) nest: bool,
    /// It has signs that are of no sentence.
    pub(super) signs: bool,
    /// A comment, if it stands beside code at all.
    pub(in crate::web::filter) comment: bool,
    /// It begins or ends like a sentence.
    pub(super) sentence: bool,
    /// It is one word.
    pub(super) single: bool,
    /// What it sets, as a file of configuration would.
    pub(super) setting: Setting,
    /// Blank, or a placeholder: what stands on both sides of it is apart.
    pub(super) apart: bool,
}

/// What a line that cannot be anything but code scores.
pub(super) const CERTAIN: i32 = 9;
/// Doubts less than this are none.
const DOUBT: i32 = 2;

impl Look {
    /// Doubts about an item of a list that may be a statement, or what may be a command.
    pub(super) const ITEM: i32 = DOUBT + 1;

    pub(super) const APART: Self = Self {
        score: 0,
        doubt: 0,
        hard: false,
        firm: false,
        nest: false,
        signs: false,
        comment: false,
        sentence: false,
        single: false,
        setting: Setting::None,
        apart: true,
    };

    /// It is code, whatever it stands beside.
    pub(in crate::web::filter) const CODE: Self = Self {
        score: CERTAIN,
        doubt: CERTAIN,
        hard: true,
        signs: true,
        apart: false,
        ..Self::APART
    };

    /// It is prose, whatever it stands beside.
    pub(in crate::web::filter) const PROSE: Self = Self { score: -1, apart: false, ..Self::APART };

    /// That of a text without any sign of code: a word may stand between two lines of code.
    pub(in crate::web::filter) fn of_words(text: &str) -> Self {
        if text.contains(' ') {
            return Self::PROSE;
        }
        let sentence = text.starts_with(char::is_uppercase) || text.ends_with(['.', ':', '!', '?']);
        Self { score: 0, single: true, sentence, ..Self::PROSE }
    }

    /// Whether it is code where nothing speaks against it.
    pub(in crate::web::filter) const fn is_code(&self) -> bool {
        Caution::Usual.threshold() <= self.score
    }

    /// Whether it has more of code than a name or a call.
    pub(in crate::web::filter) const fn is_statement(&self) -> bool {
        self.firm
    }

    /// The same of a line that is a link: tables of contents name what programs have names for.
    pub(in crate::web::filter) const fn of_link(self) -> Self {
        Self { doubt: self.doubt - DOUBT, ..self }
    }

    /// Whether it may be code among others.
    pub(in crate::web::filter) const fn is_doubtful(&self) -> bool {
        DOUBT <= self.doubt
    }
}

/// Which of the lines are code, where some are known to be.
pub(in crate::web::filter) fn together(looks: &[Look], code: &mut [bool]) {
    let mut start = 0;
    while start < looks.len() {
        let rest = looks.get(start..).unwrap_or_default();
        let len = rest.iter().take_while(|look| !look.apart).count();
        let end = start + len;
        if let (Some(looks), Some(code)) = (looks.get(start..end), code.get_mut(start..end))
            && (code.contains(&true) || looks.iter().any(Look::is_doubtful))
        {
            settings::mark(looks, code);
            doubts(looks, code);
            neighbours(looks, code);
        }
        start = end + 1;
    }
}

/// Doubtful lines in a row are code, if there are enough of them.
fn doubts(looks: &[Look], code: &mut [bool]) {
    /// So many lines without any doubt end a row.
    const APART: usize = 2;
    let mut row = Row::default();
    let mut n_clear = 0;
    for (at, look) in looks.iter().enumerate() {
        let is_code = code.get(at).copied().unwrap_or_default();
        if is_code || look.is_doubtful() {
            row.add(at, look, is_code);
            n_clear = 0;
            continue;
        }
        n_clear += 1;
        if look.score < 0 && !look.comment || APART <= n_clear {
            std::mem::take(&mut row).settle(code);
        }
    }
    row.settle(code);
}

/// Doubtful lines with hardly any other between them.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are what its lines say, all of them together"
)]
#[derive(Default)]
struct Row {
    first: Option<usize>,
    last: usize,
    n: usize,
    doubt: i32,
    firm: bool,
    nest: bool,
    signs: bool,
    code: bool,
}

impl Row {
    fn add(&mut self, at: usize, look: &Look, is_code: bool) {
        self.first.get_or_insert(at);
        self.last = at;
        self.n += 1;
        self.doubt += look.doubt;
        self.firm |= look.firm;
        self.nest |= look.nest;
        self.signs |= look.signs;
        self.code |= is_code;
    }

    fn settle(self, code: &mut [bool]) {
        const ENOUGH: usize = 3;
        const MANY: usize = 5;
        let Some(first) = self.first else { return };
        let mean_is_high = i32::try_from(self.n).is_ok_and(|n| 5 * n <= 2 * self.doubt);
        let is_code = ENOUGH <= self.n
            && (self.firm || self.nest)
            && self.signs
            && (self.code || mean_is_high || MANY <= self.n);
        if is_code && let Some(code) = code.get_mut(first..=self.last) {
            code.fill(true);
        }
    }
}

/// What stands beside code: doubtful lines, comments, and a word between two lines of it.
fn neighbours(looks: &[Look], code: &mut [bool]) {
    const ENOUGH: usize = 3;
    let mut spread = |order: &mut dyn Iterator<Item = usize>| {
        let mut behind_code = false;
        for at in order {
            let (Some(code), Some(look)) = (code.get_mut(at), looks.get(at)) else { continue };
            *code |= behind_code && (look.is_doubtful() && look.hard || look.comment);
            behind_code = *code;
        }
    };
    spread(&mut (0..looks.len()));
    spread(&mut (0..looks.len()).rev());
    let is = |code: &[bool], at: usize| code.get(at).copied().unwrap_or_default();
    let between: Vec<usize> = (1..looks.len().saturating_sub(1))
        .filter(|at| {
            let near = at.saturating_sub(2)..(at + 3).min(looks.len());
            let fits = |look: &Look| {
                let n_near = near.filter(|near| is(code, *near)).count();
                0 <= look.score && !look.sentence && (look.single || ENOUGH <= n_near)
            };
            !is(code, *at)
                && is(code, at - 1)
                && is(code, at + 1)
                && looks.get(*at).is_some_and(fits)
        })
        .collect();
    for at in between {
        if let Some(code) = code.get_mut(at) {
            *code = true;
        }
    }
}
