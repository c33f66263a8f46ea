#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deny for a session that was tagged late: opens are refused, by holding them; nobody else notices.
. "$(dirname "$0")/lib.sh"
scratch ext4
echo one >"$WATCHED/old" && mkdir "$WATCHED/scratch"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=deny
Allow=scratch/**
CONF
mkfifo "$TOP/go"
# one process, which says how each attempt ended
cat >"$TOP/attempts.py" <<'PY'
import errno, os, sys
watched, go, out = sys.argv[1:]
open(go).read()
def attempt(name, flags):
    try:
        os.close(os.open(watched + "/" + name, flags, 0o644))
        return "done"
    except OSError as e:
        return errno.errorcode[e.errno]
with open(out + ".part", "w") as f:
    for what, name, flags in (
            ("read", "old", os.O_RDONLY), ("write", "old", os.O_WRONLY), ("append", "old", os.O_RDWR | os.O_APPEND),
            ("truncate", "old", os.O_WRONLY | os.O_TRUNC), ("create", "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL),
            ("create2", "new2", os.O_RDWR | os.O_CREAT | os.O_TRUNC), ("allowed", "scratch/x", os.O_WRONLY | os.O_CREAT)):
        f.write("%s %s\n" % (what, attempt(name, flags)))
os.rename(out + ".part", out)
PY
python3 "$TOP/attempts.py" "$WATCHED" "$TOP/go" "$WORK/result" &
late=$!
status 0 mw session start --pid $late --label late
id=$OUT
is '' "$(grep -v 'belong to this session' <<<"$ERR")" "warnings of the start"
# a bystander at work all the time
(while [ ! -e "$WORK/stop" ]; do
    { echo x >"$WATCHED/theirs" && cat "$WATCHED/theirs" && rm "$WATCHED/theirs"; } >/dev/null || { echo "refused" >"$WORK/bystander"; break; }
done) &
echo >"$TOP/go"
wait_for test -e "$WORK/result"
touch "$WORK/stop"
is 'read done
write EPERM
append EPERM
truncate EPERM
create EPERM
create2 EPERM
allowed done' "$(<"$WORK/result")" "how the attempts ended"
[ ! -e "$WORK/bystander" ] || fail "a bystander was refused"
session_over "$id"

note "nothing has changed"
is one "$(<"$WATCHED/old")" "content"
left() { ls "$WATCHED"; }
leftover_gone() { [ ! -e "$WATCHED/new" ] && [ ! -e "$WATCHED/new2" ]; }
wait_for leftover_gone
note "the report"
is dirty "$(field "$id" session.verdict)" verdict
field "$id" operations >/dev/null
python3 - "$TOP/report.json" <<'PY' || fail "rows: $(cat "$TOP/report.json")"
import json, os, sys
r = json.load(open(sys.argv[1]))
rows = {(o["op"], os.path.basename(o["path"])): o for o in r["operations"]}
for key in (("modify", "old"), ("create", "new"), ("create", "new2")):
    assert rows[key]["action"] == "denied" and rows[key]["violation"], (key, rows)
assert rows["create", "x"]["action"] == "recorded" and not rows["create", "x"]["violation"], rows
assert rows["modify", "old"]["count"] >= 3, rows
assert len(rows) == 4, rows.keys()
net = r["net"]
assert [os.path.basename(p) for p in net["created"]] == ["x"], net
assert not net["modified"] and not net["deleted"] and not net["renamed"], net
PY
status 0 mw report "$id"
matches 'refused' "$OUT" "the text"

note "what cannot be held is seen"
echo two >"$WATCHED/victim"
bash -c 'mountwatch session start >"$2/id"; rm "$1/victim"' x "$WATCHED" "$WORK" 2>/dev/null
session_over "$(<"$WORK/id")"
has_op "$(<"$WORK/id")" "delete victim"
