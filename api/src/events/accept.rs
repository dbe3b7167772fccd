//! Content negotiation of events: a page or a stream.

use http::{HeaderMap, header::ACCEPT};

use crate::problem::{Problem, table::NOT_ACCEPTABLE};

/// What a client wants to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Representation {
    Page,
    Stream,
}

/// The representation a client likes best; a page when it does not care.
pub(super) fn preferred(headers: &HeaderMap) -> Result<Representation, Problem> {
    let lines: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accept = lines.join(",");
    if accept.trim().is_empty() {
        return Ok(Representation::Page);
    }
    let page = quality(&accept, "application", "json");
    let stream = quality(&accept, "text", "event-stream");
    if page == 0 && stream == 0 {
        let detail = "events come as `application/json` or `text/event-stream`";
        return Err(Problem::new(&NOT_ACCEPTABLE, detail));
    }
    Ok(if stream > page { Representation::Stream } else { Representation::Page })
}

/// How much a media type is liked, in thousandths: the most specific range that fits it decides.
fn quality(accept: &str, kind: &str, subtype: &str) -> u16 {
    let mut best = (0_u8, 0_u16);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let Some((range_kind, range_subtype)) = parts.next().and_then(|r| r.split_once('/')) else {
            continue;
        };
        let specific = match (range_kind, range_subtype) {
            ("*", "*") => 1,
            (k, "*") if k.eq_ignore_ascii_case(kind) => 2,
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 3,
            _ => continue,
        };
        let q = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let q = q.map_or(1_000, thousandths);
        if best.0 < specific {
            best = (specific, q);
        }
    }
    best.1
}

fn thousandths(q: &str) -> u16 {
    let (whole, fraction) = q.split_once('.').unwrap_or((q, ""));
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole, fraction.parse::<u16>()) {
        ("0", Ok(fraction)) => fraction,
        ("1", _) => 1_000,
        // What cannot be read is no wish.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(accept: &str) -> Option<Representation> {
        preferred(&HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())])).ok()
    }

    #[test]
    fn a_client_gets_what_it_likes_best() {
        use Representation::{Page, Stream};
        for (accept, wanted) in [
            ("text/event-stream", Some(Stream)),
            ("application/json", Some(Page)),
            ("*/*", Some(Page)),
            ("", Some(Page)),
            ("text/*", Some(Stream)),
            ("text/event-stream, */*;q=0.1", Some(Stream)),
            ("text/event-stream;q=0.5, application/json", Some(Page)),
            ("TEXT/Event-Stream", Some(Stream)),
            ("*/*, text/event-stream;q=0", Some(Page)),
            ("*/*;q=0.5, application/json;q=0", Some(Stream)),
            ("text/html", None),
            ("text/event-stream;q=0", None),
            ("application/json;q=nonsense", None),
        ] {
            assert_eq!(wants(accept), wanted, "{accept}");
        }
        assert_eq!(preferred(&HeaderMap::new()).unwrap(), Page);
    }
}
