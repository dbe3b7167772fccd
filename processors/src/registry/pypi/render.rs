//! Writes a filtered page in the form a client wants.
//!
//! JSON members that are not changed are copied as the upstream wrote them, in its order. Addresses
//! of files are relative (`../../files/six/…`), so that they fit behind any host and prefix.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    document::{CoreMetadata, Document, File, Yanked},
    filter::{Fate, Filtered},
    negotiate::Form,
};

const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Writes a page.
#[must_use]
pub fn render(document: &Document, filtered: &Filtered, form: Form) -> String {
    match form {
        Form::Json => json(document, filtered),
        Form::Html | Form::TextHtml => html(document, filtered),
    }
}

fn listed<'a>(
    document: &'a Document,
    filtered: &'a Filtered,
) -> impl Iterator<Item = (&'a File, Option<&'a str>)> {
    document.files.iter().zip(&filtered.files).filter_map(|(file, fate)| match fate {
        Fate::Keep => Some((file, None)),
        Fate::Mark(reason) => Some((file, Some(&**reason))),
        Fate::Hide => None,
    })
}

/// Where we have a file, as seen from its project's page.
fn address(document: &Document, file: &File) -> String {
    let name = utf8_percent_encode(file.filename.as_str(), IN_PATH);
    format!("../../files/{}/{name}", document.project)
}

fn json(document: &Document, filtered: &Filtered) -> String {
    let mut page = String::with_capacity(document.body_bytes);
    let mut object = Object::open(&mut page);
    if !document.members.iter().any(|(name, _)| name == "meta") {
        object.member("meta", r#"{"api-version":"1.0"}"#);
    }
    if !document.members.iter().any(|(name, _)| name == "name") {
        object.member("name", &quoted(document.project.as_str()));
    }
    for (name, value) in &document.members {
        object.member(name, value.get());
    }
    if let Some(versions) = &filtered.versions {
        let versions: Vec<_> = versions.iter().map(|version| quoted(version)).collect();
        object.member("versions", &format!("[{}]", versions.join(",")));
    }
    object.key("files");
    object.page.push('[');
    for (n, (file, mark)) in listed(document, filtered).enumerate() {
        if n > 0 {
            object.page.push(',');
        }
        write_file(object.page, document, file, mark);
    }
    object.page.push(']');
    object.close();
    page
}

fn write_file(page: &mut String, document: &Document, file: &File, mark: Option<&str>) {
    let mut object = Object::open(page);
    let mut unmarked = mark.map(quoted);
    for (name, value) in &file.members {
        match name.as_str() {
            "url" => object.member(name, &quoted(&address(document, file))),
            "yanked" if mark.is_some() => {
                object.member(name, &unmarked.take().unwrap_or_default());
            }
            // The API demands it, and some mirrors leave it out or empty.
            "hashes" if value.get() == "null" => object.member(name, "{}"),
            _ => object.member(name, value.get()),
        }
    }
    if !file.members.iter().any(|(name, _)| name == "hashes") {
        object.member("hashes", "{}");
    }
    if let Some(mark) = unmarked {
        object.member("yanked", &mark);
    }
    object.close();
}

/// A JSON object on its way into a page.
struct Object<'a> {
    page: &'a mut String,
    empty: bool,
}

impl<'a> Object<'a> {
    fn open(page: &'a mut String) -> Self {
        page.push('{');
        Self { page, empty: true }
    }

    fn key(&mut self, name: &str) {
        if !self.empty {
            self.page.push(',');
        }
        self.empty = false;
        self.page.push_str(&quoted(name));
        self.page.push(':');
    }

    fn member(&mut self, name: &str, value: &str) {
        self.key(name);
        self.page.push_str(value);
    }

    fn close(self) {
        self.page.push('}');
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn html(document: &Document, filtered: &Filtered) -> String {
    let mut page = String::with_capacity(document.body_bytes);
    let name = document.project.as_str();
    page.push_str("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n");
    meta(&mut page, "pypi:repository-version", &document.api_version);
    if let Some((status, reason)) = &document.status {
        meta(&mut page, "pypi:project-status", status);
        if let Some(reason) = reason {
            meta(&mut page, "pypi:project-status-reason", reason);
        }
    }
    push(&mut page, format_args!("<title>Links for {name}</title>\n</head>\n<body>\n"));
    push(&mut page, format_args!("<h1>Links for {name}</h1>\n"));
    for (file, mark) in listed(document, filtered) {
        anchor(&mut page, document, file, mark);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn anchor(page: &mut String, document: &Document, file: &File, mark: Option<&str>) {
    push(page, format_args!("<a href=\"{}", address(document, file)));
    match (&file.sha256, &file.other_hash) {
        (Some(hash), _) => push(page, format_args!("#sha256={}", hash.hex())),
        (None, Some(hash)) => push(page, format_args!("#{hash}")),
        (None, None) => {}
    }
    page.push('"');
    if let Some(python) = &file.requires_python {
        attribute(page, "data-requires-python", python);
    }
    if let CoreMetadata::Yes(hash) = file.core_metadata {
        let value = hash.map_or_else(|| "true".to_owned(), |hash| format!("sha256={}", hash.hex()));
        attribute(page, "data-core-metadata", &value);
        attribute(page, "data-dist-info-metadata", &value);
    }
    if let Some(signed) = file.gpg_sig {
        attribute(page, "data-gpg-sig", if signed { "true" } else { "false" });
    }
    if let Some(provenance) = &file.provenance {
        attribute(page, "data-provenance", provenance);
    }
    let yanked = match (mark, &file.yanked) {
        (Some(reason), _) => Some(reason),
        (None, Yanked::Yes(reason)) => Some(reason.as_deref().unwrap_or_default()),
        (None, Yanked::No) => None,
    };
    if let Some(reason) = yanked {
        attribute(page, "data-yanked", reason);
    }
    push(page, format_args!(">{}</a><br>\n", file.filename));
}

fn meta(page: &mut String, name: &str, content: &str) {
    push(page, format_args!("<meta name=\"{name}\" content=\"{}\">\n", escaped(content)));
}

fn attribute(page: &mut String, name: &str, value: &str) {
    push(page, format_args!(" {name}=\"{}\"", escaped(value)));
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    page.write_fmt(text).unwrap_or_default();
}

/// Text inside quotes, in ASCII: the page is the same in every encoding.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            ' '..='~' => escaped.push(c),
            _ => push(&mut escaped, format_args!("&#x{:x};", u32::from(c))),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use weir_events::registry::{Mask, Rule};

    use super::*;
    use crate::{
        outbound::Url,
        registry::pypi::{
            filename::Project,
            filter::filter,
            html as html_page, json as json_page,
            testing::{known, rule},
        },
    };

    const PAGE: &str = r#"{"meta":{"api-version":"1.4","_last-serial":1e400},"name":"six","versions":["1.0","1.1"],"x-new":[ 1.50 ],"files":[{"filename":"six-1.0.tar.gz","url":"https://f.example/six-1.0.tar.gz","hashes":{"sha256":"00"},"size":123456789012345678901234567890,"yanked":"old","upload-time":"2021-05-05T14:18:18.379Z","requires-python":">=2.7,<\"4\""},{"filename":"six-1.1.tar.gz","url":"https://f.example/six-1.1.tar.gz","hashes":{}}]}"#;

    fn document(body: &str) -> Document {
        let url = Url::parse("https://f.example/simple/six/").unwrap();
        json_page::parse(&Project::new("six").unwrap(), &url, body.as_bytes()).unwrap()
    }

    fn rendered(body: &str, given: &[Rule], form: Form) -> String {
        let document = document(body);
        render(&document, &filter(&document, &known(document.project.as_str(), given)), form)
    }

    #[test]
    fn without_rules_the_json_is_the_upstreams_but_for_the_addresses() {
        let same = PAGE
            .replace("https://f.example/", "../../files/six/")
            // What is read apart is written last.
            .replace(
                r#""versions":["1.0","1.1"],"x-new":[ 1.50 ]"#,
                r#""x-new":[ 1.50 ],"versions":["1.0","1.1"]"#,
            );
        assert_eq!(rendered(PAGE, &[], Form::Json), same);
    }

    #[test]
    fn when_a_file_was_uploaded_is_passed_on_as_it_was_told() {
        let dated = PAGE.replace("1e400", "1").replace(
            r#""hashes":{}"#,
            r#""hashes":{},"upload-time":"2022-01-02T03:04:05.678901Z""#,
        );
        for mask in [None, Some(Mask::Mark), Some(Mask::DenyOnly)] {
            let given: Vec<_> = mask.map(|mask| rule(1, "six", "*", mask)).into_iter().collect();
            let page: Value = serde_json::from_str(&rendered(&dated, &given, Form::Json)).unwrap();
            let told: Vec<_> = page["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| file["upload-time"].as_str().unwrap())
                .collect();
            assert_eq!(told, ["2021-05-05T14:18:18.379Z", "2022-01-02T03:04:05.678901Z"]);
        }
    }

    #[test]
    fn a_marked_file_is_yanked_with_our_reason_in_every_form() {
        let mark = [rule(1, "six", "*", Mask::Mark)];
        let told = "Blocked by Weir: too young (rule 019a0000-0000-7000-8000-000000000001)";
        let page: Value =
            serde_json::from_str(&rendered(&PAGE.replace("1e400", "1"), &mark, Form::Json))
                .unwrap();
        for file in page["files"].as_array().unwrap() {
            assert_eq!(file["yanked"], told);
        }
        let page = rendered(PAGE, &mark, Form::Html);
        assert_eq!(page.matches(&format!("data-yanked=\"{told}\"")).count(), 2);
    }

    #[test]
    fn a_hidden_file_is_in_no_form() {
        for form in Form::ALL {
            let page = rendered(PAGE, &[rule(1, "six", ">1.0", Mask::Hide)], form);
            assert!(page.contains("six-1.0.tar.gz") && !page.contains("1.1"), "{page}");
        }
    }

    #[test]
    fn what_a_file_says_of_itself_is_escaped_in_html_and_survives_reading_it_again() {
        let page = rendered(PAGE, &[], Form::TextHtml);
        assert!(page.contains("data-requires-python=\"&gt;=2.7,&lt;&quot;4&quot;\""), "{page}");
        assert!(page.contains("data-yanked=\"old\"") && page.contains("content=\"1.4\""));
        let url = Url::parse("https://weir.example/pypi/simple/six/").unwrap();
        let again = html_page::parse(&Project::new("six").unwrap(), &url, page.as_bytes()).unwrap();
        assert_eq!(again.files[0].requires_python.as_deref(), Some(">=2.7,<\"4\""));
        assert_eq!(
            again.files[0].url.as_str(),
            "https://weir.example/pypi/files/six/six-1.0.tar.gz"
        );
        assert_eq!(escaped("ä\n'&"), "&#xe4;&#xa;&#39;&amp;");
    }

    #[test]
    fn what_a_cut_down_page_leaves_out_is_supplied_where_the_api_demands_it() {
        let page = rendered(
            r#"{"files":[{"filename":"six-1.0+a.tar.gz","url":"a","hashes":null},{"filename":"six-1.1.tar.gz","url":"b"}]}"#,
            &[rule(1, "six", ">=1.1", Mask::Mark)],
            Form::Json,
        );
        let page: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(page["meta"]["api-version"], "1.0");
        assert_eq!(page["name"], "six");
        assert_eq!(page.get("versions"), None);
        assert_eq!(page["files"][0]["url"], "../../files/six/six-1.0%2Ba.tar.gz");
        for file in page["files"].as_array().unwrap() {
            assert_eq!(file["hashes"], serde_json::json!({}));
        }
        assert_eq!(page["files"][0].get("yanked"), None);
        assert!(page["files"][1]["yanked"].is_string());
    }

    #[test]
    fn what_an_index_says_of_other_indexes_is_passed_on() {
        let meta = r#"{"api-version":"1.2","tracks":["https://index.example/simple/six/"]}"#;
        let other = r#"["https://other.example/simple/six/"]"#;
        let text =
            format!(r#"{{"meta":{meta},"alternate-locations":{other},"name":"six","files":[]}}"#);
        let url = crate::outbound::Url::parse("https://index.example/simple/six/").unwrap();
        let six = Project::new("six").unwrap();
        let document = crate::registry::pypi::json::parse(&six, &url, text.as_bytes()).unwrap();
        let rule = rule(1, "six", "*", Mask::Hide);
        let filtered = filter(&document, &known("six", &[rule]));
        let page = render(&document, &filtered, Form::Json);
        assert!(page.contains(meta) && page.contains(other), "{page}");
    }
}
