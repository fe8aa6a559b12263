//! The header `traceparent` (W3C Trace Context): the publisher's span as an event names it, and the delivery's own in its place.

use std::fmt;

use posthaste_core::Event;

/// The header that names a span.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// What its tracer says besides.
pub(crate) const TRACESTATE: &str = "tracestate";

/// A span, as the header names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traceparent {
    pub(crate) trace: u128,
    pub(crate) span: u64,
    flags: u8,
}

const SAMPLED: u8 = 0b01;
/// Whether the id of the trace was drawn at random.
const RANDOM: u8 = 0b10;

impl Traceparent {
    /// Reads the header; none if it is broken. Versions to come begin as this one does.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const LENGTH: usize = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".len();
        let (known, more) = text.split_at_checked(LENGTH)?;
        let mut parts = known.split('-');
        let version = digits(parts.next()?, 2)?;
        let trace = digits(parts.next()?, 32)?;
        let span = u64::try_from(digits(parts.next()?, 16)?).ok()?;
        let flags = u8::try_from(digits(parts.next()?, 2)?).ok()?;
        let ends_well = match version {
            0 => more.is_empty(),
            0xff => false,
            _ => more.is_empty() || more.starts_with('-'),
        };
        (ends_well && trace != 0 && span != 0).then_some(Self { trace, span, flags })
    }

    pub(crate) fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Whether it is among this share of all traces, as every tracer that goes by their ids decides it.
    pub(crate) fn is_within(self, ratio: f64) -> bool {
        const IDS: u64 = 1 << 63;
        // Only the lower half of the id counts, without its lowest bit.
        let place = (self.trace as u64) >> 1;
        (place as f64) < ratio * IDS as f64
    }

    /// Another span of the same trace.
    pub(crate) fn with_span(self, span: u64) -> Self {
        Self { span, ..self }
    }

    /// The flags that are known.
    pub(crate) fn flags(self) -> u8 {
        self.flags & (SAMPLED | RANDOM)
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags())
    }
}

/// So many hexadecimal digits, in lower case.
fn digits(text: &str, count: usize) -> Option<u128> {
    let good = text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    good.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// A header of an event, however its name is written.
pub(crate) fn header<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Writes the header of an event that has it.
pub(crate) fn set(event: &mut Event, traceparent: Traceparent) {
    let mut headers = event.headers.iter_mut();
    if let Some((_, value)) = headers.find(|(key, _)| key.eq_ignore_ascii_case(TRACEPARENT)) {
        *value = traceparent.to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn reads_what_it_writes_and_knows_who_is_sampled() {
        let parsed = Traceparent::parse(GOOD).unwrap();
        assert_eq!((parsed.to_string(), parsed.is_sampled()), (GOOD.to_owned(), true));
        assert_eq!(parsed.trace, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(parsed.with_span(7).to_string(), GOOD.replace("00f067aa0ba902b7", "0000000000000007"));
        assert!(!Traceparent::parse(&GOOD.replace("-01", "-00")).unwrap().is_sampled());
        assert!(!Traceparent::parse(&GOOD.replace("-01", "-02")).unwrap().is_sampled());

        let later =
            Traceparent::parse(&GOOD.replace("00-4b", "cc-4b").replace("-01", "-ff-what-comes")).unwrap();
        assert_eq!(
            later.to_string(),
            GOOD.replace("-01", "-03"),
            "flags that are not known are not passed on"
        );
    }

    #[test]
    fn what_is_broken_is_none() {
        for bad in [
            "",
            "00-ab-cd-01",
            &GOOD[1..],
            &format!("{GOOD}-"),
            &format!("{GOOD}x"),
            &format!(" {GOOD}"),
            &GOOD.to_uppercase(),
            &GOOD.replace("00-4b", "ff-4b"),
            &GOOD.replace("00-4b", "cc-4b").replace("-01", "-01x"),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace("4bf92f35", "+bf92f35"),
            &GOOD.replace("-00f0", "0-0f0"),
            &format!("{}é", &GOOD[..54]),
        ] {
            assert_eq!(Traceparent::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_share_of_the_traces_is_that_share() {
        let traces: Vec<Traceparent> = (1..=1_000_u64)
            .map(|number| Traceparent {
                trace: u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                span: 1,
                flags: 1,
            })
            .collect();
        let share = |ratio| traces.iter().filter(|trace| trace.is_within(ratio)).count();
        assert_eq!((share(0.0), share(1.0)), (0, 1_000));
        assert!((230..=270).contains(&share(0.25)), "{}", share(0.25));
    }
}
