use super::view::{Asked, ClassStanding, NodeView, Refusal, Standing};
use crate::contract::{FaultCode, Job, Reason, ReasonCode, RuntimeClass};
use crate::job::{ArtifactPlan, ClassPlan};
use std::time::Duration;

/// The rows about this node: whether it could run the job, and could now.
pub(super) fn fits(
    view: &NodeView<'_>,
    asked: &Asked,
    job: &Job,
) -> Result<(ClassPlan, ArtifactPlan), Refusal> {
    let (plan, class) = configured(view, asked, job.class)?;
    offered(view, asked, job.class, class)?;
    allowed_now(view.standing, asked)?;
    let artifact = artifact(view, asked, job)?;
    within_caps(asked, job, plan)?;
    has_room(view, asked, job, class)?;
    Ok((plan.clone(), artifact.clone()))
}

fn configured<'a>(
    view: &NodeView<'a>,
    asked: &Asked,
    class: RuntimeClass,
) -> Result<(&'a ClassPlan, &'a ClassStanding), Refusal> {
    let found = view.plan.classes.get(&class).zip(view.classes.get(&class));
    found.ok_or_else(|| {
        let have: Vec<_> =
            view.classes.keys().map(|class| class.as_str()).collect();
        let message = format!(
            "class {class} is not configured here (configured: {})",
            have.join(", ")
        );
        asked.refuse(FaultCode::Unsupported, message)
    })
}

fn offered(
    view: &NodeView<'_>,
    asked: &Asked,
    class: RuntimeClass,
    standing: &ClassStanding,
) -> Result<(), Refusal> {
    let starting = (view.standing == Standing::Starting).then(|| {
        Reason::new(ReasonCode::Starting, "the node is not ready yet")
    });
    let Some(reason) = standing.withdrawn.clone().or(starting) else {
        return Ok(());
    };
    let message = format!("class {class} is withdrawn now: {}", reason.text);
    let refusal = asked.refuse(FaultCode::NotReady, message);
    Err(Refusal { reasons: vec![reason], ..refusal })
}

fn allowed_now(standing: Standing, asked: &Asked) -> Result<(), Refusal> {
    let Some((code, reason)) = standing.shut() else { return Ok(()) };
    let refusal = asked.refuse(code, reason.text.clone());
    Err(Refusal { reasons: vec![reason], ..refusal })
}

fn artifact<'a>(
    view: &NodeView<'a>,
    asked: &Asked,
    job: &Job,
) -> Result<&'a ArtifactPlan, Refusal> {
    let class = job.class;
    let unknown = |what: String| {
        let have = view.plan.artifacts.iter().filter(|a| a.class == class);
        let have = have.count();
        let message = format!(
            "{what} is not declared here for class {class}, which has {have} \
             artifacts"
        );
        asked.refuse(FaultCode::Unsupported, message)
    };
    let Some(wanted) = &job.artifact else {
        return Err(unknown("a job without an artifact".to_owned()));
    };
    let found = view.plan.artifacts.iter();
    found
        .filter(|a| a.class == class)
        .find(|a| a.id == *wanted)
        .ok_or_else(|| unknown(format!("artifact {wanted}")))
}

fn within_caps(
    asked: &Asked,
    job: &Job,
    plan: &ClassPlan,
) -> Result<(), Refusal> {
    let ms = |span: Duration| span.as_millis();
    let caps = &plan.caps;
    let over: Vec<_> = [
        ("limits/wall_ms", ms(job.limits.wall), ms(caps.wall)),
        ("limits/cpu_ms", ms(job.limits.cpu), ms(caps.cpu)),
        ("limits/mem_bytes", job.limits.memory.0.into(), plan.memory.0.into()),
        ("ttl_ms", ms(job.ttl), ms(caps.ttl)),
        // Nothing here fetches inputs yet.
        ("inputs", job.inputs.len() as u128, 0),
    ]
    .into_iter()
    .filter(|(_, wanted, cap)| wanted > cap)
    .map(|(what, wanted, cap)| format!("/{what} wants {wanted} of {cap}"))
    .collect();
    if over.is_empty() {
        return Ok(());
    }
    let message = format!(
        "over the caps of class {} here: {}",
        job.class,
        over.join(", ")
    );
    Err(asked.refuse(FaultCode::Unsupported, message))
}

fn has_room(
    view: &NodeView<'_>,
    asked: &Asked,
    job: &Job,
    class: &ClassStanding,
) -> Result<(), Refusal> {
    let (room, name) = (view.room, job.class);
    let wanted = job.limits.memory.0;
    let message = if class.free == 0 {
        let slots = view.plan.classes.get(&name).map_or(0, |of| of.slots);
        format!("wanted 1 slot of class {name}, free are 0 of {slots}")
    } else if room.users == 0 {
        let users = view.plan.uids.len();
        format!("wanted 1 user for the job, free are 0 of {users}")
    } else if room.unsent >= room.unsent_most {
        format!(
            "{} ended jobs still wait for the link, and {} is the most",
            room.unsent, room.unsent_most
        )
    } else if let Some(free) = room.memory.filter(|free| free.0 < wanted) {
        format!("wanted {wanted} bytes of memory, free are {}", free.0)
    } else {
        return Ok(());
    };
    Err(asked.refuse(FaultCode::NotReady, message))
}
