use super::capacity::capacity;
use crate::cli::render::page::{Page, Tone};
use crate::cli::render::quantity::{age, cores, count, glued, many, percent};
use crate::cli::render::{Style, jobs};
use crate::contract::{
    ClassReport, EngineReport, EngineState, HealthReport, HealthStatus,
    LinkReport, NodeReport, OfferReport, ReasonReport, RefusalReport,
    StatusDocument, Timestamp, Trust,
};

/// Refusals on the screen; `--json` has all that are kept.
const REFUSALS: usize = 5;

/// The one screen: is it well, what does it do, why does it get no work.
pub(in crate::cli) fn status(
    of: &StatusDocument,
    style: Style,
    now: Timestamp,
) -> String {
    // As wide as the longest label.
    let mut page = Page::new(style, "capacity".len());
    node(&mut page, &of.version, &of.node, now);
    health(&mut page, &of.health);
    link(&mut page, &of.link, now);
    engine(&mut page, &of.engine);
    offer(&mut page, &of.offer, now);
    page.gap();
    classes(&mut page, &of.classes, now);
    page.gap();
    capacity(&mut page, &of.capacity);
    page.gap();
    jobs::held(&mut page, &of.jobs, now);
    page.gap();
    refusals(&mut page, &of.refusals, now);
    page.gap();
    for (at, warning) in of.warnings.iter().enumerate() {
        let label = if at == 0 { "warnings" } else { "" };
        page.row(label, &[(Tone::Doubtful, warning)]);
    }
    page.finish()
}

fn node(page: &mut Page, version: &str, of: &NodeReport, now: Timestamp) {
    let place = match &of.cell {
        Some(cell) => format!("{}/{cell}", of.region),
        None => of.region.clone(),
    };
    let up = format!("up {}", age(of.started, now));
    let parts = [
        (Tone::Strong, of.id.as_str()),
        (Tone::Plain, trust(of.trust)),
        (Tone::Plain, place.as_str()),
        (Tone::Faint, version),
        (Tone::Faint, up.as_str()),
    ];
    page.row("node", &parts);
}

fn trust(of: Trust) -> &'static str {
    match of {
        Trust::FirstParty => "first-party",
        Trust::UserOwned => "user-owned",
        Trust::Partner => "partner",
        Trust::Community => "community",
        Trust::External => "external",
    }
}

fn health(page: &mut Page, of: &HealthReport) {
    let (tone, word) = match of.status {
        HealthStatus::Up => (Tone::Good, "up"),
        HealthStatus::Degraded => (Tone::Doubtful, "degraded"),
        HealthStatus::Draining => (Tone::Doubtful, "draining"),
        HealthStatus::Down => (Tone::Bad, "down"),
    };
    let rate = of
        .error_rate
        .filter(|rate| *rate > 0.0)
        .map(|rate| format!("{} of the last jobs failed", percent(rate)));
    let rate = rate.unwrap_or_default();
    page.row("health", &[(tone, word), (Tone::Faint, &rate)]);
    for why in &of.reasons {
        reason(page, tone, why);
    }
}

fn reason(page: &mut Page, tone: Tone, why: &ReasonReport) {
    let code = format!("{}:", why.code);
    page.row("", &[(tone, &code), (Tone::Plain, &why.text)]);
}

fn link(page: &mut Page, of: &LinkReport, now: Timestamp) {
    let (tone, word) = match of.state.as_ref() {
        "" => (Tone::Doubtful, "not known"),
        "connected" => (Tone::Good, "connected"),
        "connecting" => (Tone::Doubtful, "connecting"),
        other => (Tone::Bad, other),
    };
    let since = match of.since {
        Timestamp(0) => String::new(),
        since => format!("for {}", age(since, now)),
    };
    let server = (Tone::Plain, of.server.as_str());
    page.row("link", &[(tone, word), server, (Tone::Faint, &since)]);
    if !of.text.is_empty() {
        page.row("", &[(Tone::Plain, &of.text)]);
    }
    for denied in &of.denied {
        page.row("", &[(Tone::Bad, "denied:"), (Tone::Plain, denied)]);
    }
}

fn engine(page: &mut Page, of: &EngineReport) {
    let (tone, word) = match of.state {
        EngineState::Ready => (Tone::Good, "ready"),
        EngineState::Away => (Tone::Bad, "does not answer"),
        EngineState::Unknown => (Tone::Doubtful, "not known"),
    };
    let said = |name: &str, what: &str| match what {
        "" => String::new(),
        what => glued(format!("{name} {what}")),
    };
    let (api, cgroup) = (said("API", &of.api), said("cgroup", &of.cgroup));
    let parts = [
        (tone, word),
        (Tone::Plain, of.version.as_str()),
        (Tone::Faint, api.as_str()),
        (Tone::Faint, cgroup.as_str()),
    ];
    page.row("engine", &parts);
}

fn offer(page: &mut Page, of: &OfferReport, now: Timestamp) {
    let Some(last) = of.last_published else {
        page.row("offer", &[(Tone::Doubtful, "none published yet")]);
        return;
    };
    let last = format!("last published {} ago,", age(last, now));
    let sent = format!("{} in all", glued(count(of.count)));
    page.row("offer", &[(Tone::Plain, &last), (Tone::Faint, &sent)]);
}

fn classes(page: &mut Page, of: &[ClassReport], now: Timestamp) {
    let shown: Vec<_> = of.iter().filter(|class| class.configured).collect();
    if shown.is_empty() {
        let text = "none is configured: this node takes no jobs";
        page.row("classes", &[(Tone::Doubtful, text)]);
    }
    for (at, of) in shown.into_iter().enumerate() {
        class(page, if at == 0 { "classes" } else { "" }, of, now);
    }
}

fn class(page: &mut Page, label: &str, of: &ClassReport, now: Timestamp) {
    let name = format!("{:8}", of.class.as_str()).replace(' ', "\u{a0}");
    let slots = format!("{} of {} free,", of.free, of.slots);
    let tone = if of.free > 0 { Tone::Good } else { Tone::Doubtful };
    let slots = match of.offered {
        true => (tone, glued(slots)),
        false => (Tone::Bad, glued("not offered,")),
    };
    let size = format!(
        "{} and {} each",
        many(cores(of.cpu), "core"),
        glued(of.memory)
    );
    let parts = [
        (Tone::Strong, name.as_str()),
        (slots.0, slots.1.as_str()),
        (Tone::Faint, size.as_str()),
    ];
    page.row(label, &parts);
    if let Some(why) = &of.why_not {
        reason(page, Tone::Bad, why);
    }
    let Some(probe) = &of.probe else { return };
    for failed in &probe.failed {
        let when = format!("probed {} ago:", age(probe.at, now));
        page.row("", &[(Tone::Bad, &when), (Tone::Plain, failed)]);
    }
}

fn refusals(page: &mut Page, of: &[RefusalReport], now: Timestamp) {
    for (at, of) in of.iter().take(REFUSALS).enumerate() {
        let label = if at == 0 { "refused" } else { "" };
        let when = format!("{} ago", age(of.at, now));
        let code = format!("{}:", of.code);
        let job = of.job.as_deref().unwrap_or("no job id");
        let who = format!("({job} from {})", of.dispatcher);
        let parts = [
            (Tone::Faint, when.as_str()),
            (Tone::Doubtful, code.as_str()),
            (Tone::Plain, of.message.as_str()),
            (Tone::Faint, who.as_str()),
        ];
        page.row(label, &parts);
    }
    let more = of.len().saturating_sub(REFUSALS);
    if more > 0 {
        let more = format!("and {more} more with `--json`");
        page.row("", &[(Tone::Faint, &more)]);
    }
}
