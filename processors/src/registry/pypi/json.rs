//! Reads a project's page in JSON (PEP 691), and tolerates what cut-down mirrors leave out.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    document::{
        CoreMetadata, Document, DocumentFault, File, MAX_LISTED, MAX_MEMBERS_LISTED, Members,
        Parts, Sha256, Yanked,
    },
    filename::{Filename, Project},
};
use crate::{outbound::Url, registry::download::Promise};

/// The most members an object may have here. The API knows about a dozen.
const MAX_MEMBERS: usize = 256;

/// Reads a page. `url` is where it came from: addresses of files may be relative to it.
pub fn parse(project: &Project, url: &Url, body: &[u8]) -> Result<Document, DocumentFault> {
    let Object(mut members) = serde_json::from_slice(body).map_err(DocumentFault::Json)?;
    let files: Option<List<Object>> = required(take(&mut members, "files").as_deref())?;
    let files = files.map(List::whole).transpose()?;
    let versions: Option<List<String>> = optional(take(&mut members, "versions").as_deref());
    let mut versions = versions.map(List::whole).transpose()?;
    // What no person can read is in no event.
    if let Some(versions) = &mut versions {
        versions.retain(|version| !version.chars().any(char::is_control));
    }
    let meta: Option<Object> = optional(get(&members, "meta"));
    let api_version = meta
        .and_then(|Object(meta)| optional::<String>(get(&meta, "api-version")))
        .unwrap_or_else(|| "1.0".to_owned());
    if api_version.split('.').next() != Some("1") {
        return Err(DocumentFault::ApiVersion(api_version.chars().take(20).collect()));
    }
    if let Some(name) = optional::<String>(get(&members, "name"))
        && Project::new(&name).as_ref() != Some(project)
    {
        return Err(DocumentFault::OtherProject(name.chars().take(80).collect()));
    }
    let status = optional::<Object>(get(&members, "project-status")).and_then(|Object(status)| {
        Some((optional(get(&status, "status"))?, optional(get(&status, "reason"))))
    });
    let listed = files.unwrap_or_default();
    let n_listed = listed.len();
    let files: Vec<_> =
        listed.into_iter().filter_map(|Object(file)| read_file(project, url, file)).collect();
    let n_unservable = n_listed - files.len();
    let parts = Parts { members, versions, files, api_version, status, n_unservable };
    Ok(Document::new(project.clone(), body, parts))
}

/// Reads a file; `None` when it has no name or address that could be served.
fn read_file(project: &Project, page: &Url, members: Members) -> Option<File> {
    let filename = Filename::new(&optional::<String>(get(&members, "filename"))?)?;
    let mut url = page.join(&optional::<String>(get(&members, "url"))?).ok()?;
    url.set_fragment(None);
    let Object(hashes) = optional(get(&members, "hashes")).unwrap_or_default();
    let sha256 = sha256_in(&hashes);
    let promise = if sha256.is_some() { None } else { promise_in(&hashes) };
    let other_hash = hashes.iter().find_map(|(name, value)| {
        let value: String = optional(Some(value))?;
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        (plain(name) && plain(&value)).then(|| format!("{name}={value}"))
    });
    let yanked = match get(&members, "yanked").map(RawValue::get) {
        None | Some("null" | "false") => Yanked::No,
        Some("true") => Yanked::Yes(None),
        Some(_) => Yanked::Yes(
            optional::<String>(get(&members, "yanked")).filter(|reason| !reason.is_empty()),
        ),
    };
    // PEP 714: the older name counts only where the newer one is missing.
    let core = get(&members, "core-metadata").or_else(|| get(&members, "dist-info-metadata"));
    let core_metadata = match core.map(RawValue::get) {
        None | Some("null" | "false") => CoreMetadata::No,
        Some(_) => CoreMetadata::Yes(
            optional::<Object>(core).and_then(|Object(hashes)| sha256_in(&hashes)),
        ),
    };
    Some(File {
        version: filename.version(project),
        filename,
        url,
        sha256,
        promise,
        other_hash,
        size: optional(get(&members, "size")),
        yanked,
        core_metadata,
        gpg_sig: optional(get(&members, "gpg-sig")),
        requires_python: optional(get(&members, "requires-python")),
        provenance: optional(get(&members, "provenance")),
        uploaded_at: optional(get(&members, "upload-time")),
        members,
    })
}

fn sha256_in(hashes: &Members) -> Option<Sha256> {
    Sha256::parse(&optional::<String>(get(hashes, "sha256"))?)
}

fn promise_in(hashes: &Members) -> Option<Promise> {
    let readable = hashes
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), optional::<String>(Some(value))?)));
    let readable: Vec<_> = readable.collect();
    Promise::best_of(readable.iter().map(|(name, value)| (*name, value.as_str())))
}

pub(super) fn get<'a>(members: &'a Members, name: &str) -> Option<&'a RawValue> {
    members.iter().find(|(member, _)| member == name).map(|(_, value)| &**value)
}

fn take(members: &mut Members, name: &str) -> Option<Box<RawValue>> {
    let at = members.iter().position(|(member, _)| member == name)?;
    Some(members.remove(at).1)
}

/// A member that may be missing, null, or of a kind we do not know: then it says nothing.
fn optional<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str::<Option<T>>(value?.get()).ok().flatten()
}

/// A member that may be missing or null, but nothing else.
fn required<T: DeserializeOwned>(value: Option<&RawValue>) -> Result<Option<T>, DocumentFault> {
    match value {
        None => Ok(None),
        Some(value) => serde_json::from_str(value.get()).map_err(DocumentFault::Json),
    }
}

/// An array, read up to [`MAX_LISTED`] items and [`MAX_MEMBERS_LISTED`] members of them; what is beyond
/// that is passed over.
#[derive(Debug)]
struct List<T> {
    items: Vec<T>,
    cut: Option<DocumentFault>,
}

impl<T> List<T> {
    fn whole(self) -> Result<Vec<T>, DocumentFault> {
        self.cut.map_or(Ok(self.items), Err)
    }
}

/// What a list may be of.
trait Item {
    /// How many members it has: each is memory of its own, however short it is.
    fn n_members(&self) -> usize;
}

impl Item for Object {
    fn n_members(&self) -> usize {
        self.0.len()
    }
}

impl Item for String {
    fn n_members(&self) -> usize {
        0
    }
}

impl<'de, T: Item + Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<'de, T: Item + Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<List<T>, A::Error> {
                let (mut items, mut n_members) = (Vec::new(), 0);
                while items.len() < MAX_LISTED && n_members <= MAX_MEMBERS_LISTED {
                    let Some(item): Option<T> = all.next_element()? else {
                        return Ok(List { items, cut: None });
                    };
                    n_members += item.n_members();
                    items.push(item);
                }
                let mut cut = None;
                if n_members > MAX_MEMBERS_LISTED {
                    // None of it is used: the memory is free before the rest is read.
                    items = Vec::new();
                    cut = Some(DocumentFault::TooManyMembers);
                }
                while all.next_element::<IgnoredAny>()?.is_some() {
                    cut = cut.or(Some(DocumentFault::TooMany));
                }
                Ok(List { items, cut })
            }
        }

        deserializer.deserialize_seq(Reader(PhantomData))
    }
}

/// An object with its values unread.
#[derive(Debug, Default)]
struct Object(Members);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = Members::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    match members.iter().position(|(member, _)| *member == name) {
                        Some(at) => drop(std::mem::replace(&mut members[at].1, value)),
                        None if members.len() == MAX_MEMBERS => {
                            return Err(A::Error::custom("an object with too many members"));
                        }
                        None => members.push((name, value)),
                    }
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://index.example/simple/six/";

    fn read(body: &str) -> Result<Document, DocumentFault> {
        parse(&Project::new("six").unwrap(), &Url::parse(PAGE).unwrap(), body.as_bytes())
    }

    #[test]
    fn a_full_page_is_understood_and_kept_as_it_was_written() {
        let hash = "ab".repeat(32);
        let page = read(&format!(
            r#"{{"meta":{{"api-version":"1.4","_last-serial":123456789012345678901234567890}},
                "name":"Six","versions":["1.16.0","1.17.0","1.18\u0000"],"project-status":{{"status":"archived","reason":"done"}},
                "files":[{{"filename":"six-1.16.0-py2.py3-none-any.whl","url":"https://files.example/a/six.whl#sha256=x",
                "hashes":{{"sha256":"{hash}"}},"size":11053,"requires-python":">=2.7","yanked":"broken",
                "core-metadata":{{"sha256":"{hash}"}},"gpg-sig":true,"upload-time":"2021-05-05T14:18:18.379Z",
                "provenance":null,"x-new":1.50}}]}}"#
        ))
        .unwrap();
        assert_eq!(page.api_version, "1.4");
        assert_eq!(page.versions.as_deref(), Some(&["1.16.0".to_owned(), "1.17.0".to_owned()][..]));
        assert_eq!(page.status, Some(("archived".to_owned(), Some("done".to_owned()))));
        let file = page.file(&Filename::new("six-1.16.0-py2.py3-none-any.whl").unwrap()).unwrap();
        assert_eq!(file.url.as_str(), "https://files.example/a/six.whl");
        assert_eq!(file.version.as_ref().unwrap().as_str(), "1.16.0");
        assert_eq!(file.sha256.unwrap().hex(), hash);
        assert_eq!((file.size, file.gpg_sig), (Some(11053), Some(true)));
        assert_eq!(file.yanked, Yanked::Yes(Some("broken".to_owned())));
        assert_eq!(file.core_metadata, CoreMetadata::Yes(file.sha256));
        assert_eq!(file.requires_python.as_deref(), Some(">=2.7"));
        assert_eq!(get(&file.members, "x-new").unwrap().get(), "1.50");
        assert_eq!(
            get(&page.members, "meta").unwrap().get(),
            r#"{"api-version":"1.4","_last-serial":123456789012345678901234567890}"#
        );
    }

    #[test]
    fn a_cut_down_page_says_less_and_is_read_all_the_same() {
        let page = read(
            r#"{"files":[{"filename":"six-1.0.tar.gz","url":"../../packages/six-1.0.tar.gz"},
                {"filename":"six-1.1.tar.gz","url":"six-1.1.tar.gz","hashes":null,"size":null,
                 "yanked":true,"core-metadata":true,"requires-python":null},
                {"filename":"six-1.2.tar.gz","url":"b","hashes":{"md5":"0f"},"size":"big","yanked":false,
                 "dist-info-metadata":{"sha256":"nonsense"},"core-metadata":null},
                {"filename":"../six-1.3.tar.gz","url":"c"},{"filename":"six-1.4.tar.gz"},{"url":"d"}]}"#,
        )
        .unwrap();
        assert_eq!((page.api_version.as_str(), page.versions.is_none()), ("1.0", true));
        assert_eq!((page.files.len(), page.n_unservable), (3, 3));
        let [first, second, third] = &page.files[..] else { panic!("three files") };
        assert_eq!(first.url.as_str(), "https://index.example/packages/six-1.0.tar.gz");
        assert_eq!((&first.yanked, first.core_metadata), (&Yanked::No, CoreMetadata::No));
        assert_eq!(second.yanked, Yanked::Yes(None));
        assert_eq!((second.core_metadata, second.sha256), (CoreMetadata::Yes(None), None));
        assert_eq!((third.size, third.other_hash.as_deref()), (None, Some("md5=0f")));
        assert!(read("{}").unwrap().files.is_empty());
        assert!(read(r#"{"files":null}"#).unwrap().files.is_empty());
    }

    #[test]
    fn the_last_of_two_members_counts_as_it_does_for_the_clients() {
        let page = read(
            r#"{"files":[{"filename":"six-1.0.tar.gz","url":"a","filename":"six-2.0.tar.gz"}]}"#,
        )
        .unwrap();
        assert_eq!(page.files[0].filename.as_str(), "six-2.0.tar.gz");
        assert_eq!(page.files[0].members.len(), 2);
    }

    #[test]
    fn what_is_no_page_of_this_project_is_refused() {
        for (body, words) in [
            ("", "not the JSON"),
            ("[]", "not the JSON"),
            (r#"{"files":{}}"#, "not the JSON"),
            (r#"{"files":[1]}"#, "not the JSON"),
            (r#"{"files":[]"#, "not the JSON"),
            (r#"{"meta":{"api-version":"2.0"}}"#, "version `2.0`"),
            (r#"{"name":"seven"}"#, "about `seven`"),
        ] {
            let fault = read(body).unwrap_err().to_string();
            assert!(fault.contains(words), "{body}: {fault}");
        }
        for (member, item) in [("files", "{}"), ("versions", "1")] {
            // An item that would not be read, were it not beyond the bound.
            let good = if member == "files" { "{}" } else { r#""1""# };
            let mut items = vec![good; MAX_LISTED];
            let page = |items: &[&str]| read(&format!(r#"{{"{member}":[{}]}}"#, items.join(",")));
            assert!(page(&items).is_ok(), "{member}");
            items.push(item);
            assert!(matches!(page(&items), Err(DocumentFault::TooMany)), "{member}");
        }
        let members: Vec<_> = (0..=MAX_MEMBERS).map(|n| format!("\"m{n}\":1")).collect();
        assert!(read(&format!("{{{}}}", members.join(","))).is_err());
    }

    #[test]
    fn many_short_members_are_counted_and_too_many_are_refused() {
        const EACH: usize = 64;
        let members: Vec<_> = (2..EACH).map(|n| format!(r#""{n:x}":1"#)).collect();
        let file = |n: usize| {
            let members = members.join(",");
            format!(r#"{{"filename":"six-{n}.tar.gz","url":"a",{members}}}"#)
        };
        let page = |n_files: usize| {
            let files: Vec<_> = (0..n_files).map(file).collect();
            format!(r#"{{"files":[{}]}}"#, files.join(","))
        };
        let some = page(10);
        let read_some = read(&some).unwrap();
        assert!(read_some.size_bytes > 100 * 10 * EACH, "{}", read_some.size_bytes);
        let most = MAX_MEMBERS_LISTED / EACH;
        assert_eq!(read(&page(most)).unwrap().files.len(), most);
        let refused = read(&page(most + 1)).unwrap_err();
        assert!(matches!(refused, DocumentFault::TooManyMembers), "{refused}");
    }
}
