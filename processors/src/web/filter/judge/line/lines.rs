//! Lines of one text, that stand below each other: which of them are code, by what each looks like and by
//! what stands around it.

use super::{
    look, marks, placeholder, settings,
    together::{Look, together},
};

/// Which lines of the source of a paragraph are code, that readers see as one: they broke anywhere.
pub(in crate::web::filter::judge) fn wrapped_lines(lines: &[&str], threshold: i32) -> Vec<bool> {
    let looks = looks(lines);
    let mut code: Vec<bool> = looks.iter().map(|look| threshold <= look.score).collect();
    for (start, end) in paragraphs(&looks) {
        if let (Some(lines), Some(looks), Some(code)) =
            (lines.get(start..end), looks.get(start..end), code.get_mut(start..end))
        {
            settings::mark(looks, code);
            grow(lines, looks, code);
        }
    }
    code
}

/// Which lines of a text are code. `threshold`: what a line has to score by itself.
pub(in crate::web::filter) fn code_lines(lines: &[&str], threshold: i32) -> Vec<bool> {
    let looks = looks(lines);
    let mut code: Vec<bool> = looks.iter().map(|look| threshold <= look.score).collect();
    let mut lone = Lone::default();
    for (start, end) in paragraphs(&looks) {
        if let (Some(lines), Some(looks), Some(code)) =
            (lines.get(start..end), looks.get(start..end), code.get_mut(start..end))
        {
            together(looks, code);
            grow(lines, looks, code);
        }
        match end - start {
            0 => {}
            1 => lone.add(start),
            _ => lone.settle(&looks, &mut code),
        }
        if lines.get(end).is_some_and(|line| placeholder::is_one(line)) {
            lone.settle(&looks, &mut code);
        }
    }
    lone.settle(&looks, &mut code);
    code
}

/// Where paragraphs begin and end, some of them empty: lines stand between them that are apart.
fn paragraphs(looks: &[Look]) -> impl Iterator<Item = (usize, usize)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let from = looks.get(start..).filter(|rest| !rest.is_empty())?;
        let here = (start, start + from.iter().take_while(|look| !look.apart).count());
        start = here.1 + 1;
        Some(here)
    })
}

/// What lines look like that stand below each other.
fn looks(lines: &[&str]) -> Vec<Look> {
    let is_quoted =
        |line: &&str| line.trim_start().starts_with("> ") || line.trim_start().starts_with(">> ");
    let is_deep = |line: &&&str| line.trim_start().starts_with(">>> ");
    let mut looks: Vec<Look> = Vec::with_capacity(lines.len());
    while looks.len() < lines.len() {
        let at = looks.len();
        let n = lines.iter().skip(at).take_while(is_deep).count();
        // What is quoted three times in a letter stands beside what is quoted twice.
        let ends = [at.checked_sub(1), Some(at + n)];
        let is_mail =
            0 < n && ends.into_iter().flatten().any(|at| lines.get(at).is_some_and(is_quoted));
        let same = lines.iter().skip(at).take(n.max(1));
        if is_mail {
            looks.extend(same.map(|line| look(line.trim_start_matches([' ', '\t', '>']))));
        } else {
            looks.extend(same.map(|line| look(line)));
        }
    }
    looks
}

/// Lines of which each is a paragraph of its own, with nothing but blank lines between them.
#[derive(Default)]
struct Lone(Vec<usize>);

impl Lone {
    fn add(&mut self, at: usize) {
        self.0.push(at);
    }

    fn settle(&mut self, looks: &[Look], code: &mut [bool]) {
        let at = std::mem::take(&mut self.0);
        if at.len() < 2 {
            return;
        }
        let looks: Vec<Look> = at.iter().filter_map(|at| looks.get(*at).copied()).collect();
        let mut found: Vec<bool> = at.iter().filter_map(|at| code.get(*at).copied()).collect();
        together(&looks, &mut found);
        for (at, found) in at.into_iter().zip(found) {
            if let Some(code) = code.get_mut(at) {
                *code |= found;
            }
        }
    }
}

/// Lines between and behind code are more likely code, the more of it there is.
fn grow(lines: &[&str], looks: &[Look], code: &mut [bool]) {
    let n = code.len();
    let n_code = code.iter().filter(|code| **code).count();
    if n_code == 0 {
        return;
    }
    // What follows a prompt, a trace or a hunk belongs to it.
    let leads = |(line, code): (&&str, &bool)| *code && marks::leads(line);
    if let Some(first) = lines.iter().zip(&*code).position(leads) {
        for (code, look) in code.iter_mut().zip(looks).skip(first) {
            *code |= -4 < look.score;
        }
    }
    if 3 <= n && n <= n_code * 2 {
        for ((code, look), line) in code.iter_mut().zip(looks).zip(lines) {
            *code |= -7 < look.score || marks::comments(line);
        }
    }
    let mut spread = |order: &mut dyn Iterator<Item = usize>| {
        let mut behind_code = false;
        for at in order {
            let (Some(code), Some(look)) = (code.get_mut(at), looks.get(at)) else { continue };
            *code |= behind_code && 1 <= look.score;
            behind_code = *code;
        }
    };
    spread(&mut (0..n));
    spread(&mut (0..n).rev());
    // One line between two of code.
    let between: Vec<usize> = (1..n.saturating_sub(1))
        .filter(|at| {
            let is = |at: usize| code.get(at).copied().unwrap_or_default();
            !is(*at)
                && is(at - 1)
                && is(at + 1)
                && looks.get(*at).is_some_and(|look| -2 <= look.score)
        })
        .collect();
    for at in between {
        if let Some(code) = code.get_mut(at) {
            *code = true;
        }
    }
}
