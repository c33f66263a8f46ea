#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# undo works with the service's rights: a user has it for what the user's own processes did, and for nothing else.
. "$(dirname "$0")/lib.sh"
need setpriv
scratch ext4
chmod 777 "$WATCHED" "$WORK"
echo one >"$WATCHED/a" && chown 12345 "$WATCHED/a"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Preserve=yes
CONF
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }

note "a user's own session"
status 120 as 12345 mountwatch run -- sh -c 'echo two >"$1/a"; echo new >"$1/new"' x "$WATCHED"
id=$(field last session.id)
status 1 as 54321 mountwatch undo "$id"
matches 'no session' "$ERR" "of somebody else"
status 1 as 12345 mountwatch undo --force
matches 'not permitted' "$ERR" force
status 0 as 12345 mountwatch undo
is one "$(<"$WATCHED/a")" content
[ ! -e "$WATCHED/new" ] || fail "not taken out"
is 12345 "$(stat -c %u "$WATCHED/a")" owner
status 0 as 12345 mountwatch quarantine list
matches new "$OUT" "the user's quarantine"
item=$(awk '$NF ~ /new$/ { print $1 }' <<<"$OUT")
status 0 as 54321 mountwatch quarantine list
matches empty "$OUT" "somebody else's quarantine"
status 1 as 54321 mountwatch quarantine restore "$item"
status 1 as 54321 mountwatch quarantine purge "$item"
status 0 as 12345 mountwatch quarantine restore "$item"
is "new 12345" "$(cat "$WATCHED/new") $(stat -c %u "$WATCHED/new")" "restored"

note "root's session"
status 120 mw run -- touch "$WATCHED/rootfile"
status 1 as 12345 mountwatch undo "$(field last session.id)"
[ -e "$WATCHED/rootfile" ] || fail "a user undid what root did"

note "what a setuid program did in a user's session"
cp "$(command -v touch)" "$WORK/touch" && chmod 4755 "$WORK/touch"
status 120 as 12345 mountwatch run --no-guard -- sh -c '"$2/touch" "$1/privileged"; echo mine >"$1/mine"' x "$WATCHED" "$WORK"
is 0 "$(stat -c %u "$WATCHED/privileged")" "who made it"
id=$(field last session.id)
status 1 as 12345 mountwatch undo "$id"
matches 'another user' "$ERR" "why not"
[ -e "$WATCHED/privileged" ] && [ -e "$WATCHED/mine" ] || fail "undone all the same"
status 0 mw undo "$id"
[ ! -e "$WATCHED/privileged" ] && [ ! -e "$WATCHED/mine" ] || fail "root's undo"
