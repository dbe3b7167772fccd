//! Blocks that plain text marks off as code: fences, and what `AsciiDoc`, Org, `LaTeX`, reStructuredText,
//! Textile, wikis, manual pages and their like have instead.

use super::{super::placeholder, line::look, words::reads_as_prose};

/// Which markup a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web::filter) enum Markup {
    /// Any, line by line.
    Plain,
    /// Any, in lines that break where readers see it: a row of tildes may be an ornament.
    Leaf,
    /// Markdown, which has its own fences, rules of dashes, and HTML.
    Markdown,
}

/// What ends a block.
enum End<'a> {
    /// So many of a sign, or more, on a line of their own.
    Run(u8, usize),
    /// This very line.
    Line(&'a str),
    /// A line that holds this, in any case.
    Holds(&'static str),
    /// A line that begins with `\end{` and this.
    Environment(&'a str),
    /// A line that is no deeper than this.
    Depth(usize),
    /// A blank line.
    Blank,
    /// A line that begins a paragraph of Textile's.
    Textile,
}

/// Marks that stand for themselves: what a line begins with, and what ends the block.
const PAIRS: [(&str, &str); 14] = [
    ("#+begin_src", "#+end_src"),
    ("#+begin_example", "#+end_example"),
    ("{code}", "{code}"),
    ("{code:", "{code}"),
    ("{noformat", "{noformat}"),
    ("<pre", "</pre"),
    ("<syntaxhighlight", "</syntaxhighlight"),
    ("<source", "</source"),
    ("<code", "</code"),
    ("[code=", "[/code]"),
    ("@example", "@end example"),
    ("@verbatim", "@end verbatim"),
    ("@lisp", "@end lisp"),
    ("@smallexample", "@end smallexample"),
];
const ENVIRONMENTS: [&str; 9] = [
    "verbatim",
    "Verbatim",
    "BVerbatim",
    "lstlisting",
    "minted",
    "alltt",
    "code",
    "algorithmic",
    "pycode",
];
const DIRECTIVES: [&str; 9] = [
    "code-block::",
    "code::",
    "sourcecode::",
    "parsed-literal::",
    "literalinclude::",
    "highlight::",
    "doctest::",
    "prompt::",
    "testcode::",
];

/// Which lines stand in such blocks, marks included.
pub(in crate::web::filter) fn marked_off(lines: &[&str], markup: Markup) -> Vec<bool> {
    let mut found = vec![false; lines.len()];
    let mut scan = Scan { lines, markup, last: [None; PAIRS.len()], known: false, n_open: 0 };
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let block = begins(line).then(|| scan.block(at)).flatten();
        let Some(Block { from, end, is_code }) = block.filter(|block| at < block.end) else {
            at += 1;
            continue;
        };
        if let Some(found) = found.get_mut(from..end).filter(|_| is_code) {
            found.fill(true);
        }
        at = end;
    }
    found
}

/// Lines that belong together.
struct Block {
    from: usize,
    end: usize,
    /// Else it is somebody else's matter.
    is_code: bool,
}

/// Whether a line may be the first of a block: asked of every line there is.
fn begins(line: &str) -> bool {
    let line = line.trim_start();
    match line.as_bytes().first() {
        None => false,
        Some(
            b'`' | b'~' | b'-' | b'.' | b'[' | b'#' | b'\\' | b'{' | b'<' | b'@' | b'b' | b'+',
        ) => true,
        _ => line.trim_end().ends_with("::"),
    }
}

struct Scan<'a> {
    lines: &'a [&'a str],
    markup: Markup,
    /// The last line that ends a block of each pair, so that no end is looked for that is not there.
    last: [Option<usize>; PAIRS.len()],
    known: bool,
    /// So many rows of tildes were followed to the end of the text, and no other closed them.
    n_open: usize,
}

/// What so many rows of tildes say is so: they are ornaments.
pub(super) const MAX_OPEN: usize = 8;

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn is_run(line: &str, sign: u8, least: usize) -> bool {
    least <= line.len() && line.bytes().all(|byte| byte == sign)
}

fn starts(line: &str, begin: &str) -> bool {
    line.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin))
}

fn holds(line: &str, part: &str) -> bool {
    let first = part.as_bytes().first();
    let places = line.bytes().enumerate().filter(|(_, byte)| Some(byte) == first);
    places.into_iter().any(|(at, _)| line.get(at..).is_some_and(|rest| starts(rest, part)))
}

/// Whether a row of tildes is below a title, or around one, as reStructuredText has it: no fence begins
/// there. `lines`: the row, and two lines behind it.
pub(in crate::web::filter) fn is_ruled(above: &str, lines: [&str; 3]) -> bool {
    let [rule, next, last] = lines.map(str::trim);
    let is_title = |title: &str| {
        let title = title.trim();
        !title.is_empty()
            && !title.starts_with('~')
            && !title.ends_with(':')
            && (title.chars().count() <= rule.len() || placeholder::is_one(title))
    };
    let around = || {
        let is_capital = next.starts_with(|c: char| !c.is_ascii_lowercase() && c.is_alphanumeric());
        let is_apart = above.trim().is_empty() && last == rule;
        is_apart && is_capital && is_title(next) && look(next).score < 2
    };
    is_run(rule, b'~', 3) && (is_title(above) || around())
}

impl<'a> Scan<'a> {
    fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).copied().unwrap_or_default()
    }

    /// Where the block ends that begins at a line, if one does.
    fn block(&mut self, at: usize) -> Option<Block> {
        let line = self.line(at);
        if let (b'`' | b'~', plain) = (line.trim().bytes().next()?, self.markup != Markup::Markdown)
        {
            let above = at.checked_sub(1).map_or("", |above| self.line(above));
            if plain && is_ruled(above, [line, self.line(at + 1), self.line(at + 2)]) {
                return None;
            }
            return self.fence(at, line.trim()).map(|end| Block { from: at, end, is_code: plain });
        }
        let from = if line.trim_end().ends_with("::") && !line.trim_start().starts_with("..") {
            at + 1
        } else {
            at
        };
        self.code(at).map(|end| Block { from, end, is_code: true })
    }

    fn code(&mut self, at: usize) -> Option<usize> {
        let line = self.line(at);
        let bare = line.trim();
        let plain = self.markup != Markup::Markdown;
        match bare.as_bytes().first()? {
            b'-' | b'.' | b'+' if plain && is_run(bare, *bare.as_bytes().first()?, 4) => {
                self.delimited(at, bare)
            }
            b'[' if is_listing(bare) => self.listing(at),
            b'\\' => self.environment(at, bare),
            b'.' if bare.starts_with(".. ") => self.directive(at, bare, depth(line)),
            b'.' if plain => match bare {
                ".nf" => Some(self.end(at, &End::Line(".fi"))),
                ".EX" => Some(self.end(at, &End::Line(".EE"))),
                _ if bare.starts_with(".Bd -literal") => Some(self.end(at, &End::Line(".Ed"))),
                _ => None,
            },
            b'b' if plain && bare.starts_with("bc.. ") => Some(self.end(at, &End::Textile)),
            b'b' if plain && (bare.starts_with("bc. ") || bare.starts_with("bc(")) => {
                Some(self.end(at, &End::Blank))
            }
            b'#' | b'{' | b'<' | b'[' | b'@' => self.pair(at, bare),
            _ if plain && bare.ends_with("::") => self.literal(at, line),
            _ => None,
        }
    }

    /// Behind the line that ends a block, or behind the last one.
    fn end(&self, at: usize, end: &End<'_>) -> usize {
        let ends = |at: &usize| {
            let line = self.line(*at);
            let bare = line.trim();
            match end {
                End::Run(sign, least) => is_run(bare, *sign, *least),
                End::Line(mark) => bare == *mark,
                End::Holds(mark) => holds(bare, mark),
                End::Environment(name) => {
                    bare.split_once("\\end{").is_some_and(|(_, behind)| behind.starts_with(*name))
                }
                End::Depth(least) => !bare.is_empty() && depth(line) <= *least,
                End::Blank => bare.is_empty(),
                End::Textile => ["p. ", "h1. ", "h2. ", "h3. ", "h4. ", "bq. ", "bc. ", "pre. "]
                    .iter()
                    .any(|sign| bare.starts_with(sign)),
            }
        };
        let found = (at + 1..self.lines.len()).find(ends);
        match (end, found) {
            (_, None) => self.lines.len(),
            // What ends these is the next text.
            (End::Depth(_) | End::Blank | End::Textile, Some(at)) => at,
            (_, Some(at)) => at + 1,
        }
    }

    fn fence(&mut self, at: usize, bare: &str) -> Option<usize> {
        let sign = *bare.as_bytes().first()?;
        let n = bare.bytes().take_while(|byte| *byte == sign).count();
        let info = bare.get(n..)?;
        let is_fence = 3 <= n && !(sign == b'`' && info.contains('`'));
        if !is_fence {
            return None;
        }
        let may_be_open = sign == b'~' && self.markup == Markup::Leaf;
        if may_be_open && MAX_OPEN <= self.n_open {
            return None;
        }
        // In Markdown, too: none of the other marks counts within one.
        let end = self.end(at, &End::Run(sign, n));
        let closes = at + 1 < end && is_run(self.line(end - 1).trim(), sign, n);
        if may_be_open && !closes {
            self.n_open += 1;
            return None;
        }
        Some(end)
    }

    /// `----` around a listing, and not below a heading or between paragraphs: most of what is within has
    /// to look like code.
    fn delimited(&self, at: usize, bare: &str) -> Option<usize> {
        const MAX_LINES: usize = 400;
        const SAMPLE: usize = 40;
        let before = at.checked_sub(1).map_or("", |before| self.line(before).trim());
        let is_title =
            before.starts_with(['.', '[', '+']) && placeholder::leading(before).is_none();
        if !before.is_empty() && !is_title {
            return None;
        }
        let close = (at + 1..self.lines.len().min(at + MAX_LINES))
            .find(|at| self.line(*at).trim() == bare)?;
        let within = self.lines.get(at + 1..close)?;
        // What is announced by a colon, and stands right between the marks, is code unless it is prose.
        let announced =
            at.checked_sub(2).is_some_and(|above| self.line(above).trim_end().ends_with(':'));
        let is_blank = |line: Option<&&str>| line.is_none_or(|line| line.trim().is_empty());
        if before.is_empty() && announced && !is_blank(within.first()) && !is_blank(within.last()) {
            let sample = within.get(..within.len().min(SAMPLE)).unwrap_or_default();
            if !reads_as_prose(&sample.join("\n")) {
                return Some(close + 1);
            }
        }
        let (mut n, mut n_code) = (0_usize, 0_usize);
        for line in within.iter().filter(|line| !line.trim().is_empty()).take(SAMPLE) {
            let look = look(line);
            n += 1;
            n_code += usize::from(look.is_doubtful() || look.comment);
        }
        (0 < n_code && n <= n_code * 2).then_some(close + 1)
    }

    /// `[source,rust]`, and what stands in the block below it.
    fn listing(&mut self, at: usize) -> Option<usize> {
        let mut next = at + 1;
        if self.line(next).starts_with('.') && !self.line(next).starts_with("..") {
            next += 1;
        }
        let mark = self.line(next).trim();
        if mark.is_empty() || placeholder::is_one(mark) {
            return None;
        }
        let sign = mark.bytes().next()?;
        if is_run(mark, sign, 4) && b"-.=+".contains(&sign) || mark == "--" {
            return Some(self.end(next, &End::Line(mark)));
        }
        if let b'`' | b'~' = sign {
            return self.fence(next, mark);
        }
        Some(self.end(next, &End::Blank))
    }

    fn environment(&self, at: usize, bare: &str) -> Option<usize> {
        let name = bare.strip_prefix("\\begin{")?.split(['}', '*']).next()?;
        if !ENVIRONMENTS.contains(&name) {
            return None;
        }
        if bare.contains("\\end{") {
            return Some(at + 1);
        }
        Some(self.end(at, &End::Environment(name)))
    }

    fn directive(&self, at: usize, bare: &str, depth: usize) -> Option<usize> {
        let name = bare.strip_prefix(".. ")?.trim_start();
        let known = DIRECTIVES.iter().any(|directive| name.starts_with(directive));
        known.then(|| self.end(at, &End::Depth(depth)))
    }

    /// A paragraph that ends in two colons, and what stands deeper below it: that alone is code.
    fn literal(&mut self, at: usize, line: &str) -> Option<usize> {
        let next = at + 1;
        let is_blank = self.line(next).trim().is_empty();
        let first =
            (next..self.lines.len().min(next + 4)).find(|at| !self.line(*at).trim().is_empty())?;
        if !is_blank || depth(self.line(first)) <= depth(line) {
            return None;
        }
        Some(self.end(at, &End::Depth(depth(line))))
    }

    fn pair(&mut self, at: usize, bare: &str) -> Option<usize> {
        let which = PAIRS.iter().position(|(open, _)| starts(bare, open))?;
        let (open, close) = *PAIRS.get(which)?;
        let behind = bare.get(open.len()..)?;
        let is_html = open.starts_with('<');
        if is_html && (self.markup == Markup::Markdown || !behind.starts_with(['>', ' '])) {
            return None;
        }
        if open == "<source" && !behind.contains("lang") {
            return None;
        }
        if holds(behind, close) {
            // It ends on its own line, which is judged by itself.
            return None;
        }
        self.learn();
        let ends = self.last.get(which).copied().flatten().is_some_and(|last| at < last);
        if ends {
            return Some(self.end(at, &End::Holds(close)));
        }
        // One that never ends runs to the end, if nothing else can be meant.
        let alone =
            open.starts_with("#+") || !is_html && open.starts_with('{') && bare.ends_with('}');
        alone.then_some(self.lines.len())
    }

    /// Finds the last end of each pair, once.
    fn learn(&mut self) {
        if self.known {
            return;
        }
        self.known = true;
        for (at, line) in self.lines.iter().enumerate() {
            if !line.contains(['#', '{', '<', '[', '@']) {
                continue;
            }
            for ((_, close), last) in PAIRS.iter().zip(&mut self.last) {
                if holds(line, close) {
                    *last = Some(at);
                }
            }
        }
    }
}

/// `[source,rust]`, `[listing]`, `[,ruby]`, `[literal]`
fn is_listing(bare: &str) -> bool {
    let Some(inner) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let name = inner.split([',', '%', '#', '.']).next().unwrap_or_default().trim();
    matches!(name, "source" | "listing" | "literal" | "src")
        || inner.starts_with(',') && inner.len() < 40
}

#[cfg(test)]
mod tests;
