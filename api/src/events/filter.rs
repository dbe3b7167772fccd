//! The filter of events, as the address says it.

use weir_events::{
    kind::{Kind, Subsystem},
    stream::MAX_STREAM_BYTES,
};
use weir_log::read::Filter;

use crate::{
    ask::{Params, bad_parameter},
    problem::Problem,
};

/// Names in one filter.
const MAX_NAMES: usize = 100;

/// A principal's name, in bytes: no token is called more.
const MAX_PRINCIPAL_BYTES: usize = 320;

/// Takes the parameters `stream`, `kind`, `subsystem` and `principal`.
pub(super) fn take(params: &mut Params) -> Result<Filter, Problem> {
    let stream_prefix: Option<String> = params.take("stream")?;
    if let Some(prefix) = &stream_prefix
        && (prefix.len() > MAX_STREAM_BYTES || !prefix.bytes().all(|b| b.is_ascii_graphic()))
    {
        return Err(bad_parameter("stream", "no stream's name can begin so"));
    }
    let kinds = names(params, "kind", |name| Some(kind(name)?.0))?;
    let kind_ranges = names(params, "subsystem", |name| Some(range(Subsystem::find(name)?)))?;
    let principal: Option<String> = params.take("principal")?;
    if principal.as_deref().is_some_and(|name| MAX_PRINCIPAL_BYTES < name.len()) {
        return Err(bad_parameter("principal", "nobody is called so"));
    }
    Ok(Filter { stream_prefix, kinds, kind_ranges, principal })
}

/// The codes of a subsystem, first and last: from the one table that says whose a code is.
fn range(subsystem: Subsystem) -> (i32, i32) {
    let blocks = (0x10..0x80).map(|block| block << 8);
    let its = blocks.filter(|first| Subsystem::of(Kind(*first)) == Some(subsystem));
    its.fold((i32::MAX, i32::MIN), |(low, high), first| (low.min(first), high.max(first | 0xff)))
}

/// A kind by its name, or by the code that stands for a name this build does not know.
fn kind(name: &str) -> Option<Kind> {
    let code = || i32::from_str_radix(name.strip_prefix("0x")?, 16).ok().map(Kind);
    Kind::find(name).or_else(code)
}

fn names<T>(
    params: &mut Params,
    parameter: &str,
    find: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let names = params.names(parameter);
    if names.len() > MAX_NAMES {
        return Err(bad_parameter(
            parameter,
            format!("{} names; at most {MAX_NAMES}", names.len()),
        ));
    }
    let found = |name: &String| {
        find(name).ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            bad_parameter(parameter, format!("no {parameter} is called `{shown}`"))
        })
    };
    names.iter().map(found).collect()
}

#[cfg(test)]
mod tests {
    use axum::extract::FromRequestParts;

    use super::*;

    async fn filter(query: &str) -> Result<Filter, Problem> {
        let request = http::Request::builder().uri(format!("/x?{query}")).body(()).unwrap();
        let mut parts = request.into_parts().0;
        take(&mut Params::from_request_parts(&mut parts, &()).await?)
    }

    #[tokio::test]
    async fn a_filter_says_streams_kinds_and_subsystems() {
        let asked = filter(
            "stream=registry/&kind=RuleAdded,0x7001&subsystem=registry,log&principal=robot%202",
        );
        let wanted = Filter {
            stream_prefix: Some("registry/".to_owned()),
            kinds: vec![0x4005, 0x7001],
            kind_ranges: vec![(0x4000, 0x4fff), (0x1000, 0x10ff)],
            principal: Some("robot 2".to_owned()),
        };
        assert_eq!(asked.await.unwrap(), wanted);
        assert!(filter("").await.unwrap().is_open());
    }

    #[test]
    fn every_kind_lies_in_the_range_of_its_subsystem() {
        for info in weir_events::kind::table() {
            let (low, high) = range(Subsystem::of(info.code).unwrap());
            assert!((low..=high).contains(&info.code.0), "{}", info.name);
        }
        for subsystem in Subsystem::ALL {
            let (low, high) = range(subsystem);
            assert!((low..=high).all(|code| Subsystem::of(Kind(code)) == Some(subsystem)));
        }
    }

    #[tokio::test]
    async fn a_name_nobody_knows_is_refused_not_passed_over() {
        let long = format!("principal={}", "x".repeat(321));
        for (query, words) in [
            ("kind=RuleAded", "kind: no kind is called `RuleAded`"),
            ("subsystem=rules", "subsystem: no subsystem is called `rules`"),
            ("stream=%20", "stream: no stream's name can begin so"),
            (long.as_str(), "principal: nobody is called so"),
        ] {
            let refused = filter(query).await.unwrap_err();
            assert_eq!((refused.status().as_u16(), refused.detail()), (400, words));
        }
    }
}
