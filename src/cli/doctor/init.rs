use super::check::Check;
use super::engine::chain;
use crate::node::{InitFault, check_init};
use std::path::Path;

/// PID 1 of every sandbox: there, executable and static.
pub(super) fn look(path: &Path) -> Check {
    let (name, shown) = ("init", path.display());
    match check_init(path) {
        Ok(()) => Check::ok(name, format!("`{shown}` is static")),
        Err(fault) => {
            let mend = match &fault {
                InitFault::NotExecutable { .. } => {
                    format!("chmod 0755 {shown}")
                }
                InitFault::Read { .. }
                | InitFault::Dynamic { .. }
                | InitFault::NoProgram { .. } => format!(
                    "make init && sudo install -m 0755 \
                     target/init/ovnode-init {shown}"
                ),
            };
            Check::fault(name, chain(&fault)).fix(mend)
        }
    }
}
