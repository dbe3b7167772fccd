//! What a package client asks: path, query and headers (`Accept`, `Range`, validators), a line each.
//! Every ecosystem reads it in its own way.
#![no_main]

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header::LOCATION};
use libfuzzer_sys::fuzz_target;
use weir_processors::registry::{
    answer::Answer,
    asking::Asking,
    cargo, docker, go,
    npm::{self, negotiate::Form},
    plugin::Asked,
    pypi,
};

fuzz_target!(|data: &[u8]| {
    let mut lines = data.split(|byte| *byte == b'\n');
    let mut text = || std::str::from_utf8(lines.next().unwrap_or_default());
    let (Ok(path), Ok(query)) = (text(), text()) else { return };
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_at(line.iter().position(|b| *b == b':').unwrap_or(0));
        let value = HeaderValue::from_bytes(value.get(1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), value) {
            headers.append(name, value);
        }
    }
    let query = Some(query).filter(|query| !query.is_empty());
    let (base, body) = ("https://weir.example", Bytes::new());
    let _form = Form::wanted(&headers);
    for method in [&Method::GET, &Method::POST] {
        let asked = Asked {
            method,
            version: Version::HTTP_11,
            path,
            query,
            headers: &headers,
            base,
            body: &body,
            as_of: None,
        };
        answered(pypi::request::parse(&asked).map(|request| request.asking));
        answered(npm::request::parse(&asked).map(|request| request.asking));
        answered(cargo::request::parse(&asked).map(|request| request.asking));
        answered(go::request::parse(&asked).map(|request| request.asking));
        answered(docker::request::parse(&asked).map(|request| request.asking));
    }
});

fn answered(asking: Result<Asking, Box<Answer>>) {
    match asking {
        Ok(asking) => {
            let has = asking.has(&HeaderValue::from_static("\"tag\""));
            assert!(!has || asking.if_none_match.is_some());
            for size in [0, 1, 1_000, u64::MAX] {
                if let Some(range) = asking.part.and_then(|part| part.of(size)) {
                    assert!(range.start < range.end && range.end <= size, "{range:?} of {size}");
                }
            }
        }
        Err(answer) => {
            assert!(!answer.status.is_server_error(), "{}", answer.status);
            // A redirect stays below the address it was asked at.
            let location = answer.headers.get(LOCATION).map(HeaderValue::as_bytes);
            let path = location.and_then(|location| location.split(|b| *b == b'?').next());
            let elsewhere = |path: &[u8]| path.starts_with(b"/") || path.contains(&b':');
            assert!(!path.is_some_and(elsewhere), "{path:?}");
        }
    }
}
