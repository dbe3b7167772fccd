//! Commands of a shell that stand where nothing says that they are one: by the program, by what only
//! programs are handed (flags, paths, addresses, variables), and by what joins one to the next.
//!
//! Sentences that mention a program have words around it that no command has, and a list of programs has
//! nothing behind their names.

mod words;

use self::words::{Argument, Sign, Token, tokens};
use super::{super::words::is_small, beginnings};

/// What is longer is no line of a shell: one may carry what it decodes.
const MAX_LINE_BYTES: usize = 8192;
/// So far commands are read among the words of a sentence.
const MAX_BYTES: usize = 1000;
/// Commands are handed no more than this.
const MAX_ARGUMENTS: usize = 40;

/// What can be nothing but a command.
const CERTAIN: i32 = 12;
const STRONG: i32 = 8;
const LIKELY: i32 = 6;

/// Points for a line that a shell would run.
pub(super) fn points(line: &str) -> i32 {
    let (line, is_prompted) = behind_prompt(line);
    if MAX_LINE_BYTES < line.len() || !may_begin(line) {
        return 0;
    }
    let Ok(read) = Commands::read(line, Reach::Line) else { return 0 };
    let points = if read.end == line.len() { read.points() } else { 0 };
    // `# make install` may be a heading.
    if is_prompted && points < STRONG { 0 } else { points }
}

/// Whether what stands behind `$` or `%` is a command, and not what is counted in it (`$ million`, `% change`): a
/// program, or something that is handed what only programs are.
pub(super) fn is_command(sign: char, rest: &str) -> bool {
    let mut words = rest.split(is_blank).filter(|word| !word.is_empty()).take(MAX_ARGUMENTS);
    let Some(first) = words.next() else { return false };
    let is_named = match Program::of(first) {
        Program::Hard => true,
        // `% time` and `$ less` may be what a column is called.
        Program::Soft => sign == '$' && !is_small(first) || 0 < points(rest),
        Program::Unknown => first.contains('_') || words::sets_variable(first),
    };
    is_named
        || words::is_handed(first)
        || words
            .enumerate()
            .any(|(n, word)| n == 0 && words::is_verb_of_programs(word) || words::is_handed(word))
}

/// A line without the sign that a shell begins it with.
fn behind_prompt(line: &str) -> (&str, bool) {
    let signs = ["# ", "> ", "❯ ", "➜ ", "λ "];
    let behind = signs.iter().find_map(|sign| line.strip_prefix(sign));
    behind.map_or((line, false), |behind| (behind.trim_start(), true))
}

/// Commands among the words of a sentence, or as a sentence of their own: where each begins and ends.
pub(in crate::web::filter::judge) fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if !has_signs(text) {
        return found;
    }
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let word = rest.split(is_blank).next().unwrap_or_default();
        let read = if Program::of(word) == Program::Unknown {
            Err(0)
        } else {
            Commands::read(rest, Reach::Sentence)
        };
        let commands = match read {
            Ok(commands) => commands,
            // What was read for nothing is not read again from each of its words.
            Err(len) => {
                at += len.max(word.len() + 1).min(rest.len());
                at = text.ceil_char_boundary(at);
                continue;
            }
        };
        let is_end = commands.ends_sentence(rest);
        let is_alone = is_end && begins_sentence(text, at);
        if commands.is_joined() || is_alone && commands.is_one() {
            found.push((at, at + if is_end { commands.end } else { commands.firm_end }));
        }
        at += commands.end.max(word.len());
    }
    found
}

/// Whether a text has any sign that commands among words are known by.
fn has_signs(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, b"&&" | b"| " | b" |" | b"//" | b" -"))
}

/// Whether a sentence, or what an announcement announces, begins at a place.
fn begins_sentence(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches(is_blank);
    before.is_empty() || before.len() < at && before.ends_with(['.', ':', ';', '!', '?'])
}

/// The part of a text that is read at once, up to the end of a word, and whether there is more of it.
fn window(text: &str, reach: Reach) -> (&str, bool) {
    let max = if reach == Reach::Line { MAX_LINE_BYTES } else { MAX_BYTES };
    if text.len() <= max {
        return (text, false);
    }
    let near = text.get(..text.floor_char_boundary(max)).unwrap_or_default();
    let whole =
        near.rfind(is_blank).and_then(|end| near.get(..end)).filter(|near| !near.is_empty());
    (whole.unwrap_or(near), true)
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Whether a line begins with a program, or with a variable that is set for one.
fn may_begin(line: &str) -> bool {
    let first = line.split(is_blank).next().unwrap_or_default();
    Program::of(first) != Program::Unknown || words::sets_variable(first)
}

/// How far commands are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the end of the line.
    Line,
    /// To the first word that is one of the sentence.
    Sentence,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Program {
    #[default]
    Unknown,
    /// A program by its name, which is a word, too.
    Soft,
    /// A program by its name alone.
    Hard,
}

impl Program {
    fn of(word: &str) -> Self {
        let bare = word.strip_suffix(".exe").unwrap_or(word);
        if beginnings::is_program(bare) || beginnings::is_cmdlet(word) || word.starts_with("./") {
            return Self::Hard;
        }
        if beginnings::may_be_program(bare) { Self::Soft } else { Self::by_path(word) }
    }

    /// `/usr/bin/x`, `~/x`: what stands among programs is one.
    fn by_path(word: &str) -> Self {
        let is_path = ["/", "~/", "../"].iter().any(|root| word.starts_with(root));
        let named = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+~".contains(&byte);
        match word.rsplit_once('/').filter(|_| is_path) {
            Some((folder, name))
                if !folder.is_empty() && !name.is_empty() && word.bytes().all(named) =>
            {
                if folder.ends_with("bin") { Self::Hard } else { Self::Soft }
            }
            _ => Self::Unknown,
        }
    }
}

/// What joins a command to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    Pipe,
    And,
    /// Sentences have it, too.
    Semicolon,
}

/// One command.
#[derive(Default)]
struct Command {
    program: Program,
    /// It reads what another one writes.
    is_filter: bool,
    /// What its program and its first word are worth.
    base: i32,
    n: usize,
    n_strong: i32,
    n_weak: i32,
    n_plain: i32,
    n_small: usize,
    /// Flags and addresses.
    n_marks: usize,
    /// The last word is one that is said about commands.
    is_talk: bool,
}

impl Command {
    fn begin(word: &str) -> Self {
        Self {
            program: Program::of(word),
            is_filter: words::is_filter(word),
            base: if word.starts_with("./") { 2 } else { 0 },
            ..Self::default()
        }
    }

    fn add(&mut self, word: &str, argument: Argument) {
        if self.n == 0 && argument != Argument::Sign(Sign::Flag) {
            let worth = words::verb(word);
            if 0 < worth {
                self.n += 1;
                self.base += worth;
                return;
            }
        }
        self.n += 1;
        self.is_talk = false;
        let is_hard = self.program == Program::Hard;
        match argument {
            Argument::Sign(sign) => {
                self.n_marks += usize::from(matches!(sign, Sign::Flag | Sign::Address));
                // What is quoted or linked to may follow any word.
                let is_strong = match sign {
                    Sign::Flag | Sign::Path => true,
                    Sign::Address | Sign::Quoted => is_hard,
                };
                if is_strong { self.n_strong += 1 } else { self.n_weak += 1 }
            }
            Argument::Weak => self.n_weak += 1,
            Argument::Neutral => {}
            Argument::Small => self.n_small += 1,
            Argument::Plain | Argument::Prose => {
                self.n_plain += 1;
                self.is_talk = words::is_talk(word);
            }
        }
    }

    /// How much speaks for it, words aside.
    fn evidence(&self) -> i32 {
        let words = (self.n_plain - 1).max(0);
        (self.base + 2 * self.n_strong + self.n_weak - words).max(0)
    }

    const fn is_known(&self) -> bool {
        !matches!(self.program, Program::Unknown)
    }
}

/// Commands in a row.
#[derive(Default)]
struct Commands {
    all: Vec<Command>,
    joins: Vec<Join>,
    /// Behind the last word that was read.
    end: usize,
    /// Behind the last one that is of a command for sure.
    firm_end: usize,
    /// What was read last ends a sentence.
    is_ended: bool,
}

impl Commands {
    /// Else: behind what there are none before.
    fn read(text: &str, reach: Reach) -> Result<Self, usize> {
        let (window, is_cut_off) = window(text, reach);
        let mut read = Self::default();
        let mut current: Option<Command> = None;
        // What it is worth that the program comes only now: behind `A=b`, or `sudo -E`.
        let mut before_program = 0;
        for (token, start, end) in tokens(window) {
            let word = match token {
                Token::Word(word) => word,
                Token::Join(join) => {
                    // One that joins nothing.
                    let Some(joined) = current.take() else { return Err(end) };
                    read.all.push(joined);
                    read.joins.push(join);
                    (read.end, before_program) = (end, 0);
                    continue;
                }
            };
            let (bare, is_ended) = words::without_end(word);
            if is_ended && reach == Reach::Line && !words::is_host(word) {
                return Err(end);
            }
            let word = if is_ended && reach == Reach::Sentence { bare } else { word };
            let Some(command) = &mut current else {
                if words::sets_variable(word) {
                    before_program += 2;
                    continue;
                }
                let begun = Command::begin(word);
                current = Some(Command { base: begun.base + before_program, ..begun });
                before_program = if matches!(word, "sudo" | "doas") { 2 } else { 0 };
                (read.end, read.firm_end) = (start + word.len(), start + word.len());
                if is_ended {
                    read.is_ended = true;
                    break;
                }
                continue;
            };
            let argument = Argument::of(word);
            if 0 < before_program && Program::of(word) != Program::Unknown {
                // The program that another one runs.
                let base = command.base + before_program;
                *command = Command { base, program: Program::Hard, ..Command::begin(word) };
                before_program = 0;
                (read.end, read.firm_end) = (start + word.len(), start + word.len());
            } else {
                if argument != Argument::Sign(Sign::Flag) {
                    before_program = 0;
                }
                let ends = match argument {
                    Argument::Prose => true,
                    Argument::Small => reach == Reach::Sentence && !words::is_verb(word),
                    _ => MAX_ARGUMENTS <= command.n,
                };
                if ends && reach == Reach::Line {
                    return Err(end);
                }
                if ends {
                    break;
                }
                let is_firm = !matches!(argument, Argument::Plain | Argument::Small)
                    || command.n == 0 && words::is_verb(word);
                command.add(word, argument);
                read.end = start + word.len();
                if is_firm {
                    read.firm_end = read.end;
                }
            }
            if is_ended {
                read.is_ended = true;
                break;
            }
        }
        let is_cut = current.is_none() && !read.joins.is_empty();
        read.all.extend(current);
        // What is joined to them may stand behind what is read at once.
        if is_cut && !is_cut_off && read.joins.last() != Some(&Join::Semicolon) {
            return Err(read.end);
        }
        if is_cut {
            read.joins.pop();
        }
        if read.all.is_empty() { Err(read.end) } else { Ok(read) }
    }

    fn evidence(&self) -> i32 {
        self.all.iter().map(Command::evidence).sum()
    }

    fn points(&self) -> i32 {
        let n_small: usize = self.all.iter().map(|command| command.n_small).sum();
        let evidence = self.evidence();
        if 1 < n_small || n_small == 1 && evidence < 4 {
            return 0;
        }
        match self.all.as_slice() {
            [] => 0,
            [one] => Self::points_of_one(one),
            all => Self::points_of_more(all, &self.joins, evidence),
        }
    }

    fn points_of_one(one: &Command) -> i32 {
        if one.is_talk {
            return 0;
        }
        let evidence = one.evidence();
        match one.program {
            Program::Hard if 3 <= evidence => STRONG,
            Program::Hard if evidence == 2 => LIKELY,
            Program::Soft => {
                let is_all_signs = one.n_plain == 0 && one.n_small == 0 && 0 < one.n;
                if 3 <= evidence + i32::from(is_all_signs) { LIKELY } else { 0 }
            }
            _ => 0,
        }
    }

    fn points_of_more(all: &[Command], joins: &[Join], evidence: i32) -> i32 {
        let n_known = all.iter().filter(|command| command.is_known()).count();
        let n_hard = all.iter().filter(|command| command.program == Program::Hard).count();
        let n_handed: usize = all.iter().map(|command| command.n).sum();
        let is_known = n_known == all.len();
        // The names of programs, one after the other.
        if n_handed == 0 || all.len() > 2 * n_known {
            return 0;
        }
        let mut pipes = joins.iter().zip(all.iter().skip(1));
        let is_piped = pipes.any(|(join, command)| *join == Join::Pipe && command.is_filter);
        let is_chained = joins.contains(&Join::And);
        let is_certain = if joins.iter().all(|join| *join == Join::Semicolon) {
            4 <= evidence || 2 <= evidence && is_known
        } else if is_known {
            2 <= evidence || 0 < n_hard && (1 <= evidence || is_piped || is_chained)
        } else {
            3 <= evidence && 0 < n_hard
        };
        if is_certain { CERTAIN } else { 0 }
    }

    /// Whether they are more than one, joined as no words of a sentence are.
    fn is_joined(&self) -> bool {
        let is_joined = self.joins.iter().any(|join| *join != Join::Semicolon);
        let n_strong: i32 = self.all.iter().map(|command| command.n_strong).sum();
        let is_hard = self.all.iter().any(|command| command.program == Program::Hard);
        is_joined && self.all.iter().all(Command::is_known) && is_hard && 0 < n_strong
    }

    /// Whether it is one that cannot be anything else.
    fn is_one(&self) -> bool {
        matches!(self.all.as_slice(), [one]
            if one.program == Program::Hard
                && 0 < one.n_marks
                && 3 <= one.evidence()
                && !one.is_talk)
    }

    /// Whether the sentence ends where they do. `rest`: what they were read from.
    fn ends_sentence(&self, rest: &str) -> bool {
        let behind = rest.get(self.end..).unwrap_or_default();
        behind.trim_start_matches(is_blank).is_empty() || self.is_ended && behind.starts_with('.')
    }
}

#[cfg(test)]
mod tests;
