//! What gives lines away of languages that look like words: assembler, COBOL, Lisp, recipes of builds,
//! configuration. Each of them asks for a word at the beginning and for what has to follow it.

use super::{super::words::is_small, beginnings, marks};

/// Points for how a line begins, and with what.
pub(super) fn points(line: &str) -> i32 {
    let Some(byte) = line.bytes().next() else { return 0 };
    match byte {
        b'(' => lisp(line),
        b'.' => directive(line),
        b'-' => erlang(line),
        b':' if line.starts_with(":- ") => 6,
        b'?' if line.starts_with("?- ") => 6,
        b'@' if line.get(..9).is_some_and(|begin| begin.eq_ignore_ascii_case("@echo off")) => 9,
        b'%' | b'$' => i32::from(is_variable(line)) * 2,
        b'\\' => tex(line),
        _ if byte.is_ascii_alphabetic() || byte == b'_' => words(line),
        _ if byte.is_ascii_digit() => cobol(line),
        _ => 0,
    }
}

/// `%PATH%`, `$PATH`
fn is_variable(line: &str) -> bool {
    let mut bytes = line.bytes();
    let mark = bytes.next();
    let name = bytes.take_while(|byte| byte.is_ascii_uppercase() || *byte == b'_').count();
    1 < name && (mark == Some(b'$') || line.as_bytes().get(name + 1) == Some(&b'%'))
}

/// `(define (square x)`, `(* x x))`; no `(see below)`.
fn lisp(line: &str) -> i32 {
    const HEADS: [&str; 44] = [
        "define",
        "defun",
        "defn",
        "defn-",
        "defmacro",
        "defvar",
        "defparameter",
        "defconst",
        "defstruct",
        "defclass",
        "defmethod",
        "defpackage",
        "defmodule",
        "deftype",
        "def",
        "let",
        "let*",
        "letrec",
        "lambda",
        "fn",
        "setq",
        "setf",
        "set!",
        "if",
        "cond",
        "when",
        "unless",
        "begin",
        "progn",
        "loop",
        "require",
        "use-package",
        "in-package",
        "import",
        "ns",
        "display",
        "format",
        "princ",
        "print",
        "newline",
        "cons",
        "car",
        "cdr",
        "map",
    ];
    /// Words of sentences among them.
    const ENGLISH: [&str; 14] = [
        "let", "if", "when", "unless", "begin", "loop", "require", "import", "display", "format",
        "print", "map", "define", "car",
    ];
    let inner = line.trim_start_matches('(');
    let end = inner.find([' ', ')', '\t', '(']).unwrap_or(inner.len());
    let (head, rest) = inner.split_at(end);
    let closes = |n: usize| line.bytes().rev().take_while(|byte| *byte == b')').count() >= n;
    let open = line.bytes().filter(|byte| *byte == b'(').count();
    let closed = line.bytes().filter(|byte| *byte == b')').count();
    let is_odd = open != closed || closes(2);
    let is_english = ENGLISH.contains(&head);
    let quotes = rest.contains(" '") || rest.contains("('") || rest.contains(" :");
    let is_form = if is_english {
        1 < open || rest.contains(" '") || rest.contains(" \"")
    } else {
        is_odd || quotes || rest.contains(['(', '"'])
    };
    if HEADS.contains(&head) && is_form {
        return 5;
    }
    let is_head = !head.is_empty()
        && head
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-+*/<>=!?._%:#".contains(&byte));
    let names = head.contains(['-', '+', '*', '/', '<', '>', '=', '!', '?', '#'])
        && !head.bytes().any(|byte| byte.is_ascii_digit());
    i32::from(is_head && names) * 2 + i32::from(closes(2)) * 3
}

/// `.globl main`, `.PHONY: all`
fn directive(line: &str) -> i32 {
    const NAMES: [&str; 24] = [
        "globl",
        "global",
        "text",
        "data",
        "section",
        "align",
        "word",
        "long",
        "quad",
        "byte",
        "string",
        "ascii",
        "asciz",
        "intel_syntax",
        "file",
        "type",
        "size",
        "cfi_startproc",
        "cfi_endproc",
        "org",
        "bss",
        "code",
        "PHONY:",
        "SUFFIXES:",
    ];
    let name = line.split_whitespace().next().and_then(|word| word.strip_prefix('.'));
    if name.is_some_and(|name| NAMES.contains(&name)) { 5 } else { 0 }
}

fn erlang(line: &str) -> i32 {
    let begins =
        ["-module(", "-export(", "-import(", "-include(", "-define(", "-record(", "-spec "];
    if begins.iter().any(|begin| line.starts_with(begin)) { 8 } else { 0 }
}

fn tex(line: &str) -> i32 {
    const BEGINS: [&str; 8] = [
        "\\documentclass",
        "\\usepackage",
        "\\newcommand",
        "\\renewcommand",
        "\\begin{",
        "\\end{",
        "\\def\\",
        "\\input{",
    ];
    if BEGINS.iter().any(|begin| line.starts_with(begin)) { 5 } else { 0 }
}

/// `01 TOTAL PIC 9(4).`
fn cobol(line: &str) -> i32 {
    if line.contains(" PIC ") || line.contains(" PICTURE ") { 7 } else { 0 }
}

fn words(line: &str) -> i32 {
    let end = line.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(line.len());
    let (first, rest) = line.split_at(end);
    let rest = rest.trim();
    if first.len() > 16 {
        return 0;
    }
    let Some(byte) = first.bytes().next() else { return 0 };
    if byte.is_ascii_uppercase() {
        // A sentence begins with one large letter: of those, few words are looked at.
        return if first.bytes().skip(1).any(|byte| byte.is_ascii_lowercase()) {
            cmdlet(first, rest)
        } else {
            shouted(line, first, rest)
        };
    }
    quiet(line, first, rest)
}

/// `Get-ChildItem -Path .`
fn cmdlet(first: &str, rest: &str) -> i32 {
    let is_cmdlet = beginnings::is_cmdlet(first) || beginnings::may_be_cmdlet(first);
    match (is_cmdlet, rest.is_empty() || rest.starts_with(['-', '$', '"', '\'', '|', '(', '{'])) {
        (true, true) => 5,
        (true, false) => 2,
        (false, _) => 0,
    }
}

/// Languages that are written in large letters.
fn shouted(line: &str, first: &str, rest: &str) -> i32 {
    let quiet = rest.bytes().any(|byte| byte.is_ascii_lowercase());
    let signs = rest.split_whitespace().any(is_argument);
    match first {
        "IDENTIFICATION" | "PROCEDURE" | "DATA" | "ENVIRONMENT" if rest == "DIVISION." => 9,
        "PROGRAM-ID." | "END-IF" | "END-IF." | "END-PERFORM" | "END-PERFORM." | "END-EVALUATE." => {
            8
        }
        "STOP" if rest == "RUN." => 9,
        "WORKING-STORAGE" | "LINKAGE" | "FILE" if rest == "SECTION." => 9,
        "MOVE" if rest.contains(" TO ") && line.ends_with('.') => 7,
        "DISPLAY" | "PERFORM" | "COMPUTE" | "ACCEPT" | "SUBTRACT" | "EVALUATE"
            if line.ends_with('.')
                && !rest.is_empty()
                && (!rest.contains(' ')
                    || rest.contains(['-', '"', '\'', '=', '('])
                    || rest.contains(|c: char| c.is_ascii_digit())
                    || [" FROM ", " UNTIL ", " THRU ", " VARYING "]
                        .iter()
                        .any(|part| rest.contains(part))) =>
        {
            6
        }
        "FROM" if (quiet && rest.split_whitespace().count() <= 3) => 3 + i32::from(signs),
        "RUN" | "COPY" | "CMD" | "EXPOSE" | "ENV" | "ARG" | "ADD" | "USER" | "VOLUME" | "LABEL"
        | "HEALTHCHECK" | "ONBUILD"
            if quiet && signs && !rest.ends_with(['.', '!', '?'])
                || first == "EXPOSE" && is_number(rest) =>
        {
            5
        }
        "PROGRAM" | "SUBROUTINE" | "MODULE" if !rest.is_empty() && !rest.contains(' ') => 3,
        "IMPLICIT" if rest == "NONE" => 9,
        "INTEGER" | "REAL" | "CHARACTER" | "LOGICAL" if rest.contains("::") => 7,
        "CALL" if marks::calls(rest) => 5,
        "WRITE(*,*)" | "PRINT" if rest.starts_with(['*', '\'', '"']) => 6,
        "END" if matches!(rest, "DO" | "IF" | "PROGRAM" | "SUBROUTINE" | "FUNCTION") => 6,
        "SELECT" if rest.contains(" FROM") && marks::has_signs_of_sql(rest) => 6,
        "MOV" | "ADD" | "SUB" | "CMP" | "JMP" | "PUSH" | "POP" | "LEA" | "XOR" | "LDA" | "STA"
        | "LDX" | "INT" | "LDR" | "STR" => operands(rest) * 5,
        _ => 0,
    }
}

/// Whether a word is of a command rather than of a sentence: a path, a flag, `name:tag`, `NAME=value`,
/// `file.txt`, `["list"`; no `Editor:`, `4.5/5` or `e-mail`.
fn is_argument(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_path =
        word.starts_with(['/', '~']) || word.ends_with('/') || word.matches('/').count() > 1;
    let is_within = bytes.windows(3).any(|part| {
        matches!(part, [a, b':' | b'.' | b'=', c]
            if a.is_ascii_alphabetic() && (c.is_ascii_alphanumeric() || b"$\"'/".contains(c)))
    });
    let is_flag = bytes.first() == Some(&b'-') && bytes.get(1).is_some_and(|byte| *byte != b'-')
        || word.starts_with("--") && 2 < word.len();
    let is_variable = bytes.windows(2).any(
        |part| matches!(part, [b'$', b] if b.is_ascii_alphabetic() || matches!(b, b'{' | b'(')),
    );
    is_path || is_within || is_flag || is_variable || word.contains('_') || word.starts_with("[\"")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// 1 if what a machine works on follows: registers, or several of addresses, numbers and labels.
fn operands(rest: &str) -> i32 {
    const NAMES: [&str; 15] =
        ["ax", "bx", "cx", "dx", "si", "di", "sp", "bp", "al", "ah", "bl", "cl", "dl", "lr", "pc"];
    let bare = |word: &str| {
        word.trim_matches(['[', ']', ',', '(', ')', '#', '*', '%', '$', '.', '-'])
            .to_ascii_lowercase()
    };
    // `eax`, `rsp`: a wide one has a letter more.
    let register = |word: &str| {
        let name = bare(word);
        let numbered = name.len() <= 4
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().skip(1).any(|byte| byte.is_ascii_digit());
        let short = name.strip_prefix(['e', 'r']).unwrap_or(&name);
        numbered || NAMES.contains(&short) || NAMES.contains(&&*name)
    };
    // By itself it is known by less: `test PC`, `call Al` and `add H2O` are to be read.
    let alone = |word: &str| {
        let is_small = !word.bytes().any(|byte| byte.is_ascii_uppercase());
        let digits = bare(word).split_off(bare(word).len().min(1));
        let numbered = self::is_number(&digits)
            && bare(word).starts_with(['r', 'x', 'w', 'e', 't', 's', 'a', 'v']);
        is_small
            && register(word)
            && (numbered || digits.bytes().all(|byte| !byte.is_ascii_digit()))
    };
    let is_number =
        |word: &str| word.starts_with("#$") || bare(word).starts_with("0x") && bare(word).len() > 2;
    // By themselves they are prices and places: `add bacon $2`, `test #1`.
    let is_immediate = |word: &str| word.starts_with(['$', '#']);
    let words = || rest.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    let n = words().count();
    let listed = rest.contains(',') && n == 2;
    let marked = words().any(|word| word.starts_with(['%', '[']) && !word.starts_with("[code"))
        || words().any(is_number)
        || words().any(is_immediate) && (rest.contains(',') || words().any(register));
    let fits = n <= 4
        && rest.len() < 48
        && (listed && words().any(register) || marked || n == 1 && alone(rest));
    i32::from(fits)
}

/// Words in small letters, by the languages that have them.
#[expect(clippy::match_same_arms, reason = "each language has its own arms")]
fn quiet(line: &str, first: &str, rest: &str) -> i32 {
    let n = rest.split_whitespace().count();
    let ends = |mark: &str| line.ends_with(mark);
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    let closed = !ends(".") && !ends("?") && !ends("!") && !ends(",");
    match first {
        // Fortran
        "implicit" if rest == "none" => 9,
        "integer" | "real" | "character" | "logical" | "complex" if rest.contains("::") => 7,
        "end"
            if matches!(
                rest.split_whitespace().next(),
                Some(
                    "do" | "if"
                        | "program"
                        | "subroutine"
                        | "function"
                        | "module"
                        | "architecture"
                        | "process"
                        | "entity"
                        | "case"
                        | "loop"
                        | "record"
                        | "procedure"
                )
            ) && n <= 2 =>
        {
            6
        }
        "enddo" | "endmodule" | "endcase" | "endfunction" | "endproc" | "elsif" | "ifeq"
        | "ifneq" => 5,
        "do" if rest.contains('=') && rest.contains(',') => 6,
        "subroutine" | "call" if marks::calls(rest) && n <= 4 => 5,
        "write" | "read" if rest.starts_with("(*") => 8,
        "print" if rest.starts_with("*,") => 8,
        "program" if n == 1 && closed => 3,
        // SQL
        "select" => sql_select(rest),
        "insert"
            if rest.starts_with("into ") && (rest.contains('(') || rest.contains(" select ")) =>
        {
            7
        }
        "update" if rest.contains(" set ") && rest.contains('=') => 7,
        "delete"
            if rest.starts_with("from ")
                && (ends(";") || rest.contains(" where ") && rest.contains('=')) =>
        {
            7
        }
        "create" | "alter" | "drop"
            if [
                "table ",
                "index ",
                "view ",
                "database ",
                "schema ",
                "unique index ",
                "or replace ",
                "trigger ",
            ]
            .iter()
            .any(|what| rest.starts_with(what))
                && (rest.contains('(') || ends(";") || first == "drop" && n <= 2) =>
        {
            6
        }
        "where" | "and" | "on" if rest.contains(" = ") && n <= 5 => 3,
        "group" | "order" if rest.starts_with("by ") && n <= 4 && closed => 3,
        // Shells
        "set" if rest.starts_with('-') && n == 1 => 5,
        "set" if rest.contains('=') && n <= 3 => 4,
        "export" | "source" | "alias" if rest.contains(['=', '/', '~']) && n <= 3 => 4,
        "goto" if n == 1 && closed => 4,
        "if" if rest.starts_with("exist ") || rest.starts_with("not exist ") => 6,
        "if" if rest.starts_with(['[', '"', '$', '!']) => 4,
        "if" | "elseif" | "elif" if ends(" then") => 5,
        "for"
            if rest.contains(" in ")
                && (rest.contains(['(', '$', '*', '[', '.', ':']) && n <= 5) =>
        {
            4
        }
        "case" if ends(" of") && n <= 4 || ends(" in") && rest.starts_with(['$', '"']) => 5,
        "match" if ends(" with") && n <= 4 => 5,
        "while" if ends(" do") && n <= 8 => 4,
        // Haskell, OCaml
        "module"
            if ends(" where")
                || ends("= struct")
                || capital(rest) && n == 1 && 2 < rest.len() && closed =>
        {
            5
        }
        "import" if rest.starts_with("qualified ") => 8,
        "import" if capital(rest) && rest.contains(['.', '(']) && n <= 3 && closed => 5,
        "newtype" | "instance" | "deriving"
            if rest.contains('=') || ends(" where") || rest.starts_with('(') =>
        {
            6
        }
        "data" | "type" if capital(rest) && rest.contains(" = ") => 6,
        "open" if capital(rest) && n == 1 && closed => 3,
        // Elixir, Ruby, Lua
        "defmodule" | "defp" | "defmacro" | "defstruct" => 6,
        "def" if n <= 4 && closed => 4,
        "class" | "module"
            if capital(rest) && (n == 1 && rest.len() > 2 || rest.contains(" < ")) && closed =>
        {
            3
        }
        "attr_accessor" | "attr_reader" | "attr_writer" => 6,
        "require" | "require_relative" if rest.starts_with(['\'', '"']) => 5,
        "library" | "require" | "source" | "println" | "disp" | "fprintf" | "writeln"
        | "console" | "printf"
            if rest.starts_with('(') =>
        {
            4
        }
        "puts" | "echo" if rest.starts_with(['"', '\'', '$', '#']) => 4,
        "using" if capital(rest) && n == 1 && closed => 3,
        "proc" if rest.contains('{') => 5,
        // VHDL, Verilog
        "architecture" if ends(" is") && n == 4 && rest.contains(" of ") => 6,
        "entity" | "process" | "package" if ends(" is") && n <= 3 => 6,
        "library" | "signal" | "variable" | "constant"
            if ends(";") && n <= 8 && (n == 1 || rest.contains([':', '=', '[', '(', '<'])) =>
        {
            5
        }
        "module" if rest.contains('(') && !rest.starts_with('(') => 5,
        "input" | "output" | "wire" | "reg" | "assign" | "inout"
            if ends(";") || ends(",") && n <= 3 =>
        {
            4
        }
        "always" | "initial" if rest.starts_with('@') || rest == "begin" => 6,
        // Makefile
        "include" if (ends(".mk")) => 4,
        _ => machine(line, first, rest) + make(line, first, rest) + last_word(line),
    }
}

/// Points for words that only programs end in.
fn last_word(line: &str) -> i32 {
    match line.rsplit(' ').next() {
        Some("do" | "then") if line.contains(['=', '<', '>']) => 2,
        Some(word) if word.ends_with('|') && line.contains(" do |") => 5,
        _ => 0,
    }
}

/// `select a, b from t`; `select one of the items from a list` is to be read.
fn sql_select(rest: &str) -> i32 {
    let Some((columns, behind)) = rest.split_once(" from ") else {
        let columns = rest.split(',').all(|column| column.split_whitespace().count() == 1);
        return if columns && rest.contains([',', '*', '_']) { 4 } else { 0 };
    };
    let one_each = columns.split(',').all(|column| {
        let n = column.split_whitespace().count();
        n == 1 || n == 3 && column.contains(" as ") || column.contains('(')
    });
    let table = behind.split_whitespace().next().unwrap_or_default();
    let named = !is_small(table) && !table.is_empty();
    let signs = rest.contains(['*', '=', '_', ';', '('])
        || columns.contains(',') && behind.split_whitespace().count() <= 2;
    match (one_each && named, signs) {
        (true, true) => 7,
        (true, false) if behind.contains(" where ") => 6,
        _ => 0,
    }
}

/// `mov eax, 1`, `ret`
fn machine(line: &str, first: &str, rest: &str) -> i32 {
    if rest.is_empty() {
        return if matches!(first, "ret" | "retq" | "syscall" | "leave" | "nop" | "cdq") {
            3
        } else {
            0
        };
    }
    // `jmp .L1`
    let is_jump = first.starts_with(['j', 'b']) && first != "bl" && rest.starts_with('.');
    if first.len() > 5 || !beginnings::MNEMONICS.contains(&first) || line.ends_with('.') {
        return 0;
    }
    (operands(rest) | i32::from(is_jump)) * 5
}

/// `all: main.o util.o`, `%.o: %.c`
fn make(line: &str, first: &str, rest: &str) -> i32 {
    let is_target = first.len() > 1
        && first.ends_with(':')
        && first.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:/%".contains(&byte));
    let objects = rest.split_whitespace().all(|word| {
        word.contains("$(")
            || word.rsplit_once('.').is_some_and(|(name, end)| {
                // `rating: 4.5` and `share: 91.5%` name no file.
                let is_number = !name.bytes().any(|byte| byte.is_ascii_alphabetic())
                    && end.starts_with(|c: char| c.is_ascii_digit());
                !name.is_empty() && (1..=3).contains(&end.len()) && !is_number
            })
    });
    i32::from(is_target && !rest.is_empty() && objects && !line.ends_with('.')) * 5
}

/// Doubts about an entry of YAML: `runs-on: ubuntu-latest`, `- uses: actions/checkout@v4`, `steps:`.
/// Anybody may write one such line.
pub(super) fn entry(line: &str) -> i32 {
    let bare = line.trim_start_matches("- ");
    let is_item = bare.len() < line.len();
    let Some((key, value)) = bare.split_once(':') else { return 0 };
    let is_key = key.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && key.len() <= 40
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !is_key || !value.is_empty() && !value.starts_with(' ') {
        return 0;
    }
    let value = value.trim();
    if value.is_empty() {
        return 2;
    }
    let odd_key =
        key.contains(['-', '_', '.']) || key.bytes().any(|byte| byte.is_ascii_uppercase());
    let words = value.split_whitespace().count();
    let odd_value =
        matches!(value, "true" | "false" | "null" | "|" | ">" | "|-" | ">-" | "yes" | "no")
            || value.starts_with(['"', '\'', '[', '{', '$', '&', '*', '/', '.'])
            || words <= 3 && value.contains(['/', '=', '@', '_', '$', '{', '*'])
            || words == 1
                && value.contains(['-', '.', ':'])
                && value.bytes().any(|byte| byte.is_ascii_lowercase());
    i32::from(is_item) + i32::from(odd_key && words <= 3) * 2 + i32::from(odd_value) * 2
}
