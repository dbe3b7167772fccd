use std::io::Write as _;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

const CAP: usize = 100_000;
const BROTLI_TEXT: &str = "1b8303a08c54b5bf0441a32b96b2144494ca2af3eadae2e35902";
/// Sixteen million zeros, in 27 bytes.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe2ffffffff04f00c4611180eefd1f";

fn text() -> Vec<u8> {
    b"the door is open, ".repeat(50)
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn bare(plain: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    compress_to_vec(plain, CompressionLevel::Fastest)
}

/// What Node's zlib makes of [`text`].
fn brotli() -> Vec<u8> {
    hex::decode(BROTLI_TEXT).unwrap()
}

async fn decoded(encodings: &[&str], wire: Vec<u8>) -> Result<Decoded, Undecodable> {
    let line = |said: &&str| (CONTENT_ENCODING, said.parse().unwrap());
    decode(&encodings.iter().map(line).collect(), wire.into(), CAP).await
}

#[tokio::test]
async fn every_encoding_that_is_asked_for_is_read() {
    let whole = Ok(Decoded { body: text().into(), cut: false, broken: false });
    for (encodings, wire) in [
        (&[][..], text()),
        (&["identity"], text()),
        (&["gzip"], gzip(&text())),
        (&["X-GZip"], gzip(&text())),
        (&["deflate"], zlib(&text())),
        (&["deflate"], bare(&text())),
        (&["br"], brotli()),
        (&["zstd"], zstd(&text())),
        (&["deflate, gzip"], gzip(&zlib(&text()))),
        (&["br", "gzip"], gzip(&brotli())),
        (&["gzip", "zstd"], zstd(&gzip(&text()))),
    ] {
        assert_eq!(decoded(encodings, wire).await, whole, "{encodings:?}");
    }
    let twice = [text(), text()].concat();
    for (encoding, wire) in [
        ("gzip", [gzip(&text()), gzip(&text())].concat()),
        ("zstd", [zstd(&text()), zstd(&text())].concat()),
    ] {
        let body = twice.clone().into();
        assert_eq!(
            decoded(&[encoding], wire).await,
            Ok(Decoded { body, cut: false, broken: false })
        );
    }
}

/// A few kilobytes that stand for gigabytes have taken down many a crawler.
#[tokio::test]
async fn what_comes_out_is_counted_and_not_what_goes_in() {
    let zeros = vec![0; 16 << 20];
    let empty_members = gzip(b"").repeat(40_000);
    for (encodings, wire) in [
        (&["gzip"][..], gzip(&zeros)),
        (&["deflate"], zlib(&zeros)),
        (&["deflate"], bare(&zeros)),
        (&["br"], hex::decode(BROTLI_BOMB).unwrap()),
        (&["zstd"], zstd(&zeros)),
        (&["gzip, gzip"], gzip(&gzip(&zeros))),
        (&["br, gzip"], gzip(&hex::decode(BROTLI_BOMB).unwrap())),
        (&["gzip, zstd"], zstd(&gzip(&zeros))),
    ] {
        let found = decoded(encodings, wire).await.unwrap();
        assert_eq!(
            (found.body.len(), found.cut, found.broken),
            (CAP, true, false),
            "{encodings:?}"
        );
    }
    // Nothing comes out at the end, and a great deal in between.
    let hollow = decoded(&["gzip, gzip"], gzip(&empty_members)).await.unwrap();
    assert_eq!((hollow.body.len(), hollow.cut), (0, true));
    let plain = decoded(&[], vec![b'x'; CAP + 1]).await.unwrap();
    assert_eq!((plain.body.len(), plain.cut), (CAP, true));
    let exact = decoded(&["gzip"], gzip(&vec![b'x'; CAP])).await.unwrap();
    assert_eq!((exact.body.len(), exact.cut), (CAP, false));
}

/// Two megabytes of frames that hold nothing were once a quarter of a million decoders.
#[tokio::test]
async fn a_body_has_so_many_pieces_and_no_more() {
    let whole = |n: usize| {
        let body = b"x".repeat(n).into();
        Ok(Decoded { body, cut: n == MAX_PIECES, broken: false })
    };
    for (encoding, full, empty) in
        [("gzip", gzip(b"x"), gzip(b"")), ("zstd", zstd(b"x"), zstd(b""))]
    {
        let few = full.repeat(MAX_PIECES - 1);
        assert_eq!(decoded(&[encoding], few).await, whole(MAX_PIECES - 1), "{encoding}");
        let many = full.repeat(MAX_PIECES + 1);
        assert_eq!(decoded(&[encoding], many).await, whole(MAX_PIECES), "{encoding}");
        // What stands behind those that hold nothing is not come to.
        let hollow = [empty.repeat(MAX_PIECES), full].concat();
        let found = decoded(&[encoding], hollow).await.unwrap();
        assert_eq!((found.body.len(), found.cut, found.broken), (0, true, false), "{encoding}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_says_so() {
    let long: Vec<u8> =
        (0_u32..20_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for (encoding, mut wire) in
        [("gzip", gzip(&long)), ("deflate", zlib(&long)), ("deflate", bare(&long))]
    {
        wire.truncate(wire.len() / 2);
        let found = decoded(&[encoding], wire).await.unwrap();
        assert!(found.cut && found.broken, "{encoding}");
        assert!(!found.body.is_empty(), "{encoding}");
        assert!(long.starts_with(&found.body), "{encoding}");
    }
}

#[tokio::test]
async fn what_is_no_such_encoding_is_a_fault() {
    for (encoding, wire) in [
        ("gzip", text()),
        ("br", vec![0xff; 100]),
        ("zstd", text()),
        ("deflate", vec![0xff; 100]),
        ("compress", text()),
        ("gzip, gzip, gzip", gzip(&gzip(&gzip(b"x")))),
        ("aws-chunked", text()),
    ] {
        assert_eq!(
            decoded(&[encoding], wire).await,
            Err(Undecodable { encoding: encoding.into() })
        );
    }
    // A window of 512 MiB, in the header of a frame without a byte in it.
    let wide = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98, 0x01, 0x00, 0x00];
    assert_eq!(decoded(&["zstd"], wide).await, Err(Undecodable { encoding: "zstd".into() }));
}
