use super::{
    CapacityReport, ClassReport, JobsReport, LinkReport, ProbeReport,
    StatusDocument,
};

impl StatusDocument {
    /// What anyone may read who can ask the node: no path, no dispatcher, no
    /// job, no refusal, no address. Made of what is named here, so that a new
    /// field is private until someone decides otherwise. Reasons stay whole:
    /// they stand in the header of every offer as well.
    pub fn public(&self) -> Self {
        Self {
            version: self.version.clone(),
            at: self.at,
            node: self.node.clone(),
            health: self.health.clone(),
            link: LinkReport {
                state: self.link.state.clone(),
                since: self.link.since,
                ..LinkReport::default()
            },
            engine: self.engine.clone(),
            classes: self.classes.iter().map(ClassReport::public).collect(),
            capacity: self.capacity.public(),
            jobs: self.jobs.public(),
            offer: self.offer.clone(),
            refusals: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl ClassReport {
    fn public(&self) -> Self {
        Self {
            class: self.class,
            configured: self.configured,
            offered: self.offered,
            why_not: self.why_not.clone(),
            slots: self.slots,
            free: self.free,
            cpu: self.cpu,
            memory: self.memory,
            // Where an image comes from is the owner's, and the promises
            // that failed name paths.
            image: String::new(),
            probe: self
                .probe
                .as_ref()
                .map(|probe| ProbeReport { at: probe.at, failed: Vec::new() }),
        }
    }
}

impl CapacityReport {
    fn public(&self) -> Self {
        let mut public = self.clone();
        public.warnings.clear();
        if let Some(cpu) = &mut public.cpu {
            cpu.bound_by.clear();
        }
        if let Some(memory) = &mut public.memory {
            memory.bound_by.clear();
        }
        if let Some(disk) = &mut public.disk {
            disk.path.clear();
        }
        public
    }
}

impl JobsReport {
    fn public(&self) -> Self {
        Self { running: Vec::new(), ..self.clone() }
    }
}
