#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An undo that is cut off goes on: when the client is gone, when the daemon is killed in the middle of it.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
scratch ext4
FILES=800
make_files() {
    local i
    mkdir -p "$WATCHED/many" "$WATCHED/tree"
    for ((i = 0; i < FILES; i++)); do echo "content $i" >"$WATCHED/many/$i"; done
    find "$WATCHED" -mindepth 1 -exec touch -d '2021-02-03 04:05:06.789' {} +
}
make_files
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Preserve=yes
CONF
remember start
# shellcheck disable=SC2016 # for the inner shell
damage='cd "$1"; echo x | tee -a many/* >/dev/null; rm many/[1-4]*; mkdir new; touch new/1 new/2; mv many moved'
# steps are told in batches, so the folder that comes back tells that it has begun; most of the work is still ahead then
one_at_a_time() {
    mountwatch undo >"$TOP/undo" 2>"$TOP/undo.err" &
    undo=$!
    until [ -e "$WATCHED/many" ] || ! kill -0 $undo 2>/dev/null; do :; done
}
# cut_off WANT COMMAND...: damage, an undo, and COMMAND in the middle of it, after which the undo has ended with status WANT. On a
# fast machine COMMAND may come too late: then once more.
cut_off() {
    local want=$1 try
    shift
    for try in 1 2 3 4 5 6 7 8; do
        status 120 mw run -- bash -c "$damage" x "$WATCHED"
        one_at_a_time
        "$@" 2>/dev/null
        wait $undo 2>/dev/null
        got=$?
        [ $got != "$want" ] || return 0
        [ $got = 0 ] || fail "the status of the undo: $got, $(tail -n 2 "$TOP/undo" "$TOP/undo.err")"
        [ -n "$DAEMON" ] || daemon_again
    done
    fail "the undo was over before '$*', $try times"
}

note "the client is gone"
kill_client() { kill -9 $undo; }
cut_off 137 kill_client
is_over_now() { mountwatch undo >"$TOP/out" 2>"$TOP/err" || ! grep -q 'being undone' "$TOP/err"; }
wait_for is_over_now
matches 'everything is as it was' "$(tail -n 1 "$TOP/out")" "the second run"
unchanged start "$WATCHED" "after a client that went away"

note "the daemon is killed"
cut_off 125 daemon_kill
daemon_again
status 0 mw undo
unchanged start "$WATCHED" "after a daemon that was killed"
status 0 mw quarantine list
matches 'watched/new' "$OUT" "the quarantine knows what was moved before"

note "one at a time"
status 120 mw run -- bash -c "$damage" x "$WATCHED"
one_at_a_time
status 1 mw undo
matches 'being undone' "$ERR" "a second undo"
wait $undo
is 0 $? "the first one"
unchanged start
