use std::ffi::OsString;

/// How a page is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Style {
    /// Columns.
    pub(in crate::cli) width: usize,
    /// Whether colour may be used.
    pub(in crate::cli) color: bool,
    /// Whether letters beyond ASCII may be used.
    pub(in crate::cli) utf8: bool,
}

/// What a pipe, or a terminal that says nothing, is taken for.
const WIDTH: usize = 80;

/// Narrower ones are drawn as if they were this wide.
const NARROWEST: usize = 24;

impl Style {
    /// The style of standard output.
    pub(in crate::cli) fn of_stdout(terminal: bool) -> Self {
        let columns = terminal
            .then(|| terminal_size::terminal_size_of(std::io::stdout()))
            .flatten()
            .map(|(width, _)| usize::from(width.0));
        Self::choose(terminal, columns, |name| std::env::var_os(name))
    }

    /// The style for a terminal of `columns` in an environment.
    fn choose(
        terminal: bool,
        columns: Option<usize>,
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let set = |name| env(name).filter(|value| !value.is_empty());
        let said = set("COLUMNS").and_then(|n| n.to_str()?.parse().ok());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        // The first that is set decides, as in the C library.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let locale = locale.unwrap_or_default().to_ascii_uppercase();
        let locale = locale.to_string_lossy();
        Self {
            width: columns.or(said).unwrap_or(WIDTH).max(NARROWEST),
            color: terminal && !dumb && set("NO_COLOR").is_none(),
            utf8: locale.contains("UTF-8") || locale.contains("UTF8"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(terminal: bool, env: &[(&str, &str)]) -> Style {
        Style::choose(terminal, None, |name| {
            let (_, value) = env.iter().find(|(key, _)| *key == name)?;
            Some(OsString::from(value))
        })
    }

    #[test]
    fn colour_needs_a_terminal_that_is_not_dumb_and_no_veto() {
        assert!(style(true, &[]).color);
        assert!(style(true, &[("NO_COLOR", "")]).color);
        assert!(!style(false, &[]).color);
        assert!(!style(true, &[("NO_COLOR", "1")]).color);
        assert!(!style(true, &[("TERM", "dumb")]).color);
    }

    #[test]
    fn letters_beyond_ascii_need_a_locale_that_has_them() {
        assert!(style(true, &[("LANG", "de_DE.UTF-8")]).utf8);
        assert!(style(true, &[("LC_CTYPE", "C.utf8")]).utf8);
        let overruled = [("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")];
        assert!(!style(true, &overruled).utf8);
        assert!(!style(true, &[]).utf8);
    }

    #[test]
    fn the_width_is_the_terminals_else_what_is_said_else_80() {
        let wide = Style::choose(true, Some(120), |_| None);
        assert_eq!(wide.width, 120);
        assert_eq!(style(false, &[("COLUMNS", "40")]).width, 40);
        assert_eq!(style(false, &[("COLUMNS", "many")]).width, 80);
        assert_eq!(style(false, &[("COLUMNS", "1")]).width, NARROWEST);
    }
}
