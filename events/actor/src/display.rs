use core::fmt::{self, Display, Write};

/// Whether `value` displays as exactly `text`. Allocates nothing.
pub(crate) fn displays_as(value: impl Display, text: &str) -> bool {
    let mut left = Left(text);
    write!(left, "{value}").is_ok() && left.0.is_empty()
}

/// The number of bytes that `value` displays as. Allocates nothing.
pub(crate) fn displayed_len(value: impl Display) -> usize {
    let mut length = Length(0);
    // `Length` takes everything, so this fails only if the value's own `Display` does: none here.
    if write!(length, "{value}").is_ok() { length.0 } else { usize::MAX }
}

struct Left<'a>(&'a str);

impl Write for Left<'_> {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(written).ok_or(fmt::Error)?;
        Ok(())
    }
}

struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(written.len());
        Ok(())
    }
}
