use ovnode::init::code;
use std::fmt;
use std::io;

/// Why PID 1 gives up without an exit record.
#[derive(Debug)]
pub(crate) enum Fault {
    Usage,
    NoDaemon,
    BegunBefore,
    Record(&'static str, io::Error),
    Privileges(io::Error),
    Kernel(&'static str, io::Error),
}

impl Fault {
    pub(crate) fn record(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Record(what, source)
    }

    pub(crate) fn kernel<E>(what: &'static str) -> impl Fn(E) -> Self
    where
        io::Error: From<E>,
    {
        move |source| Self::Kernel(what, source.into())
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage => code::USAGE,
            Self::NoDaemon => code::NO_DAEMON,
            Self::BegunBefore => code::BEGUN_BEFORE,
            Self::Record(..) => code::NO_RECORD,
            Self::Privileges(_) => code::PRIVILEGED,
            Self::Kernel(..) => code::KERNEL,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str(
                "it is PID 1 of a sandbox; elsewhere it takes \
                 `--record DIR [--cgroup DIR]`, for tests",
            ),
            Self::NoDaemon => f.write_str("no daemon came to give it orders"),
            Self::BegunBefore => f.write_str("the job was begun before"),
            Self::Record(what, source) => {
                write!(f, "cannot {what} in the record: {source}")
            }
            Self::Privileges(source) => {
                write!(f, "cannot lay down its privileges: {source}")
            }
            Self::Kernel(what, source) => write!(f, "cannot {what}: {source}"),
        }
    }
}
