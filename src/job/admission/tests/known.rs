use super::*;

#[test]
fn a_repeat_is_answered_from_the_ledger_whatever_the_node_could_do() {
    let (id, seq) = (job_id(9_000, 1), 7);
    for standing in [Standing::Open, Standing::Latched, Standing::Stopping] {
        let mut node = Node::new();
        node.standing = standing;
        node.classes.clear();
        node.knows(&id, &job(), RowState::Held);
        let held = Verdict::Held { seq, id: id.clone() };
        assert_eq!(node.admit(&job()), held);
        let spelled = with("/net", json!("none")); // the same job
        assert_eq!(node.admit(&spelled), held);
        node.knows(&id, &job(), RowState::Ended(exit()));
        let ended = Verdict::Ended { seq, id: id.clone() };
        assert_eq!(node.admit(&job()), ended);
        node.knows(&id, &job(), RowState::Settled(None));
        assert_eq!(node.admit(&job()), ended);
    }
}

#[test]
fn a_known_id_is_of_one_dispatcher_and_one_job() {
    let id = job_id(9_000, 1);
    let mut node = Node::new();
    node.knows(&id, &job(), RowState::Held);
    let other = with("/args", json!({"n": 2}));
    assert_eq!(node.refuses(&other).0, FaultCode::BadValue);
    let broken = with("/limits", json!("no"));
    assert_eq!(node.refuses(&broken).0, FaultCode::BadValue);
    let frame = json!({"v": 1, "seq": 7, "ts": 1, "type": "job", "job": other});
    let payload = frame.to_string();
    let verdict = node.admit_bytes(&dispatcher("bob"), payload.as_bytes());
    let Verdict::Refuse(said) = verdict else { panic!("taken") };
    assert_eq!(said.code, FaultCode::NotAllowed);
    node.knows(&id, &job(), RowState::Tombstone);
    assert_eq!(node.refuses(&job()).0, FaultCode::BadValue);
}
