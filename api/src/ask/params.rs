//! The part of an address after `?`. What nobody knows is refused: a filter with a typo in its name
//! would otherwise show everything.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;

use crate::problem::{Problem, table::BAD_PARAMETER};

/// The parameters of a request, taken one by one.
#[derive(Debug, Default)]
pub struct Params(BTreeMap<String, String>);

/// A parameter makes no sense.
pub(crate) fn bad_parameter(name: &str, detail: impl Into<String>) -> Problem {
    Problem::of_field(&BAD_PARAMETER, name, detail)
}

impl Params {
    /// Takes a parameter. One without a value is as good as none.
    pub fn take<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.0.remove(name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|fault: T::Err| {
            let shown: String = text.chars().take(80).collect();
            bad_parameter(name, format!("`{shown}` cannot be read: {fault}"))
        })
    }

    /// Takes how many are wanted: 1 to `max`.
    pub fn limit(&mut self, otherwise: usize, max: usize) -> Result<usize, Problem> {
        match self.take("limit")?.unwrap_or(otherwise) {
            limit if (1..=max).contains(&limit) => Ok(limit),
            limit => Err(bad_parameter("limit", format!("{limit} is not within 1 to {max}"))),
        }
    }

    /// Takes a list of names, separated by commas.
    pub fn names(&mut self, name: &str) -> Vec<String> {
        let text = self.0.remove(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect()
    }

    /// Nothing else was asked for.
    pub fn done(self) -> Result<(), Problem> {
        let Some(name) = self.0.keys().next() else { return Ok(()) };
        Err(bad_parameter(
            &name.chars().take(80).collect::<String>(),
            "nobody knows this parameter",
        ))
    }
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|fault| Problem::new(&BAD_PARAMETER, fault.body_text()))?;
        let mut params = BTreeMap::new();
        for (name, value) in pairs {
            if params.contains_key(&name) {
                return Err(bad_parameter(&name, "it stands twice"));
            }
            if value.contains('\0') {
                return Err(bad_parameter(&name, "no value has a NUL in it"));
            }
            params.insert(name, value);
        }
        Ok(Self(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn params(query: &str) -> Result<Params, Problem> {
        let request = http::Request::builder().uri(format!("/x?{query}")).body(()).unwrap();
        Params::from_request_parts(&mut request.into_parts().0, &()).await
    }

    #[tokio::test]
    async fn parameters_are_taken_by_name_and_what_is_left_is_refused() {
        let mut asked =
            params("limit=7&kind=RuleAdded,%20RuleRemoved,&after=&tpyo=1").await.unwrap();
        assert_eq!(asked.limit(100, 1_000).unwrap(), 7);
        assert_eq!(asked.names("kind"), ["RuleAdded", "RuleRemoved"]);
        assert_eq!(asked.take::<i64>("after").unwrap(), None);
        let left = asked.done().unwrap_err();
        assert!(left.detail().starts_with("tpyo:"), "{}", left.detail());
    }

    #[tokio::test]
    async fn values_that_make_no_sense_are_named() {
        for (query, field) in [("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit")]
        {
            let refused = params(query).await.unwrap().limit(100, 1_000).unwrap_err();
            assert!(refused.detail().starts_with(field), "{}", refused.detail());
        }
        let nul = params("package=six%00").await.unwrap_err();
        assert_eq!(nul.detail(), "package: no value has a NUL in it");
        let twice = params("a=1&a=2").await.unwrap_err();
        assert_eq!((twice.status().as_u16(), twice.detail()), (400, "a: it stands twice"));
    }
}
