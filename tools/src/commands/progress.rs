//! How far something is: a bar where somebody watches, a line a second elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// How often a line is written where no bar can be drawn.
const EVERY: Duration = Duration::from_secs(1);

/// A way to tell how far something is. To standard error: it is talk.
#[derive(Debug)]
pub(crate) struct Progress {
    output: Output,
    what: String,
    bar: Option<ProgressBar>,
    began: Instant,
    said: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(output: Output, what: impl Into<String>) -> Self {
        let what = what.into();
        let bar = output.draws().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let template = "{msg} [{bar:32}] {human_pos}/{human_len} ({percent} %) {prefix}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(what.clone());
            bar
        });
        Self { output, what, bar, began: Instant::now(), said: None }
    }

    /// Tells where it is. Without a rate, one is measured from
    /// the first event on.
    pub(crate) fn at(&mut self, position: u64, target: u64, rate: Option<f64>) {
        let rate = rate.unwrap_or_else(|| per_second(position, self.began.elapsed()));
        let speed = speed(position, target, rate);
        if let Some(bar) = &self.bar {
            bar.set_length(target);
            bar.set_position(position);
            bar.set_prefix(speed);
            return;
        }
        let due = self.said.is_none_or(|said| EVERY <= said.elapsed());
        if due {
            self.said = Some(Instant::now());
            let percent = (position.min(target) * 100).checked_div(target).unwrap_or(100);
            self.output.say(&format!("{}: {position}/{target} ({percent} %) {speed}", self.what));
        }
    }

    /// Takes the bar away, so that results can be printed.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
pub(crate) fn per_second(n: u64, span: Duration) -> f64 {
    n as f64 / span.as_secs_f64().max(1e-6)
}

#[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
fn speed(position: u64, target: u64, rate: f64) -> String {
    let left = target.saturating_sub(position) as f64;
    if rate < 1.0 || left < 1.0 {
        return format!("{rate:.0} events/s");
    }
    format!("{rate:.0} events/s, {} left", super::status::span(left / rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_says_how_long_it_will_take() {
        assert_eq!(speed(50, 150, 10.0), "10 events/s, 10.0 s left");
        assert_eq!(speed(150, 150, 10.0), "10 events/s");
        assert_eq!(speed(0, 100, 0.0), "0 events/s");
        assert!((per_second(100, Duration::from_secs(10)) - 10.0).abs() < 1e-9);
    }
}
