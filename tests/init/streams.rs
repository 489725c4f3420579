use crate::sandbox::{Sandbox, run, script};
use ovnode::init::{Outcome, StderrTo};

#[test]
fn stdin_is_given_whole_and_then_closed() {
    let mut orders = script("wc -c");
    orders.stdin = "x".repeat(1 << 20);
    let ended = run(orders);
    assert_eq!(ended.stdout, b"1048576\n");
    assert_eq!(run(script("wc -c")).stdout, b"0\n");
}

#[test]
fn a_job_that_never_reads_its_stdin_is_not_held_up() {
    for text in ["echo done", "exec <&-; echo done", "sleep 0.2; echo done"] {
        let mut orders = script(text);
        orders.stdin = "x".repeat(1 << 20);
        let ended = run(orders);
        assert_eq!(ended.record.outcome, Outcome::Exited(0));
        assert_eq!(ended.stdout, b"done\n");
    }
}

#[test]
fn output_longer_than_its_ring_leaves_the_last_lap() {
    let sandbox = Sandbox::with_ring(100_000);
    let ended = sandbox.run(script("seq 1 450000"));
    let all: String = (1..=450_000).map(|n| format!("{n}\n")).collect();
    assert!(all.len() > 3_000_000);
    assert_eq!(ended.record.stdout_end, all.len() as u64);
    assert_eq!(ended.stdout, &all.as_bytes()[all.len() - 100_000..]);
}

#[test]
fn bytes_that_are_no_text_come_through_as_they_are() {
    let ended = run(script(r"printf 'a\377\0b\303'; printf '\200' >&2"));
    let mut sorted = ended.stdout.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, b"\0ab\x80\xc3\xff");
    assert_eq!(run(script(r"printf '\303'")).stdout, b"\xc3");
}

#[test]
fn stderr_never_lands_inside_a_character_of_stdout() {
    let program = "import os\n\
        text = 'aé€😀' * 400\n\
        for byte in text.encode():\n\
        \x20   os.write(1, bytes([byte]))\n\
        \x20   os.write(2, b'.')\n";
    let ended = run(crate::sandbox::command(&[&python(), "-c", program]));
    assert_eq!(ended.record.outcome, Outcome::Exited(0));
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(text.replace('.', ""), "aé€😀".repeat(400));
    assert_eq!(text.matches('.').count(), 4_000);
}

/// A Python that any user may run; the first in the path may be root's own.
fn python() -> String {
    "/usr/bin/python3".to_owned()
}

#[test]
fn stderr_goes_where_it_is_ordered_to() {
    let text = "echo out; echo err >&2";
    let mut orders = script(text);
    orders.stderr = StderrTo::Owner;
    let ended = run(orders);
    assert_eq!(ended.stdout, b"out\n");
    assert_eq!(ended.stderr, b"err\n");
    let ended = run(script(text));
    assert_eq!(ended.stdout.len(), 8);
    assert_eq!(ended.stderr, b"");
}

#[test]
fn the_owners_stderr_is_bounded_by_its_ring_alone() {
    let sandbox = Sandbox::with_ring(1000);
    let mut orders = script("seq 1 9999 >&2; echo end >&2; echo ok");
    orders.stderr = StderrTo::Owner;
    orders.output_bytes = 100;
    let ended = sandbox.run(orders);
    assert_eq!(ended.record.outcome, Outcome::Exited(0));
    assert_eq!(ended.stdout, b"ok\n");
    assert_eq!(ended.stderr.len(), 1000);
    assert!(ended.stderr.ends_with(b"9999\nend\n"));
}

#[test]
fn the_last_word_without_a_newline_is_never_lost() {
    for _ in 0..50 {
        let ended = run(script("printf done; printf '{}' >&3"));
        assert_eq!(ended.stdout, b"done");
        assert_eq!(ended.result.as_deref(), Some(&b"{}"[..]));
    }
}

#[test]
fn no_result_leaves_no_file() {
    assert_eq!(run(script("true")).result, None);
}
