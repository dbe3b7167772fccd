//! How bad a record says it is: CVSS vectors first, else the word its database uses.

use cvss::Cvss;
use serde::Deserialize;
use weir_events::registry::advisory::Severity;

/// The longest vector that is scored, in bytes; one of version 4 with all its metrics has 200.
const MAX_VECTOR_BYTES: usize = 512;

/// One way of saying how bad it is. Which way it is shows in the score itself.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Score {
    score: String,
}

/// The highest of the scores; where none can be read, what the database's own word says.
pub(super) fn of(scores: &[Score], word: Option<&str>) -> Severity {
    let highest = scores.iter().map(|score| rate(&score.score)).max().unwrap_or_default();
    match (highest, word) {
        (Severity::Unknown, Some(word)) => by_word(word),
        (highest, _) => highest,
    }
}

/// A vector by its score, a word as itself, all else as unknown.
fn rate(score: &str) -> Severity {
    if score.len() > MAX_VECTOR_BYTES {
        return Severity::Unknown;
    }
    match score.parse::<Cvss>().map(|vector| vector.severity()) {
        Ok(cvss::Severity::None | cvss::Severity::Low) => Severity::Low,
        Ok(cvss::Severity::Medium) => Severity::Medium,
        Ok(cvss::Severity::High) => Severity::High,
        Ok(cvss::Severity::Critical) => Severity::Critical,
        Err(_) => by_word(score),
    }
}

fn by_word(word: &str) -> Severity {
    match word.to_ascii_lowercase().as_str() {
        "none" | "negligible" | "low" => Severity::Low,
        "moderate" | "medium" => Severity::Medium,
        "high" | "important" => Severity::High,
        "critical" => Severity::Critical,
        _ => Severity::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rated(scores: &[&str], word: Option<&str>) -> Severity {
        let scores: Vec<Score> =
            scores.iter().map(|score| Score { score: (*score).to_owned() }).collect();
        of(&scores, word)
    }

    const V2: &str = "AV:N/AC:L/Au:N/C:P/I:P/A:P";
    const V3: &str = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
    const V3_LOW: &str = "CVSS:3.0/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N";
    const V4: &str = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N";

    #[test]
    fn vectors_of_every_version_are_scored() {
        // 7.5, 9.8, 1.8 and 8.7, says the calculator of those who wrote the specification.
        for (vector, severity) in [
            (V2, Severity::High),
            (V3, Severity::Critical),
            (V3_LOW, Severity::Low),
            (V4, Severity::High),
        ] {
            assert_eq!(rated(&[vector], None), severity, "{vector}");
        }
    }

    #[test]
    fn of_several_scores_the_highest_counts() {
        assert_eq!(rated(&[V3_LOW, V3, V2], None), Severity::Critical);
        assert_eq!(rated(&["CVSS:9.9/AV:N", V3_LOW], None), Severity::Low);
    }

    #[test]
    fn the_word_of_the_database_counts_where_no_score_can_be_read() {
        for (word, severity) in [
            ("LOW", Severity::Low),
            ("MODERATE", Severity::Medium),
            ("HIGH", Severity::High),
            ("CRITICAL", Severity::Critical),
            ("CATASTROPHIC", Severity::Unknown),
        ] {
            assert_eq!(rated(&[], Some(word)), severity, "{word}");
            assert_eq!(rated(&["CVSS:9.9/AV:N"], Some(word)), severity, "{word}");
            assert_eq!(rated(&[V3_LOW], Some(word)), Severity::Low, "{word}");
        }
        assert_eq!(rated(&["medium"], None), Severity::Medium);
        assert_eq!(rated(&[], None), Severity::Unknown);
        assert_eq!(rated(&["7.5", &V3.repeat(20)], None), Severity::Unknown);
    }

    /// Vectors of version 4 with every metric that must be there, and some that may.
    fn any_v4() -> impl Strategy<Value = String> {
        let must = "AV:[NALP]/AC:[LH]/AT:[NP]/PR:[NLH]/UI:[NPA]/VC:[HLN]/VI:[HLN]/VA:[HLN]\
            /SC:[HLN]/SI:[HLN]/SA:[HLN]";
        let may = "(/E:[XAPU])?(/CR:[XHML])?(/MAV:[XNALP])?(/MVC:[XHLN])?(/MSI:[XHLNS])?\
            (/MSA:[XHLNS])?(/S:[XNP])?(/U:(Clear|Red))?";
        (must, may).prop_map(|(must, may)| format!("CVSS:4.0/{must}{may}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_complete_vector_has_a_severity(vector in any_v4()) {
            prop_assert_ne!(rate(&vector), Severity::Unknown, "{}", vector);
        }

        #[test]
        fn no_vector_makes_the_scoring_fall_over(
            head in prop_oneof![Just(""), Just("CVSS:3.1/"), Just("CVSS:3.0/"), Just("CVSS:4.0/")],
            parts in prop::collection::vec("(AV|AC|Au|AT|PR|UI|S|C|I|A|E|VC|VI|VA|SC|SI|SA|MAV|CR):[NLAPHRUCXMS]", 0..20),
            noise in "\\PC{0,20}",
        ) {
            rate(&format!("{head}{}", parts.join("/")));
            rate(&format!("{head}{noise}"));
        }
    }
}
