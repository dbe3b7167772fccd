//! Examples, step by step, in words.

use super::{first_name, last_name, spelt};

const MAX_STEPS: usize = 10;
const MAX_LINES: usize = 400;

/// Says what an example does: one clause for each kind of step, in order.
pub(in crate::web::filter) fn example(
    code: &str,
    n_lines: usize,
    language: Option<&str>,
) -> String {
    let mut steps: Vec<String> = Vec::new();
    for line in code.lines().take(MAX_LINES) {
        let Some(step) = step(line.trim()) else { continue };
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    let more = MAX_STEPS < steps.len();
    steps.truncate(MAX_STEPS);
    let lines = if n_lines == 1 { "1 line".to_owned() } else { format!("{n_lines} lines") };
    let size = language.map_or_else(|| lines.clone(), |language| format!("{lines} of {language}"));
    if steps.is_empty() {
        return format!("An example of {size} is left out here.");
    }
    let end = if more { ", and goes on like this" } else { "" };
    format!("The example of {size} that is left out here {}{end}.", steps.join(", then "))
}

/// What a line does. None for what only belongs to another line.
fn step(line: &str) -> Option<String> {
    let command = line.strip_prefix("$ ").or_else(|| line.strip_prefix("% "));
    if let Some(command) = command {
        return first_name(command).map(|name| format!("runs the program {}", spelt(name)));
    }
    let line = [">>> ", "... "].iter().find_map(|prompt| line.strip_prefix(prompt)).unwrap_or(line);
    let comment =
        ["//", "#", "/*", "*", "--", "<!--", "\"\"\""].iter().any(|mark| line.starts_with(mark));
    if comment && !line.starts_with("#include") {
        return None;
    }
    let modifiers = [
        "pub ", "export ", "async ", "static ", "public ", "private ", "const fn", "unsafe ",
        "default ",
    ];
    let mut bare = line;
    while let Some(rest) = modifiers.iter().find_map(|modifier| bare.strip_prefix(modifier)) {
        bare = rest.trim_start();
    }
    let (first, rest) = bare.split_at(
        bare.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '#').unwrap_or(bare.len()),
    );
    let named = |what: &str| first_name(rest).map(|name| format!("{what} {}", spelt(name)));
    match first {
        "use" | "import" | "from" | "require" | "using" | "#include" | "include" => {
            let module =
                rest.split([';', '{']).next().unwrap_or_default().split(" import ").next()?;
            last_name(module.trim_end_matches([':', '*', '"', '\'', '>', ' ']))
                .map(|name| format!("brings in {}", spelt(name)))
        }
        "fn" | "def" | "func" | "function" | "sub" => named("defines how to"),
        "class" | "struct" | "enum" | "trait" | "interface" | "type" | "impl" | "mod"
        | "module" => named("defines the type"),
        "for" | "while" | "loop" | "foreach" | "do" | "until" => {
            Some("repeats something".to_owned())
        }
        "if" | "else" | "elif" | "match" | "switch" | "case" | "unless" => {
            Some("decides between cases".to_owned())
        }
        "try" | "catch" | "except" | "rescue" | "finally" => Some("handles failures".to_owned()),
        "return" | "yield" => Some("gives a value back".to_owned()),
        "raise" | "throw" | "panic" => Some("fails on purpose".to_owned()),
        "assert" | "assert_eq" | "expect" => Some("checks what came out".to_owned()),
        "print" | "println" | "printf" | "puts" | "echo" | "console" => {
            Some("prints something".to_owned())
        }
        "let" | "const" | "var" | "val" | "my" | "local" => {
            let rest = rest.trim_start().strip_prefix("mut ").unwrap_or(rest);
            first_name(rest).map(|name| format!("sets {}", spelt(name)))
        }
        "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" => Some("asks a database".to_owned()),
        _ => expression(bare),
    }
}

fn expression(line: &str) -> Option<String> {
    let assigned = line.split_once('=').filter(|(name, value)| {
        !value.starts_with(['=', '>']) && !name.ends_with(['!', '<', '>']) && !name.contains('(')
    });
    if let Some((name, _)) = assigned {
        return last_name(name).map(|name| format!("sets {}", spelt(name)));
    }
    let (callee, _) = line.split_once('(')?;
    last_name(callee).map(|name| format!("calls {}", spelt(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_told_step_by_step() {
        let code = "use std::fs::File;\n\nfn main() {\n    // Opens it.\n    let mut the_file = File::open(\"x\")?;\n    for x in y {\n        println!(\"{x}\");\n    }\n    do_it(1);\n    return 1;\n}\n";
        assert_eq!(
            example(code, 9, Some("rust")),
            "The example of 9 lines of rust that is left out here brings in file, then defines how to main, \
             then sets the file, then repeats something, then prints something, then calls do it, then gives \
             a value back."
        );
        assert_eq!(
            example("$ npm install x\nadded 1", 2, None),
            "The example of 2 lines that is left out here runs the program npm."
        );
        assert_eq!(example("}", 1, None), "An example of 1 line is left out here.");
    }
}
