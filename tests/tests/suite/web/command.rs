//! `weir filter` on its own: shapes, report, exit codes and standard input.

use std::{
    fs,
    io::Write as _,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use weir_tests::database::{variable, weir_binary};

const PAGE: &str = "<title>Files</title><h1>Files</h1><p>Call <code>open(x)</code> to open a file. It may \
    fail.</p><pre>let f = open(x)?;\nread(f);</pre><p>Close it when you are done.</p>";

/// Runs it with nothing of this machine's configuration. Closed input is never waited for.
fn weir_filter(arguments: &[&str], input: &[u8]) -> Output {
    let home = tempfile::tempdir().expect("a folder");
    let mut weir = Command::new(weir_binary())
        .arg("filter")
        .args(arguments)
        .env_clear()
        .env("HOME", home.path())
        // Which lines it runs counts, where that is counted.
        .envs(variable("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start weir");
    // It may end without reading: then writing fails, and what it says is looked at.
    drop(weir.stdin.take().expect("its input").write_all(input));
    weir.wait_with_output().expect("its output")
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, err(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_format_has_the_words_and_not_the_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    fs::write(&file, PAGE).expect("write the page");
    let file = file.to_str().expect("a path in UTF-8");
    for format in ["raw", "structured", "summary"] {
        let output = weir_filter(&[file, "--format", format], b"");
        let content = out(&output);
        assert!(content.contains("to open a file"), "{format}: {content}");
        assert!(
            !content.contains("open(x)") && !content.contains("read(f)"),
            "{format}: {content}"
        );
        match format {
            "raw" => assert!(content.contains("<h1>Files</h1>"), "{content}"),
            "structured" => assert!(serde_json::from_str::<Value>(&content).is_ok(), "{content}"),
            _ => assert!(!content.contains('<'), "{content}"),
        }
        assert!(err(&output).contains("2 blocks and spans of code removed"), "{}", err(&output));
    }
}

#[test]
fn the_report_is_told_as_json_from_a_file_and_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    fs::write(&file, PAGE).expect("write the page");
    let of_file = out(&weir_filter(&[file.to_str().expect("UTF-8"), "--json"], b""));
    let of_input = out(&weir_filter(&["-", "--type", "text/html", "--json"], PAGE.as_bytes()));
    assert_eq!(of_file, of_input);
    let view: Value = serde_json::from_str(&of_file).expect("JSON");
    assert_eq!(view["code_blocks_removed"], 2);
    assert_eq!(view["bytes_stripped"], "open(x)let f = open(x)?;\nread(f);".len());
    assert_eq!(view["truncated"], false);
    assert_eq!(view["content_type"], "text/html; charset=utf-8");
    assert!(view["content"].as_str().expect("text").contains("Close it"), "{view}");

    let cut = out(&weir_filter(&["-", "--json", "--max-size", "40"], PAGE.as_bytes()));
    let cut: Value = serde_json::from_str(&cut).expect("JSON");
    assert_eq!(cut["truncated"], true);
    assert!(cut["content"].as_str().expect("text").len() <= 40, "{cut}");
}

#[test]
fn what_cannot_be_filtered_has_an_exit_code_that_says_why() {
    for (arguments, input, code, said) in [
        (&["-", "--max-size", "0"][..], PAGE.as_bytes(), 2, "`max_size` is 0"),
        (&["-", "--format", "prose"], b"", 2, "raw, structured, summary"),
        (&[], b"", 2, "FILE"),
        (&["not-there.html"], b"", 3, "could not read `not-there.html`"),
        (&["-"], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01", 4, "is not passed on"),
        (&["-", "--type", "application/pdf"], b"%PDF-1.7\n", 4, "is not passed on"),
    ] {
        let output = weir_filter(arguments, input);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(said), "{arguments:?}: {}", err(&output));
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
}
