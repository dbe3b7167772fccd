use proptest::prelude::*;

use super::*;

const AT: &str = "weir:1:page:pypi:six:00";

fn fresh(body: &[u8]) -> Fresh {
    Fresh {
        id: Id::fresh(),
        created_at: Timestamp::from_micros(1_000_000),
        lifetime: Duration::from_mins(5),
        url: Url::parse("https://index.example/simple/six/").unwrap(),
        headers: HeaderMap::from_iter([(http::header::ETAG, HeaderValue::from_static("\"a\""))]),
        body: Bytes::copy_from_slice(body),
        room: None,
    }
}

fn signer() -> Signer {
    Signer::new(&[7; 32])
}

#[test]
fn a_page_is_read_as_it_was_written_and_a_large_one_is_packed() {
    for size in [0, 1, PACK_FROM_BYTES - 1, PACK_FROM_BYTES, 100_000] {
        let fresh = fresh(&b"version ".iter().copied().cycle().take(size).collect::<Vec<_>>());
        let value = signer().write(AT, &fresh).unwrap();
        let page = signer().read(AT, &value.clone().into()).unwrap();
        assert_eq!(page.body().unwrap(), fresh.body, "{size}");
        assert_eq!(
            (page.id, page.created_at, page.lifetime),
            (fresh.id, fresh.created_at, fresh.lifetime)
        );
        assert_eq!((&page.url, &page.headers), (&fresh.url, &fresh.headers));
        assert!(size < 100_000 || value.len() < 2_000, "{} bytes", value.len());
    }
}

#[test]
fn what_was_signed_for_another_place_or_with_another_secret_is_not_read() {
    let value = signer().write(AT, &fresh(b"a")).unwrap();
    let read = |signer: &Signer, at: &str| signer.read(at, &value.clone().into()).is_some();
    assert!(read(&signer(), AT));
    assert!(!read(&signer(), "weir:1:page:pypi:six:01"));
    assert!(!read(&Signer::new(&[8; 32]), AT));
    let word = Confirmed { id: Id::fresh(), at: Timestamp::from_micros(5) };
    let text = signer().write_word(AT, word);
    assert_eq!(text.len(), WORD_BYTES);
    assert_eq!(signer().read_word(AT, &text), Some(word));
    assert_eq!(signer().read_word("elsewhere", &text), None);
    assert!(signer().read(AT, &text.into()).is_none(), "a word is no page");
}

#[test]
fn a_page_that_is_larger_than_it_says_is_not_unpacked_further() {
    let signer = signer();
    let value = signer.write(AT, &fresh(&vec![b'a'; 1 << 20])).unwrap();
    let mut page = signer.read(AT, &value.into()).unwrap();
    page.size_bytes = 10;
    assert!(page.body().is_err());
    page.size_bytes = 2 << 20;
    assert!(page.body().is_err());
}

#[test]
fn a_page_expires_so_long_after_it_was_confirmed() {
    let value = signer().write(AT, &fresh(b"a")).unwrap();
    let at = |seconds| Timestamp::EPOCH.plus_seconds(seconds);
    let peek = Peek::of(&value[..PEEK_BYTES], None).unwrap();
    assert_eq!((peek.expired_at(at(300)), peek.expired_at(at(301))), (false, true));
    let word = Confirmed { id: Id::fresh(), at: at(100) };
    let peek = Peek::of(&value, Some(word)).unwrap();
    assert_eq!((peek.expired_at(at(399)), peek.expired_at(at(400))), (false, true));
    assert_eq!(Peek::of(&value[..PEEK_BYTES - 1], None), None);
}

proptest! {
    #[test]
    fn no_byte_can_be_changed(body in prop::collection::vec(any::<u8>(), 0..3_000), at: prop::sample::Index, by in 1..=255_u8) {
        let mut value = signer().write(AT, &fresh(&body)).unwrap();
        let at = at.index(value.len());
        value[at] ^= by;
        prop_assert!(signer().read(AT, &value.clone().into()).is_none());
        value.truncate(at);
        prop_assert!(signer().read(AT, &value.into()).is_none());
    }

    #[test]
    fn whatever_lies_there_is_read_without_harm(text in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(signer().read(AT, &text.clone().into()).is_none());
        prop_assert!(signer().read_word(AT, &text).is_none());
        // Also when it is signed: what an older build wrote may be anything.
        let text = signer().signed(AT, text);
        drop(signer().read(AT, &text.clone().into()).map(|page| page.body()));
        let word = signer().read_word(AT, &text);
        prop_assert_eq!(word.is_some(), text.len() == WORD_BYTES);
    }
}
