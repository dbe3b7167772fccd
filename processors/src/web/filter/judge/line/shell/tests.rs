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
    ] {
        assert_eq!(points(line), score, "{line}");
    }
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
