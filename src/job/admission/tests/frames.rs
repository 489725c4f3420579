use super::*;

#[test]
fn what_is_no_frame_is_refused_and_what_can_be_read_is_repeated() {
    let alice = dispatcher("alice");
    for (payload, seq, id) in [
        ("", 0, None),
        ("{", 0, None),
        ("[]", 0, None),
        (r#"{"v":1,"seq":3,"ts":1,"type":"job","job":[]}"#, 3, None),
        (
            r#"{"v":2,"seq":3,"ts":1,"type":"job","job":{"id":"x"}}"#,
            3,
            Some("x"),
        ),
        (
            r#"{"v":1,"seq":3,"ts":1,"type":"job","job":{"id":"x"},"k":1}"#,
            3,
            Some("x"),
        ),
    ] {
        let verdict = Node::new().admit_bytes(&alice, payload.as_bytes());
        let Verdict::Refuse(said) = verdict else { panic!("{payload}") };
        assert_eq!(said.code, FaultCode::BadFrame, "{payload}");
        assert_eq!((said.seq, said.id.as_deref()), (seq, id), "{payload}");
    }
}

#[test]
fn headers_count_for_the_size_limit() {
    let frame = json!({"v": 1, "seq": 7, "ts": 1, "type": "job", "job": job()});
    let (node, payload) = (Node::new(), frame.to_string());
    let lookup = |_: &JobId| None;
    let view = NodeView {
        plan: &node.plan,
        standing: node.standing,
        classes: &node.classes,
        room: node.room,
        lookup: &lookup,
        floor: Timestamp(START),
    };
    let alice = dispatcher("alice");
    let received = ReceivedFrame {
        dispatcher: &alice,
        payload: payload.as_bytes(),
        size: 1_000_001,
    };
    let Verdict::Refuse(said) = admit(&view, &received, now()) else {
        panic!("taken")
    };
    assert_eq!(said.code, FaultCode::BadFrame);
    assert!(said.message.contains("1000001"), "{}", said.message);
    assert_eq!(said.id.as_deref(), Some(job_id(9_000, 1).as_str()));
}

#[test]
fn an_id_that_is_not_one_is_echoed_only_if_it_is_text() {
    let node = Node::new();
    for (id, echo) in [
        (json!(null), None),
        (json!(5), None),
        (json!("job_x"), Some("job_x")),
        (json!(""), Some("")),
    ] {
        let Verdict::Refuse(said) = node.admit(&with("/id", id)) else {
            panic!("taken")
        };
        assert_eq!(said.code, FaultCode::BadValue);
        assert_eq!((said.id.as_deref(), said.seq), (echo, 7));
    }
}

#[test]
fn ids_too_old_or_from_the_future_are_refused_with_both_numbers() {
    let node = Node::new();
    for (ms, refused) in
        [(-1, true), (0, true), (1, false), (310_000, false), (310_001, true)]
    {
        let verdict = node.admit(&with("/id", json!(job_id(ms, 1).as_str())));
        let found = match verdict {
            Verdict::Refuse(said) => said.code == FaultCode::BadValue,
            Verdict::Admit(_)
            | Verdict::Held { .. }
            | Verdict::Ended { .. } => false,
        };
        assert_eq!(found, refused, "{ms} ms");
    }
    let ahead = with("/id", json!(job_id(400_000, 1).as_str()));
    let (_, message) = node.refuses(&ahead);
    assert!(message.contains("390000 ms ahead"), "{message}");
}
