#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A session without a guard removes unasked: a watch of limited size is kept whole when it starts, and a larger one is said to be.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
need python3
scratch ext4
mkdir "$WATCHED/small" "$WATCHED/large" "$WATCHED/auto"
plant "$WATCHED/small" && plant "$WATCHED/auto"
head -c 300000 /dev/zero >"$WATCHED/large/file"
daemon_start - <<CONF
[Watch small]
Path=$WATCHED/small
Policy=alert
Preserve=yes
[Watch large]
Path=$WATCHED/large
Policy=alert
Preserve=yes
SnapshotMax=100K
[Watch auto]
Path=$WATCHED/auto
Policy=alert
Preserve=yes
[AutoSession tool]
Match=**/tool.sh
CONF
remember small "$WATCHED/small"
remember auto "$WATCHED/auto"

note "up to SnapshotMax="
bash -c 'mountwatch session start >"$2/id" 2>"$2/start"; rm -rf "$1"/small/tree "$1/large/file"; mv "$1/small/old" "$1/small/new"' x "$WATCHED" "$TOP"
id=$(<"$TOP/id")
matches "watch 'large': it is larger than SnapshotMax=" "$(<"$TOP/start")" "the warning"
! grep -q "'small'" "$TOP/start" || fail "a warning of the small one"
session_over "$id"
status 1 mw undo "$id"
matches 'NOT put back +.*large/file:' "$OUT" "what was not kept"
unchanged small "$WATCHED/small"

note "every copy gets its hash"
all_hashed() {
    python3 - "$STATE/mountwatch.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
have, lack = db.execute("select count(*), sum(hash is null) from kept where blob is not null").fetchone()
sys.exit(have < 6 or lack > 0)
PY
}
wait_for all_hashed

note "a session that started by itself"
cat >"$WORK/tool.sh" <<'SH'
#!/bin/bash
read -r _ <"$1"
rm -rf "$2/tree"
SH
chmod +x "$WORK/tool.sh"
mkfifo "$TOP/go"
"$WORK/tool.sh" "$TOP/go" "$WATCHED/auto" &
runs() { mountwatch session list | grep -q tool; }
wait_for runs
kept() {
    python3 - "$STATE/mountwatch.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
# of two sessions: the first one kept it as well
n, = db.execute("select count(distinct session) from kept where cast(path as text) like '%/auto/target' and blob is not null").fetchone()
sys.exit(n < 2)
PY
}
wait_for kept
echo >"$TOP/go"
session_over last
status 0 mw undo
unchanged auto "$WATCHED/auto"

note "no snapshot wanted"
daemon_stop
sed -i 's/^SnapshotMax=.*/SnapshotMax=0/' "$CONF"
daemon_again
bash -c 'mountwatch session start >"$2/id" 2>"$2/start"' x "$WATCHED" "$TOP"
! grep -q "SnapshotMax" "$TOP/start" || fail "a warning of what nobody wants: $(<"$TOP/start")"
