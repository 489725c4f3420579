use crate::cgroup::Cgroup;
use crate::clock::{self, Moment, millis};
use crate::course::{Act, Course};
use crate::cpu_watch::CpuWatch;
use crate::fault::Fault;
use crate::flow::Flow;
use crate::launch::{Launch, Progress};
use crate::link::Link;
use crate::poll::{self, Source, Wish};
use crate::reach::Reach;
use crate::reaper::Reaper;
use crate::sinks::Sinks;
use crate::tell::Told;
use crate::ttl;
use crate::verdict::{self, Verdict};
use ovnode::init::{EndedBy, FromInit, Orders, Phase, ToInit};
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// A job that was forked, until nothing of it is left.
pub(crate) struct Run<'a> {
    orders: Orders,
    cgroup: &'a Cgroup,
    reach: Reach,
    leader: Pid,
    reaper: Reaper,
    launch: Option<Launch>,
    sinks: Sinks,
    flow: Flow,
    course: Course,
    cpu: CpuWatch,
    wall_at: Option<Duration>,
    ttl: Option<OwnedFd>,
    started: Option<Moment>,
    failed: Option<String>,
    told: Told,
}

/// What a run needs of what was there before it.
pub(crate) struct Start<'a> {
    pub(crate) orders: Orders,
    pub(crate) sinks: Sinks,
    pub(crate) cpu: CpuWatch,
    pub(crate) cgroup: &'a Cgroup,
    pub(crate) reach: Reach,
}

impl<'a> Run<'a> {
    /// Takes a launch into its care.
    pub(crate) fn of(launch: Launch, start: Start<'a>) -> Result<Self, Fault> {
        let leader = launch.leader();
        let ttl = ttl::alarm(start.orders.ttl_boot_ms);
        let reaper = Reaper::start(leader);
        // A job that nobody watches over must not go on.
        let kill = |_: &Fault| start.reach.signal(leader, Signal::KILL);
        Ok(Self {
            ttl: ttl.inspect_err(kill)?,
            reaper: reaper.inspect_err(kill)?,
            orders: start.orders,
            cgroup: start.cgroup,
            reach: start.reach,
            leader,
            launch: Some(launch),
            sinks: start.sinks,
            flow: Flow::default(),
            course: Course::new(),
            cpu: start.cpu,
            wall_at: None,
            started: None,
            failed: None,
            told: Told::default(),
        })
    }

    /// Goes on until every process is gone, or all was tried.
    pub(crate) fn see_through(
        &mut self,
        link: &mut Link,
    ) -> Result<Verdict, Fault> {
        while !self.is_over() {
            let wishes: Vec<Wish<'_>> = self.wishes(link).collect();
            let ready = poll::wait(&wishes, self.due(link))?;
            let now = clock::mono();
            for source in ready {
                self.on(source, link, now)?;
            }
            self.on_time(link, now);
        }
        self.conclude(link)
    }

    /// Ends all of it without a word.
    pub(crate) fn abandon(&self) {
        self.reach.signal(self.leader, Signal::KILL);
    }

    pub(crate) const fn sinks(&self) -> &Sinks {
        &self.sinks
    }

    /// CPU used since the orders.
    pub(crate) fn cpu_used(&self) -> Option<Duration> {
        self.cpu.used(self.cgroup)
    }

    fn is_over(&self) -> bool {
        self.reaper.nobody_left() || self.course.given_up(clock::mono())
    }

    fn wishes<'b>(&'b self, link: &'b Link) -> impl Iterator<Item = Wish<'b>> {
        let launch = self.launch.as_ref();
        let launch = launch.map(|launch| (Source::Launch, launch.fd()));
        let ttl = self.ttl.as_ref();
        let ttl = ttl.map(|alarm| (Source::Ttl, alarm.as_fd()));
        let reaper = Some((Source::Reaper, self.reaper.bell()));
        // The launch comes before the reaper: a quick job has started before
        // it has ended.
        [launch, ttl, reaper]
            .into_iter()
            .flatten()
            .map(|(source, fd)| (source, fd, PollFlags::IN))
            .chain(link.wish())
            .chain(self.flow.wishes())
    }

    fn due(&self, link: &Link) -> Option<Duration> {
        [
            self.course.due(),
            self.wall_at,
            self.cpu.due(),
            link.due(),
            self.told.due(self.sinks.stdout_end(), link),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn on(
        &mut self,
        source: Source,
        link: &mut Link,
        now: Duration,
    ) -> Result<(), Fault> {
        match source {
            Source::Daemon => self.listen(link, now),
            Source::Launch => self.launched(link, now),
            Source::Stdin => self.flow.feed(),
            Source::Job(outlet) => {
                self.flow.pump(outlet, &mut self.sinks)?;
                if let Some(by) = self.sinks.over() {
                    self.end(by, now);
                }
            }
            Source::Ttl => {
                self.ttl = None;
                self.end(EndedBy::Ttl, now);
            }
            Source::Reaper => {
                self.reaper.answer();
                if self.reaper.leader().is_some() {
                    self.launched(link, now);
                    let act = self.course.leader_gone(now);
                    self.act(act);
                }
            }
        }
        Ok(())
    }

    fn on_time(&mut self, link: &mut Link, now: Duration) {
        if link.tick(now) {
            self.introduce(link);
        }
        if self.wall_at.is_some_and(|at| at <= now) {
            self.wall_at = None;
            self.end(EndedBy::Wall, now);
        }
        if self.cpu.look(self.cgroup, now) {
            self.end(EndedBy::Cpu, now);
        }
        let act = self.course.tick(now);
        self.act(act);
        self.told.output(self.sinks.stdout_end(), link, now);
    }

    /// Tells a daemon that is new on the line where things are.
    fn introduce(&mut self, link: &mut Link) {
        let phase =
            if self.course.is_ending() { Phase::Ending } else { Phase::Begun };
        link.say(&FromInit::Ready { phase });
        if let Some(at) = self.started {
            link.say(&FromInit::Started { mono_ms: millis(at.mono) });
        }
        self.told.nothing();
    }

    fn listen(&mut self, link: &mut Link, now: Duration) {
        link.flush();
        for heard in link.hear() {
            match heard {
                Ok(ToInit::Cancel { grace_ms }) => {
                    let grace = Duration::from_millis(grace_ms);
                    let act = self.course.end(EndedBy::Cancel, grace, now);
                    self.act(act);
                }
                // Only the first orders count, and a line that makes no sense
                // is no reason to harm a job: the daemon can end it from
                // outside as well.
                Ok(ToInit::Run(_)) | Err(_) => {}
            }
        }
    }

    /// Learns how far the launch is.
    fn launched(&mut self, link: &mut Link, now: Duration) {
        let Some(launch) = &mut self.launch else { return };
        match launch.progress() {
            Progress::Pending => {}
            Progress::Started(pipes) => {
                self.launch = None;
                let at = Moment::now();
                self.started = Some(at);
                link.say(&FromInit::Started { mono_ms: millis(at.mono) });
                let wall = Duration::from_millis(self.orders.wall_ms);
                self.wall_at = Some(at.mono.saturating_add(wall));
                self.cpu.arm(at.mono);
                let stdin = std::mem::take(&mut self.orders.stdin);
                self.flow = Flow::new(pipes, stdin);
            }
            Progress::Failed(reason) => {
                self.launch = None;
                self.failed = Some(reason);
                let act = self.course.leader_gone(now);
                self.act(act);
            }
        }
    }

    fn end(&mut self, by: EndedBy, now: Duration) {
        let grace = Duration::from_millis(self.orders.grace_ms);
        let act = self.course.end(by, grace, now);
        self.act(act);
    }

    fn act(&self, act: Option<Act>) {
        match act {
            Some(Act::Term) => {
                self.reach.signal(self.leader, Signal::TERM);
                // One that is stopped could not heed it.
                self.reach.signal(self.leader, Signal::CONT);
            }
            Some(Act::Kill) => self.reach.signal(self.leader, Signal::KILL),
            None => {}
        }
    }

    fn conclude(&mut self, link: &mut Link) -> Result<Verdict, Fault> {
        // A job quicker than the news of its start left it to be taken now.
        self.launched(link, clock::mono());
        self.flow.drain(&mut self.sinks)?;
        if let Some(by) = self.sinks.over() {
            self.course.went_over(by);
        }
        self.told.last(self.sinks.stdout_end(), link);
        let by = self.course.ended_by();
        if let Some(reason) = self.failed.take() {
            return Ok(Verdict::cannot_start(reason, by));
        }
        let (outcome, ended) = match self.reaper.leader() {
            Some((status, at)) => (verdict::outcome(status), at),
            None => (verdict::killed(), Moment::now()),
        };
        Ok(Verdict { outcome, ended_by: by, started: self.started, ended })
    }
}
