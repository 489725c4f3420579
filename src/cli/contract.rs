use super::ctx::Ctx;
use super::exit::{CliError, Exit};
use crate::contract::{CONTRACTS, Fault, FaultKind, Faults, validate};
use anyhow::Context as _;
use clap::{Args, Subcommand};
use std::fs;
use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};

/// Far above what any message of the platform may weigh; a document beyond
/// it is refused before it fills the memory.
const DOCUMENT_BYTES: usize = 8 << 20;

/// What `ovnode contract` takes.
#[derive(Debug, Args)]
pub(super) struct ContractArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say of each document whether its contract allows it
    Validate(ValidateArgs),
}

#[derive(Debug, Args)]
struct ValidateArgs {
    /// The contract, as `job` or `resource-offer`
    name: String,
    /// Documents, one a file; `-` reads standard input, one a line
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One line of JSON a document, with every fault of it
    #[arg(long)]
    json: bool,
}

impl ValidateArgs {
    /// The contract's bare name; the platform writes `platform.job@1`.
    fn contract(&self) -> &str {
        let name = self.name.strip_prefix("platform.").unwrap_or(&self.name);
        name.strip_suffix("@1").unwrap_or(name)
    }
}

pub(super) fn run(
    args: &ContractArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let What::Validate(args) = &args.what;
    if !CONTRACTS.contains(&args.contract()) {
        return Err(CliError::Usage(format!(
            "there is no contract `{}`; there are {}",
            args.name,
            CONTRACTS.join(", ")
        ))
        .into());
    }
    let mut judge = Judge { args, out: &mut *ctx.out, all_well: true };
    for file in &args.files {
        if file == Path::new("-") {
            judge.lines(ctx.input)?;
        } else {
            judge.file(file)?;
        }
    }
    Ok(if judge.all_well { Exit::Done } else { Exit::NotWell })
}

struct Judge<'a> {
    args: &'a ValidateArgs,
    out: &'a mut dyn Write,
    all_well: bool,
}

impl Judge<'_> {
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let reading = || format!("cannot read `{}`", path.display());
        let file = fs::File::open(path).with_context(reading)?;
        let most = u64::try_from(DOCUMENT_BYTES)?.saturating_add(1);
        let mut document = Vec::new();
        file.take(most).read_to_end(&mut document).with_context(reading)?;
        let name = (self.args.files.len() > 1).then_some(path);
        let judged = self.judge(&document);
        Ok(self.say(name, judged)?)
    }

    fn lines(&mut self, input: &mut dyn BufRead) -> anyhow::Result<()> {
        let mut line = Vec::new();
        while read_line(input, &mut line)
            .context("cannot read standard input")?
        {
            // An empty line is no document, and no mistake either.
            if !line.trim_ascii().is_empty() {
                let judged = self.judge(&line);
                self.say(None, judged)?;
            }
        }
        Ok(())
    }

    fn judge(&self, document: &[u8]) -> Result<(), Faults> {
        if document.len() > DOCUMENT_BYTES {
            let message = format!("is longer than {DOCUMENT_BYTES} bytes");
            return Err(unreadable(message));
        }
        let text = std::str::from_utf8(document).map_err(|bad| {
            let at = bad.valid_up_to();
            unreadable(format!("is not UTF-8 from byte {at} on"))
        })?;
        validate(self.args.contract(), text)
    }

    /// One line a document, whatever is wrong with it.
    fn say(
        &mut self,
        name: Option<&Path>,
        judged: Result<(), Faults>,
    ) -> io::Result<()> {
        self.all_well &= judged.is_ok();
        let faults = judged.err().map_or(Vec::new(), |faults| faults.0);
        if self.args.json {
            return writeln!(self.out, "{}", as_json(name, &faults));
        }
        if let Some(name) = name {
            write!(self.out, "{}: ", name.display())?;
        }
        match faults.as_slice() {
            [] => writeln!(self.out, "ok"),
            [Fault { path, message, .. }, more @ ..] => {
                let message = one_line(message);
                write!(self.out, "error: {}: {message}", one_line(path))?;
                match more.len() {
                    0 => writeln!(self.out),
                    n => writeln!(self.out, " (and {n} more)"),
                }
            }
        }
    }
}

/// Reads up to a line's end, and of a longer line no more than shows that it
/// is too long. `false` at the end of the input.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut some = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(some);
        }
        some = true;
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = (DOCUMENT_BYTES + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn unreadable(message: String) -> Faults {
    let (path, kind) = (String::new(), FaultKind::Value);
    Faults(vec![Fault { path, kind, message }])
}

/// A document's own keys may hold line breaks; the answer is one line.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

fn as_json(name: Option<&Path>, faults: &[Fault]) -> serde_json::Value {
    let errors: Vec<_> = faults
        .iter()
        .map(|fault| {
            serde_json::json!({
                "path": fault.path,
                "message": fault.message,
            })
        })
        .collect();
    let mut answer =
        serde_json::json!({ "valid": faults.is_empty(), "errors": errors });
    if let Some(name) = name {
        answer["file"] = name.display().to_string().into();
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<usize> {
        let mut input = io::BufReader::with_capacity(7, input);
        let (mut line, mut sizes) = (Vec::new(), Vec::new());
        while read_line(&mut input, &mut line).unwrap() {
            sizes.push(line.len());
        }
        sizes
    }

    #[test]
    fn lines_are_found_whatever_the_buffer() {
        assert_eq!(lines(b"a long line\n\nlast"), [11, 0, 4]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_line_too_long_is_read_to_its_end_and_kept_only_in_part() {
        let mut input = vec![b'x'; DOCUMENT_BYTES + 100];
        input.extend_from_slice(b"\nnext\n");
        assert_eq!(lines(&input), [DOCUMENT_BYTES + 1, 4]);
    }

    #[test]
    fn an_answer_is_one_line_whatever_the_document_holds() {
        assert_eq!(one_line("/a\nb\u{1b}"), "/a\\nb\\u{1b}");
    }
}
