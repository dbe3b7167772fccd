use std::collections::BTreeMap;

use proptest::{collection, option, prelude::*, sample};

use super::*;
use crate::web::content::ContentFormat;

fn request() -> PortalRequest {
    PortalRequest {
        id: Hash256::of(&[b"first"]),
        agent: AgentId::of_key(&PublicKey::new([7; 32])),
        url: "https://docs.rs/serde".into(),
        method: HttpMethod::Get,
        headers: [("accept", "text/html"), ("accept-language", "en")].into(),
        body: None,
        filter: ContentFilter::default(),
        purpose: "learn how serde names fields".to_owned(),
        tick: 300,
        signature: Signature::new([9; 64]),
    }
}

fn response() -> PortalResponse {
    PortalResponse {
        request_id: request().id,
        status: 200,
        content: "<p>plain words</p>".into(),
        content_type: "text/html; charset=utf-8".to_owned(),
        filtered: FilterReport { code_blocks_removed: 2, ..FilterReport::default() },
        cached: true,
        cost: Cost::CACHE_HIT,
    }
}

fn report() -> PortalReport {
    PortalReport {
        cycle: 4,
        total_requests: 3,
        cache_hit_rate: 0.5,
        domains_accessed: vec!["docs.rs".to_owned()],
        top_users: vec![TopUser { agent: request().agent, requests: 3 }],
        code_filter_hits: 1,
        blocked_requests: 1,
        total_cost: Cost::GET + Cost::CACHE_HIT,
    }
}

fn refused() -> Refused {
    PortalError::QuotaExceeded { used: 5, max: 5 }.refused(Some(request().id))
}

fn messages() -> [Message; 4] {
    [
        Message::Request(Box::new(request())),
        Message::Response(Box::new(Ok(response()))),
        Message::Response(Box::new(Err(refused()))),
        Message::Report(report()),
    ]
}

#[test]
fn the_signed_bytes_are_those_of_the_contract() {
    let bytes = PortalRequest { body: Some("".into()), ..request() }.canonical_bytes().unwrap();
    let expected = [
        b"weir.portal.v1\x89".as_slice(),
        b"\xa2id\xc4\x20",
        Hash256::of(&[b"first"]).as_ref(),
        b"\xa5agent\xc4\x20",
        AgentId::of_key(&PublicKey::new([7; 32])).as_ref(),
        b"\xa3url\xc4\x15https://docs.rs/serde",
        b"\xa6method\x00",
        b"\xa7headers\x82\xa6accept\xa9text/html\xafaccept-language\xa2en",
        b"\xa4body\xc4\x00",
        b"\xa6filter\x86",
        b"\xb1strip_code_blocks\xc3\xb1strip_inline_code\xc3",
        b"\xaetransform_apis\xc2\xb2transform_examples\xc2",
        b"\xa8max_size\xce\x00\x01\x00\x00\xa6format\xa3raw",
        b"\xa7purpose\xbclearn how serde names fields",
        b"\xa4tick\xcd\x01\x2c",
    ]
    .concat();
    assert_eq!(hex::encode(&bytes), hex::encode(expected));
}

#[test]
fn no_body_is_signed_otherwise_than_an_empty_one() {
    let empty = PortalRequest { body: Some("".into()), ..request() };
    assert_ne!(request().canonical_bytes().unwrap(), empty.canonical_bytes().unwrap());
    let json = serde_json::to_value(&empty).unwrap();
    assert_eq!(serde_json::from_value::<PortalRequest>(json).unwrap(), empty);
}

#[test]
fn the_signature_signs_all_but_itself() {
    let other = PortalRequest { signature: Signature::new([0; 64]), ..request() };
    assert_eq!(request().canonical_bytes().unwrap(), other.canonical_bytes().unwrap());
}

#[test]
fn json_shows_digits_names_and_text() {
    let json = serde_json::to_value(request()).unwrap();
    assert_eq!(json["id"], request().id.to_string());
    assert_eq!(json["id"].as_str().unwrap().len(), 64);
    assert_eq!(json["signature"], "09".repeat(64));
    assert_eq!(json["method"], "GET");
    assert_eq!(json["url"], "https://docs.rs/serde");
    assert!(json["body"].is_null());
    let binary = PortalRequest { body: Some([0xff, 0].as_slice().into()), ..request() };
    let json = serde_json::to_value(&binary).unwrap();
    assert_eq!(json["body"], serde_json::json!({ "base64": "/wA=" }));
    assert_eq!(serde_json::from_value::<PortalRequest>(json).unwrap(), binary);
}

#[test]
fn json_may_leave_out_what_has_a_default_and_nothing_else() {
    let mut json = serde_json::to_value(request()).unwrap();
    for optional in ["headers", "body", "filter"] {
        json.as_object_mut().unwrap().remove(optional);
    }
    let read: PortalRequest = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(read, PortalRequest { headers: Headers::default(), ..request() });
    let fields: Vec<String> = json.as_object().unwrap().keys().cloned().collect();
    for field in fields {
        let mut without = json.clone();
        without.as_object_mut().unwrap().remove(&field);
        let said = serde_json::from_value::<PortalRequest>(without).unwrap_err().to_string();
        assert!(said.contains(&field), "{said}");
    }
    json["priority"] = 1.into();
    let said = serde_json::from_value::<PortalRequest>(json).unwrap_err().to_string();
    assert!(said.contains("priority"), "{said}");
}

#[test]
fn an_id_has_one_spelling() {
    let id = request().id.to_string();
    assert_eq!(id.parse(), Ok(request().id));
    for bad in [&id[1..], &id.to_uppercase(), &format!("{}g", &id[1..]), "", &"é".repeat(32)] {
        assert!(bad.parse::<Hash256>().is_err(), "{bad}");
    }
    let said = "0x".parse::<AgentId>().unwrap_err().to_string();
    assert_eq!(said, "expected 64 lower-case hexadecimal digits, found 2 characters");
}

#[test]
fn an_agent_is_the_hash_of_its_key() {
    // SHA-256 of 32 zero bytes.
    let known = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
    assert_eq!(AgentId::of_key(&PublicKey::new([0; 32])).to_string(), known);
}

#[test]
fn every_message_comes_back_as_it_was() {
    for message in messages() {
        let bytes = message.encode().unwrap();
        assert_eq!(Message::decode(&bytes).unwrap(), message);
        assert_eq!(bytes[..6], *b"\x82\xa4kind");
        assert_eq!(bytes[6..9], [0xcd, 7, u8::try_from(message.kind() & 0xff).unwrap()]);
    }
}

#[test]
fn an_envelope_is_one_and_whole_and_in_bounds() {
    for message in messages() {
        let bytes = message.encode().unwrap();
        for n in 0..bytes.len() {
            assert!(Message::decode(&bytes[..n]).is_err(), "{n} bytes of {message:?}");
        }
        let mut more = bytes.clone();
        more.push(0);
        assert!(matches!(Message::decode(&more), Err(MessageFault::Trailing(1))));
    }
    let long = vec![0; MAX_ENVELOPE_BYTES + 1];
    assert!(matches!(Message::decode(&long), Err(MessageFault::TooLong(_))));
    let content = vec![b'x'; MAX_ENVELOPE_BYTES].into();
    let response = PortalResponse { content, ..response() };
    let fault = Message::Response(Box::new(Ok(response.clone()))).encode();
    assert!(matches!(fault, Err(MessageFault::TooLong(_))));
    let most = vec![b'x'; MAX_CONTENT_BYTES as usize].into();
    let response = PortalResponse { content: most, ..response };
    assert!(Message::Response(Box::new(Ok(response))).encode().is_ok());
}

#[test]
fn what_is_no_envelope_is_refused_with_a_reason() {
    let said = |bytes: &[u8]| match Message::decode(bytes) {
        Err(MessageFault::Decode(cause)) => cause.to_string(),
        other => panic!("{other:?}"),
    };
    for (bytes, reason) in [
        (b"\x80".as_slice(), "begins with `kind`"),
        (b"\x81\xa7payload\x80", "begins with `kind`"),
        (b"\x82\xa4kind\xcd\x07\x02\xa7payload\x80", "no message has kind 0x0702"),
        (b"\x82\xa4kind\xcd\x07\x00\xa5error\x80", "`payload` must follow"),
        (b"\x81\xa4kind\xcd\x07\x00", "`payload` must follow"),
        (b"\x82\xa4kind\xcd\x07\x00\xa7payload\x80", "missing field `id`"),
        (b"\x82\xa4kind\xcd\x07\x00\xa7payload\x90", "a map with the names of the fields"),
        (b"\x92\xcd\x07\x00\x80", "an envelope"),
        // A length that is not there costs no memory.
        (b"\x82\xa4kind\xcd\x07\x00\xa7payload\x81\xa2id\xc6\xff\xff\xff\xff", ""),
        (b"\x82\xa4kind\xcd\x07\x00\xa7payload\x81\xa7headers\xdf\xff\xff\xff\xff", ""),
    ] {
        let said = said(bytes);
        assert!(said.contains(reason), "{said}");
    }
    // Text is no binary.
    let letters = PortalRequest { id: Hash256::new([b'a'; 32]), ..request() };
    let whole = Message::Request(Box::new(letters)).encode().unwrap();
    let at = whole.windows(4).position(|w| w == b"\xa2id\xc4").unwrap();
    let mut text = whole[..at + 3].to_vec();
    text.extend(b"\xd9\x20");
    text.extend(&whole[at + 5..]);
    assert!(said(&text).contains("expected 32 bytes"), "{}", said(&text));
    // Deep nesting ends before the stack does.
    let deep = [b"\x82\xa4kind\xcd\x07\x00\xa7payload".to_vec(), vec![0x91; 100_000]].concat();
    assert!(Message::decode(&deep).is_err());
}

#[test]
fn a_header_stands_once() {
    let json = r#"{"accept": "a", "accept": "b"}"#;
    let said = serde_json::from_str::<Headers>(json).unwrap_err().to_string();
    assert!(said.contains("stands twice"), "{said}");
    let many: BTreeMap<String, String> =
        (0..=MAX_HEADERS).map(|n| (n.to_string(), "x".to_owned())).collect();
    let json = serde_json::to_string(&many).unwrap();
    assert!(serde_json::from_str::<Headers>(&json).is_err());
}

#[test]
fn a_request_of_the_wrong_shape_is_refused_by_what_is_wrong_with_it() {
    type Change = fn(&mut PortalRequest);
    let cases: [(Change, &str); 20] = [
        (|r| r.id = Hash256::new([0; 32]), "`id`"),
        (|r| r.url = "".into(), "empty"),
        (|r| r.url = vec![b'a'; MAX_URL_BYTES + 1].into(), "8193 bytes"),
        (|r| r.headers = [("cookie", "a=b")].into(), "`cookie`"),
        (|r| r.headers = [("authorization", "x")].into(), "`authorization`"),
        (|r| r.headers = [("Accept", "x")].into(), "`Accept`"),
        (|r| r.headers = [("accept", "")].into(), "`accept`"),
        (|r| r.headers = [("accept", "a\r\nhost: b")].into(), "printable"),
        (|r| r.headers = [("accept", "ä")].into(), "printable"),
        (|r| r.headers = BTreeMap::from([("accept".into(), "x".repeat(1025))]).into(), "1024"),
        (|r| r.body = Some("".into()), "a GET has no `body`"),
        (|r| (r.method, r.body) = (HttpMethod::Head, Some("x".into())), "a HEAD has no `body`"),
        (
            |r| (r.method, r.body) = (HttpMethod::Post, Some(vec![0; MAX_BODY_BYTES + 1].into())),
            "1000001 bytes",
        ),
        (
            |r| {
                (r.method, r.url, r.body) = (HttpMethod::Head, "wss://x/".into(), Some("x".into()));
            },
            "a HEAD has no `body`",
        ),
        (|r| r.purpose = String::new(), "`purpose` is empty"),
        (|r| r.purpose = " \n".to_owned(), "`purpose` is empty"),
        (|r| r.purpose = "x".repeat(MAX_PURPOSE_BYTES + 1), "4097 bytes"),
        (|r| r.purpose = "a\u{1b}[2J".to_owned(), "control"),
        (|r| r.filter.max_size = 0, "`filter.max_size`"),
        (
            |r| {
                r.headers = (0..17)
                    .map(|n| (n.to_string(), String::new()))
                    .collect::<BTreeMap<_, _>>()
                    .into();
            },
            "17 headers",
        ),
    ];
    for (change, words) in cases {
        let mut bad = request();
        change(&mut bad);
        let refused = bad.check_shape().unwrap_err();
        assert_eq!(refused.code(), 0x0704, "{refused}");
        assert!(refused.to_string().contains(words), "{refused} lacks {words}");
    }
}

#[test]
fn what_is_just_within_the_bounds_passes() {
    type Change = fn(&mut PortalRequest);
    let cases: [Change; 7] = [
        |_| (),
        |r| r.url = vec![b'a'; MAX_URL_BYTES].into(),
        |r| (r.method, r.body) = (HttpMethod::Post, Some("".into())),
        |r| (r.method, r.body) = (HttpMethod::Post, Some(vec![0; MAX_BODY_BYTES].into())),
        // The one message that a websocket is sent.
        |r| (r.url, r.body) = ("WSS://example.org/".into(), Some("hello".into())),
        |r| r.purpose = "first line\n\tsecond".to_owned(),
        |r| r.filter.max_size = u32::MAX,
    ];
    for change in cases {
        let mut good = request();
        change(&mut good);
        assert_eq!(good.check_shape(), Ok(()));
    }
}

#[test]
fn nobody_gets_more_content_than_fits() {
    let asked = |max_size| {
        let filter = ContentFilter { max_size, format: ContentFormat::Summary, ..request().filter };
        PortalRequest { filter, ..request() }.effective_filter()
    };
    for (wanted, given) in
        [(1, 1), (65_536, 65_536), (1_000_000, 1_000_000), (1_000_001, 1_000_000)]
    {
        assert_eq!(asked(wanted).max_size, given);
        assert_eq!(asked(wanted).format, ContentFormat::Summary);
    }
}

#[test]
fn errors_have_the_codes_of_the_contract() {
    use ErrorClass::{Internal, InvalidRequest, QuotaExceeded, Unauthorized};
    let text = String::new;
    for (error, class, code) in [
        (PortalError::PortalClosed { epoch: 0 }, Unauthorized, 0x0700),
        (PortalError::ReadOnlyEpoch { epoch: 3, what: "POST" }, Unauthorized, 0x0700),
        (PortalError::QuotaExceeded { used: 5, max: 5 }, QuotaExceeded, 0x0701),
        (PortalError::RateLimited { retry_ticks: 1 }, QuotaExceeded, 0x0701),
        (PortalError::DomainBlocked { domain: text(), reason: text() }, Unauthorized, 0x0702),
        (PortalError::FetchFailed(text()), Internal, 0x0703),
        (PortalError::Timeout(10_000), Internal, 0x0703),
        (PortalError::TooManyRedirects(2), Internal, 0x0703),
        (PortalError::InvalidUrl(text()), InvalidRequest, 0x0704),
        (PortalError::InvalidRequest(text()), InvalidRequest, 0x0704),
        (PortalError::PermissionDenied(text()), Unauthorized, 0x0705),
        (PortalError::Database(text()), Internal, 0x07FF),
        (PortalError::Internal(text()), Internal, 0x07FF),
    ] {
        assert_eq!((error.class(), error.code()), (class, code), "{}", error.name());
        let refused = error.refused(None);
        assert_eq!((refused.class, refused.code), (class, code));
    }
    let secret = PortalError::Database("password of host db1".to_owned()).refused(None);
    assert!(!secret.message.contains("db1"), "{}", secret.message);
}

#[test]
fn the_epoch_says_what_is_allowed_and_how_often() {
    use AccessLevel::{Closed, ReadOnly, ReadWrite};
    for (epoch, level, n) in [
        (0, Closed, 0),
        (2, Closed, 0),
        (3, ReadOnly, 5),
        (4, ReadWrite, 7),
        (10, ReadWrite, 19),
        (u32::MAX, ReadWrite, u32::MAX),
    ] {
        assert_eq!((AccessLevel::at(epoch), quota(epoch)), (level, n), "epoch {epoch}");
    }
    let allowed = |level: AccessLevel| HttpMethod::ALL.map(|method| level.allows(method));
    assert_eq!(allowed(Closed), [false; 3]);
    assert_eq!(allowed(ReadOnly), [true, false, true]);
    assert_eq!(allowed(ReadWrite), [true; 3]);
}

#[test]
fn costs_are_those_of_the_contract_and_add_up() {
    let pairs = [Cost::GET, Cost::POST, Cost::HEAD, Cost::CACHE_HIT, Cost::FAILED]
        .map(|cost| (cost.ticks, cost.spark));
    assert_eq!(pairs, [(3, 2), (3, 3), (2, 1), (1, 0), (1, 1)]);
    let all: Cost = HttpMethod::ALL.into_iter().map(Cost::of).sum();
    assert_eq!(all, Cost { ticks: 8, spark: 6 });
}

#[test]
fn kinds_of_interaction_have_names() {
    use ApiInteractionKind::{GraphQL, RestGet, RestPost, WebsocketSnap};
    let names = serde_json::to_value([RestGet, RestPost, GraphQL, WebsocketSnap]).unwrap();
    assert_eq!(names, serde_json::json!(["rest-get", "rest-post", "graphql", "websocket-snap"]));
}

fn any_request() -> impl Strategy<Value = PortalRequest> {
    let bytes = || collection::vec(any::<u8>(), 0..40).prop_map(Octets::from);
    let headers = collection::btree_map("[a-z-]{1,12}", "\\PC{0,12}", 0..4).prop_map(Headers::from);
    let format = sample::select(ContentFormat::ALL.to_vec());
    let filter = (any::<[bool; 4]>(), any::<u32>(), format).prop_map(|(on, max_size, format)| {
        ContentFilter {
            strip_code_blocks: on[0],
            strip_inline_code: on[1],
            transform_apis: on[2],
            transform_examples: on[3],
            max_size,
            format,
        }
    });
    let ids = (any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>());
    let method = sample::select(HttpMethod::ALL.to_vec());
    (ids, bytes(), method, headers, option::of(bytes()), filter, "\\PC{0,20}", any::<u64>())
        .prop_map(|(ids, url, method, headers, body, filter, purpose, tick)| PortalRequest {
            id: Hash256::new(ids.0),
            agent: AgentId::new(ids.1),
            url,
            method,
            headers,
            body,
            filter,
            purpose,
            tick,
            signature: [ids.2, ids.3].concat().as_slice().try_into().unwrap(),
        })
}

proptest! {
    #[test]
    fn any_request_comes_back_as_it_was(request in any_request()) {
        let message = Message::Request(Box::new(request.clone()));
        prop_assert_eq!(Message::decode(&message.encode().unwrap()).unwrap(), message);
        let json = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(serde_json::from_str::<PortalRequest>(&json).unwrap(), request);
    }

    // What is close to each other is signed apart: bytes move from one field to the next.
    #[test]
    fn different_requests_are_signed_differently(
        one in any_request(),
        other in any_request(),
        at in any::<sample::Index>(),
        mask in any::<u16>(),
    ) {
        let keep = |n: u16| mask & (1 << n) != 0;
        let mut near = one.clone();
        if keep(0) { near.id = other.id; }
        if keep(1) { near.agent = other.agent; }
        if keep(2) { near.method = other.method; }
        if keep(3) { near.headers = other.headers; }
        if keep(4) { near.body = other.body; }
        if keep(5) { near.filter = other.filter; }
        if keep(6) { near.purpose = other.purpose; }
        if keep(7) { near.tick = other.tick; }
        if keep(8) {
            let url = one.url.as_slice();
            let (head, tail) = url.split_at(at.index(url.len() + 1));
            (near.url, near.body) = (head.into(), Some(tail.into()));
        }
        let same = PortalRequest { signature: one.signature, ..near.clone() } == one;
        let (one, near) = (one.canonical_bytes().unwrap(), near.canonical_bytes().unwrap());
        prop_assert_eq!(one == near, same);
        prop_assert!(!one.starts_with(&near) || same);
    }

    #[test]
    fn hostile_bytes_never_panic(
        message in sample::select(messages().to_vec()),
        at in any::<sample::Index>(),
        byte in any::<u8>(),
        noise in collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = message.encode().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = Message::decode(&bytes) {
            prop_assert_eq!(Message::decode(&read.encode().unwrap()).unwrap(), read);
        }
        drop(Message::decode(&noise));
    }
}
