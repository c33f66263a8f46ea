#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sessions in sessions: the innermost gets the change, the report of the outer one includes it.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start

note "run in run"
mw run --label outer --fail-on never -- sh -c '
    touch "$1/outer1"
    mountwatch run --label inner --fail-on never -- touch "$1/inner"
    touch "$1/outer2"' x "$WATCHED" 2>/dev/null
inner='' outer=''
while read -r id; do
    case $(field "$id" session.label) in inner) inner=$id ;; outer) outer=$id ;; esac
done < <(mw session list --all --json | python3 -c 'import json,sys
d = json.load(sys.stdin)
for s in d if isinstance(d, list) else d["sessions"]: print(s["id"])')
session_over "$outer"
expect_ops "$inner" <<<'create inner'
expect_ops "$outer" <<'OPS'
create outer1
create inner
create outer2
OPS
expect_complete "$outer"
expect_ops "$outer" untagged <<<''
is "$inner" "$(field last session.id)" "last is the one started last"

note "a session that outlives its outer one"
mkfifo "$TOP/go"
mw run --label outer2 --fail-on never -- sh -c '
    mountwatch run --label inner2 --fail-on never -- sh -c "read x <\"\$1\"; touch \"\$2/late\"" y "$2" "$1" >/dev/null 2>&1 </dev/null &' \
    x "$WATCHED" "$TOP/go" 2>/dev/null
echo x >"$TOP/go"
session_over last
expect_ops last <<<'create late'
daemon_alive
