#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# undo puts everything back: content, names, metadata, times; takes the session's own files to the quarantine.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
scratch ext4
plant "$WATCHED"
daemon_start - <<CONF
[Watch case]
Path=$WATCHED
Policy=alert
Preserve=yes
CONF
remember start

undo_all() { # WHAT
    mw report last >"$TOP/text" || fail "report"
    grep -q 'mountwatch undo ' "$TOP/text" || fail "the report does not offer undo"
    remember damaged
    status 0 mw undo --dry-run
    matches 'everything can be put back' "$OUT" "dry run ($1)"
    unchanged damaged "$WATCHED" "a dry run changes something ($1)"
    status 0 mw undo
    matches 'everything is as it was' "$OUT" "last line ($1)"
    unchanged start "$WATCHED" "undo leaves a difference ($1)"
    status 0 mw undo
    matches 'nothing to do' "$OUT" "undone twice ($1)"
}

note "a guarded run"
status 120 mw run -- bash -c "$damage" x "$WATCHED"
undo_all guarded

note "the quarantine"
status 0 mw quarantine list --json
items=$(python3 -c 'import json, sys
for i in json.load(sys.stdin)["items"]: print(i["item"], i["path"].rsplit("/", 1)[1])' <<<"$OUT")
matches 'fake' "$items" "quarantine"
item=$(awk '$2 == "fake" { print $1 }' <<<"$items")
status 0 mw quarantine restore "$item"
is x "$(<"$WATCHED/fake/snapshot/x")" "restored from the quarantine"
status 1 mw quarantine restore "$item"
rm -r "$WATCHED/fake"
status 2 mw quarantine purge
status 1 mw quarantine purge 0123456789abcdef
item=$(awk '$2 == "made" { print $1 }' <<<"$items")
status 0 mw quarantine purge "$item"
matches '^purged 1 item' "$OUT" purged
status 0 mw quarantine purge --all
status 0 mw quarantine list
matches empty "$OUT" "purged quarantine"
! find "$STATE/quarantine" -mindepth 2 | grep -q . || fail "files stay in the quarantine"

note "a session tagged late"
remember start
status 0 bash -c 'mountwatch session start >"$2/id"'" || exit; $damage" x "$WATCHED" "$TOP"
session_over "$(<"$TOP/id")"
undo_all late
status 0 mw quarantine purge --session "$(<"$TOP/id")"

note "single paths"
status 120 mw run -- bash -c 'cd "$1"; rm tree/1 tree/sub/2; echo x >>text' x "$WATCHED"
status 0 mw undo last "$WATCHED/tree/sub"
[ -e "$WATCHED/tree/sub/2" ] && [ ! -e "$WATCHED/tree/1" ] || fail "not just that path"
is "text
x" "$(<"$WATCHED/text")" "another path"
status 0 mw undo
unchanged start "$WATCHED" "by paths"

note "what somebody else has changed since"
status 120 mw run -- bash -c 'cd "$1"; echo ours >>text; rm target' x "$WATCHED"
sleep 0.2 # the clock of the filesystem ticks; a change at once would be the session's
echo theirs >>"$WATCHED/text"
status 1 mw undo
matches 'not touched .*text.*changed by' "$OUT" "a refusal"
matches '1 changed by others since' "$OUT" "last line"
is theirs "$(tail -n 1 "$WATCHED/text")" "theirs"
[ -e "$WATCHED/target" ] || fail "the others are not undone"
status 0 mw undo --force
unchanged start "$WATCHED" forced

note "what was not preserved says so"
daemon_stop
sed -i 's/^Preserve=yes/Preserve=yes\nPreserveMax=1K/' "$CONF"
daemon_again
head -c 4096 /dev/zero >"$WATCHED/large"
status 120 mw run -- bash -c 'rm "$1/large" "$1/text"' x "$WATCHED"
status 1 mw undo --json
is "impossible 1" "impossible $(python3 -c 'import json, sys; print(json.load(sys.stdin)["result"]["impossible"])' <<<"$OUT")" result
[ -e "$WATCHED/text" ] || fail "the small one did not return"
status 1 mw undo
matches 'NOT put back .*large.*:' "$OUT" "a reason"

note "not while it runs"
mw run --fail-on never -- bash -c 'touch "$1/made"; echo >"$2/made"; exec sleep 1000' x "$WATCHED" "$WORK" 2>/dev/null &
wait_for test -s "$WORK/made"
id=$(field last session.id)
status 1 mw undo
matches 'still runs' "$ERR" "of a live session"
status 0 mw session freeze "$id"
status 1 mw undo "$id"
status 0 mw session kill "$id"
session_over "$id"
status 0 mw undo "$id"
[ ! -e "$WATCHED/made" ] || fail "not undone"
status 1 mw undo 0123456789abcdef
status 2 mw undo last ''
