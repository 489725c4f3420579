use super::Capability;
use super::words::words;

words! {
    /// A kind of sandbox (`platform.runtime-class@1`), in the order in which
    /// they are listed everywhere.
    RuntimeClass {
        /// An artifact run once: args in, result out.
        Function = "function",
        /// Source text or an artifact over a language runtime.
        Code = "code",
        /// A page opened in Chromium.
        Browser = "browser",
        /// A script in a full userland.
        Linux = "linux",
        /// A program on a screen.
        Desktop = "desktop",
        /// `code` with leased GPUs.
        Gpu = "gpu",
    }
}

impl RuntimeClass {
    /// The reserved capability, `worker:<class>`.
    pub fn capability(self) -> Capability {
        Capability::worker(self)
    }
}
