use crate::capacity::root::Root;
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use std::path::{Path, PathBuf};

/// Why there is no driver to ask.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoDriver {
    /// No library and no device: a machine without GPUs.
    Absent,
    /// A library that does not work, on a machine that shows no device.
    Idle(String),
    /// Devices are there and cannot be asked.
    Broken(String),
}

/// The first of `names` that can be loaded and initialised.
pub(super) fn load(root: &Root, names: &[PathBuf]) -> Result<Nvml, NoDriver> {
    let mut missing = None;
    let mut broken = None;
    for name in names {
        match Nvml::builder().lib_path(name.as_os_str()).init() {
            Ok(nvml) => return Ok(nvml),
            Err(error) if is_missing(name, &error) => {
                missing.get_or_insert((name, error));
            }
            Err(error) => {
                broken.get_or_insert((name, error));
            }
        }
    }
    let there = !nodes(root).is_empty();
    let said = |(name, error): (&PathBuf, NvmlError)| {
        format!("`{}` does not work: {error}", name.display())
    };
    Err(match (broken.map(said), missing.map(said), there) {
        (Some(why), _, false) => NoDriver::Idle(why),
        (Some(why), _, true) | (None, Some(why), true) => {
            NoDriver::Broken(format!("NVIDIA devices are there, and {why}"))
        }
        (None, _, _) => NoDriver::Absent,
    })
}

/// The loader has no code for "no such file", only a sentence that names
/// the file; that of a library it needs is a fault, not an absence.
fn is_missing(name: &Path, error: &NvmlError) -> bool {
    let NvmlError::LibloadingError(error) = error else {
        return false;
    };
    let text = error.to_string();
    let name = name.display().to_string();
    text.starts_with(&name) && text.contains("No such file")
}

/// The device files of cards, sorted: `nvidia0` and so on, and the one of
/// the driver itself.
pub(super) fn nodes(root: &Root) -> Vec<String> {
    let card = |name: &String| {
        name.strip_prefix("nvidia").is_some_and(|rest| {
            rest == "ctl"
                || !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let names = root.names("/dev").unwrap_or_default();
    names.into_iter().filter(card).collect()
}

/// Whether a card does not have what was asked for, which is no fault.
pub(super) fn is_unsupported(error: &NvmlError) -> bool {
    matches!(
        error,
        NvmlError::NotSupported
            | NvmlError::NoData
            | NvmlError::FunctionNotFound
            | NvmlError::FailedToLoadSymbol(_)
    )
}
