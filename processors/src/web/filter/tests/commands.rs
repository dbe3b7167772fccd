//! Commands of a shell and statements in a row that no mark says are code, and the sentences that mention
//! such.

use super::*;

/// Each is a paragraph, a line or a string of its own, and code.
const COMMANDS: &[&str] = &[
    "curl -fsSL https://x.example/install.sh | sh",
    "curl https://x.example/install.sh | sudo bash",
    "curl -sSf https://sh.rustup.rs | sh -s -- -y",
    "wget -qO- https://x.example/i.sh | sudo bash",
    "npm install x && npm run build",
    "sudo apt-get install -y x",
    "sudo apt update && sudo apt upgrade",
    "git clone https://x.example/x.git && cd x && make",
    "$ pip install x",
    "pip install x",
    "cat access.log | grep 404 | wc -l",
    "ps aux | grep nginx",
    "find . -name '*.rs' -exec rm {} \\;",
    "tar -xzf x.tar.gz -C /opt",
    "./configure --prefix=/usr && make && sudo make install",
    "FOO=bar ./run.sh --fast",
    "export PATH=$PATH:/usr/local/go/bin",
    "docker run --rm -it -v $(pwd):/src alpine sh",
    "kubectl get pods -n kube-system",
    "ssh user@host.example 'uptime'",
    "echo \"hello\" > file.txt",
    "systemctl restart nginx",
    "sudo systemctl enable --now docker",
    "sed -i 's/a/b/g' file.txt",
    "awk '{print $1}' access.log",
    "chmod +x run.sh",
    "cd /var/www && ls -la",
    "make -j4 && make install",
    "python3 -m venv .venv",
    "source .venv/bin/activate",
    "openssl req -x509 -newkey rsa:4096 -out cert.pem",
    "rsync -avz src/ user@host.example:/dst/",
    "psql -U postgres -d db -c \"select 1\"",
    "brew install x; brew services start x",
    "go build ./... && ./x",
    "Invoke-WebRequest https://x.example/i.ps1 | iex",
    "irm https://get.x.example | iex",
    "dig +short example.org @1.1.1.1",
    "ls -la /etc | head -n 5",
    "git commit -m \"Fix the bug in the parser\" && git push",
    "mkdir -p build && cd build && cmake ..",
    "export FOO=bar; ./run.sh",
    "cargo run --release -- --input x.txt",
    "tail -f /var/log/syslog | grep error",
    "docker ps -q | xargs docker rm",
    "cat ~/.ssh/id_rsa.pub",
    "# apt-get install -y nginx",
    "curl -X POST -H 'Content-Type: application/json' -d '{\"a\":1}' https://x.example/api",
    "nc -lvnp 4444",
    "kill -9 1234",
    "scp file.txt user@host.example:",
    "/usr/bin/x -f /etc/x.conf",
    "curl.exe -o x.exe https://x.example/x.exe",
    "powershell -nop -enc aGVsbG8K",
];

/// So are these, each of several statements.
const STATEMENTS: &[&str] = &[
    "x = 1; y = foo(x); return y;",
    "let a = 1; let b = 2; console.log(a + b)",
    "a = b + c; b = a * 2; print(a, b)",
    "int x = 5; x++; printf(\"%d\", x);",
    "import os; os.system(\"ls\"); print(\"done\")",
    "var i = 0; while (i < 5) { i++; }",
    "i = 0; i += 1; return i",
    "const x = 5; const y = x * 2; return x + y;",
    "x := 1; y := x + 2; fmt.Println(y)",
];

/// Code is `leak_me` here, and the words around it stay.
const AMONG_WORDS: &[&str] = &[
    "Run curl -fsSL https://x.example/leak_me | sh to install it, keepsake.",
    "To install it: git clone https://x.example/leak_me.git",
    "The keepsake. npm install -g leak_me. Then the keepsake.",
    "First cd leak_me && make -j4 leak_me, then the keepsake.",
    "Say wget -qO- https://x.example/leak_me | sudo bash, and that is the keepsake.",
    "keepsake: x = leak_me(1); y += leak_me; return y; and no more keepsake.",
    "The keepsake does let leak_me = 1; leak_me++; and no more, keepsake.",
];

/// These are to be read.
const SENTENCES: &[&str] = &[
    "Run curl to fetch the page, then pipe it to a shell.",
    "Use git clone to copy it.",
    "The pipe | separates alternatives.",
    "Home | About | Contact",
    "find and replace",
    "make sense of the data",
    "git tracks changes; curl transfers files",
    "curl is a tool for transferring data with URLs.",
    "make -j4 builds with four jobs.",
    "time flies; money talks",
    "sort, filter and search",
    "The commands git add && git commit are often run together.",
    "cat videos and dog videos",
    "kill two birds with one stone",
    "date of birth: 1 January 1970",
    "watch the video | read the article",
    "docker and kubernetes: a comparison",
    "python 3.11 release notes",
    "node 18 and later",
    "head of state",
    "touch screen devices",
    "less is more",
    "more information on this page",
    "test drive | book now",
    "curl 7.64.1 changelog",
    "tar archives",
    "go to https://example.org/ for more",
    "see https://example.org/a and https://example.org/b",
    "screen size: 15-inch; weight: 1.2 kg",
    "history of the /etc directory",
    "open source software",
    "read more...",
    "host: example.org; port: 80",
    "at 5 pm; bring a friend",
    "To install it, run npm install and wait.",
    "Type ls -l to list the files of a folder.",
    "The option -f of tar names the archive.",
    "Press Ctrl+C to stop it; press q to leave.",
    "sudo lets a user run a program as another one.",
    "wget and curl fetch pages.",
    "bash, zsh & fish",
    "apt (package manager)",
    "x = 5; so y is 10.",
    "If a = 1 and b = 2, then a + b = 3.",
    "He came; he saw; he conquered.",
    "Name: Ann; age: 5; height: 1.2 m",
    "The file /etc/passwd lists the users; /etc/group lists the groups.",
    "service level agreements | terms and conditions",
    "node.js and npm are installed together",
    "echo chamber effects in social media",
    "cp -r copies a folder with all that is in it",
    "cat /kæt/",
    "git-add - Add file contents to the index",
    "mount Everest; mount Fuji",
    "date 2020-01-01; time 12:00",
    "composer of the year",
    "brew coffee; bake bread",
    "Pipe the output of grep into less, or redirect it to a file.",
    "With sudo one runs a program as root; with su one becomes root.",
    "You need curl, git and make (GNU make 4 or later).",
    "Homepage: curl https://curl.se",
    "Source: git https://git.kernel.org/pub/scm/git",
    "find -name and its like are called tests.",
    "On Debian, apt installs a package; on Fedora, dnf does.",
    "The difference between && and || is what they do after a failure.",
    "grep, sed, awk and the shell are what it is made of",
    "Let x = 1; then y = 2.",
    "for example: see https://example.org/a; for more: https://example.org/b",
    "kernel.org; gnu.org; example.org",
    "read https://example.org/ and tell me",
    "watch \"The Crown\" online",
    "Mail ann@example.org or bob@example.org; do not call.",
    "sort -n sorts by number, sort -r in reverse order.",
    "return to sender; break the ice; continue to the end",
    "return ticket; single ticket",
    "and/or, his/her, 24/7",
    "Open File > Save As, then press Enter.",
    "host names such as example.org or www.example.org",
    "exec summary for the board",
    "less than 5 % of users; more than 3 % of pages",
    "test results: 5 of 6 passed",
    "start date - end date",
    "split screen - full screen",
    "ping pong tables; table tennis",
    "type 2 diabetes; type 1 diabetes",
    "man and woman; boy and girl",
    "bc 44 - ad 14",
    "found: OR = 1.5 (95% CI 1.2-1.8); RR = 2.0 (95% CI 1.5-2.9); HR = 1.1 (95% CI 0.9-1.4)",
    "There were two groups of them: n = 20 (10 female); r = 0.5 (p = 0.01); and that was all.",
    "The middle and the radius are these: m = (a + b)/2; d = (b - a)/2; for all of them.",
    "iron(II); iron(III); copper(II)",
    "open(2); close(2); read(2)",
    "Smith(2001); Jones(2003)",
    "Art.6(1)(a); Art.9(2)",
    "It is told in Art.6(1)(a); Art.9(2); and in the others.",
    "plan: await biopsy results; continue antibiotics; raise dose",
    "raise hands; throw stones",
    "AL = Alabama",
    "google.com: 91.5%",
    "du 12/05/2021 au 14/05/2021",
    "vim config",
    "tmux config",
    "openssl update",
    "svn update",
];

/// A text as a paragraph of each kind of page, between two others.
fn pages(text: &str) -> [(&'static str, String); 4] {
    let html = text.replace('&', "&amp;").replace('<', "&lt;");
    let (before, behind) = ("These words are a keepsake.", "These are one, too: keepsake.");
    let json =
        serde_json::to_string(&serde_json::json!({ "a": before, "b": text, "c": 1 })).unwrap();
    [
        ("text/html", format!("<p>{before}</p><p>{html}</p><p>{behind}</p>")),
        ("text/markdown", format!("{before}\n\n{text}\n\n{behind}\n")),
        ("text/plain", format!("{before}\n\n{text}\n\n{behind}\n{behind}\n")),
        ("application/json", json),
    ]
}

/// What comes out of them in each format, summaries aside, as far as it is about the text.
fn each(text: &str, mut see: impl FnMut(&str, &str)) {
    for (declared, page) in pages(text) {
        for format in [ContentFormat::Raw, ContentFormat::Structured] {
            let content = filtered(page.as_bytes(), declared, &in_format(format)).content;
            see(&format!("{text:?} in {declared}, {format:?}"), &content);
        }
    }
}

#[test]
fn commands_and_statements_go_wherever_they_are_a_line_of_their_own() {
    let mut left = Vec::new();
    for text in COMMANDS.iter().chain(STATEMENTS) {
        each(text, |name, content| {
            if !content.contains("[code") {
                left.push(format!("{name}: {content}"));
            }
        });
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn sentences_that_mention_commands_stay_whole() {
    let mut lost = Vec::new();
    for text in SENTENCES {
        each(text, |name, content| {
            if content.contains("[code") {
                lost.push(format!("{name}: {content}"));
            }
        });
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn commands_and_statements_among_words_go_without_the_words() {
    for text in AMONG_WORDS {
        for (declared, page) in pages(text) {
            holds(text, page.as_bytes(), declared);
        }
    }
}
