//! A test case for each workload, for CI.

use anyhow::Result;
use quick_junit::{NonSuccessKind, Report as Suites, TestCase, TestCaseStatus, TestSuite};

use super::View;
use crate::report::model::{Report, Row, Status};

pub(super) fn of(view: &View, report: &Report) -> Result<String> {
    let mut suites = Suites::new("node-architecture");
    let mut rows = view.rows(report);
    rows.sort_by_key(|row| &row.namespace);
    for rows in rows.chunk_by(|one, other| one.namespace == other.namespace) {
        let name = rows.first().map_or("", |row| row.namespace.as_str());
        let mut suite = TestSuite::new(name);
        suite.add_test_cases(rows.iter().map(|row| case(row, &report.architecture)));
        suites.add_test_suite(suite);
    }
    Ok(suites.to_string()?)
}

fn case(row: &Row, architecture: &str) -> TestCase {
    let status = match row.status {
        Status::Ready => TestCaseStatus::success(),
        Status::NotApplicable => TestCaseStatus::skipped(),
        Status::Blocked | Status::Pinned => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Unknown => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let mut status = status;
    if let Some(cause) = &row.cause {
        status.set_message(format!("{}: {cause}", row.status));
    }
    let mut case = TestCase::new(format!("{} {}", row.kind, row.name), status);
    case.set_classname(format!("{architecture}.{}", row.namespace));
    case
}
