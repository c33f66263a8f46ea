#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doctor says what can be seen, refused and undone, and proves it with a canary that leaves nothing behind.
. "$(dirname "$0")/lib.sh"
scratch ext4
echo one >"$WATCHED/a"
mkdir "$WORK/strict"
daemon_start - <<CONF
[Watch kept]
Path=$WATCHED
Policy=alert
Preserve=yes
[Watch strict]
Path=$WORK/strict
Policy=deny
[Watch later]
Path=$WORK/not-there
CONF
note "the matrix"
status 0 mw doctor kept
matches 'unlink, rmdir +exact +can be refused, can be undone +can be undone\*' "$OUT" "a row"
matches 'open for writing +exact +can be refused, can be undone +can be refused, can be undone' "$OUT" "a row"
status 0 mw doctor strict
matches 'unlink, rmdir +exact +can be refused +seen only' "$OUT" "a row"
status 0 mw doctor kept --json
python3 -c '
import json, sys
w, = json.load(sys.stdin)["watches"]
assert w["guard"] and w["hold"] == "possible" and w["preserve"], w
assert sorted(w["coverage"]["deny"]) == ["create", "delete", "metadata", "modify", "rename"], w
rows = {r["does"]: r for r in w["matrix"]}
assert len(rows) == 8 and rows["rename"]["run"] == {"refusable": True, "preserved": "call"}, rows
assert rows["rename"]["late"] == {"refusable": False, "preserved": "start"}, rows' <<<"$OUT" || fail "JSON: $OUT"
status 1 mw doctor
matches 'later' "$OUT" "a watch that is not there"

note "the proof"
status 0 mw doctor --write kept
for what in 'open for writing' 'open and truncate' 'create a file' mkdir unlink rename chmod; do
    matches "$what +refused, and seen" "$OUT" "$what"
done
matches 'undo +changed, renamed, and put back' "$OUT" undo
is a "$(ls -A "$WATCHED")" "what is left behind"
status 0 mw doctor --write strict
matches 'undo +not tried' "$OUT" undo
is '' "$(ls -A "$WORK/strict")" "what is left behind"
status 2 mw doctor --write --json
note "a proof that fails says so"
daemon_stop
sed -i 's/^Policy=deny/Policy=deny\nAllow=**/' "$CONF"
daemon_again
status 1 mw doctor --write strict
matches 'NOT refused' "$OUT" "an allowed change"
is '' "$(ls -A "$WORK/strict")" "what is left behind"
