//! Old payloads become today's: a chain of small steps from schema to schema, run on every path
//! that reads (aggregates, projections, tails, replay).

use std::borrow::Cow;

use rmpv::Value;

use crate::{
    codec::CodecFault,
    kind::{Kind, KindInfo},
};

/// One step: a payload of schema `from` becomes one of schema `from + 1`.
#[derive(Clone, Copy)]
pub struct Step {
    /// The kind it belongs to.
    pub kind: Kind,
    /// The schema it starts from.
    pub from: i16,
    /// Changes the map of fields in place.
    pub change: fn(&mut Vec<(Value, Value)>),
}

/// Every step there is. A kind that goes to schema `n + 1` adds its step from `n` here, together
/// with a golden file of schema `n` that stays for ever.
const STEPS: &[Step] = &[];

/// The payload in today's schema of its kind; borrowed when it already is.
pub fn to_current<'a>(
    info: &KindInfo,
    schema: i16,
    payload: &'a [u8],
) -> Result<Cow<'a, [u8]>, CodecFault> {
    walk(STEPS, info, schema, payload)
}

fn walk<'a>(
    steps: &[Step],
    info: &KindInfo,
    schema: i16,
    payload: &'a [u8],
) -> Result<Cow<'a, [u8]>, CodecFault> {
    if schema == info.schema {
        return Ok(Cow::Borrowed(payload));
    }
    let unknown =
        || CodecFault::UnknownSchema { kind: info.name, found: schema, known: info.schema };
    if schema > info.schema || schema < 1 {
        return Err(unknown());
    }
    let decode = |cause| CodecFault::Decode { what: info.name, cause };
    let mut value: Value = rmp_serde::from_slice(payload).map_err(decode)?;
    let Value::Map(fields) = &mut value else { return Err(unknown()) };
    for from in schema..info.schema {
        let step = steps.iter().find(|s| s.kind == info.code && s.from == from);
        (step.ok_or_else(unknown)?.change)(fields);
    }
    crate::codec::to_bytes(info.name, &value).map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize)]
    struct V1 {
        name: &'static str,
    }

    #[derive(Deserialize, PartialEq, Debug)]
    struct V3 {
        title: String,
        mask: String,
    }

    const KIND: Kind = Kind(0x7001);
    const STEPS: &[Step] = &[
        Step { kind: KIND, from: 1, change: |f| f.push(("mask".into(), "mark".into())) },
        Step {
            kind: KIND,
            from: 2,
            change: |fields| {
                for (name, _) in fields.iter_mut().filter(|(n, _)| n.as_str() == Some("name")) {
                    *name = "title".into();
                }
            },
        },
    ];

    fn info(schema: i16) -> KindInfo {
        KindInfo { code: KIND, name: "Named", schema, doc: "", to_json: |_| Ok(().into()) }
    }

    #[test]
    fn an_old_payload_walks_every_step_to_today() {
        let old = crate::codec::to_bytes("Named", &V1 { name: "six" }).unwrap();
        let new = walk(STEPS, &info(3), 1, &old).unwrap();
        let read: V3 = crate::codec::from_bytes("Named", &new).unwrap();
        assert_eq!(read, V3 { title: "six".to_owned(), mask: "mark".to_owned() });
    }

    #[test]
    fn a_schema_from_the_future_or_without_a_step_is_named_not_guessed() {
        let old = crate::codec::to_bytes("Named", &V1 { name: "six" }).unwrap();
        for (found, known) in [(4, 3), (0, 3), (3, 4)] {
            let fault = walk(STEPS, &info(known), found, &old).unwrap_err();
            assert!(matches!(fault, CodecFault::UnknownSchema { .. }), "{fault}");
        }
    }
}
