use crate::cli::render::page::{Page, Tone, bar};
use crate::cli::render::quantity::{cores, glued, many, percent};
use crate::contract::{
    Bytes, CapacityReport, CpuReport, DiskReport, GpuReport, MemoryReport,
    NetworkReport,
};

/// From this share on, a bar is no longer well.
const NEARLY_FULL: f64 = 0.9;

/// What is in use, as bars where there is room, and what is free.
pub(super) fn capacity(page: &mut Page, of: &CapacityReport) {
    let mut label = "capacity";
    let mut rows = Vec::new();
    rows.extend(of.cpu.as_ref().map(cpu));
    rows.extend(of.memory.as_ref().map(memory));
    rows.extend(of.disk.as_ref().map(disk));
    rows.extend(of.network.as_ref().map(network));
    rows.extend(of.gpus.iter().map(gpu));
    for row in &rows {
        row.write(page, label);
        label = "";
    }
    if rows.is_empty() {
        page.row(label, &[(Tone::Doubtful, "not measured yet")]);
    }
    for warning in &of.warnings {
        page.row("", &[(Tone::Doubtful, warning)]);
    }
}

/// One resource: its name, how much is in use, and the rest in words.
struct Row {
    name: &'static str,
    used: Option<f64>,
    text: String,
}

impl Row {
    fn write(&self, page: &mut Page, label: &str) {
        let name = format!("{:7}", self.name).replace(' ', "\u{a0}");
        let mut parts = vec![(Tone::Strong, name)];
        if let Some(used) = self.used {
            let tone = if used >= NEARLY_FULL { Tone::Bad } else { Tone::Good };
            let style = page.style();
            // Where it would take more than half of the row, the number
            // alone must do.
            if page.room() >= 48 {
                parts.push((tone, bar(used, 16, style.utf8)));
            }
            parts.push((tone, format!("{},", glued(percent(used)))));
        }
        parts.push((Tone::Plain, self.text.clone()));
        let parts: Vec<_> =
            parts.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        page.row(label, &parts);
    }
}

fn cpu(of: &CpuReport) -> Row {
    let (free, total) = (cores(of.available), many(cores(of.total), "core"));
    let text = format!("{free} of {total} free{}", bound(&of.bound_by));
    Row { name: "cpu", used: Some(of.utilization), text }
}

fn memory(of: &MemoryReport) -> Row {
    let text =
        format!("{}{}", free(of.available, of.total), { bound(&of.bound_by) });
    Row { name: "memory", used: used(of.available, of.total), text }
}

fn disk(of: &DiskReport) -> Row {
    let mut text = free(of.free, of.total);
    if !of.path.is_empty() {
        text.push_str(&format!(" at {}", of.path));
    }
    if let Some(inodes) = of.inodes_free {
        text.push_str(&format!(", {} inodes free", percent(inodes)));
    }
    Row { name: "disk", used: used(of.free, of.total), text }
}

fn network(of: &NetworkReport) -> Row {
    let rate = |mbps: f64| glued(format!("{mbps:.1} Mbit/s"));
    let (to, from) = (rate(of.ingress_mbps), rate(of.egress_mbps));
    let mut text = format!("{to} in, {from} out");
    if let Some(line) = of.line_mbps {
        text.push_str(&format!(", line {}", rate(line)));
    }
    Row { name: "network", used: None, text }
}

fn gpu(of: &GpuReport) -> Row {
    let mut text = free(of.vram_free, of.vram_total);
    text.push_str(&format!(", {}", of.name));
    if let Some(busy) = of.utilization {
        text.push_str(&format!(", {} busy", percent(busy)));
    }
    Row { name: "gpu", used: used(of.vram_free, of.vram_total), text }
}

fn free(free: Bytes, total: Bytes) -> String {
    format!("{} of {} free", glued(free), glued(total))
}

fn used(free: Bytes, total: Bytes) -> Option<f64> {
    (total.0 > 0).then(|| total.minus(free).gb().get() / total.gb().get())
}

fn bound(by: &str) -> String {
    match by {
        "" | "machine" => String::new(),
        path => format!(" (limited by {path})"),
    }
}
