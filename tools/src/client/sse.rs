//! Server-sent events, as the HTML standard frames them (section 9.2.6), fed piece by piece.

/// The largest event that is taken.
const MAX_FRAME_BYTES: usize = 4 << 20;

/// What an id without data is called: the server says how far it is, and nothing else.
pub(crate) const MARK: &str = "mark";

/// A frame that carries something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// `message` unless the server names another.
    pub(crate) event: String,
    pub(crate) data: String,
    /// Its own id: what a reconnect sends once the frame was taken.
    pub(crate) id: Option<String>,
}

/// An event of the stream is larger than any that a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {MAX_FRAME_BYTES} bytes")]
pub(crate) struct TooLarge;

/// Puts frames together from pieces that may end anywhere.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    rest: Vec<u8>,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    begun: bool,
    event: String,
    data: Vec<String>,
    size: usize,
    id: Option<String>,
    retry_millis: Option<u64>,
}

impl Parser {
    /// How long the server wants a reconnect to wait, in milliseconds.
    pub(crate) const fn retry_millis(&self) -> Option<u64> {
        self.retry_millis
    }

    /// Takes a piece and gives back the frames it completed.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<Frame>, TooLarge> {
        let mut frames = Vec::new();
        for &byte in piece {
            let follows_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if follows_cr => {}
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.rest);
                    self.line(&String::from_utf8_lossy(&line), &mut frames);
                }
                _ => self.rest.push(byte),
            }
            if self.size + self.rest.len() > MAX_FRAME_BYTES {
                return Err(TooLarge);
            }
        }
        Ok(frames)
    }

    fn line(&mut self, line: &str, frames: &mut Vec<Frame>) {
        let begins = !std::mem::replace(&mut self.begun, true);
        let line = if begins { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.end(frames);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                self.size += value.len() + 1;
                self.data.push(value.to_owned());
            }
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                self.retry_millis = value.parse().ok();
            }
            // A comment, or a field of the future.
            _ => {}
        }
    }

    fn end(&mut self, frames: &mut Vec<Frame>) {
        let id = self.id.take();
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        self.size = 0;
        if !data.is_empty() {
            let event = if event.is_empty() { "message".to_owned() } else { event };
            frames.push(Frame { event, data: data.join("\n"), id });
        } else if id.is_some() {
            // An id counts even without data: the first frame is exactly that.
            frames.push(Frame { event: MARK.to_owned(), data: String::new(), id });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(event: &str, data: &str, id: Option<&str>) -> Frame {
        Frame { event: event.to_owned(), data: data.to_owned(), id: id.map(str::to_owned) }
    }

    const STREAM: &str = "\u{feff}retry: 1000\nid: life-7\n\n: a comment\r\nid: life-8\r\ndata: \
                          {\"a\":1}\r\n\r\nevent: heartbeat\rdata: x\rdata:  y\r\rdata\n\nevent: \
                          lonely\n\nid: half";

    #[test]
    fn frames_are_the_same_however_the_pieces_fall() {
        let expected = [
            frame(MARK, "", Some("life-7")),
            frame("message", "{\"a\":1}", Some("life-8")),
            frame("heartbeat", "x\n y", None),
            frame("message", "", None),
        ];
        for size in [1, 2, 3, 7, 1_000] {
            let mut parser = Parser::default();
            let mut frames = Vec::new();
            for piece in STREAM.as_bytes().chunks(size) {
                frames.extend(parser.push(piece).unwrap());
            }
            assert_eq!(frames, expected, "pieces of {size}");
            assert_eq!(parser.retry_millis(), Some(1000));
        }
    }

    #[test]
    fn nonsense_is_passed_over() {
        let mut parser = Parser::default();
        let frames = parser.push(b"retry: soon\nfoo: bar\nid: a\0b\ndata: \xff\n\n").unwrap();
        assert_eq!(frames, [frame("message", "\u{fffd}", None)]);
        assert_eq!(parser.retry_millis(), None);
    }

    #[test]
    fn a_frame_without_an_end_is_cut_off() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        let outcome = (0..6).try_for_each(|_| parser.push(&piece).map(drop));
        assert_eq!(outcome, Err(TooLarge));
    }
}
