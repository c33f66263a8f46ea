#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first story: tests that isolate two of three variables mirror fakes to the share, and prune real snapshots. Under alert the
# run is red and undo brings everything back; under deny nothing happens, and the tests say why.
. "$(dirname "$0")/lib.sh"
. "$HERE/undo.sh"
story=$HERE/../cases/01-nas-mirror-default-env/run.sh
[ -e "$story" ] || skip "the case 01 is not there"

# MW_RUN of the story: what was there right before, then the session
cat >"$TOP/session" <<'SH'
#!/bin/bash
. "$STORY_STATE"
state "$STORY_WATCHED" >"$STORY_TOP/before"
mountwatch run --label story -- "$@"
echo $? >"$STORY_TOP/rc"
exit 0
SH
chmod +x "$TOP/session"
export STORY_TOP=$TOP STORY_STATE=$HERE/undo.sh
# what the real nightly job does meanwhile, and the time of the directory that it works in
theirs='v2-2026-05-20_0300|nightly\.log|^\./Backups/App d '
same() { # WHAT
    state "$WATCHED" >"$TOP/after"
    diff <(grep -vE "$theirs" "$TOP/before") <(grep -vE "$theirs" "$TOP/after") || fail "$1: the share is not what it was"
    is 'real nightly' "$(cat "$WATCHED/Backups/App/v2-2026-05-20_0300/app.db")" "the nightly job ($1)"
    is '0300 nightly ok' "$(cat "$WATCHED/Backups/App/nightly.log")" "its log ($1)"
}
tell() { # POLICY
    umount -l "$TOP/fs" 2>/dev/null
    rm -rf "$STATE"
    scratch "${FS:-ext4}" 100M
    export STORY_WATCHED=$WATCHED
    daemon_start - <<CONF
[Watch nas]
Path=$WATCHED
Policy=$1
Preserve=yes
CONF
    MW_RUN=$TOP/session bash "$story" "$WATCHED" "$WORK" >"$TOP/story.out" 2>&1 || fail "the story: $(tail -n 5 "$TOP/story.out")"
}

for FS in ext4 tmpfs; do
    note "alert on $FS"
    tell alert
    is 120 "$(<"$TOP/rc")" "a green test suite that changed the share"
    grep -q '^OK$' "$TOP/story.out" || fail "the tests are not green"
    matches 'DIRTY - the command succeeded, but it ' "$(<"$TOP/story.out")" "the verdict"
    matches 'mountwatch undo' "$(<"$TOP/story.out")" "what to do next"
    [ ! -e "$WATCHED/Backups/App/v2-2026-05-01_0300" ] && [ -e "$WATCHED/Backups/App/v2-2026-05-20_0639" ] || fail "nothing happened"
    status 0 mw undo
    matches 'everything is as it was' "$OUT" "the last line"
    same "alert and undo"
    status 0 mw quarantine list
    matches 'v2-2026-05-20_0639' "$OUT" "the fakes are in the quarantine"
    daemon_stop

    note "deny on $FS"
    tell deny
    is 1 "$(<"$TOP/rc")" "the tests fail"
    matches 'Operation not permitted: .*Backups/App/v2-2026-05-20_0639' "$(<"$TOP/story.out")" "a clear error"
    matches 'tried to change .* and was refused' "$(<"$TOP/story.out")" "the verdict"
    same deny
    daemon_stop
done
