use crate::contract::{JobId, RuntimeClass};
use serde_json::{Value, json};

/// What the demo's artifact of each class is, as the configuration has it.
/// The script reads its arguments, shows that it works, and answers.
pub(super) const ARTIFACTS: &str = r#"
[[artifact]]
name = "demo"
version = "1.0.0"
class = "function"
image = "ovnode/function:1"
command = ["/bin/sh", "-c", '''
read -r args
echo "I am user $(id -u) on a machine of my own, given $args"
for step in one two; do sleep 1; echo "step $step"; done
words=$(printf '%s' "$args" | sed 's/.*"text":"//; s/".*//' | wc -w)
printf '{"words": %s}' "$words" >&3
''']
"#;

/// Classes that the demo has a job for.
pub(super) const CLASSES: [RuntimeClass; 1] = [RuntimeClass::Function];

/// The job of a class.
pub(super) fn job(class: RuntimeClass, id: &JobId) -> Value {
    json!({
        "id": id,
        "class": class.as_str(),
        "artifact": { "name": "demo", "version": "1.0.0" },
        "args": { "text": "how many words are these" },
        "ttl_ms": 60_000,
        "limits": {
            "wall_ms": 30_000,
            "cpu_ms": 10_000,
            "mem_bytes": 67_108_864,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Job, Timestamp};
    use crate::node::new_job_id;

    #[test]
    fn every_job_of_the_demo_is_one_by_the_contract() {
        let id = new_job_id(Timestamp(1_764_000_000_000)).unwrap();
        for class in CLASSES {
            let parsed = Job::parse(&job(class, &id)).unwrap();
            assert_eq!((parsed.class, parsed.id), (class, id.clone()));
        }
    }
}
