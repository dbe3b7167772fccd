//! What is read of a packument.

use super::*;

const URL: &str = "https://registry.example/npm/left-pad";

fn read(body: &str) -> Result<Document, DocumentFault> {
    Document::read(&Name::new("left-pad").unwrap(), &Url::parse(URL).unwrap(), body.as_bytes())
}

fn source(document: &Document, version: &str) -> Source {
    let registry = Url::parse("https://registry.example/npm/").unwrap();
    document.source(document.version(version).unwrap().1, &registry).unwrap()
}

#[test]
fn a_full_packument_is_understood() {
    let document = read(
        r#" {"_id":"left-pad","name":"Left-Pad","dist-tags":{"latest":"1.1.0","odd":7,"gone":"9.0.0"},
        "versions":{"1.0.0":{"name":"left-pad","version":"1.0.0","dist":{"shasum":"a9993e364706816aba3e25717850c26c9cd0d89d",
        "tarball":"https://files.example/left-pad/-/left-pad-1.0.0.tgz?x#y"},"scripts":{"postinstall":"x"}},
        "1.1.0":{"dist":{"integrity":"sha512-x sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=","tarball":"/l\u0065ft-pad/-/pad.tgz"},"deprecated":""}},
        "time":{"modified":"2020-01-01T00:00:00.000Z","1.0.0":"x"}}"#,
    )
    .unwrap();
    let (at, first) = document.version("1.0.0").unwrap();
    assert_eq!((at, first.file.as_str(), first.runs_scripts), (0, "left-pad-1.0.0.tgz", true));
    let from = source(&document, "1.0.0");
    assert_eq!(from.url.as_str(), "https://files.example/left-pad/-/left-pad-1.0.0.tgz?x");
    let sha1 = "sha1 a9993e364706816aba3e25717850c26c9cd0d89d";
    assert_eq!(from.promise.unwrap().to_string(), sha1);
    let from = source(&document, "1.1.0");
    assert_eq!(from.url.as_str(), "https://registry.example/left-pad/-/pad.tgz");
    assert_eq!(from.promise.unwrap().to_string(), sha1);
    for (file, version) in
        [("pad.tgz", "1.1.0"), ("left-pad-1.1.0.tgz", "1.1.0"), ("left-pad-1.0.0.tgz", "1.0.0")]
    {
        let release = document.file(&File::new(file).unwrap()).unwrap();
        assert_eq!(release.version.as_str(), version, "{file}");
    }
    let tags = document.tags.as_ref().unwrap();
    let targets: Vec<_> = tags.members.iter().map(|tag| tag.name.target).collect();
    assert_eq!(targets, [Some(1), None, None]);
    let origins: Vec<_> = document.origins.iter().map(Url::as_str).collect();
    assert_eq!(origins, ["https://files.example/", "https://registry.example/npm/left-pad"]);
}

#[test]
fn a_cut_down_packument_says_less_and_is_read_all_the_same() {
    let document = read(
        r#"{"versions":{"1.0.0":{},"1.1.0":{"dist":{}},"1.2.0":null,"1.3.0":{"dist":null},
        "1.4.0":{"dist":{"tarball":7}},"a/b":{"dist":{"tarball":"c%2fd"}},"1.5.0":{"dist":{"integrity":null,"shasum":"x","tarball":"t.tgz"}}}}"#,
    )
    .unwrap();
    let served: Vec<_> = document.releases.iter().map(Option::is_some).collect();
    assert_eq!(served, [true, true, false, false, false, false, true]);
    let from = source(&document, "1.1.0");
    assert_eq!(from.url.as_str(), "https://registry.example/npm/left-pad/-/left-pad-1.1.0.tgz");
    assert_eq!((from.promise, source(&document, "1.5.0").promise), (None, None));
    for nothing in ["{}", r#"{"versions":null,"time":null,"dist-tags":null}"#] {
        assert!(read(nothing).unwrap().releases.is_empty(), "{nothing}");
    }
}

#[test]
fn a_packument_lacks_times_that_tells_none_of_a_version_it_has() {
    for (body, lacks) in [
        ("{}", false),
        (r#"{"versions":{},"time":{}}"#, false),
        (r#"{"versions":{"1.0.0":{}}}"#, true),
        (r#"{"versions":{"1.0.0":{}},"time":{"modified":"x","0.9.0":"x"}}"#, true),
        (r#"{"versions":{"1.0.0":{},"1.1.0":{}},"time":{"1.1.0":"x"}}"#, false),
        (r#"{"versions":{"1.0.0":null},"time":{"1.0.0":"x"}}"#, false),
    ] {
        assert_eq!(read(body).unwrap().lacks_times(), lacks, "{body}");
    }
}

#[test]
fn the_usual_name_of_a_tarball_is_that_of_its_version_whoever_else_is_called_so() {
    let document = read(
        r#"{"versions":{"1.0.0":{"dist":{"tarball":"a/left-pad-2.0.0.tgz"}},"2.0.0":{"dist":{"tarball":"b/x.tgz"}},
        "3.0.0":{"dist":{"tarball":"c/x.tgz"}}}}"#,
    )
    .unwrap();
    let files: Vec<_> = document.releases.iter().flatten().map(|r| r.file.as_str()).collect();
    assert_eq!(files, ["left-pad-1.0.0.tgz", "x.tgz", "left-pad-3.0.0.tgz"]);
    let two = document.file(&File::new("left-pad-2.0.0.tgz").unwrap()).unwrap();
    assert_eq!(two.version.as_str(), "2.0.0");
    assert!(source(&document, "1.0.0").url.path().ends_with("a/left-pad-2.0.0.tgz"));
}

#[test]
fn what_is_no_packument_of_this_package_is_refused() {
    for (body, words) in [
        ("", "cannot be read"),
        ("<html>", "cannot be read"),
        ("[]", "cannot be read"),
        (r#"{"versions":[]}"#, "cannot be read"),
        (r#"{"versions":{}"#, "cannot be read"),
        (r#"{"time":1}"#, "cannot be read"),
        (r#"{"versions":{},"versions":{}}"#, "cannot be read"),
        (r#"{"versions":{"1.0.0":{},"1.0.0":{}}}"#, "cannot be read"),
        (r#"{"versions":{"1.0.0":{"dist":{},"dist":{}}}}"#, "cannot be read"),
        (r#"{"versions":{"1.0.0":{"dist":{"tarball":"a","tarball":"b"}}}}"#, "cannot be read"),
        (r#"{"name":"right-pad"}"#, "about `right-pad`"),
    ] {
        let fault = read(body).unwrap_err().to_string();
        assert!(fault.contains(words), "{body}: {fault}");
    }
    let not_text =
        Document::read(&Name::new("a").unwrap(), &Url::parse(URL).unwrap(), b"{\"name\":\"\xff\"}");
    assert!(matches!(not_text, Err(DocumentFault::NotText)));
    let tags: Vec<_> = (0..=MAX_TAGS).map(|n| format!("\"{n}\":1")).collect();
    let too_many = read(&format!(r#"{{"dist-tags":{{{}}}}}"#, tags.join(",")));
    assert!(matches!(too_many, Err(DocumentFault::TooManyTags)));
}
