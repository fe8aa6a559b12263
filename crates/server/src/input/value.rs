//! Single values: whether they are what they have to be, and how they are told of.

use serde_json::Value;

use super::LONGEST;

/// Whether a text can be compared with something, or name it.
pub(super) fn is_text(text: &str) -> bool {
    (1..=LONGEST).contains(&text.chars().count()) && !text.contains('\0')
}

/// A whole number. To JSON, and so to the document, 5.0 is one too; beyond 2^53 such a number no longer says which one it is.
pub(super) fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() <= EXACT;
    value.as_i64().or_else(|| value.as_f64().filter(exact).map(|number| number as i64))
}

/// A value as it may stand in an answer: short.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        value => {
            let text = value.to_string();
            let cut: String = text.chars().take(LONGEST).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_is_whole_however_it_is_written() {
        for (value, expected) in [
            (json!(5), Some(5)),
            (json!(5.0), Some(5)),
            (json!(-0.0), Some(0)),
            (json!(i64::MAX), Some(i64::MAX)),
            (json!(1.5), None),
            (json!(1e300), None),
            (json!(u64::MAX), None),
            (json!("5"), None),
        ] {
            assert_eq!(whole(&value), expected, "{value}");
        }
    }
}
