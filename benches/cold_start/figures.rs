use std::fmt;

/// The middle of some figures, and how far apart they are.
pub(crate) struct Figures {
    low: f64,
    median: f64,
    high: f64,
}

impl Figures {
    /// Of at least one figure.
    pub(crate) fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |tenths: usize| sorted[(sorted.len() - 1) * tenths / 10];
        Self { low: at(1), median: at(5), high: at(9) }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(1);
        let Self { low, median, high } = self;
        write!(f, "{low:8.places$} {median:8.places$} {high:8.places$}")
    }
}
