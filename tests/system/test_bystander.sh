#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who is in no session never notices: under deny, under ask, and while an open of a member is held, for an ordinary user, by every kind
# of call, without an error, and without waiting for the one that is held.
. "$(dirname "$0")/lib.sh"
. "$HERE/held.sh"
need python3 setpriv
scratch
chmod 777 "$WATCHED"
echo old >"$WATCHED/asked"
echo old >"$WATCHED/read"
chmod 644 "$WATCHED/read"

# twice each: the second time nothing is new to anybody
cat >"$TOP/bystander.py" <<'PY'
import mmap, os, sys, threading
top = sys.argv[1]
def everything(name):
    p = os.path.join(top, name)
    for _ in range(20):
        assert open(os.path.join(top, "read")).read() == "old\n"
        with open(p, "w") as f: f.write("a" * 4096)
        with open(p, "r+b") as f:
            m = mmap.mmap(f.fileno(), 4096); m[0] = 98; m.close()
        fd = os.open(p, os.O_RDWR | os.O_APPEND); os.write(fd, b"x"); os.ftruncate(fd, 10); os.close(fd)
        os.truncate(p, 5); os.chmod(p, 0o600); os.utime(p)
        os.link(p, p + ".l"); os.symlink("x", p + ".s"); os.rename(p, p + ".r"); os.replace(p + ".l", p)
        os.mkdir(p + ".d"); os.listdir(top); os.mkfifo(p + ".f")
        for n in (p, p + ".s", p + ".r", p + ".f"): os.unlink(n)
        os.rmdir(p + ".d")
failed = []
def thread(name):
    try: everything(name)
    except BaseException as e: failed.append(e)
threads = [threading.Thread(target=thread, args=("%d.%d" % (os.getpid(), i),)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
everything("main.%d" % os.getpid())
if failed: raise failed[0]
PY
as_user() { bystander "$1" setpriv --reuid=65534 --regid=65534 --clear-groups python3 "$TOP/bystander.py" "$WATCHED"; }
fine() {
    all_end "$1"
    is 0 "$(status_of "$1")" "status of $1 ($(tail -n 3 "$TOP/$1.err"))"
}
config() { printf '[Watch case]\nPath=%s\nPolicy=%s\nPreserve=%s\n' "$WATCHED" "$1" "$2" >"$CONF"; }

config deny yes
daemon_again
for policy in deny ask; do
    note "$policy, while a session without a guard and one with a guard are active"
    config $policy yes
    status 0 mountwatch reload
    member late-$policy --no-guard -- cat "$WATCHED/read"
    member guarded-$policy -- cat "$WATCHED/read"
    as_user during-$policy
    fine during-$policy
    go late-$policy
    go guarded-$policy
    all_end late-$policy guarded-$policy
    is 0 "$(status_of late-$policy)" "status of a member that only reads"
    is 0 "$(status_of guarded-$policy)" "status of a guarded member that only reads"
done

note "an open and a guarded call are held for three seconds"
# shellcheck disable=SC2016 # for the inner shell
member held --no-guard -- sh -c 'echo new >"$1"' x "$WATCHED/asked"
member held-guarded -- rm "$WATCHED/asked"
go held
go held-guarded
held 2
as_user while-held
fine while-held
held_is 2 || fail "they were answered"
bystander same sh -c 'cat "$1" && echo mine >>"$1"' x "$WATCHED/asked"
fine same
sleep 3
as_user still-held
fine still-held
held_is 2 || fail "they were answered"
for id in $(mountwatch decide --json | grep -o '"id": *[0-9]*' | grep -o '[0-9]*'); do status 0 mountwatch decide "$id" deny; done
all_end held held-guarded
is "old
mine" "$(cat "$WATCHED/asked")" "content"
note "nothing of it is any session's"
for label in late-deny late-ask guarded-deny guarded-ask; do
    is 0 "$(mountwatch report "$(mountwatch session list --all --json 2>/dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
for s in d["sessions"] if isinstance(d, dict) else d:
    if s.get("label") == sys.argv[1]: print(s["id"])' $label)" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["operations"]))')" "operations of $label"
done
