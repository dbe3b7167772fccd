//! Faults in words.

/// A fault and what caused it, in one line.
pub(crate) fn chain(fault: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(fault.source(), |cause| cause.source());
    causes.fold(fault.to_string(), |line, cause| format!("{line}: {cause}"))
}
