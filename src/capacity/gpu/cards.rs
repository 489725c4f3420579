use super::driver::is_unsupported;
use crate::capacity::GpuSample;
use crate::capacity::reading::Reading;
use crate::contract::{Bytes, Ratio};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

/// NVML's word for "on".
const MIG_ENABLED: u32 = 1;

/// Every card that answered since the driver was loaded, in the order in
/// which they first did.
pub(super) type Known = Vec<String>;

/// One round over all cards. A card that fails costs itself alone.
///
/// # Errors
/// When the driver itself does not say how many there are.
pub(super) fn round(
    nvml: &Nvml,
    known: &mut Known,
) -> Result<Reading<Vec<GpuSample>>, NvmlError> {
    let mut all = Round::default();
    for index in 0..nvml.device_count()? {
        all.card(nvml, index);
    }
    Ok(all.end(known))
}

#[derive(Default)]
struct Round {
    units: Vec<GpuSample>,
    seen: Vec<String>,
    /// What failed before the card could even say who it is.
    nameless: Vec<NvmlError>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Round {
    fn card(&mut self, nvml: &Nvml, index: u32) {
        let found = nvml.device_by_index(index).and_then(|device| {
            let uuid = device.uuid()?;
            Ok((device, uuid))
        });
        let (device, uuid) = match found {
            Ok(found) => found,
            Err(error) => return self.nameless.push(error),
        };
        if uuid.trim().is_empty() {
            let note = format!("card {index} has no UUID: not offered");
            return self.notes.push(note);
        }
        self.seen.push(uuid.clone());
        if let Err(error) = self.units_of(&device, &uuid) {
            let text = format!("{uuid} is left out: {error}");
            self.warnings.push(text);
        }
    }

    fn units_of(
        &mut self,
        device: &Device<'_>,
        uuid: &str,
    ) -> Result<(), NvmlError> {
        match device.mig_mode() {
            Ok(mode) if mode.current == MIG_ENABLED => {
                return self.instances(device, uuid);
            }
            Ok(_) => {}
            Err(error) if is_unsupported(&error) => {}
            // Not to know whether a card is split is not to know whether
            // it can be given away whole.
            Err(error) => return Err(error),
        }
        self.unit(device, uuid.to_owned())
    }

    fn instances(
        &mut self,
        card: &Device<'_>,
        uuid: &str,
    ) -> Result<(), NvmlError> {
        let before = self.units.len();
        // The count is of places, most of which are empty.
        for place in 0..card.mig_device_count()? {
            let instance = match card.mig_device_by_index(place) {
                Ok(instance) => instance,
                Err(NvmlError::NotFound | NvmlError::InvalidArg) => continue,
                Err(error) => return Err(error),
            };
            let own = instance.uuid()?;
            self.unit(&instance, own)?;
        }
        if self.units.len() == before {
            self.notes.push(format!(
                "{uuid} is in MIG mode without an instance: not offered"
            ));
        }
        Ok(())
    }

    fn unit(
        &mut self,
        device: &Device<'_>,
        uuid: String,
    ) -> Result<(), NvmlError> {
        let name = device.name()?;
        if name.trim().is_empty() || uuid.trim().is_empty() {
            let note = format!("`{uuid}` has no name: not offered");
            self.notes.push(note);
            return Ok(());
        }
        let memory = device.memory_info()?;
        let utilization = match device.utilization_rates() {
            Ok(rates) => Ratio::clamped(f64::from(rates.gpu) / 100.0),
            Err(error) if is_unsupported(&error) => None,
            // It is told to root only on some machines, and is no reason
            // to withhold a card that says all else.
            Err(NvmlError::NoPermission) => None,
            Err(error) => return Err(error),
        };
        let vram_total = Bytes(memory.total);
        let vram_free = Bytes(memory.free).min(vram_total);
        let unit = GpuSample { uuid, name, vram_total, vram_free, utilization };
        self.units.push(unit);
        Ok(())
    }

    /// Who is gone is told by who was there: a lost card often cannot even
    /// be asked for its UUID, and those behind it move up.
    fn end(mut self, known: &mut Known) -> Reading<Vec<GpuSample>> {
        let mut errors = self.nameless.into_iter();
        for lost in known.iter().filter(|uuid| !self.seen.contains(uuid)) {
            let why = errors.next().map_or_else(
                || "the driver no longer counts it".to_owned(),
                |error| error.to_string(),
            );
            self.warnings.push(format!("{lost} is lost: {why}"));
        }
        let strange = |e| format!("a card could not be asked who it is: {e}");
        self.warnings.extend(errors.map(strange));
        for uuid in self.seen {
            if !known.contains(&uuid) {
                known.push(uuid);
            }
        }
        Reading {
            value: Some(self.units),
            warnings: self.warnings,
            notes: self.notes,
        }
    }
}
