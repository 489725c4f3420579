//! Whatever bytes arrive, reading them ends in a value or in faults, and
//! what was read is read again as it was.
//!
//! `cargo +nightly fuzz run frame`, with `tests/data/` for a start.
#![no_main]
use libfuzzer_sys::fuzz_target;
use ovnode::contract::{CONTRACTS, Envelope, EnvelopeBody, Job, validate};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frame) = Envelope::parse(bytes) {
        assert_eq!(Envelope::parse(&frame.to_json()).as_ref(), Ok(&frame));
        if let EnvelopeBody::Job(job) = &frame.body {
            check_job(job);
        }
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        check_job(&value);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        for contract in CONTRACTS {
            if let Err(faults) = validate(contract, text) {
                assert!(!faults.0.is_empty(), "a refusal says why");
            }
        }
    }
});

fn check_job(value: &serde_json::Value) {
    match Job::parse(value) {
        Ok(job) => {
            let again = Job::parse(&job.to_value());
            assert_eq!(again.as_ref().map(Job::hash), Ok(job.hash()));
            assert_eq!(again.as_ref(), Ok(&job));
        }
        Err(faults) => assert!(!faults.0.is_empty(), "a refusal says why"),
    }
}
