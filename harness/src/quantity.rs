//! Resource quantities of the Kubernetes API, such as `500m` and `1Gi`.
//!
//! <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>

/// The thousandths of a quantity, rounded up as Kubernetes does; `None` where `text` is no quantity.
pub fn thousandths(text: &str) -> Option<u64> {
    let digits = text
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let factor = match suffix {
        "n" => 1e-6,
        "u" => 1e-3,
        "m" => 1.0,
        "" => 1e3,
        "k" => 1e6,
        "M" => 1e9,
        "G" => 1e12,
        "T" => 1e15,
        "P" => 1e18,
        "E" => 1e21,
        "Ki" => 1e3 * 1024_f64,
        "Mi" => 1e3 * 1024_f64.powi(2),
        "Gi" => 1e3 * 1024_f64.powi(3),
        "Ti" => 1e3 * 1024_f64.powi(4),
        "Pi" => 1e3 * 1024_f64.powi(5),
        "Ei" => 1e3 * 1024_f64.powi(6),
        exponent => {
            let exponent = exponent.strip_prefix(['e', 'E'])?;
            1e3 * 10_f64.powi(exponent.parse().ok()?)
        }
    };
    let value = number.parse::<f64>().ok()? * factor;
    // A float this large has no thousandths anyway, and `as` stops at the ends of the range.
    Some(value.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("500m", Some(500)),
            ("1", Some(1_000)),
            ("1.5", Some(1_500)),
            (".5", Some(500)),
            ("100u", Some(1)),
            ("1k", Some(1_000_000)),
            ("1Ki", Some(1_024_000)),
            ("128Mi", Some(134_217_728_000)),
            ("1Gi", Some(1_073_741_824_000)),
            ("1e3", Some(1_000_000)),
            ("12E2", Some(1_200_000)),
            ("", None),
            ("m", None),
            ("1x", None),
            ("-1", None),
            ("1.2.3", None),
        ] {
            assert_eq!(thousandths(text), expected, "{text}");
        }
    }
}
