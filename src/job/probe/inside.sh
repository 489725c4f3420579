# Reports what a job finds in its sandbox, one `key=value` a line. It judges
# nothing: what is missing here is a promise that could not be shown.
say() { printf '%s=%s\n' "$1" "$2"; }
each() { while IFS= read -r line; do say "$1" "$line"; done; }

read -r args && say stdin "$args"
id -u | each uid
id -G | each groups
id -un | each user
pwd | each cwd
grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d ' \t' |
    each status
tr '\0' '\n' </proc/$$/environ | each env
grep -E '^Max (open files|file size|core file size) ' /proc/$$/limits |
    tr -s ' ' | each limit
each oom_score_adj </proc/self/oom_score_adj
each pid1 </proc/1/comm
ls -d /proc/[0-9]* | wc -l | each processes
sed -n 's/^ *\([^: ]*\):.*/\1/p' /proc/net/dev | each interface
# By way of a file: for a moment a shell holds an end of each pipe it makes.
ls /proc/$$/fd >/tmp/descriptors && each fd </tmp/descriptors

for dir in /job /tmp /dev/shm; do
    stat -f -c "$dir %T %S %b" $dir | each filesystem
done
for dir in / /usr /etc; do
    touch $dir/ovnode-probe 2>/dev/null && say writable $dir
done
for dir in /job /tmp; do
    printf '#!/bin/sh\nexit 7\n' >$dir/probe && chmod +x $dir/probe &&
        $dir/probe
    say runs "$dir $?"
done
for path in /run/ovnode /var/run/docker.sock /run/docker.sock; do
    ls $path >/dev/null 2>&1 && say reachable $path
done
cd /sys/fs/cgroup && for file in memory/memory.limit_in_bytes memory.max \
    memory/memory.memsw.limit_in_bytes memory.swap.max \
    pids/pids.max pids.max; do
    [ -r $file ] && say cgroup "$file $(cat $file)"
done
command -v unshare >/dev/null &&
    { unshare -Ur true 2>/dev/null && say allowed 'a user namespace'; }
command -v mount >/dev/null &&
    { mount -t tmpfs none /tmp 2>/dev/null && say allowed 'a mount'; }
# 40 is AF_VSOCK, 16 AF_NETLINK, 17 AF_PACKET; 3 is SOCK_RAW.
command -v perl >/dev/null && for family in '40,1' '17,3' '2,3'; do
    perl -e "exit !socket(my \$s,$family,0)" 2>/dev/null &&
        say allowed "a socket of family and type $family"
done
printf '{"fd3":true}' >&3 && say fd3 written
say done yes
