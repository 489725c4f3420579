use super::Style;
use super::page::{Page, Tone};
use super::quantity::{age, count, glued, many, span};
use crate::contract::{ExitReport, JobPhase, JobReport, JobsReport, Timestamp};

/// The jobs that hold a slot, and counts of the others.
pub(super) fn held(page: &mut Page, of: &JobsReport, now: Timestamp) {
    let running = format!("{} held,", glued(count(of.held)));
    let ended: Vec<_> = of
        .ended_by
        .iter()
        .map(|(reason, n)| glued(format!("{} {reason}", count(*n))))
        .collect();
    let ended = match ended.is_empty() {
        true => String::new(),
        false => format!("({})", ended.join(", ")),
    };
    let totals = format!(
        "{} {ended}, {}",
        glued(format!("{} ended", count(of.ended))),
        glued(format!("{} refused", count(of.refused)))
    );
    let totals = totals.replace(" ,", ",");
    page.row("jobs", &[(Tone::Strong, &running), (Tone::Plain, &totals)]);
    if of.exits_waiting > 0 {
        let exits = many(count(of.exits_waiting), "exit");
        let text = format!("{exits} not acknowledged yet");
        page.row("", &[(Tone::Doubtful, &text)]);
    }
    for job in &of.running {
        row(page, job, now);
    }
}

/// Every job that the node remembers.
pub(in crate::cli) fn jobs(
    of: &[JobReport],
    style: Style,
    now: Timestamp,
) -> String {
    let mut page = Page::new(style, 0);
    if of.is_empty() {
        page.row("", &[(Tone::Faint, "no jobs")]);
    }
    for job in of {
        row(&mut page, job, now);
    }
    page.finish()
}

fn row(page: &mut Page, of: &JobReport, now: Timestamp) {
    let (tone, state) = state(of);
    let what = match &of.artifact {
        Some(artifact) => format!("{} {artifact}", of.class),
        None => of.class.to_string(),
    };
    page.row(
        "",
        &[
            (Tone::Strong, of.id.as_str()),
            (Tone::Plain, &what),
            (tone, &state),
            (Tone::Faint, &format!("{} old,", age(of.accepted, now))),
            (Tone::Faint, &left(of, now)),
        ],
    );
}

/// How it is, or how it ended.
fn state(of: &JobReport) -> (Tone, String) {
    let Some(exit) = &of.exit else {
        let tone = match of.state {
            JobPhase::Running => Tone::Good,
            JobPhase::Unknown => Tone::Doubtful,
            JobPhase::Admitted
            | JobPhase::Staging
            | JobPhase::Starting
            | JobPhase::Ending
            | JobPhase::Ended
            | JobPhase::Settled => Tone::Plain,
        };
        return (tone, of.state.as_str().to_owned());
    };
    let tone = if is_good(exit) { Tone::Good } else { Tone::Bad };
    match exit.code {
        Some(code) => (tone, glued(format!("{} {code}", exit.reason))),
        None => (tone, exit.reason.to_string()),
    }
}

/// Whether a job came to a good end.
pub(in crate::cli) fn is_good(exit: &ExitReport) -> bool {
    exit.reason == "exited" && exit.code == Some(0)
}

/// What is left of its limits, or what it used.
fn left(of: &JobReport, now: Timestamp) -> String {
    let used = of.used;
    if of.exit.is_some() {
        return format!("{} wall used", span(used.wall_ms));
    }
    let wall = of.limits.wall_ms.saturating_sub(used.wall_ms);
    let mut text = vec![format!("{} wall", span(wall))];
    if let Some(cpu) = used.cpu_ms {
        let cpu = of.limits.cpu_ms.saturating_sub(cpu);
        text.push(format!("{} cpu", span(cpu)));
    }
    if let Some(expires) = of.expires {
        text.push(format!("{} ttl", span(expires.0.saturating_sub(now.0))));
    }
    format!("{} left", text.join(", "))
}

/// One job, with all that is known of it.
pub(in crate::cli) fn job(
    of: &JobReport,
    style: Style,
    now: Timestamp,
) -> String {
    // As wide as the longest label.
    let mut page = Page::new(style, "dispatcher".len());
    let (tone, state) = state(of);
    page.row("job", &[(Tone::Strong, of.id.as_str())]);
    page.row("state", &[(tone, &state)]);
    page.row("class", &[(Tone::Plain, of.class.as_str())]);
    if let Some(artifact) = &of.artifact {
        page.row("artifact", &[(Tone::Plain, artifact)]);
    }
    page.row("dispatcher", &[(Tone::Plain, &of.dispatcher)]);
    moment(&mut page, "accepted", of.accepted, now);
    if let Some(started) = of.started {
        moment(&mut page, "started", started, now);
    }
    uses(&mut page, of);
    if let Some(expires) = of.expires.filter(|_| of.exit.is_none()) {
        let left = span(expires.0.saturating_sub(now.0));
        page.row("ttl", &[(Tone::Plain, &format!("{left} left"))]);
    }
    if let Some(exit) = &of.exit {
        end(&mut page, exit, now);
    }
    page.finish()
}

fn moment(page: &mut Page, label: &str, at: Timestamp, now: Timestamp) {
    let when = at.to_rfc3339();
    let ago = format!("({} ago)", age(at, now));
    page.row(label, &[(Tone::Plain, &when), (Tone::Faint, &ago)]);
}

fn uses(page: &mut Page, of: &JobReport) {
    let (used, limits) = (of.used, of.limits);
    let mut row = |label, used: Option<String>, limit: String| {
        let used = used.unwrap_or_else(|| "not measured".to_owned());
        page.row(label, &[(Tone::Plain, &format!("{used} of {limit}"))]);
    };
    row("wall", Some(span(used.wall_ms)), span(limits.wall_ms));
    row("cpu", used.cpu_ms.map(span), span(limits.cpu_ms));
    row("memory", used.mem_peak.map(glued), glued(limits.mem));
    let output = used.output.to_string();
    page.row("output", &[(Tone::Plain, &output)]);
}

fn end(page: &mut Page, of: &ExitReport, now: Timestamp) {
    moment(page, "ended", of.at, now);
    for why in &of.reasons {
        let code = format!("{}:", why.code);
        page.row("", &[(Tone::Doubtful, &code), (Tone::Plain, &why.text)]);
    }
    let acked = if of.acked { "acknowledged" } else { "not acknowledged yet" };
    page.row("exit", &[(Tone::Faint, acked)]);
}
