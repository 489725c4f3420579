use super::{OfferView, Style, job, jobs, offers, status};
use crate::contract::StatusDocument;
use insta::assert_snapshot;

const WIDE: Style = Style { width: 80, color: false, utf8: true };
const NARROW: Style = Style { width: 40, color: false, utf8: true };
const ASCII: Style = Style { width: 80, color: false, utf8: false };
const COLOR: Style = Style { width: 80, color: true, utf8: true };

const WELL: &str = include_str!("../../../tests/fixtures/status/well.json");
const DEGRADED: &str =
    include_str!("../../../tests/fixtures/status/degraded.json");
const LATCHED: &str =
    include_str!("../../../tests/fixtures/status/latched.json");

fn document(json: &str) -> StatusDocument {
    serde_json::from_str(json).unwrap()
}

fn screen(json: &str, style: Style) -> String {
    let of = document(json);
    status(&of, style, of.at)
}

#[test]
fn a_node_that_is_well_says_so_on_one_screen() {
    assert_snapshot!(screen(WELL, WIDE));
}

#[test]
fn a_degraded_node_says_why_and_what_it_does() {
    assert_snapshot!(screen(DEGRADED, WIDE));
}

#[test]
fn a_stopped_node_says_who_stopped_it_and_how_to_go_on() {
    assert_snapshot!(screen(LATCHED, WIDE));
}

#[test]
fn forty_columns_are_enough() {
    let narrow = screen(DEGRADED, NARROW);
    let widest = narrow.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(40), "{widest:?}");
    assert_snapshot!(narrow);
}

#[test]
fn without_utf8_every_byte_is_ascii() {
    let mut of = document(DEGRADED);
    of.node.region = "Österreich".to_owned();
    let ascii = status(&of, ASCII, of.at);
    assert!(ascii.is_ascii());
    assert_snapshot!(ascii);
}

#[test]
fn colour_marks_what_is_not_well() {
    assert_snapshot!(screen(LATCHED, COLOR).replace('\x1b', "^"));
}

#[test]
fn a_document_that_says_nothing_is_shown_as_one_that_says_nothing() {
    assert_snapshot!(screen("{}", WIDE));
}

#[test]
fn no_width_and_no_text_of_others_breaks_the_page() {
    let mut of = document(DEGRADED);
    of.refusals[0].message = "\x1b[2J\r\n\0".repeat(400);
    of.warnings = vec!["木".repeat(500), String::new()];
    for width in [24, 25, 39, 61, 200, 5000] {
        let shown = status(&of, Style { width, ..WIDE }, of.at);
        assert!(!shown.contains(['\x1b', '\r', '\0']));
        assert!(shown.lines().all(|line| line.chars().count() <= width));
    }
}

#[test]
fn jobs_are_listed_with_age_and_limits_left() {
    let of = document(DEGRADED);
    assert_snapshot!(jobs(&of.jobs.running, WIDE, of.at));
}

#[test]
fn no_jobs_is_said_in_words() {
    assert_eq!(jobs(&[], WIDE, document(WELL).at), "no jobs\n");
}

#[test]
fn one_job_is_told_whole() {
    let of = document(DEGRADED);
    let both = of.jobs.running.iter().map(|one| job(one, WIDE, of.at));
    assert_snapshot!(both.collect::<Vec<_>>().join("---\n"));
}

#[test]
fn offers_are_shown_as_published_right_or_wrong() {
    let published = [
        r#"{"offer_id": "off_workshop_node", "kind": "node",
            "region": "local", "trust": "user-owned",
            "capacity": {"cpu": {"available_cores": 1.94},
                         "memory": {"available_mb": 6442.45},
                         "workers": {"function": 2, "code": 0}},
            "health": {"status": "up"},
            "updated_at": "2025-10-09T08:53:19.500Z"}"#,
        r#"{"offer_id": "off_\u001b[2J", "weather": 3}"#,
    ]
    .map(|json| OfferView::read(json.as_bytes()).unwrap());
    assert_snapshot!(offers(&published, WIDE));
}
