#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The second story: an import resets a live SQLite library while its server keeps it open. Under deny the files are unchanged and the
# server goes on; under alert undo brings back a database with all its rows, while the server has it open.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
story=$HERE/../cases/02-import-time-db-reset/run.sh
[ -e "$story" ] || skip "the case 02 is not there"

# a client of the library that holds it open all the time: each line in is a question, each line out the answer
cat >"$TOP/player.py" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/library.db", timeout=20)
for line in sys.stdin:
    try:
        n = [db.execute("select count(*) from " + t).fetchone()[0] for t in ("albums", "tracks")]
        print(db.execute("pragma integrity_check").fetchone()[0], *n, flush=True)
    except sqlite3.Error as e:
        print(e, flush=True)
PY
# MW_RUN of the story: the player, the session, and for alert the undo, all while the server runs
cat >"$TOP/session" <<'SH'
#!/bin/bash
. "$STORY_STATE"
cd "$STORY_TOP" || exit 1
state "$STORY_WATCHED" >before
coproc python3 "$STORY_TOP/player.py" "$STORY_WATCHED"
ask() { echo >&"${COPROC[1]}" && read -r line <&"${COPROC[0]}" && echo "$line"; }
ask >player.before
mountwatch run --label story -- "$@"
echo $? >rc
ask >player.changed
if [ "$STORY_POLICY" = alert ]; then
    mountwatch undo >undo 2>&1
    echo $? >undo.rc
fi
ask >player.after
exec {COPROC[1]}>&-
wait
exit 0
SH
chmod +x "$TOP/session"
export STORY_TOP=$TOP STORY_STATE=$HERE/undo.sh
theirs='server\.log|now-playing'
same() { # WHAT [PATTERN]
    state "$WATCHED" >"$TOP/after"
    diff <(grep -vE "$theirs${2:+|$2}" "$TOP/before") <(grep -vE "$theirs${2:+|$2}" "$TOP/after") || fail "$1: not what it was"
    is 'albums 200
scrobble' "$(tail -n +2 "$WATCHED/server.log")" "the server ($1)"
    is song "$(cat "$WATCHED/now-playing.json")" "the server ($1)"
}
tell() { # POLICY
    umount -l "$TOP/fs" 2>/dev/null
    rm -rf "$STATE"
    scratch ext4 100M
    export STORY_WATCHED=$WATCHED STORY_POLICY=$1
    daemon_start - <<CONF
[Watch musicdb]
Path=$WATCHED
Policy=$1
Preserve=yes
CONF
    MW_RUN=$TOP/session bash "$story" "$WATCHED" "$WORK" >"$TOP/story.out" 2>&1 || fail "the story: $(tail -n 5 "$TOP/story.out")"
    is 'ok 200 2000' "$(<"$TOP/player.before")" "before"
}

note "deny"
tell deny
is 1 "$(<"$TOP/rc")" "the import fails"
is 'ok 200 2000' "$(<"$TOP/player.after")" "the library"
same deny
daemon_stop

note "alert, and undo while the server runs"
tell alert
is 120 "$(<"$TOP/rc")" "a green test run that changed the library"
is 'ok 0 0' "$(<"$TOP/player.changed")" "the damage"
is 0 "$(<"$TOP/undo.rc")" "undo: $(<"$TOP/undo")"
is 'ok 200 2000' "$(<"$TOP/player.after")" "the library"
same "alert and undo" 'library\.db'
is 'ok 200 2000' "$(echo | python3 "$TOP/player.py" "$WATCHED")" "opened anew"
