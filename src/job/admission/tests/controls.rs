use super::*;

#[test]
fn a_cancel_or_an_acknowledgement_is_answered_by_the_row() {
    let id = job_id(9_000, 1);
    let cancel =
        json!({"v": 1, "seq": 3, "ts": 1, "type": "job_cancel", "id": id});
    let ack =
        json!({"v": 1, "seq": 4, "ts": 1, "type": "job_exit_ack", "id": id});
    let refused = |verdict: ControlVerdict| {
        let ControlVerdict::Refuse(said) = verdict else {
            panic!("not refused: {verdict:?}")
        };
        said.code
    };
    let mut node = Node::new();
    let unknown = node.control("alice", &cancel);
    let ControlVerdict::Entomb { refusal, .. } = unknown else {
        panic!("{unknown:?}")
    };
    assert_eq!(refusal.code, FaultCode::BadValue);
    assert_eq!(refused(node.control("alice", &ack)), FaultCode::BadValue);
    node.knows(&id, &job(), RowState::Held);
    let verdict = node.control("alice", &cancel);
    assert_eq!(verdict, ControlVerdict::Cancel { seq: 3, id: id.clone() });
    assert_eq!(refused(node.control("alice", &ack)), FaultCode::BadValue);
    for state in [RowState::Ended(exit()), RowState::Settled(None)] {
        node.knows(&id, &job(), state);
        let verdict = node.control("alice", &cancel);
        assert_eq!(verdict, ControlVerdict::Ended { seq: 3, id: id.clone() });
        let verdict = node.control("alice", &ack);
        assert_eq!(verdict, ControlVerdict::Settle { seq: 4, id: id.clone() });
        assert_eq!(
            refused(node.control("bob", &cancel)),
            FaultCode::NotAllowed
        );
        assert_eq!(refused(node.control("bob", &ack)), FaultCode::NotAllowed);
    }
    node.knows(&id, &job(), RowState::Tombstone);
    assert_eq!(refused(node.control("alice", &cancel)), FaultCode::BadValue);
    assert_eq!(refused(node.control("alice", &ack)), FaultCode::BadValue);
}

#[test]
fn a_cancel_of_an_id_that_is_refused_anyway_leaves_no_tombstone() {
    for ms in [-5, 400_000] {
        let id = job_id(ms, 1);
        let cancel =
            json!({"v": 1, "seq": 3, "ts": 1, "type": "job_cancel", "id": id});
        let verdict = Node::new().control("alice", &cancel);
        assert!(matches!(verdict, ControlVerdict::Refuse(_)), "{verdict:?}");
    }
}
