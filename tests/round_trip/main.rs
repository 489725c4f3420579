//! What is written is read back as it was: offers, jobs, frames, answers.
mod details; // offers' kinds, each with its detail
mod jobs; // jobs, frames and answers
mod offers; // offers
use jobs::{answer, event, job};
use offers::offer;
use ovnode::contract::{
    Amount, Answer, Envelope, EnvelopeBody, Job, JobFrame, JobId, Ratio,
    ResourceOffer, Timestamp, validate,
};
use proptest::prelude::{
    Arbitrary, Strategy, any, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::select;
use std::fmt::Debug;

fn one_of<T: Clone + Debug + 'static>(
    all: impl Into<Vec<T>>,
) -> impl Strategy<Value = T> {
    select(all.into())
}

fn amount() -> impl Strategy<Value = Amount> {
    let any_size = 0.0..f64::MAX;
    prop_oneof![0.0..1e6, any_size]
        .prop_map(|x| Amount::clamped(x).expect("a number"))
}

fn ratio() -> impl Strategy<Value = Ratio> {
    (0.0..=1.0).prop_map(|x| Ratio::clamped(x).expect("a number"))
}

/// Any moment that a `date-time` can say.
fn moment() -> impl Strategy<Value = Timestamp> {
    (0..=253_402_207_200_000_u64).prop_map(Timestamp)
}

fn text() -> impl Strategy<Value = String> {
    String::arbitrary()
}

fn form<T: TryFrom<String, Error: Debug> + Debug>(
    pattern: &'static str,
) -> impl Strategy<Value = T> {
    pattern.prop_map(|raw| T::try_from(raw).expect("of its form"))
}

fn job_id() -> impl Strategy<Value = JobId> {
    form("job_[0-9A-HJKMNP-TV-Z]{26}")
}

fn valid(name: &str, json: &[u8]) -> Result<(), String> {
    let json = std::str::from_utf8(json).expect("UTF-8");
    validate(name, json).map_err(|faults| faults.to_string())
}

proptest! {
    #[test]
    fn an_offer_is_read_as_it_was_written(offer in offer()) {
        let json = offer.to_json();
        prop_assert_eq!(valid("resource-offer", &json), Ok(()));
        prop_assert_eq!(ResourceOffer::parse(&json), Ok(offer));
    }

    #[test]
    fn a_job_is_read_as_it_was_written_and_hashes_the_same(job in job()) {
        let json = job.to_json();
        prop_assert_eq!(valid("job", &json), Ok(()));
        let value = serde_json::from_slice(&json).expect("JSON");
        let read = Job::parse(&value);
        prop_assert_eq!(read.as_ref().map(Job::hash), Ok(job.hash()));
        prop_assert_eq!(read, Ok(job));
    }

    #[test]
    fn a_frame_is_read_as_it_was_written(
        seq in 1..=u64::MAX,
        ts in any::<u64>(),
        id in job_id(),
        event in event(),
    ) {
        let frame = JobFrame { seq, ts: Timestamp(ts), id, event };
        let json = frame.to_json();
        prop_assert_eq!(valid("job-frame", &json), Ok(()));
        prop_assert_eq!(JobFrame::parse(&json), Ok(frame));
    }

    #[test]
    fn an_envelope_is_read_as_it_was_written(
        seq in 1..=u64::MAX,
        job in job(),
    ) {
        let body = EnvelopeBody::Job(job.to_value());
        let frame = Envelope { seq, ts: Timestamp(7), body };
        let json = frame.to_json();
        prop_assert_eq!(valid("job-frame", &json), Ok(()));
        prop_assert_eq!(Envelope::parse(&json), Ok(frame));
    }

    #[test]
    fn an_answer_is_read_as_it_was_written(answer in answer()) {
        let json = answer.to_json();
        prop_assert_eq!(valid("job-answer", &json), Ok(()));
        prop_assert_eq!(Answer::parse(&json), Ok(answer));
    }
}
