use super::CapacityError;

/// One resource's answer: a sample, or none, and what there is to say.
#[derive(Debug)]
pub(super) struct Reading<T> {
    /// Absent is not known.
    pub(super) value: Option<T>,
    /// What should have been readable and was not.
    pub(super) warnings: Vec<String>,
    /// What explains the sample and is no fault.
    pub(super) notes: Vec<String>,
}

impl<T> Reading<T> {
    pub(super) fn absent() -> Self {
        Self { value: None, warnings: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn warned(text: String) -> Self {
        Self { warnings: vec![text], ..Self::absent() }
    }

    pub(super) fn noted(text: String) -> Self {
        Self { notes: vec![text], ..Self::absent() }
    }
}

impl<T> From<Result<Option<T>, CapacityError>> for Reading<T> {
    fn from(read: Result<Option<T>, CapacityError>) -> Self {
        match read {
            Ok(value) => Self { value, ..Self::absent() },
            Err(error) => Self::warned(error.line()),
        }
    }
}
