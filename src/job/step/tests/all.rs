use super::*;

#[test]
fn what_does_not_belong_in_a_phase_is_refused_and_changes_nothing() {
    let ended = || gone(record(Outcome::Exited(0), EndedBy::Program, 300), "");
    let mono = at(1).mono;
    for phase in every_phase() {
        let allowed = |event: &Event| match event {
            Event::Begin => phase == Phase::Admitted,
            Event::Opened => [OPENING, Phase::Ended].contains(&phase),
            Event::Started(_) => {
                let unheard = ending(Cause::Cancelled, None, 6_000);
                [Phase::Ordered, unheard].contains(&phase)
            }
            Event::Gone(_) => {
                !matches!(phase.name(), "admitted" | "ended")
                    && phase != OPENING
                    && phase != waiting(500, 1)
            }
            Event::NotOpened(_) => [OPENING, Phase::Ended].contains(&phase),
            Event::Cancel | Event::Stop | Event::Tick(_) => true,
        };
        for event in [
            Event::Begin,
            Event::Opened,
            Event::Started(mono),
            Event::NotOpened(OpenFault::Away(String::new())),
            ended(),
            Event::Cancel,
            Event::Stop,
            Event::Tick(None),
        ] {
            let (said, fine) = (format!("{event:?}"), allowed(&event));
            let step = next(phase, event, 200);
            let refused = matches!(step.effects[..], [Effect::Refused(_)]);
            assert_eq!(refused, !fine, "{said} in {phase:?}");
            assert!(!refused || step.phase == phase);
        }
    }
}

proptest! {
    #[test]
    fn a_job_ends_once_and_is_ordered_once(
        events in prop::collection::vec((0_u8..9, 0_u64..3_000), 1..60),
    ) {
        let (mut phase, mut now) = (Phase::Admitted, 0);
        let (mut concluded, mut ordered) = (0, 0);
        for (event, later) in events {
            now += later;
            let event = match event {
                0 => Event::Begin,
                1 => Event::Opened,
                2 => Event::Started(at(now).mono),
                3 => Event::Cancel,
                4 => Event::Stop,
                5 => Event::NotOpened(OpenFault::Away(String::new())),
                6 => lost(0),
                7 => gone(record(Outcome::Exited(0), EndedBy::Program, now), ""),
                _ => Event::Tick(Some(Duration::from_millis(now))),
            };
            let step = next(phase, event, now);
            for effect in &step.effects {
                concluded += usize::from(matches!(effect, Effect::Conclude(_)));
                ordered += usize::from(*effect == Effect::Order);
            }
            phase = step.phase;
            prop_assert_eq!(concluded == 1, phase == Phase::Ended);
            prop_assert!(concluded <= 1 && ordered <= 1);
        }
    }
}
