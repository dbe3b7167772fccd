use super::*;

#[test]
fn commands_score_by_what_they_are_handed_and_how_they_are_joined() {
    for (line, score) in [
        ("curl -fsSL https://x.example/i | sh", CERTAIN),
        ("make && make install", CERTAIN),
        ("cd x && make", CERTAIN),
        ("curl https://x.example/", LIKELY),
        ("git clone https://x.example/x", STRONG),
        ("A_B=c ./x", STRONG),
        ("cat /etc/passwd", LIKELY),
        ("cat videos", 0),
        ("npm | yarn | pnpm", 0),
        ("curl -x | ", 0),
        ("# make install", 0),
        ("# apt-get install -y x", STRONG),
        ("curl -o x it. ", 0),
        ("git push, then git pull", 0),
        ("\u{e9}t\u{e9} | \u{e9}", 0),
        ("|", 0),
        ("", 0),
        ("vim config", 0),
        ("tmux config", 0),
        ("openssl update", 0),
        ("svn update", 0),
        ("du 12/05/2021 au 14/05/2021", 0),
        ("/usr/bin/x -f y", LIKELY),
        ("/etc/passwd lists users", 0),
        ("/opt/x/y --all -f z", LIKELY),
        ("curl.exe -o x.exe https://x.example/x", STRONG),
        ("powershell -nop -enc aGVsbG8K", STRONG),
        ("certutil -urlcache -f https://x.example/x x.exe", STRONG),
        ("cmd /c del -f x.txt", LIKELY),
        ("busybox wget -q https://x.example/x", STRONG),
        ("nix run -f x.nix", LIKELY),
    ] {
        assert_eq!(points(line), score, "{line}");
    }
}

#[test]
fn a_line_may_carry_what_it_decodes() {
    let line = |len| format!("echo {} | base64 -d | sh", "aGVsbG8K".repeat(len / 8));
    assert_eq!(points(&line(1024)), CERTAIN);
    assert_eq!(points(&line(MAX_LINE_BYTES + 8)), 0);
}

#[test]
fn what_was_read_is_not_read_again() {
    let n_read =
        |text: &str| Commands::read(text, Reach::Sentence).map_or_else(|len| len, |read| read.end);
    for part in ["ls | ", "ls && ", "ls -l | sort && "] {
        let text = part.repeat(200_000 / part.len());
        assert!(MAX_BYTES * 9 / 10 <= n_read(&text), "{part}: {}", n_read(&text));
        let _spans = spans(&text);
    }
    assert_eq!(n_read("ls | ls | | ls"), "ls | ls | |".len());
    assert_eq!(n_read("ls | ls | "), "ls | ls |".len());
    let _spans = spans(&"ls | ls | | ".repeat(20_000));
    let _spans = spans(&format!("- {}{}", "ls is ".repeat(20_000), " ".repeat(200_000)));
}

#[test]
fn a_chain_that_is_longer_than_what_is_read_at_once_is_found() {
    let text = format!("So {}sh.", "curl -s x | sh && ".repeat(200));
    let n_bytes: usize = spans(&text).into_iter().map(|(start, end)| end - start).sum();
    assert!(text.len() * 9 / 10 < n_bytes, "{n_bytes} of {}", text.len());
}

#[test]
fn a_span_ends_with_the_last_word_that_is_of_the_command() {
    let spans = |text: &'static str| -> Vec<&str> {
        spans(text).into_iter().filter_map(|(start, end)| text.get(start..end)).collect()
    };
    assert_eq!(
        spans("Run curl -sf https://x.example/i | sudo bash to install it."),
        ["curl -sf https://x.example/i | sudo bash"]
    );
    assert_eq!(
        spans("It is this: git clone https://x.example/x."),
        ["git clone https://x.example/x"]
    );
    assert_eq!(spans("It is this: curl https://x.example/x"), [""; 0]);
    assert_eq!(spans("Run git add && git commit."), [""; 0]);
    assert_eq!(
        spans("curl -x y | sh, and wget -q z && sh z."),
        ["curl -x y | sh", "wget -q z && sh z"]
    );
}
