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
fn the_document_is_judged_row_by_row() {
    use FaultCode as Code;
    for (pointer, value, code) in [
        ("/args", json!([]), Code::BadFrame),
        ("/ttl_ms", json!("1"), Code::BadFrame),
        ("/extra", json!(1), Code::BadFrame),
        ("/class", json!(3), Code::BadFrame),
        ("/class", json!(null), Code::BadValue),
        ("/class", json!("Function"), Code::Unsupported),
        ("/artifact", json!(null), Code::BadValue),
        ("/artifact", json!("echo"), Code::BadFrame),
        ("/artifact/version", json!(""), Code::BadValue),
        ("/artifact/version", json!(null), Code::BadValue),
        ("/net", json!("open"), Code::Unsupported),
        ("/net", json!("openvibe-only"), Code::Unsupported),
        ("/limits", json!(null), Code::BadValue),
        ("/limits/wall_ms", json!(0), Code::BadValue),
        ("/args", json!(null), Code::BadValue),
        ("/artifact/version", json!("1.0.1"), Code::Unsupported),
        ("/artifact/name", json!("other"), Code::Unsupported),
        ("/class", json!("gpu"), Code::Unsupported),
        ("/limits/wall_ms", json!(60_001), Code::Unsupported),
        ("/limits/cpu_ms", json!(60_001), Code::Unsupported),
        ("/ttl_ms", json!(600_001), Code::Unsupported),
    ] {
        let (found, message) = Node::new().refuses(&with(pointer, value));
        assert_eq!(found, code, "{pointer}: {message}");
    }
    for net in ["deny", "none"] {
        let verdict = Node::new().admit(&with("/net", json!(net)));
        assert!(matches!(verdict, Verdict::Admit(_)), "{net}");
    }
    let mut open = Node::new();
    open.plan.net = NetPolicy::Public;
    let verdict = open.admit(&with("/net", json!("openvibe-only")));
    assert!(matches!(verdict, Verdict::Admit(_)));
}

#[test]
fn a_refusal_stays_small_however_much_is_wrong() {
    let long = "é".repeat(400_000);
    let mut keyed = job();
    keyed[&long] = json!(1);
    for bad in [with("/id", json!(long)), with("/class", json!(long)), keyed] {
        let Verdict::Refuse(said) = Node::new().admit(&bad) else {
            panic!("taken")
        };
        assert!(said.message.len() < 1_100, "{} bytes", said.message.len());
        assert!(said.id.is_none_or(|id| id.len() < 100));
    }
}
