use super::{EngineState, JobDocument, JobPhase, StatusDocument};
use crate::contract::{HealthStatus, Timestamp};

/// Every field there is, as a node would fill it.
const DEGRADED: &str =
    include_str!("../../../tests/fixtures/status/degraded.json");

fn degraded() -> StatusDocument {
    serde_json::from_str(DEGRADED).unwrap()
}

#[test]
fn a_document_reads_back_as_the_very_bytes_it_was_written_as() {
    let written = serde_json::to_string_pretty(&degraded()).unwrap();
    assert_eq!(written, DEGRADED.trim_end());
}

#[test]
fn to_json_says_the_same_without_white_space() {
    let read: StatusDocument =
        serde_json::from_slice(&degraded().to_json()).unwrap();
    assert_eq!(read, degraded());
}

#[test]
fn a_document_of_another_version_is_read_as_far_as_it_is_known() {
    let read: StatusDocument = serde_json::from_str(
        r#"{
            "version": "9.0.0",
            "weather": {"rain": true},
            "link": {"state": "tunnelled", "hops": 3},
            "engine": {"state": "molten"},
            "jobs": {"running": [{
                "id": "job_01J9ZQ4W6K8V3M2N7P5R1T0BBB",
                "class": "code",
                "state": "dreaming"
            }]}
        }"#,
    )
    .unwrap();
    assert_eq!(read.version, "9.0.0");
    assert_eq!(read.link.state, "tunnelled");
    assert_eq!(read.engine.state, EngineState::Unknown);
    assert_eq!(read.jobs.running[0].state, JobPhase::Unknown);
}

#[test]
fn a_node_that_does_not_say_how_it_is_is_not_called_well() {
    let read: StatusDocument = serde_json::from_str("{}").unwrap();
    assert_eq!(read.health.status, HealthStatus::Down);
}

#[test]
fn the_public_part_names_no_path_address_dispatcher_job_or_refusal() {
    let public = String::from_utf8(degraded().public().to_json()).unwrap();
    for private in [
        "/var/", "/proc/", "/etc/", "/system", "nats://", "_self", "shop",
        "\"lab\"", "job_0", "resize", "3.0 GiB", "ovnode/", "creds",
    ] {
        assert!(!public.contains(private), "`{private}` in {public}");
    }
}

#[test]
fn the_public_part_still_says_what_a_dispatcher_decides_by() {
    let whole = degraded();
    let public = whole.public();
    assert_eq!(public.node, whole.node);
    assert_eq!(public.health, whole.health);
    assert_eq!(public.classes[0].free, 2);
    assert_eq!(public.classes[1].why_not, whole.classes[1].why_not);
    assert_eq!(public.jobs.held, 2);
    assert!(public.jobs.running.is_empty());
    assert!(public.refusals.is_empty());
}

#[test]
fn one_job_stands_beside_the_time_it_was_told() {
    let job = degraded().jobs.running.remove(0);
    let told = JobDocument { at: Timestamp(7), job };
    let json = serde_json::to_value(&told).unwrap();
    assert_eq!(json["at_ms"], 7);
    assert_eq!(json["artifact"], "resize@1.4.2");
    assert_eq!(serde_json::from_value::<JobDocument>(json).unwrap(), told);
}

#[test]
fn the_page_for_programs_names_every_key() {
    fn keys(of: &serde_json::Value, found: &mut Vec<String>) {
        for (key, value) in of.as_object().into_iter().flatten() {
            // Keys of this one are words, not names.
            if key != "ended_by" {
                keys(value, found);
            }
            found.push(key.clone());
        }
        for value in of.as_array().into_iter().flatten() {
            keys(value, found);
        }
    }
    let page = include_str!("../../../docs/status.md");
    let mut found = Vec::new();
    keys(&serde_json::from_str(DEGRADED).unwrap(), &mut found);
    let unnamed: Vec<_> = found
        .iter()
        .filter(|key| {
            !page.contains(&format!("`{key}`"))
                && !page.contains(&format!("\"{key}\""))
        })
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}
