#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A session lasts until its last process is gone: `run` ends with the command and says what lingers, --wait stays.
. "$(dirname "$0")/lib.sh"
scratch
daemon_start
mkfifo "$TOP/go"

# a daemon that forks twice, in a session and process group of its own, and waits for a word
cat >"$TOP/daemonise" <<'SH'
setsid sh -c '(setsid sh -c "read x <\"$1\"; echo late >\"$2/late\"" late "$1" "$2" </dev/null >/dev/null 2>&1 &)' d "$1" "$2"
SH
note "run ends with its command"
status 0 mw run --fail-on never -- sh "$TOP/daemonise" "$TOP/go" "$WATCHED"
matches 'linger|still run|lives on' "$ERR" report
is lingering "$(field last session.state)" state
is "None" "$(field last session.stopped)" "stopped"
id=$(field last session.id)
mw session list | grep -q "$id" || fail "not in session list"

note "what it does later belongs to the session"
echo x >"$TOP/go"
session_over "$id"
expect_ops "$id" <<<'create late'
is stopped "$(field "$id" session.state)" state
is 0 "$(field "$id" session.exitStatus)" "exit status"
! mw session list | grep -q "$id" || fail "still in session list"
mw session list --all | grep -q "$id" || fail "not in session list --all"

note "--wait ends with the last descendant"
(sleep 0.3; echo x >"$TOP/go") &
status 0 mw run --wait --fail-on never -- sh "$TOP/daemonise" "$TOP/go" "$WATCHED"
is stopped "$(field last session.state)" state
expect_ops last <<<'modify late'
