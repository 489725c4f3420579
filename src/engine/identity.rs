//! Who a job is inside its sandbox: a name for its uid, so that programs
//! which ask for one (`git`, `ssh`, Python's `getpass`) get an answer.

/// Its file in the record; bound read-only over `/etc/passwd`.
pub const PASSWD: &str = "passwd";
/// Its file in the record; bound read-only over `/etc/group`.
pub const GROUP: &str = "group";

/// The sandbox's whole `/etc/passwd`: PID 1's user, the job's, and the one
/// that stands for nobody.
pub fn passwd(uid: u32) -> String {
    format!(
        "root:x:0:0:root:/:/usr/sbin/nologin\n\
         job:x:{uid}:{uid}:job:/job:/bin/sh\n\
         nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    )
}

/// The sandbox's whole `/etc/group`.
pub fn group(gid: u32) -> String {
    format!("root:x:0:\njob:x:{gid}:\nnogroup:x:65534:\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_a_name_and_lives_in_its_own_directory() {
        let text = passwd(200_001);
        let job = text.lines().nth(1);
        assert_eq!(job, Some("job:x:200001:200001:job:/job:/bin/sh"));
        assert!(text.ends_with('\n') && group(200_001).ends_with('\n'));
    }
}
