//! The words that lines of code begin with, by what they are: every rule that asks for a first word asks
//! here, and what begins with none of them is known to be harmless at a glance.

use super::super::words::Packed;

/// Commands of a shell, by names that are no words.
const COMMANDS: [&str; 42] = [
    "npm", "npx", "pnpm", "pip", "pip3", "python3", "rustup", "rustc", "git", "curl", "wget",
    "sudo", "apt", "apt-get", "yum", "dnf", "docker", "kubectl", "cmake", "gcc", "clang", "javac",
    "mvn", "gradle", "php", "dotnet", "ssh", "scp", "rsync", "unzip", "mkdir", "chmod", "chown",
    "cd", "ls", "rm", "cp", "mv", "bun", "deno", "bower", "choco",
];

/// Commands of a shell that are words, too: `make amends`, `node failures`.
const COMMANDS_OR_WORDS: [&str; 14] = [
    "yarn", "python", "node", "cargo", "go", "brew", "helm", "make", "java", "ruby", "gem",
    "bundle", "composer", "tar",
];

/// More programs, by names that are no words: of a line they alone say nothing.
const TOOLS: [&str; 129] = [
    "grep", "egrep", "fgrep", "awk", "gawk", "jq", "xargs", "tee", "bash", "zsh", "ksh", "sh",
    "pwsh", "iex", "iwr", "irm", "ps", "df", "lsof", "netstat", "nslookup", "ping6", "nc", "ncat",
    "nmap", "tcpdump", "openssl", "gpg", "gunzip", "gzip", "bzip2", "zcat", "psql", "mysql",
    "sqlite3", "mongosh", "crontab", "useradd", "usermod", "chgrp", "ln", "pwd", "mktemp", "wc",
    "uniq", "tr", "xxd", "md5sum", "strace", "gdb", "ldd", "objdump", "readelf", "g++", "c++",
    "pipx", "uv", "conda", "pytest", "flake8", "mypy", "tox", "tsc", "eslint", "webpack", "vite",
    "jest", "mocha", "pnpx", "nvm", "fnm", "corepack", "rustfmt", "gofmt", "ansible", "podman",
    "minikube", "gcloud", "aws", "gsutil", "svn", "rg", "fd", "ffmpeg", "exiftool", "pacman",
    "apk", "zypper", "flatpak", "dpkg", "apt-key", "apt-mark", "ssh-add", "sftp", "telnet",
    "ifconfig", "iptables", "ufw", "modprobe", "lsblk", "mkfs", "fdisk", "chroot", "doas", "setx",
    "wsl", "winget", "vim", "vi", "emacs", "rmdir", "tmux", "nohup", "fsck", "sysctl", "getent",
    "rake", "kotlinc", "scalac", "sbt", "lein", "ghc", "cabal", "elixir", "luarocks", "psexec",
    "certutil", "base64", "busybox",
];

/// The same, by long names.
const LONG_TOOLS: [&str; 13] = [
    "redis-cli",
    "systemctl",
    "journalctl",
    "sha256sum",
    "virtualenv",
    "terraform",
    "add-apt-repository",
    "apt-cache",
    "update-alternatives",
    "docker-compose",
    "ssh-keygen",
    "ssh-copy-id",
    "powershell",
];

/// More programs that are words, too: `find out`, `kill time`.
const TOOLS_OR_WORDS: [&str; 86] = [
    "find", "cat", "sort", "head", "tail", "less", "more", "cut", "kill", "touch", "echo",
    "printf", "test", "export", "source", "set", "env", "time", "watch", "date", "tree", "file",
    "which", "who", "top", "service", "screen", "expect", "read", "mount", "patch", "join",
    "split", "install", "open", "start", "stop", "ping", "host", "exec", "eval", "alias", "unset",
    "history", "jobs", "wait", "sleep", "pushd", "popd", "dir", "del", "copy", "move", "type",
    "ant", "nice", "stat", "yes", "sync", "link", "script", "man", "info", "bc", "at", "fish",
    "stack", "swift", "snap", "mix", "perl", "lua", "poetry", "ip", "du", "sed", "nm", "cc", "dd",
    "zip", "dig", "nano", "hg", "rpm", "cmd", "nix",
];

/// What names of cmdlets begin with: `Get-Item`.
const CMDLET_VERBS: [&str; 17] = [
    "Get",
    "Set",
    "New",
    "Remove",
    "Write",
    "Import",
    "Export",
    "Invoke",
    "Start",
    "Stop",
    "Add",
    "Out",
    "ConvertTo",
    "ConvertFrom",
    "Install",
    "Enable",
    "Expand",
];

/// The same, and words that are put together: `Test-Driven`.
const CMDLET_VERBS_OR_WORDS: [&str; 4] = ["Test", "Select", "Where", "ForEach"];

/// What statements begin with, and items of lists, too: `import duties`, `public schools`.
const KEYWORDS_OR_WORDS: [&str; 46] = [
    "public", "private", "static", "abstract", "override", "export", "extern", "final", "class",
    "struct", "trait", "module", "type", "object", "import", "use", "using", "package", "require",
    "include", "double", "long", "float", "string", "void", "char", "return", "yield", "raise",
    "throw", "await", "print", "echo", "assert", "signal", "variable", "constant", "library",
    "input", "output", "wire", "assign", "process", "open", "program", "entity",
];

/// What statements, declarations and traces begin with.
const KEYWORDS: [&str; 87] = [
    "if", "while", "for", "elif", "from", "def", "fn", "func", "function", "async", "pub", "enum",
    "impl", "switch", "with", "except", "catch", "match", "foreach", "unless", "else", "try",
    "finally", "do", "let", "const", "var", "val", "auto", "local", "my", "our", "declare", "bool",
    "unsigned", "size_t", "end", "fi", "done", "esac", "endif", "begin", "pass", "break",
    "continue", "println!", "puts", "printf", "at", "thread", "File", "enddo", "elsif", "ifeq",
    "ifneq", "select", "insert", "create", "alter", "drop", "group", "order", "source", "alias",
    "goto", "elseif", "case", "newtype", "instance", "deriving", "defp", "defmacro", "reg",
    "inout", "always", "initial", "implicit", "endcase", "endproc", "ret", "retq", "syscall",
    "leave", "cdq", "rem", "bc.", "bc..",
];

/// What a machine does.
pub(super) const MNEMONICS: [&str; 50] = [
    "mov", "movl", "movq", "movb", "movzx", "push", "pushq", "pop", "popq", "add", "addl", "addq",
    "addi", "sub", "subq", "imul", "mul", "idiv", "inc", "dec", "jmp", "je", "jne", "jz", "jnz",
    "jg", "jl", "jle", "jge", "call", "lea", "leaq", "cmp", "cmpl", "test", "xor", "xorl", "shl",
    "shr", "int", "ldr", "str", "bl", "beq", "bne", "lw", "sw", "li", "la", "nop",
];

/// Statements of languages that are written in large letters.
const SHOUTED: [&str; 61] = [
    "WHERE", "JOIN", "VALUES", "WORKDIR", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE",
    "ALTER", "DROP", "GRANT", "DATA", "END-IF", "END-IF.", "STOP", "LINKAGE", "FILE", "MOVE",
    "DISPLAY", "PERFORM", "COMPUTE", "ACCEPT", "SUBTRACT", "EVALUATE", "FROM", "RUN", "COPY",
    "CMD", "EXPOSE", "ENV", "ARG", "ADD", "USER", "VOLUME", "LABEL", "ONBUILD", "PROGRAM",
    "MODULE", "IMPLICIT", "INTEGER", "REAL", "LOGICAL", "CALL", "PRINT", "END", "MOV", "SUB",
    "CMP", "JMP", "PUSH", "POP", "LEA", "XOR", "LDA", "STA", "LDX", "INT", "LDR", "STR", "REM",
];

/// Of those above, by long words, the ones that also begin items of lists.
const LONG_KEYWORDS_OR_WORDS: [&str; 2] = ["protected", "interface"];

/// The same, of the rest.
const LONG_KEYWORDS: [&str; 16] = [
    "subroutine",
    "defmodule",
    "defstruct",
    "architecture",
    "endmodule",
    "IDENTIFICATION",
    "PROCEDURE",
    "ENVIRONMENT",
    "PROGRAM-ID.",
    "END-PERFORM",
    "END-PERFORM.",
    "END-EVALUATE.",
    "WORKING-STORAGE",
    "HEALTHCHECK",
    "SUBROUTINE",
    "CHARACTER",
];

/// All of them.
const GROUPS: [&[&str]; 11] = [
    &COMMANDS,
    &COMMANDS_OR_WORDS,
    &TOOLS,
    &LONG_TOOLS,
    &TOOLS_OR_WORDS,
    &KEYWORDS_OR_WORDS,
    &KEYWORDS,
    &MNEMONICS,
    &SHOUTED,
    &LONG_KEYWORDS_OR_WORDS,
    &LONG_KEYWORDS,
];
const N_ALL: usize = count(&GROUPS);
static ALL: Packed<N_ALL> = Packed::of(joined(&GROUPS));

const HARD_GROUPS: [&[&str]; 2] = [&COMMANDS, &TOOLS];
static HARD: Packed<{ count(&HARD_GROUPS) }> = Packed::of(joined(&HARD_GROUPS));

const SOFT_GROUPS: [&[&str]; 2] = [&COMMANDS_OR_WORDS, &TOOLS_OR_WORDS];
static SOFT: Packed<{ count(&SOFT_GROUPS) }> = Packed::of(joined(&SOFT_GROUPS));

const ALSO_WORDS: [&[&str]; 3] = [&COMMANDS_OR_WORDS, &KEYWORDS_OR_WORDS, &LONG_KEYWORDS_OR_WORDS];

/// Every word there is, in any order.
#[cfg(test)]
pub(super) const WORDS: [&str; N_ALL] = joined(&GROUPS);

/// Whether nothing that may be code begins with a word, in any case. What is too long to be looked up may be
/// one.
pub(super) fn is_none(word: &str) -> bool {
    ALL.has(word) == Some(false)
}

/// Whether a word is a command that a line is likely to be one of.
pub(super) fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word) || COMMANDS_OR_WORDS.contains(&word)
}

/// Whether an item of a list may begin with a word that statements begin with.
pub(super) fn is_also_word(word: &str) -> bool {
    ALSO_WORDS.iter().any(|group| group.contains(&word))
}

/// Whether a word is the name of a cmdlet.
pub(super) fn is_cmdlet(word: &str) -> bool {
    names_cmdlet(word, &CMDLET_VERBS)
}

/// Whether it may be one, or two words.
pub(super) fn may_be_cmdlet(word: &str) -> bool {
    names_cmdlet(word, &CMDLET_VERBS_OR_WORDS)
}

fn names_cmdlet(word: &str, verbs: &[&str]) -> bool {
    let capital = |noun: &str| noun.starts_with(|c: char| c.is_ascii_uppercase());
    word.split_once('-').is_some_and(|(verb, noun)| verbs.contains(&verb) && capital(noun))
}

/// Whether a word is the name of a program, and no other word.
pub(super) fn is_program(word: &str) -> bool {
    match HARD.has(word) {
        Some(is_one) => is_one && is_small(word),
        None => LONG_TOOLS.contains(&word),
    }
}

/// Whether a word is the name of a program, and may be a word of a sentence.
pub(super) fn may_be_program(word: &str) -> bool {
    SOFT.has(word) == Some(true) && is_small(word)
}

/// In small letters, as programs are called.
fn is_small(word: &str) -> bool {
    !word.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'\0')
}

const fn count(groups: &[&[&str]]) -> usize {
    let (mut n, mut at) = (0, 0);
    while at < groups.len() {
        n += groups[at].len();
        at += 1;
    }
    n
}

const fn joined<const N: usize>(groups: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut n, mut group) = (0, 0);
    while group < groups.len() {
        let mut at = 0;
        while at < groups[group].len() {
            all[n] = groups[group][at];
            n += 1;
            at += 1;
        }
        group += 1;
    }
    all
}
