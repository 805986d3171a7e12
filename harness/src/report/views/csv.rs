//! A row for each workload, for spreadsheets.

use std::io::Write;

use anyhow::Result;

use super::View;
use crate::report::model::{Report, Row};

/// The columns, which stay the same from release to release.
const COLUMNS: [&str; 11] = [
    "namespace",
    "kind",
    "name",
    "status",
    "blocked_by",
    "images",
    "architectures",
    "placement",
    "replicas",
    "cpu_millicores",
    "memory_bytes",
];

pub(super) fn print(view: &View, report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for row in view.rows(report) {
        writer.write_record(cells(row).map(|cell| safe(&cell)))?;
    }
    writer.flush()?;
    Ok(())
}

fn cells(row: &Row) -> [String; COLUMNS.len()] {
    let architectures = match &row.architectures {
        Some(names) if names.is_empty() => "none".to_owned(),
        Some(names) => names.join(" "),
        None => String::new(),
    };
    [
        row.namespace.clone(),
        row.kind.clone(),
        row.name.clone(),
        row.status.to_string(),
        row.cause.clone().unwrap_or_default(),
        row.images.join(" "),
        architectures,
        row.placement.clone(),
        row.replicas.to_string(),
        row.cpu_millicores.to_string(),
        row.memory_bytes.to_string(),
    ]
}

/// A cell that no spreadsheet takes for a formula. <https://owasp.org/www-community/attacks/CSV_Injection>
fn safe(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let quote = if is_formula { "'" } else { "" };
    format!("{quote}{}", cell.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@a", "\t=1"] {
            assert_eq!(safe(text), format!("'{text}"));
        }
        assert_eq!(safe("a=b\nc"), "a=b c");
    }
}
