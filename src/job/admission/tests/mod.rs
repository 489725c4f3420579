//! Every row of the table, and pairs of rows that both hold.
mod controls; // cancels and acknowledgements
mod documents; // the rows about the document alone
use super::*;
use crate::contract::{
    Bytes, DispatcherId, FaultCode, Job, JobId, NetPolicy, Now, Reason,
    ReasonCode, RuntimeClass, Timestamp,
};
use crate::job::JobPlan;
use crate::job::testing::{START, dispatcher, job_id, plan};
use crate::ledger::{Row, RowState, StoredExit};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CLASS: RuntimeClass = RuntimeClass::Function;

/// A node, and what a test changes about it.
struct Node {
    plan: JobPlan,
    standing: Standing,
    classes: BTreeMap<RuntimeClass, ClassStanding>,
    room: Room,
    rows: BTreeMap<JobId, Row>,
}

impl Node {
    fn new() -> Self {
        let well = ClassStanding { withdrawn: None, free: 2 };
        let room = Room { memory: None, users: 4, unsent: 0, unsent_most: 64 };
        Self {
            plan: plan(2),
            standing: Standing::Open,
            classes: [(CLASS, well)].into(),
            room,
            rows: BTreeMap::new(),
        }
    }

    fn knows(&mut self, id: &JobId, job: &Value, state: RowState) {
        let row = Row {
            dispatcher: dispatcher("alice"),
            hash: Job::parse(job).unwrap().hash(),
            received: now(),
            state,
        };
        self.rows.insert(id.clone(), row);
    }

    fn admit_bytes(&self, from: &DispatcherId, payload: &[u8]) -> Verdict {
        let lookup = |id: &JobId| self.rows.get(id).cloned();
        let view = NodeView {
            plan: &self.plan,
            standing: self.standing,
            classes: &self.classes,
            room: self.room,
            lookup: &lookup,
            floor: Timestamp(START),
        };
        let size = payload.len();
        let received = ReceivedFrame { dispatcher: from, payload, size };
        admit(&view, &received, now())
    }

    fn admit(&self, job: &Value) -> Verdict {
        let frame =
            json!({"v": 1, "seq": 7, "ts": 1, "type": "job", "job": job});
        let payload = frame.to_string();
        self.admit_bytes(&dispatcher("alice"), payload.as_bytes())
    }

    fn refuses(&self, job: &Value) -> (FaultCode, String) {
        match self.admit(job) {
            Verdict::Refuse(said) => (said.code, said.message),
            other @ (Verdict::Admit(_)
            | Verdict::Held { .. }
            | Verdict::Ended { .. }) => panic!("not refused: {other:?}"),
        }
    }

    fn control(&self, from: &str, frame: &Value) -> ControlVerdict {
        let lookup = |id: &JobId| self.rows.get(id).cloned();
        let payload = frame.to_string();
        let rows: (Lookup<'_>, _) = (&lookup, Timestamp(START));
        control(&dispatcher(from), payload.as_bytes(), rows, now())
    }
}

fn now() -> Now {
    Now { wall: Timestamp(START + 10_000), ..Now::default() }
}

fn job() -> Value {
    json!({
        "id": job_id(9_000, 1).as_str(),
        "class": "function",
        "artifact": {"name": "echo", "version": "1.0.0"},
        "args": {"n": 1},
        "ttl_ms": 60_000,
        "limits": {"wall_ms": 1000, "cpu_ms": 1000, "mem_bytes": 1 << 20},
    })
}

/// `job` with the value at `pointer` replaced (null takes the key away).
fn with(pointer: &str, value: Value) -> Value {
    let mut job = job();
    change(&mut job, pointer, value);
    job
}

fn change(job: &mut Value, pointer: &str, value: Value) {
    let (up, key) = pointer.rsplit_once('/').unwrap();
    let map = job.pointer_mut(up).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        map.remove(key);
    } else {
        map.insert(key.to_owned(), value);
    }
}

fn exit() -> StoredExit {
    StoredExit {
        subject: "s".into(),
        payload: "x".into(),
        reasons: vec![],
        at: Timestamp(START),
    }
}

/// One row of the table: its name, and what makes it hold.
type Breach = (&'static str, FaultCode, fn(&mut Node, &mut Value));

/// Every row below the envelope, in the table's order.
const ROWS: &[Breach] = {
    use FaultCode as Code;
    &[
        ("malformed id", Code::BadValue, |_, job| {
            change(job, "/id", json!("job_1"));
        }),
        ("known id, another job", Code::BadValue, |node, _| {
            let other = with("/args", json!({"other": true}));
            let id = job_id(9_000, 1);
            node.knows(&id, &other, RowState::Held);
        }),
        ("id below the floor", Code::BadValue, |_, job| {
            change(job, "/id", json!(job_id(0, 1).as_str()));
        }),
        ("unknown key", Code::BadFrame, |_, job| {
            change(job, "/limits/gpus", json!(1));
        }),
        ("other class", Code::Unsupported, |_, job| {
            change(job, "/class", json!("quantum"));
        }),
        ("bad artifact", Code::BadValue, |_, job| {
            change(job, "/artifact/name", json!("No Name"));
        }),
        ("net too open", Code::Unsupported, |_, job| {
            change(job, "/net", json!("public"));
        }),
        ("bad value elsewhere", Code::BadValue, |_, job| {
            change(job, "/ttl_ms", json!(0));
        }),
        ("class not configured", Code::Unsupported, |node, _| {
            node.plan.classes.clear();
            node.classes.clear();
        }),
        ("class withdrawn", Code::NotReady, |node, _| {
            let why = Reason::new(ReasonCode::ProbeFailed, "no seccomp");
            let Some(class) = node.classes.get_mut(&CLASS) else { return };
            class.withdrawn = Some(why);
        }),
        ("latched", Code::LocalStop, |node, _| {
            node.standing = Standing::Latched;
        }),
        ("unknown artifact", Code::Unsupported, |node, _| {
            node.plan.artifacts.clear();
        }),
        ("over a cap", Code::Unsupported, |_, job| {
            change(job, "/limits/mem_bytes", json!(1_u64 << 40));
        }),
        ("no free slot", Code::NotReady, |node, _| {
            let Some(class) = node.classes.get_mut(&CLASS) else { return };
            class.free = 0;
        }),
    ]
};

#[test]
fn a_job_that_fits_is_admitted_with_what_it_runs() {
    let Verdict::Admit(admitted) = Node::new().admit(&job()) else {
        panic!("refused")
    };
    assert_eq!(admitted.seq, 7);
    assert_eq!(admitted.artifact, plan(2).artifacts[0]);
    assert_eq!(admitted.job, Job::parse(&job()).unwrap());
}

#[test]
fn each_row_refuses_by_itself() {
    for (name, code, breach) in ROWS {
        let (mut node, mut job) = (Node::new(), job());
        breach(&mut node, &mut job);
        let (found, message) = node.refuses(&job);
        assert_eq!(found, *code, "{name}: {message}");
    }
}

#[test]
fn of_two_rows_that_hold_the_first_answers() {
    for (at, (first, _, one)) in ROWS.iter().enumerate() {
        for (second, _, other) in &ROWS[at + 1..] {
            let (mut node, mut alone) = (Node::new(), job());
            one(&mut node, &mut alone);
            let wanted = node.refuses(&alone);
            let (mut node, mut both) = (Node::new(), job());
            one(&mut node, &mut both);
            other(&mut node, &mut both);
            if both.get("id") != alone.get("id") {
                continue; // the two rows contradict each other
            }
            let found = node.refuses(&both);
            assert_eq!(found.0, wanted.0, "{first}, then {second}: {found:?}");
        }
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

#[test]
fn every_standing_has_its_answer_and_its_reason() {
    for (standing, code, reason) in [
        (Standing::Starting, FaultCode::NotReady, ReasonCode::Starting),
        (Standing::Paused, FaultCode::LocalStop, ReasonCode::Paused),
        (Standing::Latched, FaultCode::LocalStop, ReasonCode::Latched),
        (Standing::Draining, FaultCode::ShuttingDown, ReasonCode::Draining),
        (Standing::Stopping, FaultCode::ShuttingDown, ReasonCode::Stopping),
    ] {
        let mut node = Node::new();
        node.standing = standing;
        let Verdict::Refuse(said) = node.admit(&job()) else {
            panic!("{standing:?}")
        };
        assert_eq!(said.code, code);
        assert_eq!(said.reasons[0].code, reason);
    }
}

#[test]
fn want_of_room_is_said_with_numbers() {
    let mut full = Node::new();
    full.classes.get_mut(&CLASS).unwrap().free = 0;
    let mut unsent = Node::new();
    unsent.room.unsent = 64;
    let mut users = Node::new();
    users.room.users = 0;
    let mut tight = Node::new();
    tight.room.memory = Some(Bytes((1 << 20) - 1));
    for (node, said) in [
        (full, "wanted 1 slot of class function, free are 0 of 2"),
        (users, "wanted 1 user for the job, free are 0 of 4"),
        (unsent, "64 ended jobs still wait for the link, and 64 is the most"),
        (tight, "wanted 1048576 bytes of memory, free are 1048575"),
    ] {
        assert_eq!(node.refuses(&job()), (FaultCode::NotReady, said.into()));
    }
    let (_, message) =
        Node::new().refuses(&with("/limits/mem_bytes", json!(1_u64 << 30)));
    assert!(message.contains("wants 1073741824 of 268435456"), "{message}");
}
