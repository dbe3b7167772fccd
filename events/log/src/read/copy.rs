//! Decoder of Postgres' binary `COPY` format (documentation of COPY, section "Binary Format"), for
//! the columns of an event.

use std::ops::ControlFlow;

use bytes::{Buf, Bytes, BytesMut};
use weir_events::{
    envelope::Recorded,
    kind::Kind,
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};

use super::ReadFault;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// Signature, flags, length of the header extension (which has never been used).
const HEADER_BYTES: usize = 11 + 4 + 4;
const N_COLUMNS: i16 = 9;
/// Microseconds between the Unix epoch and Postgres' (2000-01-01).
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;

pub(super) struct Decoder {
    after: Position,
    header_read: bool,
    rest: BytesMut,
    stream: Option<StreamName>,
}

impl Decoder {
    pub(super) fn new(after: Position) -> Self {
        Self { after, header_read: false, rest: BytesMut::new(), stream: None }
    }

    /// Takes what the server sent next, and hands over each event that is complete. Postgres sends
    /// a row a message, so nearly always the chunk is used where it lies. Ends when no more are
    /// wanted.
    pub(super) fn feed(
        &mut self,
        chunk: Bytes,
        each: &mut impl FnMut(Recorded) -> Result<ControlFlow<()>, ReadFault>,
    ) -> Result<ControlFlow<()>, ReadFault> {
        let mut data = if self.rest.is_empty() {
            chunk
        } else {
            self.rest.extend_from_slice(&chunk);
            self.rest.split().freeze()
        };
        if !self.header_read {
            if data.len() < HEADER_BYTES {
                self.rest.extend_from_slice(&data);
                return Ok(ControlFlow::Continue(()));
            }
            if !data.starts_with(SIGNATURE) {
                return Err(self.malformed("not the binary COPY format"));
            }
            data.advance(HEADER_BYTES);
            self.header_read = true;
        }
        loop {
            let mut row = data.clone();
            let Some(event) = self.row(&mut row)? else { break };
            data = row;
            self.after = event.position;
            if each(event)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        // The trailer is a column count of -1.
        if !data.is_empty() && data.as_ref() != [0xff, 0xff] {
            self.rest.extend_from_slice(&data);
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn finish(self) -> Result<(), ReadFault> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("the last row is cut short")) }
    }

    const fn malformed(&self, what: &'static str) -> ReadFault {
        ReadFault::Malformed { after: self.after, what }
    }

    /// One row, or `None` when it is not complete or the trailer is reached.
    fn row(&mut self, data: &mut Bytes) -> Result<Option<Recorded>, ReadFault> {
        if data.len() < 2 {
            return Ok(None);
        }
        match data.get_i16() {
            -1 => return Ok(None),
            N_COLUMNS => {}
            _ => return Err(self.malformed("another number of columns")),
        }
        let mut columns: [Bytes; 9] = Default::default();
        for column in &mut columns {
            if data.len() < 4 {
                return Ok(None);
            }
            let Ok(n_bytes) = usize::try_from(data.get_i32()) else {
                return Err(self.malformed("a column is NULL"));
            };
            if data.len() < n_bytes {
                return Ok(None);
            }
            *column = data.split_to(n_bytes);
        }
        let [position, version, recorded_at, kind, schema, stream, payload, meta, hash] = columns;
        let stream = self.stream_name(&stream)?;
        let wrong = |what| self.malformed(what);
        let event = Recorded {
            position: Position(i64_of(&position).ok_or_else(|| wrong("its position"))?),
            version: StreamVersion(i64_of(&version).ok_or_else(|| wrong("its version"))?),
            recorded_at: i64_of(&recorded_at)
                .map(|micros| Timestamp::from_micros(micros.saturating_add(POSTGRES_EPOCH_MICROS)))
                .ok_or_else(|| wrong("its time"))?,
            kind: Kind(array(&kind).map(i32::from_be_bytes).ok_or_else(|| wrong("its kind"))?),
            schema: array(&schema).map(i16::from_be_bytes).ok_or_else(|| wrong("its schema"))?,
            stream,
            payload,
            meta,
            hash: array(&hash).ok_or_else(|| wrong("its leaf hash"))?,
        };
        Ok(Some(event))
    }

    /// Neighbours often share their stream: its name is then shared too.
    fn stream_name(&mut self, bytes: &[u8]) -> Result<StreamName, ReadFault> {
        if let Some(stream) = &self.stream
            && stream.as_str().as_bytes() == bytes
        {
            return Ok(stream.clone());
        }
        let name = std::str::from_utf8(bytes).ok().and_then(|name| StreamName::new(name).ok());
        let name = name.ok_or_else(|| self.malformed("its stream's name"))?;
        self.stream = Some(name.clone());
        Ok(name)
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn i64_of(bytes: &[u8]) -> Option<i64> {
    array(bytes).map(i64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;

    fn row(position: i64) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_i16(9);
        let columns: [&[u8]; 9] = [
            &position.to_be_bytes(),
            &1i64.to_be_bytes(),
            &0i64.to_be_bytes(),
            &0x4003i32.to_be_bytes(),
            &1i16.to_be_bytes(),
            b"a/b",
            b"payload",
            b"meta",
            &[7; 32],
        ];
        for column in columns {
            out.put_i32(i32::try_from(column.len()).unwrap());
            out.extend_from_slice(column);
        }
        out
    }

    fn answer(n: i64) -> Vec<u8> {
        let mut all = SIGNATURE.to_vec();
        all.extend_from_slice(&[0; 8]);
        (1..=n).for_each(|position| all.extend(row(position)));
        all.extend_from_slice(&[0xff, 0xff]);
        all
    }

    fn decode(chunks: &[&[u8]]) -> Result<Vec<i64>, ReadFault> {
        let mut decoder = Decoder::new(Position::START);
        let mut positions = Vec::new();
        for chunk in chunks {
            let fed = decoder.feed(Bytes::copy_from_slice(chunk), &mut |event| {
                positions.push(event.position.0);
                Ok(ControlFlow::Continue(()))
            })?;
            assert!(fed.is_continue());
        }
        decoder.finish()?;
        Ok(positions)
    }

    #[test]
    fn rows_are_found_however_the_bytes_are_cut() {
        let all = answer(3);
        for cut in 1..all.len() - 2 {
            let (head, tail) = all.split_at(cut);
            assert_eq!(decode(&[head, tail]).unwrap(), [1, 2, 3], "cut at {cut}");
        }
    }

    #[test]
    fn an_answer_cut_short_is_an_error_not_a_shorter_answer() {
        let all = answer(2);
        assert!(decode(&[&all[..all.len() - 10]]).is_err());
        assert!(decode(&[b"something else entirely"]).is_err());
    }
}
